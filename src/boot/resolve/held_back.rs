//! Releases that are behind the newest one for this Python, and who holds them there: of packages that the profile
//! names any, of others those that are a major version behind.

use crate::boot::resolve::HeldBack;
use crate::boot::resolve::package::{Package, Solution};
use crate::boot::resolve::provider::Provider;
use crate::core::diag::Failure;
use crate::core::model::catalog::{Admission, PrereleaseRule};
use crate::core::model::{PackageName, Version, VersionRange};

/// The new packages of `solution` that are held back, by name. What the profile pins or bounds itself is its wish.
pub(super) fn held_back(provider: &Provider<'_>, solution: &Solution) -> Result<Vec<HeldBack>, Failure> {
    let mut all = Vec::new();
    for (package, version) in solution {
        let Package::Distribution(name) = package else { continue };
        let is_here = provider.present(name).is_some_and(|present| present.version == *version);
        // CUDA's libraries are released with their frameworks.
        if is_here || provider.question.matrix.is_cuda_library(name) {
            continue;
        }
        let admission = Admission { yanked: false, prereleases: PrereleaseRule::Refused };
        let listing = provider.listing(name)?;
        let newest = listing.as_ref().and_then(|listing| listing.choose(&VersionRange::full(), admission));
        let is_named = provider.wanted_as(name).next().is_some();
        let is_behind = |newest: &Version| is_major(version, newest) || is_named && newest > version;
        let Some(newest) = newest.map(|newest| newest.version.clone()).filter(is_behind) else { continue };
        let is_wish = provider.wanted_as(name).any(|one| !provider.wanted_range(one).contains(&newest));
        if is_wish || !provider.constrained(name, &VersionRange::full()).contains(&newest) {
            continue;
        }
        let by = holders(provider, solution, name, &newest);
        let locked = provider.question.preferred.get(name) == Some(version);
        let is_fallback = is_named && by.is_empty() && !locked && is_major(version, &newest);
        all.push(HeldBack { name: name.clone(), version: version.clone(), newest, by, locked, is_fallback });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Whether `newest` is a major version ahead; before 1.0, two minors.
fn is_major(version: &Version, newest: &Version) -> bool {
    let (own, other) = ((version.epoch(), part(version, 0)), (newest.epoch(), part(newest, 0)));
    other > own || own == (0, 0) && other == own && part(newest, 1) > part(version, 1) + 1
}

fn part(version: &Version, at: usize) -> u64 {
    version.release().get(at).copied().unwrap_or(0)
}

/// Who asks for something else than `newest`: distributions of the answer; none where the machine or a fact about the
/// release does.
fn holders(provider: &Provider<'_>, solution: &Solution, name: &PackageName, newest: &Version) -> Vec<PackageName> {
    let edges = provider.edges.borrow();
    let mut all: Vec<PackageName> = solution
        .iter()
        .filter_map(|(package, version)| {
            let parent = package.name().filter(|parent| *parent != name)?;
            let of = edges.get(&(package.clone(), version.clone()))?;
            let excludes = of.iter().any(|(child, range)| child.name() == Some(name) && !range.contains(newest));
            excludes.then(|| parent.clone())
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::is_major;

    #[test]
    fn a_major_version_is_one_that_people_notice() {
        let ahead = |version: &str, newest: &str| {
            is_major(&version.parse().expect("a version"), &newest.parse().expect("a version"))
        };
        assert!(
            ahead("1.26.4", "2.5.5") && ahead("0.4.0", "0.6.1") && ahead("0.9", "1.0") && ahead("2024.1", "2026.2")
        );
        assert!(!ahead("2.0.2", "2.5.5") && !ahead("0.22.1", "0.23.0") && !ahead("2.0", "2.0"));
    }
}
