//! `restore`: the environment as before the first apply. What it installed goes, what it replaced or removed comes
//! back.

use serde::Serialize;

use crate::boot::apply::{carry_out, kernel_evidence};
use crate::boot::lock::LockedTarget;
use crate::boot::plan::{Plan, Restart, Wish};
use crate::boot::session::{Answer, Goal, Planned, PythonReport, Reading, Request, Session, decided};
use crate::boot::verdict::Report;
use crate::cli::arguments::RestoreOptions;
use crate::cli::output::{plan_line, render_plan};
use crate::core::diag::{Code, Failure, Finding};
use crate::core::log::Style;
use crate::health::record::unfollow_crashes;

pub(super) fn run(options: &RestoreOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let request = Request { machine: options.machine.request(), index: options.index.settings() };
    let plan = || decided(nothing_wanted(&request, session)?, &request, session, Reading::News);
    if options.dry_run {
        return Ok(preview(&plan()?));
    }
    let held = session.hold(&request.machine, None)?;
    let planned = plan()?;
    let debian = planned.seen.ledger.debian.join(" ");
    let mut report = carry_out(&planned, &request.index, session, &held.folder, style)?;
    let layout = planned.seen.layout();
    layout.map_or(Ok(()), |layout| unfollow_crashes(&layout.purelib))?;
    if !debian.is_empty() {
        report.talk.push(format!("Debian packages stay: {debian}"));
    }
    Ok(report)
}

/// An answer in which nothing is wanted.
fn nothing_wanted(request: &Request, session: &Session<'_>) -> Result<Answer, Failure> {
    let seen = session.machine_near(&request.machine, None)?;
    seen.may_be_changed(request.machine.system)?;
    let python = seen.python("name the environment to restore with --python")?;
    let target = LockedTarget::without_packages(&python.facts);
    let wish = Wish { title: "restore".to_owned(), prune: true, ..Wish::default() };
    let mut findings = seen.findings.clone();
    if seen.ledger.is_empty() {
        let message = "colab-boot has installed nothing here, or all of it is restored already";
        findings.push(Finding::note(Code::NothingApplied, message));
    }
    Ok(Answer {
        goal: Goal::Restore,
        wish,
        seen,
        target,
        findings,
        keep_lock: false,
        traffic: None,
        other_target: None,
    })
}

#[derive(Serialize)]
struct PreviewReport<'a> {
    python: PythonReport,
    plan: &'a Plan,
    restart: &'a Restart,
}

fn preview(planned: &Planned) -> Report {
    let (plan, restart) = (&planned.decision.plan, &planned.decision.restart);
    let line = plan_line(plan, restart, &kernel_evidence(planned));
    let text = render_plan("restore", plan, &planned.seen.machine, restart, &[]) + &line + "\n";
    let data = PreviewReport { python: PythonReport::of(&planned.seen), plan, restart };
    Report::new(data, text).with_findings(planned.findings.clone())
}
