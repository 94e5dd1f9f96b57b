//! Wheel file names (PEP 427, PEP 425, build tags, and the variant label that PEP 825 drafts).

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::str::FromStr;

use pep440_rs::Version;
use pep508_rs::PackageName;

/// The file that an address or path ends in, with `%2B` and the like decoded; never with a slash in it.
pub fn file_of(address: &str) -> String {
    let decoded = percent_encoding::percent_decode_str(address).decode_utf8_lossy();
    decoded.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The name of a wheel, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WheelName {
    pub name: PackageName,
    pub version: Version,
    /// Build tag: a number and the rest. `2.10.0-3-cp312` beats `2.10.0-cp312`.
    pub build: Option<(u64, String)>,
    /// Tags as written, several joined by dots.
    pub pythons: String,
    pub abis: String,
    pub platforms: String,
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

/// A wheel's file name, taken apart in place.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub build: Option<&'a str>,
    pub python: &'a str,
    pub abi: &'a str,
    pub platform: &'a str,
}

impl<'a> Parts<'a> {
    /// Takes `file` apart; name and version are not looked into.
    pub fn of(file: &'a str) -> Result<Self, NotAWheel> {
        let stem = file.strip_suffix(".whl").ok_or(NotAWheel::OtherFile)?;
        // A tag set such as `any.x/../y` holds a tag that fits, and the name becomes a path on this machine.
        if !stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+!".contains(&byte)) {
            return Err(NotAWheel::Malformed);
        }
        let mut parts = [""; 8];
        let mut count = 0;
        for part in stem.split('-').take(8) {
            parts[count] = part;
            count += 1;
        }
        let is_build = parts[2].starts_with(|first: char| first.is_ascii_digit());
        let [name, version, third, fourth, fifth, sixth, ..] = parts;
        match count {
            5 => Ok(Self { name, version, build: None, python: third, abi: fourth, platform: fifth }),
            6 if is_build => {
                Ok(Self { name, version, build: Some(third), python: fourth, abi: fifth, platform: sixth })
            }
            6 | 7 => Err(NotAWheel::Variant),
            _ => Err(NotAWheel::Malformed),
        }
    }

    /// The version; in a file name `-` has become `_`.
    pub fn parsed_version(&self) -> Option<Version> {
        if self.version.contains('_') {
            return self.version.replace('_', "-").parse().ok();
        }
        self.version.parse().ok()
    }
}

impl FromStr for WheelName {
    type Err = NotAWheel;

    fn from_str(text: &str) -> Result<Self, NotAWheel> {
        let parts = Parts::of(text)?;
        Ok(Self {
            name: PackageName::from_str(parts.name).map_err(|_| NotAWheel::Malformed)?,
            version: parts.parsed_version().ok_or(NotAWheel::Malformed)?,
            build: parts.build.map(build_tag),
            pythons: parts.python.to_owned(),
            abis: parts.abi.to_owned(),
            platforms: parts.platform.to_owned(),
            text: text.to_owned(),
        })
    }
}

/// The name of a source distribution without its ending; `None` for any other file.
pub fn sdist_stem(file: &str) -> Option<&str> {
    file.strip_suffix(".tar.gz").or_else(|| file.strip_suffix(".zip"))
}

/// Whether a file is called like a wheel or a source distribution.
pub fn is_distribution(file: &str) -> bool {
    file.ends_with(".whl") || sdist_stem(file).is_some()
}

/// The version of a source distribution of `package`, by its file name; `None` where it is none.
pub fn sdist_version(file: &str, package: &PackageName) -> Option<Version> {
    let stem = sdist_stem(file)?;
    // Before PEP 625 names kept their dashes, and versions may have some: the first split that gives both is meant.
    stem.match_indices('-').find_map(|(at, _)| {
        let (name, version) = (&stem[..at], &stem[at + 1..]);
        (name.parse::<PackageName>().ok()? == *package).then(|| version.parse().ok()).flatten()
    })
}

/// What this program writes to INSTALLER
/// (<https://packaging.python.org/specifications/recording-installed-packages/>).
pub const INSTALLER: &str = "colab-boot";

