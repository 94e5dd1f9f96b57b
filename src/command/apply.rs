//! `apply`: make the machine what the lock says, once. The network is over before the first change, the intent is on disk before
//! it, and every file is checked after it.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::apply::{Failed, Job, empty_trash, run_script, sweep};
use crate::cli::{ApplyOptions, Restarter};
use crate::command::contested::{Owner, bystanders, contested, without};
use crate::command::fetching::enough_space;
use crate::command::outcome::{drift, now, outcome, settle};
use crate::command::plan::{Planned, make, replan, script_of};
use crate::command::state::{State, hold};
use crate::command::{Report, Session};
use crate::diag::{Code, Failure, Finding, Kind, Severity};
use crate::host::files;
use crate::lock::{LockedPackage, LockedWheel, write_lock};
use crate::machine::{Kernel, Layout, uptime};
use crate::marker::{Event, Marker, Now};
use crate::model::{PackageName, Version};
use crate::output::Style;
use crate::plan::{Change, Plan, Restart};
use crate::script::Part;
use crate::verify::{Entry, Held, check_distributions, record_of_wheel, unpacked_bytes};

pub(super) fn run(options: ApplyOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let options = &understood(options);
    let mut report = apply(options, session, style)?;
    report.restart &= options.restart == Restarter::Caller;
    Ok(report)
}

fn apply(options: &ApplyOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let held = hold(&session.paths.state, &|line| session.say(line))?;
    let mut planned = make(&options.plan, session)?;
    planned.seen.must_be_readable()?;
    if options.restart == Restarter::Never {
        planned.seen.machine.kernel = None;
        planned.restart = Restart::default();
    }
    let layout = layout_of(&planned)?;
    let state = State::of(&held.folder, &layout);
    let marker = state.marker()?;
    let doubted = marker.as_ref().filter(|marker| marker.is_in_doubt());
    let changed = doubted.map(|marker| marker.changed.as_slice()).unwrap_or_default();
    let again = [broken(&planned, &state, &layout, changed)?, unproven(&planned, &state)?].concat();
    let planned = if again.is_empty() { planned } else { replan(planned, &options.plan, session, &again)? };
    if planned.findings.iter().any(|finding| finding.severity == Severity::Error) {
        let mut report = Report::new(json!({ "plan": planned.plan }), String::new()).with_findings(planned.findings);
        report.talk.push("nothing was changed".to_owned());
        return Ok(report);
    }
    keep_lock(options, &planned)?;
    if let Some(path) = &options.plan.script {
        files::write_whole(path, script_of(&planned, (&planned.plan, Part::Whole)).as_bytes())?;
    }
    let restart = restart(&planned)?;
    let idle = planned.plan.is_empty() && !planned.environment_differs && doubted.is_none();
    if idle {
        return settle(&planned, &state, marker.as_ref());
    }
    let work = Work {
        session,
        planned: &planned,
        state: &state,
        layout: &layout,
        held: &held.folder,
        style,
        index_url: options.plan.index.index_url.as_deref(),
    };
    work.carry_out(options, marker, restart)
}

/// What short options stand for: with a wheelhouse nothing else is asked; where nobody restarts there is no kernel to look at.
fn understood(mut options: ApplyOptions) -> ApplyOptions {
    if options.no_restart {
        options.restart = Restarter::Never;
    }
    if options.restart == Restarter::Never {
        options.plan.machine.kernel_modules = None;
    }
    if let Some(folder) = options.wheelhouse.take() {
        options.plan.index.find_links.insert(0, folder);
        options.plan.index.offline = true;
    }
    options
}

fn layout_of(planned: &Planned) -> Result<Layout, Failure> {
    let python = planned.seen.machine.python.as_ref().filter(|_| planned.seen.here);
    python.and_then(|python| python.layout.clone()).ok_or_else(|| {
        Failure::input("a described machine can't be changed").help("leave out --runtime and --machine, or use `plan`")
    })
}

/// Those of `names` whose files differ from the wheels that the lock names.
fn broken(
    planned: &Planned,
    state: &State,
    layout: &Layout,
    names: &[PackageName],
) -> Result<Vec<PackageName>, Failure> {
    let packages = planned.target.packages.iter();
    let packages: Vec<_> =
        packages.filter(|package| package.wheel.is_some() && names.contains(&package.name)).collect();
    let faults = check_distributions(held_of(layout, state, &packages)?, 1);
    let broken = packages.iter().zip(faults).filter(|(_, faults)| !faults.is_empty());
    Ok(broken.map(|(package, _)| package.name.clone()).collect())
}

/// `packages` with the RECORDs of their wheels.
fn held_of<'a>(layout: &'a Layout, state: &State, packages: &[&'a LockedPackage]) -> Result<Vec<Held<'a>>, Failure> {
    let held = |package: &&'a LockedPackage| {
        let record = package.wheel.as_ref().map_or(Ok(None), |wheel| recorded(state, wheel))?;
        Ok(Held { layout, name: &package.name, version: &package.version, record })
    };
    packages.iter().map(held).collect()
}

