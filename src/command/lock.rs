//! `lock`: solve for the profile's targets and write the lock, whole or not at all. What an earlier lock chose stays where it
//! fits; `--upgrade` and `--upgrade-package` let go of it, `--check` writes nothing and says what is stale.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use crate::cli::LockOptions;
use crate::diag::{Code, Failure, Finding};
use crate::host::files;
use crate::index::Traffic;
use crate::lock::{Lock, LockedPackage, LockedTarget, differences, write_lock};
use crate::machine::Python;
use crate::model::{PackageName, Version};
use crate::output::Report;
use crate::output::bytes;
use crate::profile::Profile;
use crate::resolve::remarks;
use crate::session::Session;
use crate::session::{Asked, lock_path};

/// Differences that are told one by one.
const SHOWN: usize = 12;

/// A lock that was made, with what was noticed.
struct Made {
    lock: Lock,
    /// The interpreters of this machine that targets were seen through.
    pythons: Vec<String>,
    findings: Vec<Finding>,
    traffic: Traffic,
}

pub(super) fn run(options: &LockOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profile = session.profile(&options.profile)?;
    let path = lock_path(&options.profile, options.lock.as_ref());
    let old = earlier(options, session, &path)?;
    let Made { lock, pythons, findings, traffic } = make(options, session, &profile, old.as_ref())?;
    must_be_known(&options.upgrade_package, [Some(&lock), old.as_ref()])?;
    let text = write_lock(&lock);
    let unchanged = files::read_optional(&path)?.as_deref() == Some(text.as_str());
    let changes = old.as_ref().map(|old| differences(old, &lock)).unwrap_or_default();
    let data = json!({
        "path": path,
        "lock": lock.digest(),
        "targets": describe(&lock),
        "changes": changes,
        "requests": traffic.requests,
        "bytes": traffic.bytes,
    });
    let mut report = Report::new(data, String::new()).with_findings(findings);
    if options.check {
        report.findings.extend((!unchanged).then(|| stale(&path, options, old.is_some(), &changes)));
    } else if !unchanged {
        files::write_whole(&path, text.as_bytes())?;
        report.talk.extend(few(&changes));
    }
    report.talk.extend(pythons);
    for target in &lock.targets {
        let cuda = target.cuda.map(|cuda| format!(", CUDA {cuda}")).unwrap_or_default();
        let size = bytes(target.wheel_bytes());
        let (name, count) = (&target.name, target.packages.len());
        report.talk.push(format!("{name}: {count} packages{cuda}, wheels {size}"));
        report.talk.extend(image_only(target));
    }
    let state = match (unchanged, options.check) {
        (true, _) => "is up to date",
        (false, true) => "is left as it is",
        (false, false) => "written",
    };
    report.talk.push(format!(
        "{} {state} ({} requests, {} read)",
        path.display(),
        traffic.requests,
        bytes(traffic.bytes)
    ));
    Ok(report)
}

/// The lock that is there. One that can't be read is replaced by a new one, but is no answer for `--check` or an upgrade of one package.
fn earlier(options: &LockOptions, session: &Session<'_>, path: &Path) -> Result<Option<Lock>, Failure> {
    match session.read_lock(path) {
        Err(_) if !options.check && options.upgrade_package.is_empty() => Ok(None),
        other => other,
    }
}

fn make(options: &LockOptions, session: &Session<'_>, profile: &Profile, old: Option<&Lock>) -> Result<Made, Failure> {
    let named = options.machine.runtime.is_some() || options.machine.machine.is_some();
    let runtimes: Vec<Option<String>> = if named || profile.target.runtimes.is_empty() {
        vec![options.machine.runtime.clone()]
    } else {
        profile.target.runtimes.iter().cloned().map(Some).collect()
    };
    let (mut targets, mut pythons) = (Vec::new(), Vec::new());
    let mut findings: Vec<_> = session.cache_finding().into_iter().collect();
    let mut traffic = Traffic::default();
    for runtime in runtimes {
        let mut machine = options.machine.clone();
        machine.runtime = runtime;
        let seen = session.machine_near(&machine, Some(&options.profile))?;
        let mut target = session.target(profile, &seen)?;
        // What is to move must not be held by what the image has.
        let moves = |name: &PackageName| options.upgrade || options.upgrade_package.contains(name);
        target.installed.retain(|name, present| present.protected || !moves(name));
        let preferred = preferred(options, old, &target.name);
        let asked = Asked { profile, target: &target, machine: &seen.machine, preferred: &preferred };
        let (resolution, used) = session.solve(asked, &options.index)?;
        findings.extend(seen.findings.clone());
        pythons.extend(seen.machine.python.as_ref().filter(|_| seen.here).map(Python::describe));
        findings.extend(remarks(&resolution));
        targets.push(session.locked_target(profile, &target, &seen, &resolution));
        traffic = traffic.and(used);
    }
    Ok(Made { lock: session.lock_of(profile, targets), pythons, findings, traffic })
}

