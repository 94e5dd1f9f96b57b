//! `verify`: is what is installed what was locked, does the kernel run it, and does it work?

use std::fmt::Write;

use serde_json::json;

use crate::apply::leftovers;
use crate::cli::VerifyOptions;
use crate::command::gather::{Seen, lock_path};
use crate::command::state::{State, hold};
use crate::command::{Report, Session};
use crate::diag::{Code, Failure, Finding, Kind};
use crate::lock::{LockedPackage, LockedTarget, stale};
use crate::machine::{Layout, installed_modules};
use crate::marker::{Event, Standing, standing};
use crate::model::{PackageName, Version};
use crate::profile::Profile;
use crate::verify::{FileFault, Held, SmokeOutcome, SmokeTest, check_distributions, ghosts, run_smoke};

pub(super) fn run(options: &VerifyOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profile = session.profile(&options.profile)?;
    // An apply under way would be seen half done, and its marker written over.
    let _held = hold(&session.paths.state, &|line| session.say(line))?;
    let seen = session.machine(&options.machine)?;
    seen.must_be_readable()?;
    let path = lock_path(&options.profile, options.lock.as_ref());
    let no = |code: Code, message: String, help: &str| {
        Failure::from_findings(Kind::Answer, vec![Finding::error(code, message).with_help(help.to_owned())])
    };
    let lock = session.read_lock(&path)?.ok_or_else(|| {
        no(Code::LockMissing, format!("there is no lock at `{}`", path.display()), "run `colab-boot apply` first")
    })?;
    if let Some(why) = stale(&lock, &profile.digest, &session.matrix.version) {
        return Err(no(
            Code::LockStale,
            format!("`{}` is stale: {why}", path.display()),
            "run `colab-boot apply` again",
        ));
    }
    let python = seen
        .machine
        .python
        .as_ref()
        .ok_or_else(|| Failure::world("no usable Python was found").help("name one with --python"))?;
    let layout = python.layout.as_ref().filter(|_| seen.here);
    let layout = layout.ok_or_else(|| {
        Failure::input("a described machine can't be verified").help("leave out --runtime and --machine")
    })?;
    let target = session.fitting(&lock, &seen).map_err(|reasons| {
        no(
            Code::MachineNotPlanned,
            format!("no target of the lock fits: {}", reasons.join("; ")),
            "run `colab-boot lock`",
        )
    })?;
    let state = State::of(&session.paths.state, layout);
    let mut marker = state.marker()?;
    let now = State::now(profile.title(), lock.digest(), &seen.machine, marker.as_ref())?;
    let stands = standing(marker.as_ref(), &now);
    let mut findings = seen.findings.clone();
    let files = check_files(target, layout, &state, &seen, &mut findings)?;
    // Of a lock that was never applied here the marker knows nothing, and what it knows of another stays.
    let is_ours = !matches!(stands, Standing::Fresh | Standing::NewMachine);
    if is_ours && (!files.faulty.is_empty() || files.leftovers) {
        // The next apply looks at them, whatever it would have thought.
        let why = "verify found files that are not what they should be".to_owned();
        state.step(&mut marker, Event::Doubt { changed: files.faulty.clone(), why }, &now)?;
    }
    findings.extend(kernel_finding(stands));
    let smokes = smoke_tests(session, &profile, &seen, target);
    findings.extend(smokes.iter().filter_map(|(name, outcome)| smoke_finding(name, outcome, target, &seen)));
    findings.extend(no_gpu(&smokes, &seen));
    let text = render(&files, stands, &smokes, &findings);
    let smoke: serde_json::Map<String, serde_json::Value> =
        smokes.iter().map(|(name, outcome)| (name.to_string(), json!(outcome))).collect();
    let data = json!({
        "standing": stands,
        "files": { "against-wheel": files.against_wheel, "against-own-record": files.against_own, "by-version": files.by_version, "faulty": files.faulty },
        "smoke": smoke,
    });
    Ok(Report::new(data, text).with_findings(findings))
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
    let (of_wheels, kept): (Vec<_>, Vec<_>) = target.packages.iter().partition(|package| package.wheel.is_some());
    let mut files = Files { by_version: kept.len(), ..Files::default() };
    let layouts: Vec<Layout> = of_wheels.iter().map(|package| where_it_lies(layout, seen, &package.name)).collect();
    let mut held = Vec::new();
    for (package, layout) in of_wheels.iter().zip(&layouts) {
        let digest = package.wheel.as_ref().and_then(|wheel| wheel.sha256);
        let record = digest.map_or(Ok(None), |digest| state.record(&digest))?;
        *(if record.is_some() { &mut files.against_wheel } else { &mut files.against_own }) += 1;
        held.push(Held { layout, name: &package.name, version: &package.version, record });
    }
    for (package, faults) in of_wheels.into_iter().zip(check_distributions(held, 3)) {
        if !faults.is_empty() {
            files.faulty.push(package.name.clone());
        }
        findings.extend(finding_of(package, &faults));
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

/// One finding for the faults of a distribution.
pub(super) fn finding_of(package: &LockedPackage, faults: &[FileFault]) -> Option<Finding> {
    let (first, rest) = faults.split_first()?;
    let mut finding = Finding::error(Code::VerifyFiles, format!("{} {}: {first}", package.name, package.version));
    for fault in rest {
        finding = finding.with_note(fault.to_string());
    }
    Some(finding.with_help("`colab-boot apply` installs it again"))
}

fn kernel_finding(stands: Standing) -> Option<Finding> {
    match stands {
        Standing::RestartPending => {
            let message = "the kernel is older than the apply and may run code that was replaced";
            Some(Finding::error(Code::VerifyKernelOld, message).with_help("restart the kernel, then verify again"))
        }
        Standing::Interrupted | Standing::Failed => {
            Some(Finding::error(Code::ApplyFailed, stands.as_str()).with_help("run `colab-boot apply` again"))
        }
        Standing::Fresh | Standing::NewMachine => {
            Some(Finding::note(Code::NothingApplied, "colab-boot has not applied this lock on this machine"))
        }
        Standing::Restarted | Standing::Ready => None,
    }
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
        (name.clone(), run_smoke(&SmokeTest { package: name.clone(), modules }, python, session.environment))
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