/// The RECORD of a locked wheel that was installed from here.
fn recorded(state: &State, wheel: &LockedWheel) -> Result<Option<Vec<Entry>>, Failure> {
    wheel.sha256.map_or(Ok(None), |digest| state.record(&digest))
}

/// Wheels given by address that were never installed from here: another file may have the same version.
fn unproven(planned: &Planned, state: &State) -> Result<Vec<PackageName>, Failure> {
    let mut unproven = Vec::new();
    for package in &planned.target.packages {
        if let Some(wheel) = package.wheel.as_ref().filter(|wheel| wheel.index == "direct")
            && recorded(state, wheel)?.is_none()
        {
            unproven.push(package.name.clone());
        }
    }
    Ok(unproven)
}

/// A new answer is kept beside the profile, so that the next run, and the next machine, do the same.
fn keep_lock(options: &ApplyOptions, planned: &Planned) -> Result<(), Failure> {
    if !planned.keep_lock {
        return Ok(());
    }
    let path = crate::command::gather::lock_path(&options.plan.profile, options.plan.lock.as_ref());
    files::write_whole(&path, write_lock(&planned.lock).as_bytes())
}

/// The decision of the plan: the kernel that must go, and why.
fn restart(planned: &Planned) -> Result<Option<(Kernel, Vec<String>)>, Failure> {
    let because = planned.restart.because.clone();
    if because.is_empty() {
        return Ok(None);
    }
    let kernel = planned.seen.machine.kernel.clone().ok_or_else(|| {
        Failure::input("--kernel-modules was given but no kernel was found").help("give its process with --kernel-pid")
    })?;
    Ok(Some((kernel, because)))
}

/// One apply that has something to do.
pub(super) struct Work<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) planned: &'a Planned,
    pub(super) state: &'a State,
    pub(super) layout: &'a Layout,
    pub(super) held: &'a Path,
    pub(super) style: Style,
    /// The default index, where the options name it.
    pub(super) index_url: Option<&'a str>,
}

