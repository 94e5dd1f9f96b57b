//! Files of packages that Python's own start rewrites: start-up files of an image add a company's certificates to
//! `certifi/cacert.pem`, for example. No repair lasts; what the start makes of them is taken for right, and named.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::shared_paths::{SharedPaths, with_shared};
use crate::boot::files::{FileFault, check_distributions, placed};
use crate::boot::lock::LockedPackage;
use crate::boot::situation::held;
use crate::core::diag::Failure;
use crate::core::host::digests::digest;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::{Moment, Stamp};
use crate::core::inspect::parse_record;
use crate::core::model::contents::installed_path;
use crate::core::model::{PackageName, Sha256};

impl Work<'_> {
    /// Takes what differs of `packages` for right, which were right before Python has `started`. Returns those files.
    pub(super) fn rewritten_by_start(
        &self,
        packages: &[&LockedPackage],
        started: Moment,
    ) -> Result<BTreeMap<PathBuf, PackageName>, Failure> {
        let held = packages.iter().map(|package| held(self.layout, self.state, package)).collect();
        let mut rewritten = BTreeMap::new();
        for (package, faults) in packages.iter().zip(check_distributions(held, usize::MAX)) {
            let paths: Option<BTreeSet<String>> = faults.into_iter().map(changed).collect();
            let Some(paths) = paths.filter(|paths| !paths.is_empty()) else { continue };
            let Some(wheel) = package.wheel().and_then(|wheel| wheel.sha256) else { continue };
            for place in self.allow(wheel, &paths, started)? {
                rewritten.insert(place, package.name.clone());
            }
        }
        Ok(rewritten)
    }

    /// Adds what files at `paths` hold now to what is kept of the RECORD of a wheel. Returns their places.
    fn allow(&self, wheel: Sha256, paths: &BTreeSet<String>, started: Moment) -> Result<Vec<PathBuf>, Failure> {
        let record = self.state.record_text(&wheel)?.unwrap_or_default();
        let entries: Vec<_> = parse_record(&record).into_iter().filter(|entry| paths.contains(&entry.path)).collect();
        let (mut allowed, mut places) = (SharedPaths::new(), Vec::new());
        for entry in &entries {
            let place = placed(std::slice::from_ref(entry), self.layout).next().map(|(place, _)| place);
            // What other environments have as well may have been edited there, while wheels still arrived.
            let is_own = |place: &PathBuf| place.look_at_entry().is_ok_and(|data| data.nlink() == 1);
            let place = place.filter(|place| is_own(place) || Stamp::of(place).is_since(started));
            let now = place.as_ref().and_then(|place| digest(place).ok()).map(|(sha256, _)| sha256);
            if let Some(((place, now), path)) = place.zip(now).zip(installed_path(&entry.path)) {
                let digests = entry.sha256.iter().chain(&entry.either).copied().chain([now]);
                allowed.entry(path).or_default().extend(digests);
                places.push(place);
            }
        }
        self.state.keep_record(&wheel, &with_shared(&record, &allowed))?;
        Ok(places)
    }
}

/// The path of a file that has other bytes; `None` for any other fault.
fn changed(fault: FileFault) -> Option<String> {
    if let FileFault::Changed(path) = fault { Some(path) } else { None }
}
