//! After an install that failed: what was there before comes back, where its wheels can still be had.

use std::path::Path;

use crate::boot::apply::kept_files::KeptFiles;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::run_script::Failed;
use crate::boot::files::{FileFault, Held, check_distributions};
use crate::boot::index::IndexSettings;
use crate::boot::ledger::Step;
use crate::boot::lock::LockedPackage;
use crate::boot::plan::{Change, Kind, Plan};
use crate::boot::retrieval::wheels_of;
use crate::boot::script::Part;
use crate::core::diag::{Failure, Kind as Ended};
use crate::core::model::{PackageName, Version};

impl Work<'_> {
    /// `failure`, once files aside are back and the ledger says how far the install came.
    pub(super) fn after_failure(&self, failure: Failure, kept: KeptFiles, steps: &[Step]) -> Failure {
        match self.settle_failure(kept, steps) {
            Ok(()) => failure,
            Err(error) => failure.cause(error.to_string()),
        }
    }

    fn settle_failure(&self, mut kept: KeptFiles, steps: &[Step]) -> Result<(), Failure> {
        self.undo_switch()?;
        let ledger = self.ledger_of_failure(steps)?;
        let back = self.return_kept(&mut kept, &ledger).map(drop);
        self.state.write_ledger(&kept.in_ledger(ledger)).and(back)
    }

    /// What becomes of a failed install: its log is kept, and what was there before comes back.
    pub(super) fn failed(&self, mut failed: Failed, settings: &IndexSettings, folder: &Path) -> Failure {
        // The next run of a script writes its own log.
        let kept = failed.log.with_file_name("apply.failed.log");
        if std::fs::rename(&failed.log, &kept).is_ok() {
            failed.log = kept;
        }
        if let Err(failure) = self.undo_switch() {
            return failure.cause(format!("the step `{}` failed earlier", failed.step));
        }
        let led_here = format!("the step `{}` failed earlier; its log is `{}`", failed.step, failed.log.display());
        match self.roll_back(settings, folder) {
            Ok(restored) => failed.described(restored),
            Err(stopped) => stopped.cause(led_here),
        }
    }

    /// Installs the versions of before for whatever is not there any more. Returns what became of each, for people; the
    /// failure that led here is reported by the caller, so trouble here is one more line. Fails if a signal ends it.
    pub(super) fn roll_back(&self, settings: &IndexSettings, folder: &Path) -> Result<Vec<String>, Failure> {
        // What lies elsewhere on the path, such as Debian's own, is not touched; what came from an address can't be had
        // by name.
        let installed = &self.planned.seen.machine.installed;
        let is_here = |name: &PackageName| {
            installed.get(name).is_some_and(|one| {
                let location = one.location.as_ref();
                !one.direct && location.is_some_and(|folder| self.layout.folders().contains(&folder))
            })
        };
        let changes = self.planned.decision.plan.changes.iter().filter(|change| is_here(&change.name));
        let before: Vec<_> = changes.filter_map(|change| Some((&change.name, change.from.as_ref()?))).collect();
        if before.is_empty() {
            return Ok(vec!["none of the packages was installed before".to_owned()]);
        }
        let held = before.iter().map(|(name, version)| Held { layout: self.layout, name, version, wheel: None });
        let faults = check_distributions(held.collect(), usize::MAX);
        let gone = before.into_iter().zip(faults).filter(|((name, _), faults)| self.has_new(name, faults));
        let gone: Vec<(PackageName, Version)> =
            gone.map(|((name, version), _)| (name.clone(), version.clone())).collect();
        if gone.is_empty() {
            return Ok(vec!["the earlier versions are still installed (compared with their RECORD)".to_owned()]);
        }
        // The caller reports the failure that led here.
        let before = wheels_of(&gone, || self.sources(settings), settings).unwrap_or_default();
        let (wheels, lost): (Vec<_>, Vec<_>) =
            gone.iter().partition(|(name, _)| before.iter().any(|one| one.name == *name));
        let mut lines = Vec::new();
        if !before.is_empty() {
            let names: Vec<String> = wheels.iter().map(|(name, version)| format!("{name} {version}")).collect();
            lines.push(match self.bring_back(settings, &before, folder) {
                Ok(()) => format!("reinstalled: {}", names.join(", ")),
                Err(failure) if matches!(failure.kind, Ended::Signal(_)) => return Err(failure),
                Err(failure) => format!("could not restore {}: {failure}", names.join(", ")),
            });
        }
        if !lost.is_empty() {
            let names: Vec<String> = lost.iter().map(|(name, version)| format!("{name} {version}")).collect();
            lines.push(format!(
                "some packages can't be restored, because no index has a wheel of the previous version: {}",
                names.join(", ")
            ));
        }
        Ok(lines)
    }

    /// Whether some of `faults` were not there before the install: edits of the user's were.
    fn has_new(&self, name: &PackageName, faults: &[FileFault]) -> bool {
        let edited = self.planned.edited.iter().filter(|edited| edited.name == *name);
        let edited: Vec<&str> = edited.flat_map(|edited| &edited.files).map(|edit| edit.path.as_str()).collect();
        faults.iter().any(|fault| !matches!(fault, FileFault::Changed(path) if edited.contains(&path.as_str())))
    }

    fn bring_back(&self, settings: &IndexSettings, before: &[LockedPackage], folder: &Path) -> Result<(), Failure> {
        // What was there before is brought back, withdrawn or not.
        let packages: Vec<&LockedPackage> = before.iter().collect();
        self.sources(settings)?.fetch(&packages, folder, self.manner.style)?;
        let plan = Plan {
            apt: Vec::new(),
            changes: before.iter().map(installation_of).collect(),
            ..self.planned.decision.plan.clone()
        };
        self.clear_the_way(&|_| None)?;
        match self.run(folder, &plan, Part::Packages)? {
            Ok(()) => Ok(()),
            Err(failed) => {
                Err(Failure::world(format!("the step `{}` failed with exit code {}", failed.step, failed.code)))
            }
        }
    }
}

fn installation_of(package: &LockedPackage) -> Change {
    Change {
        name: package.name.clone(),
        kind: Kind::Replace,
        from: None,
        to: Some(package.version.clone()),
        package: Some(package.clone()),
        reason: None,
    }
}
