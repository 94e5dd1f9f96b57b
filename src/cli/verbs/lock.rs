//! `lock`: solve for the profile's targets and write the lock, whole or not at all. What an earlier lock chose stays
//! where it fits; `--upgrade` and `--upgrade-package` let go of it, `--check` writes nothing and says what is stale.

use std::path::Path;

use serde::Serialize;

use crate::boot::goal::{Made, Request, Upgrade, missing_lock, must_be_of, stale_lock};
use crate::boot::index::Traffic;
use crate::boot::lock::{Lock, TargetReport, differences, lock_path, write_lock};
use crate::boot::planned::said_of_lock;
use crate::boot::profile::Profile;
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::{EditedOptions, LockOptions};
use crate::cli::output::needed_images;
use crate::core::diag::{Failure, Finding, bytes, counted, few, nearest};
use crate::core::host::destination::{is_stdout, write_output};
use crate::core::host::files;
use crate::core::model::{PackageName, Sha256};

#[derive(Serialize)]
struct LockReport<'a> {
    #[serde(serialize_with = "path_text")]
    path: &'a Path,
    /// The lock's digest.
    lock: Sha256,
    targets: Vec<TargetReport<'a>>,
    changes: &'a [String],
    #[serde(flatten)]
    traffic: Traffic,
}

pub(super) fn run(options: &LockOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profile = session.profile(&options.profile)?;
    locked(options, &profile, session, &|| Ok(()))
}

/// Writes `text`, an edited profile, and its lock; neither where it can't be locked. `done` says what was edited.
pub(super) fn lock_edited(
    options: &EditedOptions,
    text: String,
    done: &str,
    session: &Session<'_>,
) -> Result<Report, Failure> {
    let path = &options.profile;
    let unchanged = |failure: Failure| failure.advise(format!("`{}` was not changed", path.display()));
    let profile = session.profile_of(path, text).map_err(unchanged)?;
    let write = || write_output(path, profile.source.text.as_bytes());
    let mut report = locked(&options.to_lock(), &profile, session, &write).map_err(unchanged)?;
    report.talk.insert(0, format!("{}: {done}", path.display()));
    Ok(report)
}

/// Locks `profile`. Calls `before` once that has succeeded, before the lock is written.
fn locked(
    options: &LockOptions,
    profile: &Profile,
    session: &Session<'_>,
    before: &dyn Fn() -> Result<(), Failure>,
) -> Result<Report, Failure> {
    let path = lock_path(&options.profile, options.lock.as_ref());
    // On stdout there is no earlier lock.
    let kept = !is_stdout(&path);
    let old = if kept { session.earlier_lock(&path, options.upgrade && !options.check)? } else { None };
    old.iter().filter(|_| options.lock.is_some()).try_for_each(|old| must_be_of(old, profile, &path))?;
    let upgrade = Upgrade { all: options.upgrade, packages: options.upgrade_package.clone() };
    let Made { lock, pythons, findings, traffic } = session.relock(
        (&options.profile, profile),
        (old.as_ref(), &upgrade),
        &Request { machine: options.machine.request(), index: options.index.settings() },
    )?;
    must_be_known(&options.upgrade_package, [Some(&lock), old.as_ref()])?;
    let text = write_lock(&lock);
    before()?;
    let unchanged = kept && files::read_optional(&path)?.as_deref() == Some(text.as_str());
    let changes = old.as_ref().map(|old| differences(old, &lock)).unwrap_or_default();
    let data =
        LockReport { path: &path, lock: lock.digest(), targets: TargetReport::all(&lock), changes: &changes, traffic };
    let mut report = Report::new(data, String::new()).with_findings(findings);
    if options.check {
        report.findings.extend((!unchanged).then(|| stale(&path, options, old.is_some(), &changes)));
    } else if !unchanged {
        if kept {
            write_output(&path, text.as_bytes())?;
        } else {
            report.print_instead(text);
        }
        report.talk.extend(few(&changes));
    }
    if kept && !options.check && !report.is_no() {
        let index = options.index.settings();
        report.findings.extend(said_of_lock(session, (&options.profile, &path), &lock, &index));
    }
    report.talk.extend(pythons);
    for target in &lock.targets {
        let cuda = target.cuda.map(|cuda| format!(", CUDA {cuda}")).unwrap_or_default();
        let size = bytes(target.wheel_bytes());
        let count = counted(target.packages.len(), "package");
        report.talk.push(format!("{}: {count}{cuda}, wheels {size}", target.name));
        report.talk.extend(needed_images(target));
    }
    let state = match (unchanged, options.check) {
        (true, _) => "is up to date",
        (false, true) => "was not changed",
        (false, false) => "written",
    };
    report.talk.push(format!(
        "{} {state} ({}, {} read)",
        path.display(),
        counted(traffic.requests, "request"),
        bytes(traffic.bytes)
    ));
    Ok(report)
}

/// An error for a name that neither lock has: a misspelt one would upgrade nothing and say nothing.
fn must_be_known(names: &[PackageName], locks: [Option<&Lock>; 2]) -> Result<(), Failure> {
    let packages = || locks.into_iter().flatten().flat_map(|lock| &lock.targets).flat_map(|target| &target.packages);
    let Some(name) = names.iter().find(|name| !packages().any(|package| package.name == **name)) else {
        return Ok(());
    };
    let failure = Failure::input(format!("`{name}` is not in the lock"));
    Err(match nearest(packages().map(|package| package.name.as_ref()), name.as_ref()) {
        Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
        None => failure.help("`colab-boot plan` lists its packages"),
    })
}

fn stale(path: &Path, options: &LockOptions, exists: bool, changes: &[String]) -> Finding {
    if !exists {
        return missing_lock(path, options.profile.display());
    }
    let finding = stale_lock(path, None, options.profile.display());
    if changes.is_empty() {
        finding
            .with_note("its text differs from what would be written: it was edited, or written by another colab-boot")
    } else {
        few(changes).into_iter().fold(finding, Finding::with_note)
    }
}
