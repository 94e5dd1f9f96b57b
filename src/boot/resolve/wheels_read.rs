//! What was read of wheels during a solve, for all of its searches: the one that answers, and those for explanations
//! and fixes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::core::matrix::{Linkage, Overlay};
use crate::core::model::{PackageName, Version};

/// Facts that no row holds.
#[derive(Debug, Default)]
pub struct Learned {
    linkages: RefCell<BTreeMap<(PackageName, Version), Linkage>>,
    overlays: RefCell<Vec<Overlay>>,
}

impl Learned {
    /// That `overlays` count from the beginning.
    pub fn from_overlays<'a>(overlays: impl IntoIterator<Item = &'a Overlay>) -> Self {
        Self { overlays: RefCell::new(overlays.into_iter().cloned().collect()), ..Self::default() }
    }

    /// What a release was seen to be linked against.
    pub(super) fn linkage(&self, name: &PackageName, version: &Version) -> Option<Linkage> {
        self.linkages.borrow().get(&(name.clone(), version.clone())).cloned()
    }

    /// Whether a release of `name` was seen to be linked against something.
    pub(super) fn is_linked(&self, name: &PackageName) -> bool {
        self.linkages.borrow().iter().any(|((known, _), linkage)| known == name && !linkage.is_empty())
    }

    pub(super) fn keep(&self, name: &PackageName, version: &Version, linkage: Linkage) {
        self.linkages.borrow_mut().insert((name.clone(), version.clone()), linkage);
    }

    /// Has `overlay` count from now on. `false` where it did before.
    pub(super) fn bind(&self, overlay: Overlay) -> bool {
        let mut overlays = self.overlays.borrow_mut();
        let is_new = !overlays.contains(&overlay);
        if is_new {
            overlays.push(overlay);
        }
        is_new
    }

    /// The requirements of releases of `package` that were found.
    pub(super) fn overlays_of(&self, package: &PackageName) -> Vec<Overlay> {
        self.overlays.borrow().iter().filter(|row| row.package == *package).cloned().collect()
    }
}
