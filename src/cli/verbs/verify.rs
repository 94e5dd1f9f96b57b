//! `verify`: is what is installed what was locked, does the kernel run it, and does it work?

use std::collections::BTreeMap;

use serde::Serialize;

use crate::boot::apply::{evidence_of, now};
use crate::boot::audit::{Environment, judge_locked};
use crate::boot::goal::{ProfileRequest, Request, answer};
use crate::boot::index::IndexSettings;
use crate::boot::lock::{LockedTarget, lock_path};
use crate::boot::machine::{MachineRequest, Python};
use crate::boot::marker::{Standing, standing};
use crate::boot::planned::{Planned, decided};
use crate::boot::seen::{PythonReport, Seen, installed, surroundings};
use crate::boot::session::Session;
use crate::boot::situation::Reading;
use crate::boot::state::State;
use crate::boot::verdict::{Compared, Files, Report, Verdict};
use crate::boot::verify::{
    Repeated, SmokeOutcome, file_findings, held_since, imports, is_assumed, kernel_findings, no_gpu, repeated,
    shown_tests, smoke_finding, smoke_tests, summary,
};
use crate::cli::arguments::VerifyOptions;
use crate::core::diag::{Code, Failure, Finding, Kind, count_errors};
use crate::core::host::destination::write_report;
use crate::core::host::files;
use crate::core::model::accepted::accept;
use crate::core::model::{PackageName, Sha256};
use crate::golden::evidence_of_run::verification_record;
use crate::golden::repository::check_pinned_files;

#[derive(Serialize)]
struct VerifyReport<'a> {
    python: PythonReport,
    standing: Standing,
    files: &'a Files,
    smoke: BTreeMap<&'a PackageName, &'a SmokeOutcome>,
    /// What came of training twice, with `--deterministic`.
    repeated: BTreeMap<&'a PackageName, &'a str>,
}

pub(super) fn run(options: &VerifyOptions, session: &Session<'_>) -> Result<Report, Failure> {
    // An apply under way would be seen half done, and its marker written over.
    let _held = session.hold(&options.machine.request(), Some(&options.profile))?;
    let pinned = check_pinned_files(&options.profile, options.lock.as_ref(), session)?;
    // Another lock than the pinned one is that before it is anything else.
    if count_errors(&pinned.findings) > 0 {
        return Err(Failure::from_findings(Kind::Answer, pinned.findings));
    }
    let mut planned = locked(options, session)?;
    planned.release = pinned.release;
    let (seen, target) = (&planned.seen, &planned.target);
    seen.must_be_readable()?;
    let layout = seen.layout();
    let layout = layout
        .ok_or_else(|| Failure::input("only this machine can be verified").help("leave out --runtime and --machine"))?;
    let state = State::of(&session.paths.state, layout);
    let now = now(&planned, planned.marker.as_ref())?;
    let stands = standing(planned.marker.as_ref(), &now);
    let mut findings: Vec<Finding> = planned.findings.iter().filter(|one| belongs_here(one)).cloned().collect();
    findings.extend(pinned.findings);
    findings.extend(file_findings(&planned, layout)?);
    if planned.files.has_news {
        state.keep_hashed(&planned.files.hashed)?;
    }
    let mut evidence = evidence_of(&planned, planned.files.evidence(&[]));
    let mut because = held_since(&planned, &now);
    if let Compared::Differs(seen) = &evidence.kernel {
        because.extend(seen.iter().cloned());
    }
    if !because.is_empty() && !is_assumed(&because) {
        evidence.kernel = Compared::Differs(because.clone());
    }
    findings.extend(missing_debian(target, seen));
    let is_locked = |name: &PackageName| target.package(name).is_some();
    let environment = Environment { held: installed(session, seen), complete: true, ..surroundings(seen) };
    findings.extend(judge_locked(&environment, session.matrix, &is_locked, !planned.wish.breakage_is_error));
    findings = accept(findings, &target.accept);
    findings.extend(kernel_findings(&planned, stands, &now, &because));
    let profile = planned.goal.profile().ok_or_else(|| Failure::bug("a verification without a profile"))?;
    let smokes = smoke_tests(session, profile, seen, target, options.thorough);
    let repeated = if options.deterministic { repeated(session, profile, seen, target) } else { Repeated::default() };
    evidence.tested = smokes.iter().filter(|(_, outcome)| outcome.ok).count();
    findings.extend(smokes.iter().filter_map(|(name, outcome)| smoke_finding(name, outcome, target, seen)));
    findings.extend(imports(session, profile, seen, target, &evidence.files));
    findings.extend(no_gpu(&smokes, seen));
    findings.extend(repeated.findings);
    if let Some(path) = &options.record {
        let digest = digest_of_lock(options)?;
        let record = verification_record(session, &planned, (profile, digest), &smokes, &findings);
        write_report(path, record.to_text().as_bytes())?;
    }
    let python = seen.machine.python.as_ref().map(Python::describe).unwrap_or_default();
    let text = summary(python, &evidence, stands, &[shown_tests(&smokes), repeated.rows.clone()].concat());
    let data = VerifyReport {
        python: PythonReport::of(seen),
        standing: stands,
        files: &evidence.files,
        smoke: smokes.iter().map(|(name, outcome)| (name, outcome)).collect(),
        repeated: repeated.rows.iter().map(|(name, said)| (name, said.as_str())).collect(),
    };
    let problems = count_errors(&findings);
    let report = Report::new(data, text).with_findings(findings);
    Ok(report.with_verdict(Verdict::verified(evidence, problems)))
}

/// The digest of the lock's text, by which a release names it.
fn digest_of_lock(options: &VerifyOptions) -> Result<Sha256, Failure> {
    let lock = lock_path(&options.profile, options.lock.as_ref());
    Ok(Sha256::of(files::read_text(&lock, "lock")?.as_bytes()))
}

/// What the lock beside the profile means here; nothing is solved anew and no index is asked.
fn locked(options: &VerifyOptions, session: &Session<'_>) -> Result<Planned, Failure> {
    let wanted = ProfileRequest { profile: options.profile.clone(), lock: options.lock.clone(), locked: true };
    let request = Request {
        // Looking changes nothing.
        machine: MachineRequest { system: true, ..options.machine.request() },
        index: IndexSettings { offline: true, ..IndexSettings::default() },
    };
    let mut answer = answer(&wanted, &request, session)?;
    // What another apply would take away is no fault of what is there.
    answer.wish.prune = false;
    decided(answer, &request, session, Reading::All)
}

/// What a plan would break or skip is not what a verification is about.
fn belongs_here(finding: &Finding) -> bool {
    !matches!(
        finding.code,
        Code::PlanBreakage | Code::PlanAptSkipped | Code::MachineNoGpu | Code::LockUnhashed | Code::FilesEdited
    )
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
        Finding::warning(Code::VerifyDebian, message).with_help("install them another way, or run this as root")
    };
    (!missing.is_empty()).then_some(finding)
}