/// Name and version of a dist-info folder, `Pillow-9.0.dist-info`: older tools did not normalise the name. `None` for
/// any other.
pub fn dist_info(folder: &str) -> Option<(PackageName, &str)> {
    let (name, version) = folder.strip_suffix(".dist-info")?.rsplit_once('-')?;
    Some((name.parse().ok()?, version))
}

/// The name of an egg-info file or folder, `blinker-1.4-py3.12.egg-info`, as distutils and setuptools left them. `None`
/// for any other.
pub fn egg_info(entry: &str) -> Option<PackageName> {
    entry.strip_suffix(".egg-info")?.split('-').next()?.parse().ok()
}

/// The distribution that an entry of site-packages is metadata of, by the tools of today or older ones:
/// `importlib.metadata` reads both.
pub fn metadata_of(entry: &str) -> Option<PackageName> {
    dist_info(entry).map(|(name, _)| name).or_else(|| egg_info(entry))
}

/// A build tag, comparable: a number and the rest.
pub fn build_tag(text: &str) -> (u64, String) {
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
    use super::{NotAWheel, WheelName, dist_info, file_of, sdist_version};

    #[test]
    fn names_are_taken_apart() {
        let wheel: WheelName = "torch-2.10.0-3-cp312-cp312-manylinux_2_28_x86_64.whl".parse().expect("a wheel");
        assert_eq!(wheel.build, Some((3, String::new())));
        let wheel: WheelName =
            "a_b-1.0+cu128-py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl".parse().expect("a wheel");
        assert_eq!((wheel.name.to_string(), wheel.version.to_string()), ("a-b".into(), "1.0+cu128".into()));
        assert_eq!((wheel.pythons.as_str(), wheel.abis.as_str()), ("py2.py3", "none"));
        assert_eq!(wheel.platforms, "manylinux_2_17_x86_64.manylinux2014_x86_64");
    }

    #[test]
    fn source_distributions_are_recognised_by_name() {
        let version =
            |file: &str| sdist_version(file, &"a-b".parse().expect("a name")).map(|version| version.to_string());
        assert_eq!(version("a_b-1.0.tar.gz").as_deref(), Some("1.0"));
        assert_eq!(version("a-b-1.0-1.zip").as_deref(), Some("1.0.post1"));
        assert_eq!(version("a-b-c-1.0.tar.gz"), None);
        assert_eq!(version("a_b-1.0.tar.bz2"), None);
    }

    #[test]
    fn dist_info_folders_are_named_for_their_distribution() {
        let found = dist_info("My.Pkg-1.0+cu128.dist-info").expect("a dist-info");
        assert_eq!((found.0.to_string(), found.1), ("my-pkg".to_owned(), "1.0+cu128"));
        assert_eq!(dist_info("numpy"), None);
        assert_eq!(dist_info("~umpy-1.0.dist-info"), None);
    }

    #[test]
    fn variants_and_other_files_are_two_errors() {
        let parse = |text: &str| text.parse::<WheelName>().expect_err(text);
        assert_eq!(parse("torch-2.10.0-cp312-cp312-manylinux_2_28_x86_64-cu130.whl"), NotAWheel::Variant);
        assert_eq!(parse("torch-2.10.0-variants.json"), NotAWheel::OtherFile);
        assert_eq!(parse("torch-2.10.0.tar.gz"), NotAWheel::OtherFile);
        assert_eq!(parse("torch.whl"), NotAWheel::Malformed);
    }

    #[test]
    fn a_name_with_a_path_in_it_is_no_wheel() {
        for name in [
            "a-1.0-py3-none-any.x/../../y.whl",
            "a-1.0-1/../x-py3-none-any.whl",
            "a-1.0-py3-none-any\n.whl",
            "../a-1.0-py3-none-any.whl",
        ] {
            assert_eq!(name.parse::<WheelName>(), Err(NotAWheel::Malformed), "{name}");
        }
        assert_eq!(file_of("https://h/f/torch-2.9.1%2Bcu128-x.whl"), "torch-2.9.1+cu128-x.whl");
        assert_eq!(file_of("https://h/f/..%2F..%2Fx.whl"), "x.whl");
    }
}
