//! Wheel file names (PEP 427, PEP 425, build tags, and the variant label that PEP 825 drafts).

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::str::FromStr;

use pep440_rs::Version;
use pep508_rs::PackageName;

/// The name of a wheel, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WheelName {
    pub name: PackageName,
    pub version: Version,
    /// Build tag: a number and the rest. `2.10.0-3-cp312` beats `2.10.0-cp312`.
    pub build: Option<(u64, String)>,
    pub pythons: Vec<String>,
    pub abis: Vec<String>,
    pub platforms: Vec<String>,
    text: String,
}

/// Why a file name is no wheel we can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAWheel {
    /// An sdist, a signature, a page of variants…
    OtherFile,
    /// A sixth part after the platform: a wheel variant, whose rules are still a draft.
    Variant,
    /// The name, version or tags cannot be read.
    Malformed,
}

impl FromStr for WheelName {
    type Err = NotAWheel;

    fn from_str(text: &str) -> Result<Self, NotAWheel> {
        let stem = text.strip_suffix(".whl").ok_or(NotAWheel::OtherFile)?;
        let parts: Vec<&str> = stem.split('-').collect();
        let is_build = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
        let (build, tags) = match parts.as_slice() {
            [_, _, python, abi, platform] => (None, [python, abi, platform]),
            [_, _, build, python, abi, platform] if is_build(build) => (Some(*build), [python, abi, platform]),
            [_, _, _, _, _, _] | [_, _, _, _, _, _, _] => return Err(NotAWheel::Variant),
            _ => return Err(NotAWheel::Malformed),
        };
        let split = |tag: &str| tag.split('.').map(str::to_owned).collect();
        Ok(Self {
            name: PackageName::from_str(parts[0]).map_err(|_| NotAWheel::Malformed)?,
            version: Version::from_str(&parts[1].replace('_', "-")).map_err(|_| NotAWheel::Malformed)?,
            build: build.map(build_tag),
            pythons: split(tags[0]),
            abis: split(tags[1]),
            platforms: split(tags[2]),
            text: text.to_owned(),
        })
    }
}

/// Name and version of a dist-info folder, `Pillow-9.0.dist-info`: older tools did not normalise the name. `None` for any other.
pub fn dist_info(folder: &str) -> Option<(PackageName, &str)> {
    let (name, version) = folder.strip_suffix(".dist-info")?.rsplit_once('-')?;
    Some((name.parse().ok()?, version))
}

fn build_tag(text: &str) -> (u64, String) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (text[..digits].parse().unwrap_or(0), text[digits..].to_owned())
}

impl WheelName {
    /// The file name as published.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Display for WheelName {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{NotAWheel, WheelName, dist_info};

    #[test]
    fn names_are_taken_apart() {
        let wheel: WheelName = "torch-2.10.0-3-cp312-cp312-manylinux_2_28_x86_64.whl".parse().expect("a wheel");
        assert_eq!(wheel.build, Some((3, String::new())));
        let wheel: WheelName =
            "a_b-1.0+cu128-py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl".parse().expect("a wheel");
        assert_eq!((wheel.name.to_string(), wheel.version.to_string()), ("a-b".into(), "1.0+cu128".into()));
        assert_eq!((wheel.pythons.len(), wheel.platforms.len()), (2, 2));
    }

    #[test]
    fn dist_info_folders_are_named_for_their_distribution() {
        let found = dist_info("My.Pkg-1.0+cu128.dist-info").expect("a dist-info");
        assert_eq!((found.0.to_string(), found.1), ("my-pkg".to_owned(), "1.0+cu128"));
        assert_eq!(dist_info("numpy"), None);
        assert_eq!(dist_info("~umpy-1.0.dist-info"), None);
    }

    #[test]
    fn variants_and_other_files_are_told_apart() {
        let parse = |text: &str| text.parse::<WheelName>().expect_err(text);
        assert_eq!(parse("torch-2.10.0-cp312-cp312-manylinux_2_28_x86_64-cu130.whl"), NotAWheel::Variant);
        assert_eq!(parse("torch-2.10.0-variants.json"), NotAWheel::OtherFile);
        assert_eq!(parse("torch-2.10.0.tar.gz"), NotAWheel::OtherFile);
        assert_eq!(parse("torch.whl"), NotAWheel::Malformed);
    }
}
