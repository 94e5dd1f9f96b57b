//! Moves files aside that would stop an installer, before it runs.

use std::collections::BTreeMap;

use crate::boot::apply::installer_leftovers::sweep;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::TouchedFiles;
use crate::boot::marker::Marker;
use crate::boot::plan::Change;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::{PackageName, Version};

impl Work<'_> {
    /// Removes links that lead nowhere from the places of packages that change: installers would write through them.
    pub(super) fn remove_dead_links(&self, touched: &TouchedFiles) -> Result<(), Failure> {
        for place in touched.keys() {
            let Some(target) = files::link_of(place) else { continue };
            // What can't be looked at for another reason may be there.
            if !place.is_missing() && !place.look().is_err_and(|error| files::is_loop(&error)) {
                continue;
            }
            files::remove_if_there(place)?;
            let (place, target) = (place.display(), target.display());
            self.session.say(&format!("removed the broken link `{place}`: its target `{target}` does not exist"));
        }
        Ok(())
    }

    /// Moves aside what killed installers have left, none of which is a package.
    pub(super) fn clear_leftovers(&self) -> Result<(), Failure> {
        self.sweep(&BTreeMap::new())
    }

    /// Moves aside what installers would stumble over; `counts` tells the version of a change that is installed now.
    pub(super) fn clear_the_way(&self, counts: &dyn Fn(&Change) -> Option<Version>) -> Result<(), Failure> {
        let changes = self.planned.decision.plan.changes.iter();
        let mut changed: BTreeMap<PackageName, Option<Version>> =
            changes.map(|change| (change.name.clone(), counts(change))).collect();
        // What an apply that was killed has left of a package may be no distribution at all.
        for name in self.planned.marker.iter().flat_map(Marker::doubted) {
            if !self.planned.seen.machine.installed.contains_key(name) {
                changed.entry(name.clone()).or_default();
            }
        }
        self.sweep(&changed)
    }

    fn sweep(&self, changed: &BTreeMap<PackageName, Option<Version>>) -> Result<(), Failure> {
        for swept in sweep(self.layout, changed)? {
            self.session.say(&format!("moved aside: {swept}"));
        }
        Ok(())
    }
}
