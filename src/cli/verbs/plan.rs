//! `plan`: what `apply` would do here, or on a described machine. Changes nothing.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::boot::apply::kernel_evidence;
use crate::boot::goal::{Answer, answer};
use crate::boot::index::Traffic;
use crate::boot::lock::TargetReport;
use crate::boot::plan::{Plan, Restart, how_builds_run};
use crate::boot::planned::{Planned, decided, script_of};
use crate::boot::profile::{Profile, with_apt};
use crate::boot::seen::{PythonReport, lacking};
use crate::boot::session::Session;
use crate::boot::situation::Reading;
use crate::boot::verdict::{Report, Verdict};
use crate::cli::arguments::PreviewOptions;
use crate::cli::output::{plan_line, plan_page, render_plan};
use crate::core::diag::Failure;
use crate::core::host::destination::{is_stdout, write_output, write_report};
use crate::core::host::files;
use crate::core::model::{PackageName, Sha256};
use crate::golden::repository::check_pin;

#[derive(Serialize)]
struct PlanReport<'a> {
    profile: Option<ProfileReport<'a>>,
    python: PythonReport,
    /// The lock's digest.
    lock: Sha256,
    targets: Vec<TargetReport<'a>>,
    plan: &'a Plan,
    restart: &'a Restart,
    verdicts: &'a [String],
    /// Absent where a lock answered.
    traffic: Option<&'a Traffic>,
}

#[derive(Serialize)]
struct ProfileReport<'a> {
    name: &'a PackageName,
    version: &'a semver::Version,
    sha256: Sha256,
}

impl<'a> ProfileReport<'a> {
    fn of(profile: &'a Profile) -> Self {
        Self { name: &profile.name, version: &profile.version, sha256: profile.digest }
    }
}

pub(super) fn run(options: &PreviewOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let PreviewOptions { plan: options, add_apt } = options;
    let (wanted, request) = (options.profile_request(), options.request());
    let pinned = check_pin((&options.profile, options.lock.as_ref()), request.index.offline, session)?;
    let mut asked = answer(&wanted, &request, session)?;
    let added = if *add_apt { write_apt(&options.profile, session, &asked)? } else { BTreeSet::new() };
    if !added.is_empty() {
        // The profile is another one now.
        asked = answer(&wanted, &request, session)?;
    }
    let mut planned = decided(asked, &request, session, Reading::Least)?;
    planned.add_release(pinned.release, pinned.findings);
    let Planned { goal, seen, target, decision, traffic, .. } = &planned;
    let (plan, restart) = (&decision.plan, &decision.restart);
    let verdicts = how_builds_run(session.matrix, &seen.machine, target);
    let errors = planned.errors();
    let text = render_plan((&planned.wish.title, session.log.is_verbose()), plan, &seen.machine, restart, &verdicts);
    let script = options.script.as_ref().filter(|_| errors == 0).map(|_| script_of(&planned, plan, session.matrix));
    let data = PlanReport {
        profile: planned.goal.profile().map(ProfileReport::of),
        python: PythonReport::of(seen),
        lock: goal.digest(),
        targets: vec![TargetReport::of(target)],
        plan,
        restart,
        verdicts: &verdicts,
        traffic: traffic.as_ref(),
    };
    let mut report = Report::new(data, text).with_findings(planned.findings.clone());
    report.page = Some(plan_page(plan, &seen.machine, restart, &verdicts));
    if errors > 0 {
        report = report.with_verdict(Verdict::refused(errors));
    } else {
        let _ = writeln!(report.text, "{}", plan_line(plan, restart, &kernel_evidence(&planned)));
    }
    if !added.is_empty() {
        let names: Vec<&str> = added.iter().map(String::as_str).collect();
        report.talk.push(format!("{} written to `[apt]` of {}", names.join(", "), options.profile.display()));
    }
    if let Some((path, script)) = options.script.as_ref().zip(script) {
        if is_stdout(path) {
            report.print_instead(script);
        } else {
            write_report(path, script.as_bytes())?;
            report.talk.push(format!("script written to {}", path.display()));
        }
    }
    Ok(report)
}

/// Writes the Debian packages of libraries that this system lacks into the profile. Returns them.
fn write_apt(profile: &Path, session: &Session<'_>, answer: &Answer) -> Result<BTreeSet<String>, Failure> {
    let lacking = lacking(session, &answer.seen, &answer.target)?;
    let packages: BTreeSet<String> = lacking.into_iter().flat_map(|one| one.debian).collect();
    if !packages.is_empty() {
        let text = files::read_text(profile, "profile")?;
        write_output(profile, with_apt(&text, &packages)?.as_bytes())?;
    }
    Ok(packages)
}
