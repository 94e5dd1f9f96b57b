//! Versions as the solver counts them. A release knows which one comes next below it, so that a set of neighbours is
//! one interval: where a thousand nightly builds are ruled out one after the other, each statement about those before
//! it stays as short as the first.

use std::cmp::Ordering;
use std::fmt::{Display, Formatter, Result as FmtResult};
use std::ops::Bound;

use pubgrub::{Ranges, VersionSet};

use crate::core::model::{Version, VersionRange};

/// A version, and the next lower one that could be chosen. Two are equal if their versions are.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub version: Version,
    /// `None` where nothing is lower, or nobody looked.
    pub below: Option<Version>,
}

impl From<Version> for Release {
    fn from(version: Version) -> Self {
        Self { version, below: None }
    }
}

impl PartialEq for Release {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Release {}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> Ordering {
        self.version.cmp(&other.version)
    }
}

impl std::hash::Hash for Release {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.version.hash(state);
    }
}

impl Display for Release {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        Display::fmt(&self.version, f)
    }
}

/// A set of versions. Its unions hold the numbers between two neighbours, too: no release has these, so nothing that is
/// said of them is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Releases(Ranges<Release>);

impl Releases {
    pub(super) fn of(range: &VersionRange) -> Self {
        let release = |version: &Version| version.clone().into();
        Self(range.iter().map(|(low, high)| (low.as_ref().map(release), high.as_ref().map(release))).collect())
    }

    pub(super) fn as_range(&self) -> VersionRange {
        let version = |release: &Release| release.version.clone();
        self.0.iter().map(|(low, high)| (low.as_ref().map(version), high.as_ref().map(version))).collect()
    }
}

impl Display for Releases {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        Display::fmt(&self.0, f)
    }
}

impl VersionSet for Releases {
    type V = Release;

    fn empty() -> Self {
        Self(Ranges::empty())
    }

    fn full() -> Self {
        Self(Ranges::full())
    }

    fn singleton(release: Release) -> Self {
        Self(Ranges::singleton(release))
    }

    fn complement(&self) -> Self {
        Self(self.0.complement())
    }

    fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0))
    }

    fn union(&self, other: &Self) -> Self {
        Self(joined(self.0.union(&other.0)))
    }

    fn contains(&self, release: &Release) -> bool {
        self.0.contains(release)
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    fn subset_of(&self, other: &Self) -> bool {
        self.0.subset_of(&other.0)
    }
}

/// `range`, with intervals joined that have no release between them.
fn joined(range: Ranges<Release>) -> Ranges<Release> {
    let mut before = None;
    let apart = range.iter().all(|(low, high)| !before.replace(high).is_some_and(|before| touch(before, low)));
    if apart {
        return range;
    }
    let mut whole: Vec<(Bound<Release>, Bound<Release>)> = Vec::new();
    for (low, high) in range.iter() {
        match whole.last_mut() {
            Some(last) if touch(&last.1, low) => last.1 = high.clone(),
            _ => whole.push((low.clone(), high.clone())),
        }
    }
    whole.into_iter().collect()
}

fn touch(high: &Bound<Release>, low: &Bound<Release>) -> bool {
    match (high, low) {
        (Bound::Included(high), Bound::Included(low)) => low.below.as_ref() == Some(&high.version),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Release, Releases};
    use pubgrub::VersionSet;

    fn release(version: &str, below: Option<&str>) -> Release {
        let parsed = |text: &str| text.parse().expect(text);
        Release { version: parsed(version), below: below.map(parsed) }
    }

    #[test]
    fn neighbours_are_one_interval_and_others_are_not() {
        let one = |version, below| Releases::singleton(release(version, below));
        let newest = one("3.0", Some("2.0"));
        let both = newest.union(&one("2.0", Some("1.0")));
        assert_eq!(both.0.iter().count(), 1);
        // In whichever order they come.
        assert_eq!(one("2.0", Some("1.0")).union(&newest), both);
        for version in ["3.0", "2.0"] {
            assert!(both.contains(&release(version, None)), "{version}");
        }
        assert!(!both.contains(&release("1.0", None)));
        let apart = newest.union(&one("1.0", None));
        assert_eq!(apart.0.iter().count(), 2);
        assert!(!apart.contains(&release("2.0", None)));
        assert_eq!(apart.union(&one("2.0", Some("1.0"))).0.iter().count(), 1);
        // What a profile rules out is no neighbour of a release.
        assert_eq!(both.complement().union(&both), Releases::full());
    }
}
