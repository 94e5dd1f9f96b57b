//! Which releases of a package may be chosen: by the profile's ranges and constraints, the matrix's floor, the policy
//! for pre-releases, and pins for yanked ones.

use pep440_rs::VersionSpecifiers;

use crate::boot::profile::{Prereleases, Wanted};
use crate::boot::resolve::Present;
use crate::boot::resolve::provider::Provider;
use crate::core::model::catalog::{Admission, PrereleaseRule};
use crate::core::model::version::{is_pin, range_of};
use crate::core::model::{PackageName, VersionRange};

impl<'a> Provider<'a> {
    /// The range that the profile gives `wanted`, with the matrix's floor where the profile does not go below it
    /// itself.
    pub(super) fn wanted_range(&self, wanted: &Wanted) -> VersionRange {
        if let Some(range) = self.variation.ranges.get(&wanted.name) {
            return range.clone();
        }
        let range = range_of(&wanted.specifiers);
        let floor =
            self.question.matrix.floor(&wanted.name).map(|(version, _)| VersionRange::higher_than(version.clone()));
        let raised = floor.map(|floor| floor.intersection(&range)).filter(|raised| !raised.is_empty());
        raised.unwrap_or(range)
    }

    /// How pre-releases and yanked files of `name` rank: by policy, and by whether the profile pins it.
    pub(super) fn admission(&self, name: &PackageName) -> Admission {
        let wanted = self.wanted_as(name).map(|one| &one.specifiers);
        let profile = self.question.profile;
        let bounds = [profile.override_of(name), profile.constraint_of(name)].into_iter().flatten();
        let own: Vec<&VersionSpecifiers> = wanted.chain(bounds.map(|bound| &bound.specifiers)).collect();
        let named = own.iter().flat_map(|one| one.iter()).any(|specifier| specifier.version().any_prerelease());
        Admission {
            yanked: own.iter().any(|one| is_pin(&range_of(one))),
            prereleases: match self.question.profile.policy.prereleases {
                Prereleases::Allow => PrereleaseRule::Equal,
                Prereleases::IfNecessary => PrereleaseRule::Last,
                Prereleases::Explicit if named => PrereleaseRule::Last,
                Prereleases::Explicit => PrereleaseRule::Refused,
            },
        }
    }

    /// What is installed, where it fits and may be kept.
    pub(super) fn keepable(&self, name: &PackageName, range: &VersionRange) -> Option<&'a Present> {
        // A wheel given by address is wanted as such, whatever has its name.
        let direct = || self.wanted_as(name).any(|one| one.direct.is_some());
        self.present(name).filter(|present| range.contains(&present.version) && !direct())
    }

    /// The versions that the profile's `[constraints]` leave of `range`.
    pub(super) fn constrained(&self, name: &PackageName, range: &VersionRange) -> VersionRange {
        let constraint = self.question.profile.constraint_of(name).filter(|_| !self.variation.unbound.contains(name));
        let range = constraint.map_or_else(|| range.clone(), |bound| range.intersection(&range_of(&bound.specifiers)));
        // Those of the profile's packages are in the requirement on them.
        let varied = self.variation.ranges.get(name).filter(|_| !self.question.profile.wants(name));
        varied.map_or_else(|| range.clone(), |varied| range.intersection(varied))
    }
}
