//! `verify`: is what is installed what was locked, does the kernel run it, and does it work?

use std::fmt::Write;

use serde_json::json;

use crate::apply::leftovers;
use crate::apply::now;
use crate::audit::{Environment, judge_locked};
use crate::cli::{IndexOptions, MachineOptions, PlanOptions, VerifyOptions};
use crate::diag::{Code, Failure, Finding};
use crate::inspect::Entry;
use crate::lock::{LockedPackage, LockedTarget};
use crate::machine::{Layout, Python, installed_modules};
use crate::marker::{Event, Now, Standing, standing};
use crate::model::{PackageName, Version};
use crate::output::Report;
use crate::profile::Profile;
use crate::session::Seen;
use crate::session::Session;
use crate::session::is_ours;
use crate::session::{Planned, answer, decided, describe_python, installed, surroundings};
use crate::state::{State, hold};
use crate::verify::{
    Held, SmokeOutcome, SmokeTest, Surroundings, check_distributions, finding_of, ghosts, run_smoke, shadowed,
};

pub(super) fn run(options: &VerifyOptions, session: &Session<'_>) -> Result<Report, Failure> {
    // An apply under way would be seen half done, and its marker written over.
    let _held = hold(&session.paths.state, &|line| session.say(line))?;
    let planned = locked(options, session)?;
    let (seen, target) = (&planned.seen, &planned.target);
    seen.must_be_readable()?;
    let layout = seen.machine.python.as_ref().and_then(|python| python.layout.as_ref()).filter(|_| seen.here);
    let layout = layout.ok_or_else(|| {
        Failure::input("a described machine can't be verified").help("leave out --runtime and --machine")
    })?;
    let state = State::of(&session.paths.state, layout);
    let mut marker = planned.marker.clone();
    let now = now(&planned, marker.as_ref())?;
    let stands = standing(marker.as_ref(), &now);
    let mut findings: Vec<Finding> = planned.findings.iter().filter(|one| is_told_here(one)).cloned().collect();
    let files = check_files(target, layout, &state, seen, &mut findings)?;
    // Of a lock that was never applied here the marker knows nothing, and what it knows of another stays.
    let is_ours = !matches!(stands, Standing::Fresh | Standing::NewMachine);
    if is_ours && (!files.faulty.is_empty() || files.leftovers) {
        // The next apply looks at them, whatever it would have thought.
        let why = "verify found files that are not what they should be".to_owned();
        state.step(&mut marker, Event::Doubt { changed: files.faulty.clone(), why }, &now)?;
    }
    findings.extend(missing_debian(target, seen));
    let is_locked = |name: &PackageName| target.package(name).is_some();
    let environment = Environment { held: installed(session, seen), complete: true, ..surroundings(seen) };
    findings.extend(judge_locked(&environment, session.matrix, &is_locked, !planned.wish.breakage_is_error));
    findings.extend(kernel_findings(&planned, stands, &now));
    let around = Surroundings { machine: &seen.machine, layout, folders: &planned.folders, loaded: &planned.loaded };
    findings.extend(shadowed(&around, target)?);
    let profile = planned.profile.as_ref().ok_or_else(|| Failure::bug("a verification without a profile"))?;
    let smokes = smoke_tests(session, profile, seen, target);
    findings.extend(smokes.iter().filter_map(|(name, outcome)| smoke_finding(name, outcome, target, seen)));
    findings.extend(no_gpu(&smokes, seen));
    let python = seen.machine.python.as_ref().map(Python::describe).unwrap_or_default();
    let text = format!("  {:<12}{python}\n{}", "python", render(&files, stands, &smokes, &findings));
    let smoke: serde_json::Map<String, serde_json::Value> =
        smokes.iter().map(|(name, outcome)| (name.to_string(), json!(outcome))).collect();
    let data = json!({
        "python": describe_python(seen),
        "standing": stands,
        "files": { "against-wheel": files.against_wheel, "against-own-record": files.against_own, "by-version": files.by_version, "faulty": files.faulty },
        "smoke": smoke,
    });
    Ok(Report::new(data, text).with_findings(findings))
}

/// What the lock beside the profile means here; nothing is solved anew and no index is asked.
fn locked(options: &VerifyOptions, session: &Session<'_>) -> Result<Planned, Failure> {
    let options = PlanOptions {
        profile: options.profile.clone(),
        lock: options.lock.clone(),
        locked: true,
        script: None,
        // Looking changes nothing.
        machine: MachineOptions { system: true, ..options.machine.clone() },
        index: IndexOptions { offline: true, ..IndexOptions::default() },
    };
    let mut answer = answer(&options, session)?;
    // What another apply would take away is no fault of what is there.
    answer.wish.prune = false;
    decided(answer, &options, session)
}

/// What a plan would break or skip is not what a verification is about.
fn is_told_here(finding: &Finding) -> bool {
    !matches!(finding.code, Code::PlanBreakage | Code::PlanAptSkipped | Code::MachineNoGpu | Code::LockUnhashed)
}

