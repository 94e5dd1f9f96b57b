//! PEP 440 specifiers as version ranges for the solver. One range type answers every question about versions here:
//! `pep440_rs`'s own `contains` and its `Ranges::from` get local versions and `<V` wrong (measured against `packaging`
//! 26.3).

use pep440_rs::{LocalSegment, Operator, Version, VersionSpecifier, VersionSpecifiers};
use pubgrub::Ranges;

/// A set of versions.
pub type VersionRange = Ranges<Version>;

/// The versions that `specifiers` allow, by PEP 440; pre-releases are the chooser's business.
pub fn range_of(specifiers: &VersionSpecifiers) -> VersionRange {
    specifiers.iter().map(range_of_one).fold(Ranges::full(), |all, one| all.intersection(&one))
}

/// Exactly the release `version` and its local versions: `==2.9.1` admits `2.9.1+cu128`.
pub fn release(version: &Version) -> VersionRange {
    if version.is_local() {
        Ranges::singleton(version.clone())
    } else {
        Ranges::from_range_bounds(version.clone()..=with_every_local(version))
    }
}

/// The version without its local label: `2.11.0` of `2.11.0+cu128`.
pub fn public(version: &Version) -> Version {
    version.clone().without_local()
}

/// Whether the label of a version says that the build is for the CPU: `2.11.0+cpu`.
pub fn is_cpu_build(version: &Version) -> bool {
    version.local().iter().any(|part| part.to_string() == "cpu")
}

/// Whether `range` admits exactly one release.
pub fn is_pin(range: &VersionRange) -> bool {
    range.bounding_range().is_some_and(|(low, high)| match (low, high) {
        (std::ops::Bound::Included(low), std::ops::Bound::Included(high)) => {
            low.clone().without_local() == high.clone().without_local()
        }
        _ => false,
    })
}

/// `range` in the words of specifiers: `==2.9.1` rather than the interval up to its last local version.
pub fn describe(range: &VersionRange) -> String {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    if *range == Ranges::full() {
        return "any version".to_owned();
    }
    if range.is_empty() {
        return "no version".to_owned();
    }
    let parts: Vec<String> = range
        .iter()
        .map(|bounds| match bounds {
            (Included(low), Included(high)) if plain(low) == plain(high) => {
                format!("=={}", plain(low))
            }
            (low, high) => {
                let low = match low {
                    Included(version) => format!(">={}", plain(version)),
                    Excluded(version) => format!(">{}", plain(version)),
                    Unbounded => String::new(),
                };
                let high = match high {
                    Included(version) => format!("<={}", plain(version)),
                    Excluded(version) => format!("<{}", plain(version)),
                    Unbounded => String::new(),
                };
                [low, high].iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(",")
            }
        })
        .collect();
    parts.join(" or ")
}

/// `version` as a person wrote it: without the bounds that only ranges need.
fn plain(version: &Version) -> Version {
    let upper = version.local().last() == Some(&LocalSegment::Number(u64::MAX));
    let version = if upper { version.clone().without_local() } else { version.clone() };
    let version = if version.dev() == Some(0) { version.with_dev(None) } else { version };
    // Taking away what is not there would be a fault: a post-release has no upper bound, a pre-release no lower one.
    let version = if Version::min(&version).is_some() { version.with_min(None) } else { version };
    if Version::max(&version).is_some() { version.with_max(None) } else { version }
}

fn with_every_local(version: &Version) -> Version {
    version.clone().with_local(vec![LocalSegment::Number(u64::MAX)])
}

fn range_of_one(specifier: &VersionSpecifier) -> VersionRange {
    let version = specifier.version();
    // No release has such a number, and its successor does not exist.
    if version.release().contains(&u64::MAX) {
        return Ranges::empty();
    }
    match specifier.operator() {
        Operator::Equal => release(version),
        Operator::ExactEqual => Ranges::singleton(version.clone()),
        Operator::NotEqual => release(version).complement(),
        Operator::LessThanEqual => Ranges::lower_than(with_every_local(version)),
        Operator::LessThan if !version.any_prerelease() => {
            Ranges::strictly_lower_than(version.clone().with_dev(Some(0)))
        }
        Operator::GreaterThan if version.is_post() && !version.is_dev() => {
            Ranges::strictly_higher_than(with_every_local(version))
        }
        _ => Ranges::from(specifier.clone()),
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use pep440_rs::{Version, VersionSpecifiers};

    use super::{describe, range_of};

    fn contains(specifiers: &str, version: &str) -> bool {
        let specifiers = VersionSpecifiers::from_str(specifiers).expect("specifiers");
        range_of(&specifiers).contains(&Version::from_str(version).expect("a version"))
    }

    #[test]
    fn specifiers_admit_what_packaging_admits() {
        for (specifiers, version, admitted) in [
            ("==2.9.1", "2.9.1+cu128", true),
            ("==2.9.1+cu128", "2.9.1", false),
            ("===2.9.1", "2.9.1+cu128", false),
            ("!=2.9.1", "2.9.1+cu128", false),
            ("<=2.9.1", "2.9.1+cu128", true),
            ("<2.0", "2.0rc1", false),
            ("<2.0", "2.0.dev0", false),
            ("<2.0rc1", "2.0b1", true),
            (">1.7", "1.7.post1", false),
            (">1.7", "1.7+local", false),
            (">1.7.post1", "1.7.post1+local", false),
            (">1.7.post1", "1.7.post2", true),
            ("~=2.2", "2.9", true),
            ("~=2.2", "3.0", false),
            ("==2.10.*", "2.10.0+cu128", true),
            ("==2.10.*", "2.1.0", false),
            (">=2", "2.0.0", true),
        ] {
            assert_eq!(contains(specifiers, version), admitted, "{version} in {specifiers}");
        }
    }

    #[test]
    fn bounds_of_any_kind_can_be_described() {
        for specifiers in [
            "<2.0.dev3",
            ">2.0.dev3",
            "<2.0rc1",
            ">2.0rc1",
            "!=1.0.dev1",
            "<2.0",
            "!=2.0.*",
            ">=1.0.post1",
            ">1.0.post1",
        ] {
            let parsed = VersionSpecifiers::from_str(specifiers).expect("specifiers");
            let range = range_of(&parsed);
            assert!(!describe(&range).is_empty() && !describe(&range.complement()).is_empty(), "{specifiers}");
        }
    }

    #[test]
    fn ranges_are_described_as_specifiers() {
        let nothing = VersionSpecifiers::from_str(">=3,<2").expect("specifiers");
        assert_eq!(describe(&range_of(&nothing)), "no version");
        for specifiers in ["==2.9.1", ">=2.0,<3.0", "<2.0", ">=1.5", "<=2.9.1", ">=1.0.post1"] {
            let parsed = VersionSpecifiers::from_str(specifiers).expect("specifiers");
            assert_eq!(describe(&range_of(&parsed)), specifiers);
        }
    }
}
