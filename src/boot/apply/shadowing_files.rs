//! What Python would take instead of the packages that an apply installs: looked for before the first change,
//! and after the last.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::Wheels;
use crate::boot::files::{Downloaded, Intruder, intruders_before};
use crate::boot::planned::InFront;
use crate::boot::script::ENVIRONMENT_FILE;
use crate::boot::seen::{entry, hidden, hidden_by_user};
use crate::boot::situation::{Importable, modules_of};
use crate::core::diag::{Failure, Finding, Kind};
use crate::core::model::PackageName;
use crate::core::model::contents::installed_path;

impl Work<'_> {
    /// Whether a profile wants the packages: what comes back is not used less than it was before.
    pub(super) const fn is_wanted(&self) -> bool {
        !self.planned.goal.is_restore()
    }

    /// `findings`, or else what something that runs when Python starts hides.
    pub(super) fn with_hidden(&self, findings: Vec<Finding>, wheels: &Wheels) -> Vec<Finding> {
        if findings.is_empty() && self.is_wanted() { self.hidden_at_start(wheels) } else { findings }
    }

    /// Files of the user's that Python would take before those of `wheels`: found before anything changes.
    pub(super) fn hidden_before(&self, wheels: &Wheels) -> Vec<Finding> {
        let Some(tag) = self.cache_tag().filter(|_| self.is_wanted()) else { return Vec::new() };
        let mut intruders = Vec::new();
        for (name, wheel) in wheels {
            let places = wheel.files.members.iter().filter_map(|member| installed_path(&member.path));
            let paths: Vec<String> = places.filter(|path| !path.starts_with('<')).collect();
            let found = self.layout.folders().into_iter().flat_map(|site| intruders_before(site, &paths, &tag));
            intruders.extend(found.map(|one| (name.clone(), one)));
        }
        let front = InFront::of(self.session, &self.planned.seen, &self.planned.loaded, &self.planned.folders);
        let first = wheels.iter().filter_map(|(name, wheel)| front.hiding(name, &modules_of(wheel.entries())));
        hidden_by_user(&self.planned.seen, &intruders).into_iter().chain(first).collect()
    }

    /// Fails where one of two distributions has modules that Python takes from the other, before anything changes. What
    /// comes back was there together before.
    pub(super) fn refuse_hidden(&self, clashes: &[Finding]) -> Result<(), Failure> {
        let errors: Vec<Finding> = clashes.iter().filter(|finding| finding.is_error()).cloned().collect();
        if errors.is_empty() || !self.is_wanted() {
            return Ok(());
        }
        Err(Failure::from_findings(Kind::Answer, errors))
    }

    /// Files that Python takes before what was installed, but for those of the new `wheels`: these are judged before
    /// anything changes, and may be accepted.
    pub(super) fn hidden_after(&self, mut intruders: Vec<(PackageName, Intruder)>, wheels: &Wheels) -> Vec<Finding> {
        if intruders.is_empty() {
            return Vec::new();
        }
        let members = wheels.values().flat_map(|wheel| &wheel.files.members);
        let paths = members.filter_map(|member| installed_path(&member.path));
        let places: BTreeSet<PathBuf> =
            paths.flat_map(|path| self.layout.folders().into_iter().map(move |site| site.join(&path))).collect();
        intruders.retain(|(_, one)| !places.contains(&entry(&one.place)));
        self.session.matrix.without_handed_over(hidden(&self.planned.seen, &intruders))
    }

    /// Modules of the new `wheels` that Python finds elsewhere, for something that runs when it starts.
    fn hidden_at_start(&self, wheels: &Wheels) -> Vec<Finding> {
        let startup = self.session.startup_files(&self.planned.seen, self.layout);
        let suspects = startup.keys().map(PathBuf::as_path).filter(|path| !path.ends_with(ENVIRONMENT_FILE));
        let suspects: Vec<&Path> = suspects.collect();
        if suspects.is_empty() {
            return Vec::new();
        }
        let wanted = |(name, wheel): (&PackageName, &Arc<Downloaded>)| Importable {
            name: name.clone(),
            modules: modules_of(wheel.entries()),
            location: self.layout.purelib.clone(),
        };
        let wanted: Vec<Importable> = wheels.iter().map(wanted).collect();
        self.session.found_elsewhere(&self.planned.seen, &wanted, suspects.into_iter()).findings
    }
}