/// The lock's Debian packages that are not installed.
fn missing_debian(target: &LockedTarget, seen: &Seen) -> Option<Finding> {
    let installed = seen.machine.debian.packages();
    let missing = target.apt.iter().filter(|one| !installed.contains_key(&one.name));
    let missing: Vec<&str> = missing.map(|one| one.name.as_str()).collect();
    let message = format!("Debian packages are not installed: {}", missing.join(", "));
    let finding = if seen.machine.has_apt && seen.machine.is_root {
        Finding::error(Code::VerifyDebian, message).with_help("`colab-boot apply` installs them")
    } else {
        Finding::warning(Code::VerifyDebian, message)
            .with_help("have them installed by other means, or run this as root")
    };
    (!missing.is_empty()).then_some(finding)
}

/// How many packages were held against what.
#[derive(Debug, Default)]
struct Files {
    against_wheel: usize,
    /// They were there before the apply; what their installer wrote down is all there is.
    against_own: usize,
    /// Kept from the image, known by version alone.
    by_version: usize,
    faulty: Vec<PackageName>,
    /// What a killed installer has left.
    leftovers: bool,
}

fn check_files(
    target: &LockedTarget,
    layout: &Layout,
    state: &State,
    seen: &Seen,
    findings: &mut Vec<Finding>,
) -> Result<Files, Failure> {
    // Where there is no wheel, the target was chosen because it has this version.
    // Debian's own packages have files that Debian has changed.
    let can_be_held = |package: &&LockedPackage| package.wheel.is_some() && is_ours(layout, seen, &package.name);
    let (of_wheels, kept): (Vec<_>, Vec<_>) = target.packages.iter().partition(can_be_held);
    let mut files = Files { by_version: kept.len(), ..Files::default() };
    let layouts: Vec<Layout> = of_wheels.iter().map(|package| where_it_lies(layout, seen, &package.name)).collect();
    let mut held = Vec::new();
    for (package, layout) in of_wheels.iter().zip(&layouts) {
        let digest = package.wheel.as_ref().and_then(|wheel| wheel.sha256);
        let record = digest.map_or(Ok(None), |digest| state.record(&digest))?;
        // Of a RECORD without SHA-256 there is nothing to hold a file against.
        let can_tell = |record: &Vec<Entry>| record.iter().any(|entry| entry.sha256.is_some());
        *(match &record {
            Some(record) if can_tell(record) => &mut files.against_wheel,
            Some(_) => &mut files.by_version,
            None => &mut files.against_own,
        }) += 1;
        held.push(Held { layout, name: &package.name, version: &package.version, record });
    }
    for (package, faults) in of_wheels.into_iter().zip(check_distributions(held, 3)) {
        if !faults.is_empty() {
            files.faulty.push(package.name.clone());
        }
        findings.extend(finding_of((&package.name, &package.version), &faults));
    }
    let left = leftovers(&layout.purelib)?;
    if !left.is_empty() {
        let message = format!("a killed installer has left {} behind", left.join(", "));
        findings.push(Finding::error(Code::VerifyFiles, message).with_help("`colab-boot apply` removes them"));
        files.leftovers = true;
    }
    let others: Vec<String> = ghosts(layout).into_iter().filter(|name| !name.starts_with('~')).collect();
    if !others.is_empty() && files.faulty.is_empty() {
        findings.push(Finding::warning(Code::VerifyFiles, format!("installed more than once: {}", others.join(", "))));
    }
    Ok(files)
}

/// The layout with the folder that `import` finds the distribution in: Debian's packages lie beside pip's.
fn where_it_lies(layout: &Layout, seen: &Seen, name: &PackageName) -> Layout {
    let mut layout = layout.clone();
    if let Some(folder) = seen.machine.installed.get(name).and_then(|one| one.location.clone()) {
        layout.purelib.clone_from(&folder);
        layout.platlib = folder;
    }
    layout
}

