//! colab-boot's own installer within an apply: staged before the first change, switched by the script, and settled or
//! undone at the end.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::boot::apply::direct_url::direct_url;
use crate::boot::apply::one_apply::{Checked, Work};
use crate::boot::apply::prepared::{Brought, Installer, Wheels};
use crate::boot::apply::startup::not_starting;
use crate::boot::apply::whole_records::add_written_digests;
use crate::boot::files::Downloaded;
use crate::boot::index::{WheelSource, not_locked};
use crate::boot::install::{
    BuiltPackage, Incoming, STAGED, SWITCH, Stage, Staged, Staging, clean_up, commit, stage, strangers, undo,
};
use crate::boot::lock::LockedPackage;
use crate::boot::plan::Kind;
use crate::boot::retrieval::{Fetched, enough_space};
use crate::boot::store::Pruned;
use crate::core::diag::{Code, Failure, Finding, Kind as Ended};
use crate::core::host::digests::digest;
use crate::core::host::mounts::Look;
use crate::core::host::signals::{Deferred, name_of};
use crate::core::host::stamps::Moment;
use crate::core::host::{Invocation, files};
use crate::core::model::PackageName;

/// The folders of modules that are staged, one on each line; in the folder of the environment's state.
const UNPACKED: &str = "unpacked";

