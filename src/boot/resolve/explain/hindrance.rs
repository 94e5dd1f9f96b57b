//! What kind of hindrance a conflict is, for those who tell more than its sentence.

use std::collections::BTreeSet;

use crate::boot::resolve::Question;
use crate::boot::resolve::explain::conflict::{Conflict, Fix};
use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::explain::wording::Wording;
use crate::core::model::catalog::{Rejection, pythons_of};
use crate::core::model::{PackageName, Version};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// A release has no wheel for the platform, whichever the Python.
    Source(PackageName, Version),
    /// Releases are for other Pythons.
    Python,
    Other,
}

impl Conflict {
    /// All packages that play a part.
    pub(in crate::boot::resolve) fn names(&self) -> BTreeSet<PackageName> {
        self.facts.iter().flat_map(Fact::names).cloned().collect()
    }

    /// A requirement without which the rest was solved. Of several the last: others often depend on the first.
    pub(in crate::boot::resolve) fn without(&self) -> Option<&PackageName> {
        self.fixes.iter().rev().find_map(|fix| match fix {
            Fix::Without { name } => Some(name),
            _ => None,
        })
    }

    /// What kind of hindrance it is.
    pub(in crate::boot::resolve) fn hindrance(&self, question: Question<'_>) -> Hindrance {
        let wording = Wording { question };
        for fact in &self.facts {
            let Fact::NoVersion { package, range } = fact else { continue };
            let Some((name, listing)) = package.name().and_then(|name| Some((name, wording.listing(name)?))) else {
                continue;
            };
            if !wording.only_rejected(name, &listing, range) {
                continue;
            }
            match listing.rejected.iter().find(|(version, _)| range.contains(version)) {
                Some((_, Rejection::Python(_))) => return Hindrance::Python,
                Some((_, Rejection::Tags(tags))) if !pythons_of(tags).is_empty() => return Hindrance::Python,
                Some((version, Rejection::NoWheel | Rejection::Tags(_))) => {
                    return Hindrance::Source(name.clone(), version.clone());
                }
                _ => {}
            }
        }
        Hindrance::Other
    }
}
