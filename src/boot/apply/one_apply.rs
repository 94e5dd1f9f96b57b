//! One apply: the network is over before the first change, the intent is on disk before it, and every file is checked
//! after it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::boot::apply::installer_leftovers::{empty_trash, leftovers};
use crate::boot::apply::outcome::{applied, now, outcome, settle};
use crate::boot::apply::prepared::{ApplyManner, Brought, WheelRecords, Wheels};
use crate::boot::apply::report::ApplyReport;
use crate::boot::apply::run_script::{Failed, Job, run_script, stopped};
use crate::boot::apply::shared_paths::{Owner, bystanders, script_lines, shared_paths, with_shared};
use crate::boot::apply::whole_records::{is_open, with_all_members};
use crate::boot::files::{Depth, Hashed, HashedDistribution, Options, WrittenFiles, compare, finding_of};
use crate::boot::index::IndexSettings;
use crate::boot::lock::LockedPackage;
use crate::boot::machine::{Layout, find_info};
use crate::boot::marker::{Event, Marker, Next, Now, Touched};
use crate::boot::notebook::process_clock;
use crate::boot::plan::{self, Change, files_rewritten, touched};
use crate::boot::planned::{Planned, script_of};
use crate::boot::profile::Profile;
use crate::boot::seen::PythonReport;
use crate::boot::session::Session;
use crate::boot::situation::{held, is_of_another_script, modules as installed_modules_of, modules_of};
use crate::boot::state::State;
use crate::boot::verdict::{Report, Verdict};
use crate::core::diag::{Failure, Finding, Kind};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::signals::{Deferred, name_of};
use crate::core::host::stamps::wait_a_tick;
use crate::core::inspect::parse_record;
use crate::core::model::PackageName;

/// Makes what was planned true; changes nothing where a finding is an error.
pub fn carry_out(
    planned: &Planned,
    settings: &IndexSettings,
    session: &Session<'_>,
    held: &Path,
    manner: ApplyManner,
) -> Result<Report, Failure> {
    planned.seen.must_be_readable()?;
    let layout = layout_of(planned)?;
    let plan = &planned.decision.plan;
    if planned.has_error() {
        let data = ApplyReport {
            standing: None,
            python: PythonReport::of(&planned.seen),
            plan,
            set_live: None,
            because: None,
        };
        let report = Report::new(data, String::new()).with_findings(planned.findings.clone());
        return Ok(report.with_verdict(Verdict::refused(planned.errors())));
    }
    let state = State::of(&session.paths.state, &layout);
    let doubted = planned.marker.as_ref().is_some_and(Marker::is_in_doubt);
    // A killed installer may have left something that only an apply moves aside.
    let is_clean = leftovers(&layout.purelib)?.is_empty();
    let build_index = build_index(settings, planned.goal.profile());
    let work = Work { session, planned, state: &state, layout: &layout, held, manner, build_index };
    if plan.is_empty() && !planned.decision.environment_differs && !doubted && is_clean {
        let differing = work.as_before()?;
        work.give_back()?;
        return settle(planned, &state, session.changed.load(Ordering::Relaxed), differing);
    }
    // Whatever has ended it before its end, what is staged goes, and what was switched is undone.
    work.carry_out(settings).or_else(|failure| work.undo_switch().and(Err(work.with_way_on(failure))))
}

/// The index that settings or profile have in place of pip's, for what a build needs; a folder of wheels is none.
fn build_index(settings: &IndexSettings, profile: Option<&Profile>) -> Option<String> {
    let own = profile.and_then(Profile::default_index).filter(|own| own.url.scheme() != "file");
    settings.index_url.clone().or_else(|| own.map(|own| own.url.to_string()))
}

fn layout_of(planned: &Planned) -> Result<Layout, Failure> {
    let python = planned.seen.machine.python.as_ref().filter(|_| planned.seen.is_here());
    python.and_then(|python| python.layout.clone()).ok_or_else(|| {
        Failure::input("only this machine can be changed").help("leave out --runtime and --machine, or use `plan`")
    })
}

/// One apply that has something to do.
pub(super) struct Work<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) planned: &'a Planned,
    pub(super) state: &'a State,
    pub(super) layout: &'a Layout,
    pub(super) held: &'a Path,
    pub(super) manner: ApplyManner,
    /// The index for what a build needs, where settings or profile name one.
    pub(super) build_index: Option<String>,
}