impl Work<'_> {
    /// Whether wheels are installed by colab-boot itself.
    pub(super) fn is_own(&self) -> bool {
        self.manner.installer == Installer::Own
    }

    /// Stages the wheels of `packages`, while they are judged.
    pub(super) fn stage(&self, packages: &[&LockedPackage], fetched: &Fetched) -> Result<Brought, Failure> {
        let removes = self.planned.decision.plan.of_kind(Kind::Remove).next().is_some();
        if !removes && packages.iter().all(|package| package.is_source()) {
            fetched.finish(&|| false)?;
            must_be_locked_sources(packages, fetched)?;
            let brought = self.judged(packages, fetched, &|_, _| Ok(()))?;
            return self.is_staged(brought, Staged::nothing(self.layout.clone()));
        }
        let signals = Deferred::begin()?;
        let store = self.session.store()?;
        let python = self.python()?;
        let downloads = fetched.downloads.as_ref();
        let staging = Staging {
            layout: self.layout,
            python: &python,
            store: &store,
            is_stopped: &|| signals.is_waiting(),
            bell: &downloads.map_or_else(Arc::default, |downloads| Arc::clone(downloads.bell())),
            give_up: &|failure| downloads.into_iter().for_each(|downloads| downloads.give_up(failure)),
        };
        let staged = stage(&staging, |stage| {
            let opened = |package: &LockedPackage, wheel: &Arc<Downloaded>| self.add(stage, package, wheel);
            self.judged(packages, fetched, &opened)
        });
        // Sources are built from what has arrived.
        let staged = staged.and_then(|staged| {
            fetched.finish(staging.is_stopped)?;
            must_be_locked_sources(packages, fetched).map(|()| staged)
        });
        if let Some(signal) = signals.take() {
            return Err(Failure::new(Ended::Signal(signal), format!("stopped by {}", name_of(signal)))
                .help("nothing was changed; run the same command again to continue"));
        }
        let (brought, staged) = staged.map_err(|failure| self.with_whole_need(failure, packages, fetched))?;
        self.is_staged(brought, staged)
    }

    /// With what goes without a successor, and what is built later.
    fn is_staged(&self, mut brought: Brought, mut staged: Staged) -> Result<Brought, Failure> {
        let plan = &self.planned.decision.plan;
        staged.removed = plan.of_kind(Kind::Remove).map(|change| change.name.clone()).collect();
        let built = |package: &LockedPackage| BuiltPackage {
            name: package.name.clone(),
            version: package.version.clone(),
            requested: self.is_requested(&package.name),
            direct_url: self.direct_url(package),
        };
        staged.built = plan.incoming().filter(|package| package.is_source()).map(built).collect();
        staged.corrections = self.corrections()?;
        if !staged.built.is_empty() {
            self.list_unpacked(&staged)?;
        }
        staged.write(&self.staged_path())?;
        add_written_digests(&mut brought.records, &staged, self.layout);
        Ok(Brought { staged: Some(staged), ..brought })
    }

    /// Writes down which folders hold the modules of what is staged, for builds that need them.
    fn list_unpacked(&self, staged: &Staged) -> Result<(), Failure> {
        let trees = staged.packages.iter().flat_map(|package| &package.trees);
        let modules = trees.filter(|(_, image)| self.layout.folders().contains(&image));
        let lines: String = modules.map(|(tree, _)| format!("{}\n", tree.display())).collect();
        let path = self.held.join(UNPACKED);
        files::write_whole_fast(&path, lines.as_bytes()).map_err(|error| files::writing_failed(&path, &error))
    }

    /// The folder that keeps what is built from source.
    pub(super) fn built_wheels(&self) -> Result<PathBuf, Failure> {
        let set = self.session.environment.get("COLAB_BOOT_BUILT_WHEELS").filter(|text| !text.is_empty());
        let profile = self.planned.goal.profile();
        match (set, profile.and_then(|profile| profile.policy.built_wheels.as_ref())) {
            (Some(folder), _) => files::absolute(Path::new(folder)),
            (None, Some(folder)) => Ok(folder.clone()),
            (None, None) => Ok(self.session.paths.cache.join("built-wheels")),
        }
    }

    /// Begins to stage the `wheel` of a package.
    fn add(&self, stage: &Stage<'_>, package: &LockedPackage, wheel: &Arc<Downloaded>) -> Result<(), Failure> {
        let Some(sha256) = package.wheel().and_then(|wheel| wheel.sha256) else { return Ok(()) };
        let needed = stage.outstanding().saturating_add(wheel.files.unpacked());
        if !self.is_shared(&wheel.source) {
            let room = || enough_space(&self.layout.purelib, needed, "the unpacked wheels need");
            room().or_else(|full| match self.session.store()?.make_room() {
                Pruned { freed: 0, .. } => Err(full),
                _ => room(),
            })?;
        }
        stage.add(Incoming {
            name: package.name.clone(),
            version: package.version.clone(),
            wheel: Arc::clone(wheel),
            sha256,
            requested: self.is_requested(&package.name),
            direct_url: self.direct_url(package),
        })
    }

    /// What `direct_url.json` says of a package that the profile takes from a place of its own.
    fn direct_url(&self, package: &LockedPackage) -> Option<String> {
        let wanted = self.planned.goal.profile()?.wanted.iter().find(|one| one.name == package.name)?;
        direct_url(wanted, package.wheel()?)
    }

    /// Whether its unpacked files are linked: what the store has takes no room on its own file system.
    fn is_shared(&self, source: &WheelSource) -> bool {
        let device = |path: &Path| path.look().map(|data| data.dev()).ok();
        matches!(source, WheelSource::Stored(stored) if device(stored.folder()) == device(&self.layout.purelib))
    }

    /// Of a disk that got full at one wheel of `packages`, what all of them need, now that nothing of them is left.
    fn with_whole_need(&self, failure: Failure, packages: &[&LockedPackage], fetched: &Fetched) -> Failure {
        if failure.findings.iter().all(|finding| finding.code != Code::DiskFull) {
            return failure;
        }
        let (mut needed, mut words) = (0u64, "the unpacked wheels need");
        for wheel in packages.iter().filter_map(|package| package.wheel()) {
            let source = fetched.sources.get(&wheel.file).filter(|source| !self.is_shared(source));
            needed = needed.saturating_add(match source {
                None => 0,
                // Its directory may not be here yet.
                Some(WheelSource::Arriving(_)) => {
                    words = "the unpacked wheels need at least";
                    wheel.size.unwrap_or_default()
                }
                Some(source) => Downloaded::open(source).map_or(0, |wheel| wheel.files.unpacked()),
            });
        }
        enough_space(&self.layout.purelib, needed, words).err().unwrap_or(failure)
    }

    /// Whether the user has asked for the package by its name.
    fn is_requested(&self, name: &PackageName) -> bool {
        self.planned.goal.profile().is_none_or(|profile| profile.wanted.iter().any(|one| one.name == *name))
    }

    pub(super) fn staged_path(&self) -> PathBuf {
        self.held.join(STAGED)
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.held.join(SWITCH)
    }

    /// Brings back what was before the switch.
    pub(super) fn undo_switch(&self) -> Result<(), Failure> {
        let undone = undo(&self.journal(), self.layout, &self.state.aside_folder())?;
        self.session.say_undone(&undone);
        Ok(())
    }

    /// What is new stays from here on, whatever happens.
    pub(super) fn commit_switch(&self) -> Result<(), Failure> {
        commit(&self.journal())
    }

    /// Removes what was replaced, but for what others have put there.
    pub(super) fn clean_up_switch(&self) -> Result<(), Failure> {
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
            // One that was replaced meanwhile is still there for those that have it open.
            let own = || PathBuf::from(format!("/proc/{}/exe", std::process::id()));
            let program = files::link_of(Path::new("/proc/self/exe")).filter(|program| program.is_file_there());
            let program = program.unwrap_or_else(own);
            variables.push(("COLAB_BOOT_PROGRAM".to_owned(), program.display().to_string()));
            variables.push(("COLAB_BOOT_STAGED".to_owned(), self.staged_path().display().to_string()));
            variables.push(("COLAB_BOOT_UNPACKED".to_owned(), self.held.join(UNPACKED).display().to_string()));
            variables.push(("COLAB_BOOT_BUILT_WHEELS".to_owned(), self.built_wheels()?.display().to_string()));
        }
        Ok(variables)
    }

    /// Checks what was installed: Python has to start, and every file has to be as its wheel has it. Nothing of what is
    /// `staged` is read again. Fails with what is wrong.
    pub(super) fn check_result(
        &self,
        packages: &[&LockedPackage],
        wheels: &Wheels,
        staged: Option<&Staged>,
    ) -> Result<Checked, Failure> {
        let (since, started) = (Instant::now(), Moment::now());
        let written = staged.map(Staged::files).unwrap_or_default();
        let start = Invocation::new(self.python()?, &["-E", "-c", ""], self.session.environment);
        let mut wrong: Vec<Finding> = not_starting(&start, wheels).into_iter().collect();
        if staged.is_some() {
            wrong = wrong.into_iter().map(|finding| finding.with_note("the Python packages are as before")).collect();
        }
        if wrong.is_empty() {
            wrong = self.still_there()?;
        }
        if !wrong.is_empty() {
            return Err(Failure::from_findings(Ended::Answer, wrong));
        }
        let judged = |findings, hashed, rewritten| match self.with_hidden(findings, wheels) {
            wrong if wrong.is_empty() => Ok((hashed, rewritten)),
            wrong => Err(Failure::from_findings(Ended::Answer, wrong)),
        };
        let (faulty, findings, hashed) = self.check(packages, wheels, &written, since);
        if faulty.is_empty() || staged.is_none() {
            return judged(findings, hashed, BTreeMap::new());
        }
        // Every file was right when it was written: what differs now is the work of Python's start.
        let rewritten = self.rewritten_by_start(packages, started)?;
        let (_, findings, hashed) = self.check(packages, wheels, &written, since);
        judged(findings, hashed, rewritten)
    }
}

/// Fails where a source archive is not the one that is locked: building it runs its code.
fn must_be_locked_sources(packages: &[&LockedPackage], fetched: &Fetched) -> Result<(), Failure> {
    for source in packages.iter().filter(|package| package.is_source()).filter_map(|package| package.wheel()) {
        let Some((from, expected)) = fetched.sources.get(&source.file).zip(source.sha256) else { continue };
        let own = digest(from.path()).map(|(own, _)| own).ok();
        if own != Some(expected) {
            return Err(not_locked(from.path(), expected, own));
        }
    }
    Ok(())
}