/// Where the kernel stands, and which variables it does not have as the profile sets them.
fn kernel_findings(planned: &Planned, stands: Standing, now: &Now<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    match stands {
        Standing::Interrupted | Standing::Failed => {
            let finding = Finding::error(Code::ApplyFailed, stands.as_str());
            findings.push(finding.with_help("run `colab-boot apply` again"));
        }
        Standing::Fresh | Standing::NewMachine => {
            let other = planned.marker.as_ref().filter(|marker| marker.is_in_doubt() && marker.boot_id == now.boot_id);
            findings.extend(other.map(|marker| {
                let message = format!(
                    "an apply of {} was not finished here; what this lock names is judged all the same",
                    marker.profile
                );
                Finding::warning(Code::ApplyFailed, message)
                    .with_help("run it again, or `colab-boot apply` for this profile")
            }));
            findings.push(Finding::note(Code::NothingApplied, "colab-boot has not applied this lock on this machine"));
        }
        Standing::RestartPending | Standing::Restarted | Standing::Ready => {}
    }
    // What the kernel holds is true whatever lock the marker is of.
    let marker = planned.marker.as_ref().filter(|marker| marker.boot_id == now.boot_id);
    let because = match (marker, now.kernel) {
        (Some(marker), Some(_)) => marker.because(now),
        (Some(marker), None) => marker.pending(&now.gone).flat_map(|asked| asked.because.clone()).collect(),
        (None, _) => now.evidence.to_vec(),
    };
    if !because.is_empty() {
        let message = "the kernel runs code, or has read variables, that were replaced since";
        let finding = Finding::error(Code::VerifyKernelOld, message).with_help("restart the kernel, then verify again");
        findings.push(because.into_iter().fold(finding, Finding::with_note));
    }
    let live = &planned.decision.environment.live;
    let names: Vec<&str> = live.keys().map(String::as_str).filter(|name| !name.starts_with("COLAB_BOOT_")).collect();
    if !names.is_empty() {
        let message = format!("the kernel does not have what the profile sets: {}", names.join(", "));
        findings.push(
            Finding::error(Code::VerifyEnvironment, message)
                .with_help("run the cell that applies, it sets them; then verify again"),
        );
    }
    findings
}

fn smoke_tests(
    session: &Session<'_>,
    profile: &Profile,
    seen: &Seen,
    target: &LockedTarget,
) -> Vec<(PackageName, SmokeOutcome)> {
    let Some(python) = seen.machine.python.as_ref().and_then(|python| python.path.as_ref()) else {
        return Vec::new();
    };
    let run = |name: &PackageName| {
        session.say(&format!("testing {name}"));
        let location = seen.machine.installed.get(name).and_then(|one| one.location.as_ref());
        let modules = location.and_then(|folder| installed_modules(name, folder).ok()).unwrap_or_default();
        (
            name.clone(),
            run_smoke(
                &SmokeTest { package: name.clone(), modules: modules.into_iter().collect() },
                python,
                session.environment,
            ),
        )
    };
    // A marker may keep a framework of the profile out of this target.
    profile.smoke.iter().filter(|name| target.package(name).is_some()).map(run).collect()
}

fn smoke_finding(name: &PackageName, outcome: &SmokeOutcome, target: &LockedTarget, seen: &Seen) -> Option<Finding> {
    let version = target.package(name).map(|package| package.version.to_string());
    if !outcome.ok {
        let message = format!("{name} did not pass its smoke test");
        return Some(Finding::error(Code::VerifySmoke, message).with_note(outcome.detail.clone()));
    }
    // `2.20.0-rc0` is `2.20.0rc0`, and a local label may be missing from one of the two.
    let public = |text: &str| text.parse::<Version>().ok().map(Version::without_local);
    if let (Some(version), Some(imported)) = (&version, &outcome.version)
        && public(version) != public(imported)
    {
        let message = format!("{name} {version} is locked, but {imported} is imported");
        return Some(Finding::error(Code::VerifySmoke, message).with_help("another copy comes first on sys.path"));
    }
    let has_gpu = !seen.machine.hardware.gpus.is_empty();
    let unused = has_gpu && target.cuda.is_some() && outcome.gpu == Some(false);
    unused.then(|| {
        Finding::error(Code::VerifyGpuUnused, format!("{name} does not use the GPU that is here"))
            .with_note(outcome.detail.clone())
    })
}

fn no_gpu(smokes: &[(PackageName, SmokeOutcome)], seen: &Seen) -> Option<Finding> {
    let asked = smokes.iter().any(|(_, outcome)| outcome.gpu.is_some());
    let here = !seen.machine.hardware.gpus.is_empty();
    (asked && !here).then(|| Finding::note(Code::VerifyNoGpu, "no GPU here: the frameworks were tested on the CPU"))
}

fn render(files: &Files, stands: Standing, smokes: &[(PackageName, SmokeOutcome)], findings: &[Finding]) -> String {
    let mut text = String::new();
    let mut row = |key: &str, value: String| {
        let _ = writeln!(text, "  {key:<12}{value}");
    };
    row(
        "files",
        format!(
            "{} packages against their wheels, {} against their own RECORD, {} by version; {} faulty",
            files.against_wheel,
            files.against_own,
            files.by_version,
            files.faulty.len()
        ),
    );
    row("kernel", stands.as_str().to_owned());
    for (name, outcome) in smokes {
        let state = if outcome.ok { "works" } else { "fails" };
        let version = outcome.version.clone().unwrap_or_default();
        row(name.as_ref(), format!("{version} {state}: {}", outcome.detail.lines().next().unwrap_or_default()));
    }
    let errors = findings.iter().filter(|finding| finding.severity == crate::diag::Severity::Error).count();
    let verdict = if errors == 0 { "verified".to_owned() } else { format!("not verified: {errors} problems") };
    let _ = writeln!(text, "{verdict}");
    text
}
