//! What the ledger says of an apply: while it is under way, when it is done, when it has failed.

use std::path::PathBuf;

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::run_script::{builds_saw, unkept};
use crate::boot::files::{contents_of, installed_contents};
use crate::boot::ledger::{Before, Hand, Ledger, Step};
use crate::boot::machine::find_info;
use crate::boot::planned::Planned;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::place_of;
use crate::core::model::PackageName;

impl Work<'_> {
    /// What the plan does, as the ledger writes it.
    pub(super) fn steps(&self) -> Vec<Step> {
        let own: Vec<PathBuf> = self.layout.folders().into_iter().map(|folder| place_of(folder)).collect();
        let changes = self.planned.decision.plan.changes.iter();
        changes
            .map(|change| {
                let package = change.package.as_ref();
                let becomes = package.map(|one| (one.version.clone(), one.wheel().and_then(|wheel| wheel.sha256)));
                Step { name: change.name.clone(), present: self.before(&change.name, &own), becomes }
            })
            .collect()
    }

    /// What is installed of `name` before this apply, in the folders `own`. What lies elsewhere on the path stays
    /// there, and shows again once the package has gone.
    fn before(&self, name: &PackageName, own: &[PathBuf]) -> Option<Before> {
        let one = self.planned.seen.machine.installed.get(name)?;
        if one.location.as_deref().map(place_of).is_some_and(|folder| !own.contains(&folder)) {
            return None;
        }
        let requires = one.requires.as_ref().map(|recorded| recorded.lines().to_vec()).unwrap_or_default();
        let (version, installer) = (one.version.clone(), one.installer.clone());
        let info = one.location.as_deref().and_then(|site| find_info(site, name).ok().flatten());
        let record = info.and_then(|info| files::read_optional(&info.join("RECORD")).ok().flatten());
        let contents = record.as_deref().map(contents_of);
        let edited = self.planned.edited.iter().filter(|edited| edited.name == *name);
        let edited = edited.flat_map(|edited| edited.files.iter().map(|edit| edit.path.clone())).collect();
        Some(Before { version, installer, requires, direct: one.direct, contents, edited })
    }

    /// The ledger when all is done.
    pub(super) fn settled_ledger(&self, steps: &[Step]) -> Ledger {
        let Planned { decision, goal, seen, wish, .. } = self.planned;
        let mut ledger = seen.ledger.after(steps, &wish.title, goal.digest());
        if goal.is_restore() {
            ledger = ledger.restored();
        } else {
            ledger = ledger.with_edits_of(&seen.ledger, &|name| self.planned.target.package(name).is_some());
        }
        // A package that another tool has changed or removed is not colab-boot's any more once the profile drops it.
        let target = &self.planned.target;
        ledger.distributions.retain(|name, _| {
            let installed = seen.machine.installed.get(name).map(|one| &one.version);
            target.package(name).is_some()
                || steps.iter().any(|step| step.name == *name)
                || matches!(seen.ledger.hand(name, installed), Hand::Ours(_))
        });
        let python = seen.interpreter().map(ToOwned::to_owned);
        ledger.python = python.unwrap_or_default();
        ledger.environment = (!wish.environment.is_empty()).then(|| wish.title.clone());
        ledger.debian.extend(decision.plan.apt.iter().map(|step| step.name.clone()));
        ledger.debian.sort();
        ledger.debian.dedup();
        ledger
    }

    /// The same with what builds of this apply have seen and made. Says which built wheels could not be kept.
    pub(super) fn with_builds(&self, mut ledger: Ledger) -> Result<Ledger, Failure> {
        for package in self.planned.decision.plan.incoming().filter(|package| package.is_source()) {
            let contents = installed_contents(self.layout, &package.name)?;
            ledger.distributions.entry(package.name.clone()).and_modify(|entry| entry.contents = contents);
        }
        for name in unkept(self.held) {
            let folder = self.built_wheels()?;
            self.session.say(&format!("the wheel built of {name} could not be kept in {}", folder.display()));
        }
        for (name, saw) in builds_saw(self.held) {
            ledger.distributions.entry(name).and_modify(|entry| entry.built_with = saw);
        }
        Ok(ledger)
    }

    /// The ledger when the install has failed. What colab-boot itself has switched is undone; what another installer
    /// has done is not known.
    pub(super) fn ledger_of_failure(&self, steps: &[Step]) -> Ledger {
        let Planned { goal, seen, wish, .. } = self.planned;
        let done = if self.is_own() { &[] } else { steps };
        seen.ledger.during(done, &wish.title, goal.digest())
    }
}
