//! `plan`: what `apply` would do here, or on a described machine. Changes nothing.

use serde::Serialize;

use crate::cli::PlanOptions;
use crate::diag::Failure;
use crate::host::destination::{is_stdout, write_output};
use crate::index::Traffic;
use crate::lock::TargetReport;
use crate::model::{PackageName, Sha256};
use crate::output::{Report, render_plan};
use crate::plan::{Plan, Restart};
use crate::profile::Profile;
use crate::script::Part;
use crate::session::{Planned, PythonReport, Session, make, script_of, verdicts};

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

pub(super) fn run(options: &PlanOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let planned = make(options, session)?;
    let Planned { seen, target, lock, decision, traffic, .. } = &planned;
    let (plan, restart) = (&decision.plan, &decision.restart);
    let verdicts = verdicts(session, seen, target);
    let text = render_plan(&planned.wish.title, plan, &seen.machine, restart, &verdicts);
    let script = options.script.as_ref().map(|_| script_of(&planned, plan, Part::Whole));
    let data = PlanReport {
        profile: planned.profile.as_ref().map(ProfileReport::of),
        python: PythonReport::of(seen),
        lock: lock.digest(),
        targets: vec![TargetReport::of(target)],
        plan,
        restart,
        verdicts: &verdicts,
        traffic: traffic.as_ref(),
    };
    let mut report = Report::new(data, text).with_findings(planned.findings);
    if let Some((path, script)) = options.script.as_ref().zip(script) {
        if is_stdout(path) {
            report.print_instead(script);
        } else {
            write_output(path, script.as_bytes())?;
            report.talk.push(format!("script written to {}", path.display()));
        }
    }
    Ok(report)
}