/// What an earlier lock chose and nobody asked to move.
fn preferred(options: &LockOptions, old: Option<&Lock>, target: &str) -> BTreeMap<PackageName, Version> {
    if options.upgrade {
        return BTreeMap::new();
    }
    let mut preferred = old.map(|old| old.versions(target)).unwrap_or_default();
    preferred.retain(|name, _| !options.upgrade_package.contains(name));
    preferred
}

/// An error for a name that neither lock has: a misspelt one would upgrade nothing and say nothing.
fn must_be_known(names: &[PackageName], locks: [Option<&Lock>; 2]) -> Result<(), Failure> {
    let packages = || locks.into_iter().flatten().flat_map(|lock| &lock.targets).flat_map(|target| &target.packages);
    let Some(name) = names.iter().find(|name| !packages().any(|package| package.name == **name)) else {
        return Ok(());
    };
    let failure = Failure::input(format!("--upgrade-package: `{name}` is not in the lock, nothing needs it"));
    let nearest = packages().map(|package| package.name.as_ref());
    let nearest = nearest.max_by(|a, b| strsim::jaro(a, name.as_ref()).total_cmp(&strsim::jaro(b, name.as_ref())));
    Err(match nearest.filter(|nearest| strsim::jaro(nearest, name.as_ref()) > 0.8) {
        Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
        None => failure.help("`colab-boot plan` lists what is in it"),
    })
}

/// A line for each image that the target can't do without.
pub(super) fn image_only(target: &LockedTarget) -> Vec<String> {
    let named = |packages: &[&LockedPackage]| -> String {
        let all: Vec<String> = packages.iter().map(|package| format!("{} {}", package.name, package.version)).collect();
        few(&all).join(", ")
    };
    let line = |(image, packages): (&str, Vec<&LockedPackage>)| {
        format!("{}: in no index, so the image `{image}` is needed: {}", target.name, named(&packages))
    };
    target.image_only().into_iter().map(line).collect()
}

fn stale(path: &Path, options: &LockOptions, exists: bool, changes: &[String]) -> Finding {
    let help = format!("run `colab-boot lock {}`", options.profile.display());
    if !exists {
        return Finding::error(Code::LockMissing, format!("there is no lock at `{}`", path.display())).with_help(help);
    }
    let finding = Finding::error(Code::LockStale, format!("`{}` is stale", path.display()));
    let finding = if changes.is_empty() {
        finding.with_note("its text is not what would be written: it was edited, or written by another colab-boot")
    } else {
        few(changes).into_iter().fold(finding, Finding::with_note)
    };
    finding.with_help(help)
}

fn few(changes: &[String]) -> Vec<String> {
    let more = changes.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("and {more} more"));
    changes.iter().take(SHOWN).cloned().chain(more).collect()
}

/// Targets and packages as the JSON reports of `lock` and `plan` show them.
pub(super) fn describe(lock: &Lock) -> serde_json::Value {
    let targets = lock.targets.iter().map(|target| {
        let packages: Vec<_> = target
            .packages
            .iter()
            .map(|package| {
                let wheel = package.wheel.as_ref();
                json!({
                    "name": package.name,
                    "version": package.version,
                    "wheel": wheel.map(|wheel| &wheel.file),
                    "size": wheel.and_then(|wheel| wheel.size),
                    "sha256": wheel.and_then(|wheel| wheel.sha256),
                    "index": wheel.map(|wheel| &wheel.index),
                    "image-only": package.image_only,
                    "why": package.why,
                })
            })
            .collect();
        json!({
            "name": target.name,
            "runtime": target.runtime,
            "python": target.python,
            "platform": target.platform,
            "cuda": target.cuda,
            "driver-floor": target.driver_floor,
            "gpus": target.gpus,
            "apt": target.apt,
            "packages": packages,
        })
    });
    targets.collect()
}
