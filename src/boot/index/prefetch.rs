//! What the solver will probably ask for next. Both catalogs read it before they are asked: one while it waits for the
//! network, the other on a second core. A wrong guess costs a request or a file read in vain; it changes no answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::boot::index::Scope;
use crate::core::model::catalog::{Admission, Candidate, Listing, PrereleaseRule, Wish};
use crate::core::model::metadata::Metadata;
use crate::core::model::{ExtraName, PackageName, VersionRange};

/// The wishes so far, by package and extra.
#[derive(Default)]
pub(super) struct Foresight(Mutex<HashMap<(PackageName, Option<ExtraName>), VersionRange>>);

impl Foresight {
    /// `wish`, narrowed by all that was wished of its package before; `None` where that leads to nothing new, or to
    /// what is known without looking.
    pub(super) fn narrow(&self, scope: &Scope, mut wish: Wish) -> Option<Wish> {
        if let Some(bound) = scope.bounds.get(&wish.package) {
            wish.range = bound.intersection(&wish.range);
        }
        let key = (wish.package.clone(), wish.extra.clone());
        let mut wishes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = wishes.get(&key) {
            let range = known.intersection(&wish.range);
            if range == *known {
                return None;
            }
            wish.range = range;
        }
        if wish.range.is_empty() {
            return None;
        }
        wishes.insert(key, wish.range.clone());
        let preferred = scope.preferred.get(&wish.package).filter(|(version, _)| wish.range.contains(version));
        (!preferred.is_some_and(|(_, known)| *known)).then_some(wish)
    }
}

/// The wheel of `listing` that the solver would choose.
pub(super) fn favourite<'l>(scope: &Scope, wish: &Wish, listing: &'l Listing) -> Option<&'l Candidate> {
    let admission = Admission { prereleases: PrereleaseRule::Last, yanked: false };
    let preferred = scope.preferred.get(&wish.package).filter(|(version, _)| wish.range.contains(version));
    let preferred = preferred.and_then(|(version, _)| listing.get(version));
    preferred.or_else(|| listing.choose(&wish.range, admission)).filter(|one| !one.is_source())
}

/// What the solver would wish for, had it chosen the wheel with this metadata.
pub(super) fn consequences(scope: &Scope, wish: &Wish, metadata: &Metadata) -> Vec<Wish> {
    let of_extra = wish.extra.as_ref().and_then(|extra| metadata.with_extra(extra).ok());
    let mut wishes = Vec::new();
    for requirement in of_extra.as_deref().unwrap_or(&metadata.requires) {
        let own = requirement.name == wish.package && requirement.extras.is_empty();
        if own || !requirement.applies(&scope.markers, wish.extra.as_ref()) {
            continue;
        }
        let extras = requirement.extras.iter().cloned().map(Some);
        wishes.extend(std::iter::once(None).chain(extras).map(|extra| Wish {
            package: requirement.name.clone(),
            range: requirement.range.clone(),
            extra,
        }));
    }
    wishes
}