impl Work<'_> {
    fn carry_out(&self, settings: &IndexSettings) -> Result<Report, Failure> {
        let Planned { decision, goal, seen, .. } = self.planned;
        let packages: Vec<&LockedPackage> = decision.plan.incoming().collect();
        let folder = self.session.paths.cache.join("wheels").join(goal.digest().short());
        let _held = self.hold_wheels(&folder)?;
        let Brought { wheels, in_the_way, touched, records, staged, said } =
            self.bring(settings, &packages, &folder)?;
        let signals = Deferred::begin()?;
        self.session.changed.store(true, Ordering::Relaxed);
        self.keep_records(&records)?;
        let begin = self.begin(records.modules, &wheels)?;
        let mut marker = self.planned.marker.clone();
        let before = now(self.planned, marker.as_ref())?;
        let mut step = |event| {
            let now = Now { clock: process_clock()?, ..before.clone() };
            self.state.step(&mut marker, event, &now)
        };
        step(begin)?;
        let steps = self.steps();
        let title = &self.planned.wish.title;
        let mut kept = self.kept(&in_the_way, &touched)?;
        self.state.write_ledger(&kept.in_ledger(seen.ledger.during(&steps, title, goal.digest())))?;
        self.keep(&in_the_way, &kept)?;
        let places = self.places_that_go()?;
        self.clear_leftovers()?;
        if let Err(failure) = self.ran(&folder, &mut step) {
            return Err(self.after_failure(failure, kept, &steps, &mut step));
        }
        let checked = self.check_result(&packages, &wheels, staged.as_ref());
        if let Some(signal) = signals.take() {
            return Err(self.after_failure(stopped(signal, Some("check")), kept, &steps, &mut step));
        }
        let (hashed, rewritten) = match checked {
            Ok(checked) => checked,
            Err(failure) => {
                step(Event::Fail { why: failure.to_string(), open: None })?;
                return Err(self.after_failure(failure, kept, &steps, &mut step));
            }
        };
        self.commit_switch()?;
        let settled = self.with_builds(self.settled_ledger(&steps))?;
        let mut differing = self.return_kept(&mut kept, &settled)?;
        differing.extend(self.as_before()?);
        let left = self.left_in(&places)?;
        self.state.write_ledger(&kept.in_ledger(settled))?;
        self.state.keep_hashed(&self.planned.files.hashed_with(hashed))?;
        let installed: Vec<PackageName> = packages.iter().map(|package| package.name.clone()).collect();
        self.keep_notes(&rewritten, &installed)?;
        let next = step(Event::Finish)?;
        self.clean_up(&folder)?;
        let mut files = self.planned.files.evidence(&installed);
        files.rewritten.extend(rewritten.keys().cloned());
        let mut report =
            outcome(self.planned, next, files, |evidence, _| applied(self.planned, evidence, differing.len()))?;
        let more = records.clashes.into_iter().chain(said).chain(left).chain(differing);
        add_new(&mut report, more.chain(rewritten.iter().map(files_rewritten)));
        signals.take().map_or(Ok(report), |signal| Err(too_late(signal)))
    }

    /// What kernels had to restart for before this apply, as long as it has changed no package.
    pub(super) fn open_if_untouched(&self) -> Option<Vec<Touched>> {
        let Planned { marker, seen, .. } = self.planned;
        let before = marker.as_ref().filter(|marker| marker.boot_id == seen.machine.boot_id);
        let is_untouched = self.is_own() && !self.journal().is_there();
        is_untouched.then(|| before.map(|marker| marker.touched.clone()).unwrap_or_default())
    }

    /// Runs the install. What it has failed with; a signal that has stopped it, too.
    fn ran(&self, folder: &Path, step: &mut dyn FnMut(Event) -> Result<Next, Failure>) -> Result<(), Failure> {
        self.run(folder)?.or_else(|failed| {
            let why = failed.tail.clone();
            let failure = self.failed(failed);
            step(Event::Fail { why, open: self.open_if_untouched() }).and(Err(failure))
        })
    }

    fn keep_notes(&self, rewritten: &BTreeMap<PathBuf, PackageName>, installed: &[PackageName]) -> Result<(), Failure> {
        let notes = self.planned.notes.clone().with_variables(&self.planned.wish.environment);
        let notes = notes.with_changes(&self.planned.decision.foreign_changes);
        self.state.keep_notes(&notes.with_rewritten(rewritten, installed))
    }

    /// Drops what only an unfinished apply needs; its wheels lie in `folder`.
    fn clean_up(&self, folder: &Path) -> Result<(), Failure> {
        self.keep_strangers()?;
        empty_trash(self.layout);
        self.clean_up_switch()?;
        // The wheels have done their work; on a notebook's disk they would double what is installed.
        let _ = std::fs::remove_dir_all(folder);
        if let Ok(store) = self.session.store() {
            store.trim();
        }
        Ok(())
    }

    /// What is about to change, as kernels see it: with the modules of the new wheels.
    fn begin(&self, mut modules: BTreeMap<PackageName, BTreeSet<String>>, wheels: &Wheels) -> Result<Event, Failure> {
        let Planned { decision, seen, .. } = self.planned;
        let changed: Vec<PackageName> = decision.plan.changes.iter().map(|change| change.name.clone()).collect();
        for (name, own) in installed_modules_of(seen, changed.iter().cloned())? {
            modules.entry(name).or_default().extend(own);
        }
        let mut touched = touched(&decision.plan, &modules, &self.planned.silent);
        self.add_starts(&mut touched, wheels)?;
        touched.extend(decision.touched.iter().filter(|one| one.name.is_none()).cloned());
        Ok(Event::Begin { changed, touched })
    }

    /// They outlive the wheels: a later run, or `verify`, compares files with them.
    fn keep_records(&self, records: &WheelRecords) -> Result<(), Failure> {
        records.texts.iter().try_for_each(|(wheel, text)| self.state.keep_record(wheel, text))
    }

    /// The RECORDs of `wheels`. Files that another distribution claims too have the digests of both in them, and are
    /// named in a finding.
    pub(super) fn records(&self, packages: &[&LockedPackage], wheels: &Wheels) -> Result<WheelRecords, Failure> {
        let mut modules = BTreeMap::new();
        let mut owners = Vec::new();
        let (mut digests, mut incomplete) = (Vec::new(), BTreeSet::new());
        let back = packages.iter().filter(|package| self.planned.target.package(&package.name).is_none());
        for package in self.planned.target.packages.iter().chain(back.copied()) {
            let Some(wheel) = package.wheel() else { continue };
            let Some(digest) = wheel.sha256.filter(|_| !wheel.is_source()) else { continue };
            let downloaded = wheels.get(&package.name);
            let new = downloaded.is_some();
            let record = match downloaded {
                Some(wheel) => {
                    let record = with_all_members(wheel);
                    let own = match &record {
                        Cow::Borrowed(_) => modules_of(wheel.entries()),
                        Cow::Owned(text) => modules_of(&parse_record(text)),
                    };
                    modules.insert(package.name.clone(), own);
                    let is_incomplete = matches!(record, Cow::Owned(_)) || wheel.entries().iter().any(is_open);
                    incomplete.extend(is_incomplete.then_some(digest));
                    Some(record.into_owned())
                }
                None => self.state.record_text(&digest)?,
            };
            digests.extend(record.is_some().then_some(digest));
            let scripts = downloaded.map(|wheel| script_lines(&wheel.entry_points)).unwrap_or_default();
            owners.extend(record.map(|record| Owner { name: package.name.clone(), record, scripts, new }));
        }
        owners.extend(bystanders(self.planned)?);
        let (paths, findings) = shared_paths(&owners);
        let clashes = self.session.weighed(findings, &self.planned.target.accept);
        self.refuse_hidden(&clashes)?;
        let kept = digests.into_iter().zip(&owners).filter(|(_, owner)| owner.new || !paths.is_empty());
        let texts = kept.map(|(digest, owner)| (digest, with_shared(&owner.record, &paths))).collect();
        Ok(WheelRecords { clashes, modules, texts, incomplete })
    }

    /// The metadata of the changes that are `meant`, where they are installed, each with its site-packages.
    pub(super) fn infos(&self, meant: impl Fn(&Change) -> bool) -> Result<Vec<(&Change, &PathBuf, PathBuf)>, Failure> {
        let mut found = Vec::new();
        for change in self.planned.decision.plan.changes.iter().filter(|change| meant(change)) {
            for site in self.layout.folders() {
                found.extend(find_info(site, &change.name)?.map(|info| (change, site, info)));
            }
        }
        Ok(found)
    }

    /// Runs the script for the plan.
    fn run(&self, wheels: &Path) -> Result<Result<(), Failed>, Failure> {
        let script = self.held.join("install.sh");
        let plan = &self.planned.decision.plan;
        files::write_whole(&script, script_of(self.planned, plan, self.session.matrix).as_bytes())?;
        let python = self.python()?;
        // What a build asks for comes from the index that the lock was made with.
        let mut environment = self.session.environment.clone();
        environment.extend(self.build_index.clone().map(|url| ("PIP_INDEX_URL".to_owned(), url)));
        environment.extend(self.installer_variables()?);
        self.session.log.detail(|| format!("running bash -p {}; the log is in the same folder", script.display()));
        let site = self.layout.purelib.as_path();
        let job = Job { script: &script, python: &python, site, wheels, state: self.held, environment: &environment };
        let going: Vec<&str> = plan.of_kind(plan::Kind::Remove).map(|change| change.name.as_ref()).collect();
        run_script(&job, &mut |step| match step {
            "apt" => self.session.say("installing Debian packages"),
            "remove" => self.session.say(&format!("removing {}", going.join(", "))),
            // They lie ready; a build may use them before they are switched.
            "wheels" if plan.builds() && self.is_own() => {}
            "wheels" => self.session.say("installing the wheels"),
            "switch" if self.is_own() => self.session.say("installing the packages"),
            "environment" => self.session.say("writing the environment file"),
            "switch" => {}
            _ => self.session.say(&match step.split_once(' ') {
                Some(("build", name)) => format!("building {name} from source"),
                Some(("take", name)) => format!("taking the kept wheel of {name}"),
                None if step == "build" => "building from source".to_owned(),
                _ => "finishing".to_owned(),
            }),
        })
    }

    pub(super) fn python(&self) -> Result<PathBuf, Failure> {
        let python = self.planned.seen.interpreter().map(Path::to_owned);
        python.ok_or_else(|| Failure::bug("an apply without an interpreter"))
    }

    /// Names of the packages whose files are not those of their wheels, and what is wrong. All was written by the
    /// moment `since`.
    pub(super) fn check(
        &self,
        packages: &[&LockedPackage],
        wheels: &Wheels,
        written: &WrittenFiles<'_>,
        since: Instant,
    ) -> CheckedFiles {
        let (mut faulty, mut findings) = (Vec::new(), Vec::new());
        // What was installed a moment ago is to be known again by its time.
        wait_a_tick(since);
        let held = packages.iter().map(|package| held(self.layout, self.state, package)).collect();
        let tag = self.cache_tag();
        let mut compared =
            compare(held, Options { depth: Depth::Bytes, known: &Hashed::default(), written, tag: tag.as_deref() });
        for (package, faults) in packages.iter().zip(&mut compared.faults) {
            faults.retain(|fault| !is_of_another_script(fault, self.layout));
            faults.sort();
            faults.truncate(3);
            if let Some(finding) = finding_of(&package.name, &package.version, faults) {
                faulty.push(package.name.clone());
                findings.push(finding);
            }
        }
        if self.is_wanted() {
            findings.extend(self.hidden_after(compared.intruders, wheels));
        }
        (faulty, findings, compared.hashed)
    }

    pub(super) fn cache_tag(&self) -> Option<String> {
        self.planned.seen.machine.python.as_ref().map(|python| python.facts.cache_tag())
    }
}

/// The end of an apply that a signal did not stop any more.
fn too_late(signal: i32) -> Failure {
    let message = format!("{} came after the last step: everything was changed and checked", name_of(signal));
    Failure::new(Kind::Signal(signal), message).help("run the same command again to see whether a kernel must restart")
}

/// Adds those of `findings` that the report does not have.
fn add_new(report: &mut Report, findings: impl Iterator<Item = Finding>) {
    let new: Vec<Finding> = findings.filter(|finding| !report.findings.contains(finding)).collect();
    report.findings.extend(new);
}

/// Packages whose files are not those of their wheels, what is wrong with them, and what was read of the others.
type CheckedFiles = (Vec<PackageName>, Vec<Finding>, BTreeMap<PackageName, HashedDistribution>);

/// What was read after an install, and files that Python's start rewrites.
pub(super) type Checked = (BTreeMap<PackageName, HashedDistribution>, BTreeMap<PathBuf, PackageName>);
