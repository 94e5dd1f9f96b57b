//! What Python and platform a wheel must fit: marker values (PEP 508) and compatibility tags (PEP 425, PEP 600).

use std::collections::HashMap;

use pep440_rs::{Version, VersionSpecifiers};
use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder};
use serde::{Deserialize, Serialize};

use crate::model::WheelName;
use crate::model::version::range_of;

/// The Python a target runs, with the platform under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PythonFacts {
    /// Full version, `3.12.13`.
    pub version: Version,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    /// `2.35`; `None` where the C library is not glibc.
    pub glibc: Option<(u32, u32)>,
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

    /// The newest platform tag that fits, `manylinux_2_35_x86_64`.
    pub fn platform_tag(&self) -> String {
        match self.glibc {
            Some((major, minor)) => format!("manylinux_{major}_{minor}_{}", self.architecture),
            None => format!("linux_{}", self.architecture),
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
    ranks: HashMap<(String, String), u32>,
    platforms: HashMap<String, u32>,
}

impl Tags {
    /// The tags of CPython as `packaging.tags.sys_tags` orders them.
    pub fn of(python: &PythonFacts) -> Self {
        let mut ranks = HashMap::new();
        for pair in python_and_abi(python) {
            let next = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
            ranks.entry(pair).or_insert(next);
        }
        let platforms = platforms(python).into_iter().zip(0..).collect();
        Self { ranks, platforms }
    }

    /// The rank of `wheel`, smaller is better; `None` when it does not fit.
    pub fn rank(&self, wheel: &WheelName) -> Option<(u32, u32)> {
        let mut best = None;
        for python in &wheel.pythons {
            for abi in &wheel.abis {
                let Some(rank) = self.ranks.get(&(python.clone(), abi.clone())) else {
                    continue;
                };
                let platform = wheel.platforms.iter().filter_map(|tag| self.platforms.get(tag)).min();
                let candidate = platform.map(|platform| (*rank, *platform));
                best = [best, candidate].into_iter().flatten().min();
            }
        }
        best
    }
}

/// (python, abi) pairs, best first: `cp312-cp312`, `cp312-abi3`, `cp312-none`, older abi3, then `py3`.
fn python_and_abi(python: &PythonFacts) -> Vec<(String, String)> {
    let (major, minor) = python.minor();
    let threads = if python.free_threaded { "t" } else { "" };
    let own = format!("cp{major}{minor}");
    let mut pairs = vec![(own.clone(), format!("{own}{threads}"))];
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

/// Platform tags, best first: manylinux from this glibc down with the legacy aliases, `linux_…`, then `any`.
fn platforms(python: &PythonFacts) -> Vec<String> {
    let architecture = &python.architecture;
    let mut tags = Vec::new();
    if let Some((2, newest)) = python.glibc {
        let oldest = if architecture == "x86_64" { 5 } else { 17 };
        for minor in (oldest..=newest).rev() {
            tags.push(format!("manylinux_2_{minor}_{architecture}"));
            let alias = match minor {
                17 => Some("manylinux2014"),
                12 => Some("manylinux2010"),
                5 => Some("manylinux1"),
                _ => None,
            };
            tags.extend(alias.map(|alias| format!("{alias}_{architecture}")));
        }
    }
    tags.push(format!("linux_{architecture}"));
    tags.push("any".to_owned());
    tags
}

#[cfg(test)]
mod tests {
    use super::{PythonFacts, Tags};

    fn python() -> PythonFacts {
        PythonFacts {
            version: "3.12.1".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            glibc: Some((2, 35)),
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
        ] {
            assert_eq!(rank(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn requires_python_counts_upper_bounds() {
        let specifiers = |text: &str| text.parse().expect("specifiers");
        assert!(python().satisfies(&specifiers(">=3.9")));
        assert!(!python().satisfies(&specifiers(">=3.9,<3.12")));
        assert!(!python().satisfies(&specifiers(">=3.13")));
    }
}