impl Work<'_> {
    fn carry_out(
        &self,
        options: &ApplyOptions,
        mut marker: Option<Marker>,
        restart: Option<(Kernel, Vec<String>)>,
    ) -> Result<Report, Failure> {
        let packages: Vec<&LockedPackage> =
            self.planned.plan.changes.iter().filter_map(|change| change.package.as_ref()).collect();
        let folder = self.session.paths.cache.join("wheels").join(self.planned.lock.digest().short());
        self.fetch(&options.plan.index, &packages, &folder)?;
        let contested = self.keep_records(&packages, &folder)?;
        let changed = self.planned.plan.changes.iter().map(|change| change.name.clone()).collect();
        let before = now(self.planned, marker.as_ref())?;
        let drift = drift(self.planned, self.session.now);
        let mut step = |event, now: &Now<'_>| self.state.step(&mut marker, event, now);
        step(Event::Begin { changed, restart }, &before)?;
        self.clear_the_way(&|change| change.from.clone())?;
        if let Err(mut failed) = self.run(&folder, (&self.planned.plan, Part::Whole))? {
            step(Event::Fail { why: failed.tail.clone() }, &before)?;
            // The next run of a script writes its own log.
            let kept = failed.log.with_file_name("apply.failed.log");
            if std::fs::rename(&failed.log, &kept).is_ok() {
                failed.log = kept;
            }
            let led_here = format!("the step `{}` had failed, its log is `{}`", failed.step, failed.log.display());
            let restored = self.roll_back(&options.plan.index, &folder).map_err(|stopped| stopped.cause(led_here))?;
            return Err(describe(&failed, restored));
        }
        let faults = match self.check_or_repair(&packages, &folder) {
            Ok(faults) => faults,
            Err(failure) => {
                step(Event::Fail { why: failure.to_string() }, &before)?;
                return Err(failure);
            }
        };
        if !faults.is_empty() {
            step(Event::Fail { why: "files differ after the install".to_owned() }, &before)?;
            return Err(Failure::from_findings(Kind::Answer, faults));
        }
        let verdict = step(Event::Finish, &Now { uptime: uptime()?, ..before.clone() })?;
        empty_trash(self.layout);
        // The wheels have done their work; on a notebook's disk they would double what is installed.
        let _ = std::fs::remove_dir_all(&folder);
        let mut report = outcome(self.planned, (verdict, marker.as_ref()), drift, |stands| {
            let data = json!({ "standing": stands, "plan": self.planned.plan });
            let count = self.planned.target.packages.len();
            Report::new(data, format!("applied: {count} packages as locked, no restart needed\n"))
                .with_findings(self.planned.findings.clone())
        })?;
        let told = |finding: &Finding| report.findings.contains(finding);
        let new: Vec<Finding> = contested.into_iter().filter(|finding| !told(finding)).collect();
        report.findings.extend(new);
        Ok(report)
    }

    /// RECORDs outlive the wheels: a later run, or `verify`, holds the files against them. Files that another distribution claims
    /// too are left out of them, and told.
    fn keep_records(&self, packages: &[&LockedPackage], folder: &Path) -> Result<Vec<Finding>, Failure> {
        let mut unpacked = 0;
        let mut owners = Vec::new();
        let mut digests = Vec::new();
        for package in &self.planned.target.packages {
            let Some(wheel) = &package.wheel else { continue };
            let new = packages.iter().any(|one| one.name == package.name);
            let Some(digest) = wheel.sha256.filter(|_| !wheel.is_source()) else { continue };
            let path = folder.join(&wheel.file);
            let record = if new {
                unpacked += unpacked_bytes(&path).unwrap_or(0);
                Some(record_of_wheel(&path)?)
            } else {
                self.state.record_text(&digest)?
            };
            digests.extend(record.is_some().then_some(digest));
            owners.extend(record.map(|record| Owner { name: package.name.to_string(), record, new }));
        }
        owners.extend(bystanders(self.planned)?);
        let (paths, findings) = contested(&owners);
        for (digest, owner) in digests.iter().zip(&owners) {
            if owner.new || !paths.is_empty() {
                self.state.keep_record(digest, &without(&owner.record, &paths))?;
            }
        }
        enough_space(&self.layout.purelib, unpacked, "what the wheels unpack to")?;
        Ok(findings)
    }

    /// Moves aside what installers would stumble over; `counts` tells the version of a change that is installed now.
    pub(super) fn clear_the_way(&self, counts: &dyn Fn(&Change) -> Option<Version>) -> Result<(), Failure> {
        let changed = self.planned.plan.changes.iter().map(|change| (change.name.clone(), counts(change))).collect();
        for swept in sweep(self.layout, &changed)? {
            self.session.say(&format!("moved aside: {swept}"));
        }
        Ok(())
    }

    /// Runs the script for a plan, or for a part of it.
    pub(super) fn run(&self, wheels: &Path, plan: (&Plan, Part)) -> Result<Result<(), Failed>, Failure> {
        let script = self.held.join("install.sh");
        files::write_whole(&script, script_of(self.planned, plan).as_bytes())?;
        let python: Option<PathBuf> = self.planned.seen.machine.python.as_ref().and_then(|python| python.path.clone());
        let python = python.ok_or_else(|| Failure::bug("an apply without an interpreter"))?;
        // What a build asks for comes from the index that the lock was made with.
        let mut environment = self.session.environment.clone();
        environment.extend(self.index_url.map(|url| ("PIP_INDEX_URL".to_owned(), url.to_owned())));
        let site = self.layout.purelib.as_path();
        let job = Job { script: &script, python: &python, site, wheels, state: self.held, environment: &environment };
        run_script(&job, &mut |step| {
            self.session.say(match step {
                "apt" => "installing Debian packages",
                "remove" => "removing distributions that own the same files",
                "build" => "building from source",
                "wheels" => "installing the wheels",
                "environment" => "writing the environment file",
                _ => "finishing",
            });
        })
    }

    /// Checks, and installs once more what is not as it should be: an exit code of 0 proves nothing.
    fn check_or_repair(&self, packages: &[&LockedPackage], folder: &Path) -> Result<Vec<Finding>, Failure> {
        let (faulty, _) = self.check(packages)?;
        if faulty.is_empty() {
            return Ok(Vec::new());
        }
        let list: Vec<&str> = faulty.iter().map(AsRef::as_ref).collect();
        self.session.say(&format!("not installed as their wheels say: {}; installing them once more", list.join(", ")));
        let mut plan = Plan { apt: Vec::new(), ..self.planned.plan.clone() };
        plan.changes.retain(|change| faulty.contains(&change.name) && change.package.is_some());
        self.clear_the_way(&|change| change.to.clone())?;
        match self.run(folder, (&plan, Part::Packages))? {
            Ok(()) => Ok(self.check(packages)?.1),
            Err(failed) => Err(describe(&failed, Vec::new())),
        }
    }

    /// Names of the packages whose files are not those of their wheels, and what is wrong.
    fn check(&self, packages: &[&LockedPackage]) -> Result<(Vec<PackageName>, Vec<Finding>), Failure> {
        let (mut faulty, mut findings) = (Vec::new(), Vec::new());
        let held = held_of(self.layout, self.state, packages)?;
        for (package, faults) in packages.iter().zip(check_distributions(held, 3)) {
            if let Some(finding) = super::verify::finding_of(package, &faults) {
                faulty.push(package.name.clone());
                findings.push(finding);
            }
        }
        Ok((faulty, findings))
    }
}

/// What failed; `restored` says what has become of the versions before.
fn describe(failed: &Failed, restored: Vec<String>) -> Failure {
    let message = format!("the step `{}` of the install script failed with exit code {}", failed.step, failed.code);
    let mut finding = Finding::error(Code::ApplyFailed, message).with_note(failed.tail.clone());
    for line in restored {
        finding = finding.with_note(line);
    }
    let finding = finding.with_help(format!(
        "the whole log is `{}`; mend the cause and run the command again, it goes on from there",
        failed.log.display()
    ));
    Failure::from_findings(Kind::World, vec![finding])
}
