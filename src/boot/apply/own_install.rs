//! colab-boot's own installer within an apply: staged before the first change, switched by the script, and settled or
//! undone at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::apply::one_apply::{Repaired, Work};
use crate::boot::apply::prepared::Installer;
use crate::boot::apply::startup::not_starting;
use crate::boot::files::Downloaded;
use crate::boot::install::{Incoming, SWITCH, Staged, clean_up, commit, stage, strangers, undo};
use crate::boot::lock::LockedPackage;
use crate::boot::plan::Kind;
use crate::core::diag::{Failure, Finding};
use crate::core::host::{Invocation, files};
use crate::core::model::PackageName;

/// The list of what is staged, in the folder of the environment's state.
const STAGED: &str = "staged";

impl Work<'_> {
    /// Whether wheels are installed by colab-boot itself.
    pub(super) fn is_own(&self) -> bool {
        self.manner.installer == Installer::Own
    }

    /// Stages `wheels`, which lie in `folder`, and what goes without a successor; nothing for another installer.
    pub(super) fn stage(
        &self,
        packages: &[&LockedPackage],
        wheels: &BTreeMap<PackageName, Downloaded>,
        folder: &Path,
    ) -> Result<Option<Staged>, Failure> {
        if !self.is_own() {
            return Ok(None);
        }
        let profile = self.planned.goal.profile();
        let named: BTreeSet<&PackageName> =
            profile.into_iter().flat_map(|profile| &profile.wanted).map(|one| &one.name).collect();
        let mut paths = Vec::new();
        for package in packages {
            let Some((wheel, read)) = package.wheel().zip(wheels.get(&package.name)) else { continue };
            if let Some(sha256) = wheel.sha256 {
                paths.push((package, read, sha256, folder.join(&wheel.file)));
            }
        }
        let incoming = paths.iter().map(|(package, wheel, sha256, path)| Incoming {
            name: &package.name,
            version: &package.version,
            path,
            wheel,
            sha256: *sha256,
            requested: self.planned.goal.is_restore() || named.contains(&package.name),
        });
        let incoming: Vec<Incoming<'_>> = incoming.collect();
        let removed = self.planned.decision.plan.of_kind(Kind::Remove).map(|change| change.name.clone());
        let staged = stage(&incoming, removed.collect(), self.layout, &self.python()?)?;
        staged.write(&self.staged_path())?;
        Ok(Some(staged))
    }

    pub(super) fn staged_path(&self) -> PathBuf {
        self.held.join(STAGED)
    }

    fn journal(&self) -> PathBuf {
        self.held.join(SWITCH)
    }

    /// Brings back what was before the switch.
    pub(super) fn undo_switch(&self) -> Result<(), Failure> {
        if self.is_own() {
            undo(&self.journal(), self.layout)?;
        }
        Ok(())
    }

    /// What is new stays from here on, whatever happens.
    pub(super) fn commit_switch(&self) -> Result<(), Failure> {
        if self.is_own() { commit(&self.journal()) } else { Ok(()) }
    }

    /// Removes what was replaced, but for what others have put there.
    pub(super) fn clean_up_switch(&self) -> Result<(), Failure> {
        if !self.is_own() {
            return Ok(());
        }
        for (file, path) in strangers(&self.journal())? {
            self.keep_stranger(&file, &path)?;
        }
        files::remove_if_there(&self.staged_path())?;
        clean_up(&self.journal())
    }

    /// What tells the script which installer to take.
    pub(super) fn installer_variables(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut variables = vec![("COLAB_BOOT_INSTALLER".to_owned(), self.manner.installer.name().to_owned())];
        if self.is_own() {
            let program = files::link_of(Path::new("/proc/self/exe"));
            let program =
                program.ok_or_else(|| Failure::world("could not find this program's own file: there is no /proc"))?;
            variables.push(("COLAB_BOOT_PROGRAM".to_owned(), program.display().to_string()));
            variables.push(("COLAB_BOOT_STAGED".to_owned(), self.staged_path().display().to_string()));
        }
        Ok(variables)
    }

    /// Checks what was installed, by whichever installer.
    pub(super) fn check_result(
        &self,
        packages: &[&LockedPackage],
        wheels: &BTreeMap<PackageName, Downloaded>,
        staged: Option<&Staged>,
        folder: &Path,
    ) -> Result<Repaired, Failure> {
        match staged {
            Some(staged) => self.check_own(packages, wheels, staged),
            None => self.check_or_repair(packages, wheels, folder),
        }
    }

    /// Checks what was switched: Python has to start, and every file has to be as it was written.
    fn check_own(
        &self,
        packages: &[&LockedPackage],
        wheels: &BTreeMap<PackageName, Downloaded>,
        staged: &Staged,
    ) -> Result<Repaired, Failure> {
        let start = Invocation::new(self.python()?, &["-E", "-c", ""], self.session.environment);
        let mut wrong: Vec<Finding> = not_starting(&start, wheels).into_iter().collect();
        if wrong.is_empty() {
            wrong = self.still_there()?;
        }
        if !wrong.is_empty() {
            return Ok((wrong, BTreeMap::new(), BTreeMap::new()));
        }
        let (faulty, findings, hashed) = self.check(packages, wheels, &staged.files());
        if faulty.is_empty() {
            return Ok((self.with_hidden(findings, wheels), hashed, BTreeMap::new()));
        }
        // Every file was right when it was written: what differs now is the work of Python's start.
        let rewritten = self.rewritten_by_start(packages)?;
        let (_, findings, hashed) = self.check(packages, wheels, &staged.files());
        Ok((self.with_hidden(findings, wheels), hashed, rewritten))
    }
}
