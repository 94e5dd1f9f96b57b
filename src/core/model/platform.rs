//! What Python and platform a wheel must fit: marker values (PEP 508) and compatibility tags (PEP 425, 600, 656).

use std::collections::HashMap;
use std::fmt::{Display, Formatter, Result as FmtResult};

use pep440_rs::{Version, VersionSpecifiers};
use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder};
use serde::{Deserialize, Serialize};

use crate::core::model::WheelName;
use crate::core::model::version::range_of;

/// The C library under a Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Libc {
    /// Major and minor: `glibc 2.35`.
    Glibc(u32, u32),
    /// Alpine's: `musl 1.2`.
    Musl(u32, u32),
    /// Neither: only `linux_…` and pure wheels fit.
    Other,
}

impl From<String> for Libc {
    /// `glibc 2.35`, `2.35` or `musl 1.2`; anything else is another one.
    fn from(text: String) -> Self {
        let number = text.split_whitespace().last().and_then(|number| {
            let (major, minor) = number.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        match number {
            Some((major, minor)) if text.starts_with("musl") => Self::Musl(major, minor),
            Some((major, minor)) => Self::Glibc(major, minor),
            None => Self::Other,
        }
    }
}

impl From<Libc> for String {
    fn from(libc: Libc) -> Self {
        libc.to_string()
    }
}

impl Display for Libc {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::Glibc(major, minor) => write!(f, "glibc {major}.{minor}"),
            Self::Musl(major, minor) => write!(f, "musl {major}.{minor}"),
            Self::Other => f.write_str("another C library"),
        }
    }
}

/// The older names of manylinux tags: PEP 513, 571 and 599.
const LEGACY: [(&str, u32); 3] = [("manylinux1", 5), ("manylinux2010", 12), ("manylinux2014", 17)];

/// C library and architecture of a platform tag: `manylinux_2_28_aarch64`, `manylinux2014_x86_64`,
/// `musllinux_1_2_x86_64`, `linux_x86_64`. `None` for any other.
pub fn parse_platform(tag: &str) -> Option<(Libc, String)> {
    if let Some((name, minor)) =
        LEGACY.iter().find(|(name, _)| tag.strip_prefix(name).is_some_and(|rest| rest.starts_with('_')))
    {
        return Some((Libc::Glibc(2, *minor), tag[name.len() + 1..].to_owned()));
    }
    if let Some(rest) = tag.strip_prefix("manylinux_") {
        return numbered(rest).map(|(major, minor, architecture)| (Libc::Glibc(major, minor), architecture));
    }
    if let Some(rest) = tag.strip_prefix("musllinux_") {
        return numbered(rest).map(|(major, minor, architecture)| (Libc::Musl(major, minor), architecture));
    }
    Some((Libc::Other, tag.strip_prefix("linux_")?.to_owned()))
}

fn numbered(rest: &str) -> Option<(u32, u32, String)> {
    let mut parts = rest.splitn(3, '_');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.to_owned()))
}

/// The Python a target runs, with the platform under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PythonFacts {
    /// Full version, `3.12.13`.
    pub version: Version,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    pub libc: Libc,
    /// `true` for a free-threaded build (`cp313t`).
    #[serde(default)]
    pub free_threaded: bool,
}

impl PythonFacts {
    /// `(3, 12)` of `3.12.13`.
    pub fn minor(&self) -> (u64, u64) {
        let release = self.version.release();
        (release.first().copied().unwrap_or(3), release.get(1).copied().unwrap_or(0))
    }

    /// What the names of its extension modules and caches begin with, `cpython-312` (`sys.implementation.cache_tag`;
    /// `cpython-313t` for extension modules of a free-threaded build).
    pub fn cache_tag(&self) -> String {
        let (major, minor) = self.minor();
        format!("cpython-{major}{minor}{}", if self.free_threaded { "t" } else { "" })
    }

    /// The newest platform tag that fits, `manylinux_2_35_x86_64`.
    pub fn platform_tag(&self) -> String {
        match self.libc {
            Libc::Glibc(major, minor) => format!("manylinux_{major}_{minor}_{}", self.architecture),
            Libc::Musl(major, minor) => format!("musllinux_{major}_{minor}_{}", self.architecture),
            Libc::Other => format!("linux_{}", self.architecture),
        }
    }

    /// Whether a file with this `Requires-Python` may be used. Upper bounds count, as for pip; uv ignores them.
    pub fn satisfies(&self, requires_python: &VersionSpecifiers) -> bool {
        range_of(requires_python).contains(&self.version.only_release())
    }

