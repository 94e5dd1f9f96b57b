//! What the files of distributions have looked like whenever they were right, indexed by both: thousands of files are
//! looked up.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::boot::files::{Hashed, HashedDistribution, version_of};
use crate::core::host::stamps::Stamp;
use crate::core::model::{PackageName, Version};

/// The index.
#[derive(Debug, Default)]
pub(super) struct KnownLooks {
    owners: Vec<(PackageName, Option<Version>)>,
    /// The owners that had such a file, by its place and its look.
    looks: HashMap<(PathBuf, Stamp), Vec<usize>>,
}

impl KnownLooks {
    /// Of all that is in `hashed`.
    pub(super) fn of(hashed: [&Hashed; 2]) -> Self {
        let mut known = Self::default();
        for (name, one) in hashed.into_iter().flat_map(|hashed| &hashed.distributions) {
            let owner = known.owners.len();
            known.owners.push((name.clone(), version_of(&one.info)));
            for look in HashedDistribution::looks(one) {
                known.looks.entry(look).or_default().push(owner);
            }
        }
        known
    }

    /// Those that had a right file at `place` that looked like `stamp`, each with its version.
    pub(super) fn owners(&self, place: &Path, stamp: Stamp) -> impl Iterator<Item = &(PackageName, Option<Version>)> {
        let owners = self.looks.get(&(place.to_owned(), stamp));
        owners.into_iter().flatten().map(|owner| &self.owners[*owner])
    }
}