    /// The values that markers are evaluated with: CPython on Linux.
    pub fn marker_environment(&self) -> Option<MarkerEnvironment> {
        let full = self.version.to_string();
        let (major, minor) = self.minor();
        let short = format!("{major}.{minor}");
        MarkerEnvironment::try_from(MarkerEnvironmentBuilder {
            implementation_name: "cpython",
            implementation_version: &full,
            os_name: "posix",
            platform_machine: &self.architecture,
            platform_python_implementation: "CPython",
            platform_release: "",
            platform_system: "Linux",
            platform_version: "",
            python_full_version: &full,
            python_version: &short,
            sys_platform: "linux",
        })
        .ok()
    }
}

/// The compatibility tags of a target, ranked: a smaller rank is a better wheel.
#[derive(Clone, Debug)]
pub struct Tags {
    /// By Python tag, then by ABI tag.
    ranks: HashMap<String, HashMap<String, u32>>,
    platforms: HashMap<String, u32>,
    /// Python tags of wheels for any platform, which come after all others.
    any: HashMap<String, u32>,
}

impl Tags {
    /// The tags of CPython as `packaging.tags.sys_tags` orders them.
    pub fn of(python: &PythonFacts) -> Self {
        let mut ranks: HashMap<String, HashMap<String, u32>> = HashMap::new();
        for ((python, abi), rank) in python_and_abi(python).into_iter().zip(0..) {
            ranks.entry(python).or_default().entry(abi).or_insert(rank);
        }
        let platforms = platforms(python).into_iter().zip(0..).collect();
        let (major, minor) = python.minor();
        let older = (0..minor).rev().map(|older| format!("py{major}{older}"));
        let any = [format!("cp{major}{minor}"), format!("py{major}{minor}"), format!("py{major}")];
        Self { ranks, platforms, any: any.into_iter().chain(older).zip(0..).collect() }
    }

    /// The rank of `wheel`, smaller is better; `None` when it does not fit.
    pub fn rank(&self, wheel: &WheelName) -> Option<(u32, u32)> {
        self.rank_of(&wheel.pythons, &wheel.abis, &wheel.platforms)
    }

    /// The same for tags as they stand in a file name, each compressed with dots.
    pub fn rank_of(&self, pythons: &str, abis: &str, platforms: &str) -> Option<(u32, u32)> {
        self.rank_on_platform(pythons, abis, platforms).or_else(|| {
            let fits = platforms.split('.').any(|tag| tag == "any") && abis.split('.').any(|abi| abi == "none");
            let rank = pythons.split('.').filter_map(|python| self.any.get(python)).min().filter(|_| fits);
            rank.map(|rank| (u32::MAX, *rank))
        })
    }

    fn rank_on_platform(&self, pythons: &str, abis: &str, platforms: &str) -> Option<(u32, u32)> {
        let platform = platforms.split('.').filter_map(|tag| self.platforms.get(tag)).min()?;
        Some((
            *pythons
                .split('.')
                .filter_map(|python| {
                    let ranks = self.ranks.get(python)?;
                    abis.split('.').filter_map(|abi| ranks.get(abi)).min()
                })
                .min()?,
            *platform,
        ))
    }
}

/// (python, abi) pairs, best first: `cp312-cp312`, `cp312-abi3`, `cp312-none`, older abi3, then `py3`.
fn python_and_abi(python: &PythonFacts) -> Vec<(String, String)> {
    let (major, minor) = python.minor();
    let threads = if python.free_threaded { "t" } else { "" };
    let own = format!("cp{major}{minor}");
    // CPython before 3.8 has its allocator in the name of its ABI (PEP 425; bpo-36707).
    let allocator = if minor < 8 { "m" } else { "" };
    let mut pairs = vec![(own.clone(), format!("{own}{threads}{allocator}"))];
    let stable_abi = !python.free_threaded;
    if stable_abi {
        pairs.push((own.clone(), "abi3".to_owned()));
    }
    pairs.push((own, "none".to_owned()));
    if stable_abi {
        pairs.extend((2..minor).rev().map(|older| (format!("cp{major}{older}"), "abi3".to_owned())));
    }
    pairs.push((format!("py{major}{minor}"), "none".to_owned()));
    pairs.push((format!("py{major}"), "none".to_owned()));
    pairs.extend((0..minor).rev().map(|older| (format!("py{major}{older}"), "none".to_owned())));
    pairs
}

/// Platform tags, best first: manylinux from this glibc down with the older names, or musllinux; then `linux_…`.
fn platforms(python: &PythonFacts) -> Vec<String> {
    let architecture = &python.architecture;
    let mut tags = Vec::new();
    match python.libc {
        Libc::Glibc(2, newest) => {
            let oldest = if architecture == "x86_64" { 5 } else { 17 };
            for minor in (oldest..=newest).rev() {
                tags.push(format!("manylinux_2_{minor}_{architecture}"));
                let older = LEGACY.iter().find(|(_, glibc)| *glibc == minor);
                tags.extend(older.map(|(name, _)| format!("{name}_{architecture}")));
            }
        }
        Libc::Musl(major, newest) => {
            tags.extend((0..=newest).rev().map(|minor| format!("musllinux_{major}_{minor}_{architecture}")));
        }
        Libc::Glibc(..) | Libc::Other => {}
    }
    tags.push(format!("linux_{architecture}"));
    tags
}

#[cfg(test)]
mod tests {
    use super::{Libc, PythonFacts, Tags, parse_platform};

    fn python() -> PythonFacts {
        PythonFacts {
            version: "3.12.1".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        }
    }

    #[test]
    fn wheels_are_ranked_as_pip_ranks_them() {
        let tags = Tags::of(&python());
        let rank = |name: &str| tags.rank(&name.parse().expect(name));
        let order = [
            "a-1-cp312-cp312-manylinux_2_28_x86_64.whl",
            "a-1-cp312-cp312-manylinux2014_x86_64.whl",
            "a-1-cp312-abi3-manylinux_2_17_x86_64.whl",
            "a-1-cp39-abi3-manylinux_2_17_x86_64.whl",
            "a-1-py3-none-manylinux_2_28_x86_64.whl",
            "a-1-cp312-none-any.whl",
            "a-1-py312-none-any.whl",
            "a-1-py3-none-any.whl",
        ];
        let ranks: Vec<_> = order.iter().map(|name| rank(name).expect(name)).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        for foreign in [
            "a-1-cp311-cp311-manylinux_2_28_x86_64.whl",
            "a-1-cp313-abi3-manylinux_2_28_x86_64.whl",
            "a-1-cp312-cp312-manylinux_2_39_x86_64.whl",
            "a-1-cp312-cp312-musllinux_1_2_x86_64.whl",
            "a-1-cp312-cp312-manylinux_2_28_aarch64.whl",
            "a-1-cp312-cp312t-manylinux_2_28_x86_64.whl",
            "a-1-cp312-cp312-any.whl",
        ] {
            assert_eq!(rank(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn on_musl_other_wheels_fit() {
        let tags = Tags::of(&PythonFacts { libc: Libc::Musl(1, 2), ..python() });
        let rank = |name: &str| tags.rank(&name.parse().expect(name));
        let (new, old) =
            (rank("a-1-cp312-cp312-musllinux_1_2_x86_64.whl"), rank("a-1-cp312-cp312-musllinux_1_1_x86_64.whl"));
        assert!(new < old && new.is_some() && old < rank("a-1-py3-none-any.whl"));
        assert_eq!(rank("a-1-cp312-cp312-manylinux_2_28_x86_64.whl"), None);
        assert_eq!(rank("a-1-cp312-cp312-musllinux_1_3_x86_64.whl"), None);
    }

    #[test]
    fn platform_tags_are_taken_apart() {
        let of = |tag: &str| parse_platform(tag).map(|(libc, architecture)| format!("{libc} {architecture}"));
        assert_eq!(of("manylinux_2_28_aarch64").as_deref(), Some("glibc 2.28 aarch64"));
        assert_eq!(of("manylinux2014_x86_64").as_deref(), Some("glibc 2.17 x86_64"));
        assert_eq!(of("musllinux_1_2_x86_64").as_deref(), Some("musl 1.2 x86_64"));
        assert_eq!(of("linux_x86_64").as_deref(), Some("another C library x86_64"));
        assert_eq!(of("win_amd64"), None);
    }

    #[test]
    fn requires_python_counts_upper_bounds() {
        let specifiers = |text: &str| text.parse().expect("specifiers");
        assert!(python().satisfies(&specifiers(">=3.9")));
        assert!(!python().satisfies(&specifiers(">=3.9,<3.12")));
        assert!(!python().satisfies(&specifiers(">=3.13")));
    }
}
