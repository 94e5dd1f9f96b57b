//! `restore`: the environment as before the first apply. What it installed goes, what it replaced or removed comes
//! back.

use serde::Serialize;

use crate::boot::apply::{ApplyManner, Installer, carry_out, kernel_evidence};
use crate::boot::goal::{Answer, Goal, Request};
use crate::boot::lock::LockedTarget;
use crate::boot::marker::RESTORE;
use crate::boot::plan::{Plan, Restart, Wish, changed_by_others};
use crate::boot::planned::{Planned, decided};
use crate::boot::seen::PythonReport;
use crate::boot::session::Session;
use crate::boot::situation::Reading;
use crate::boot::state::State;
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
    let held = session.hold_to_change(&request.machine, None)?;
    let planned = plan()?;
    let debian = planned.seen.ledger.debian.join(" ");
    let mut report =
        carry_out(&planned, &request.index, session, &held.folder, ApplyManner { installer: Installer::Own, style })?;
    let layout = planned.seen.layout();
    layout.map_or(Ok(()), |layout| unfollow_crashes(&layout.purelib))?;
    if !debian.is_empty() {
        report.talk.push(format!("Debian packages are not removed: {debian}"));
    }
    Ok(report)
}

/// An answer in which nothing is wanted.
fn nothing_wanted(request: &Request, session: &Session<'_>) -> Result<Answer, Failure> {
    let seen = session.machine_near(&request.machine, None)?;
    seen.may_be_changed(request.machine.system)?;
    let python = seen.python("pass the environment to restore with --python")?;
    let target = LockedTarget::without_packages(&python.facts);
    let help_for_breakage = "install a release of it that fits, or remove it";
    let wish = Wish { title: RESTORE.to_owned(), prune: true, help_for_breakage, ..Wish::default() };
    let state = seen.layout().map(|layout| State::of(&session.paths.state, layout));
    if state.as_ref().is_some_and(|state| state.has_lost_ledger(&seen.ledger)) {
        return Err(no_record(session));
    }
    let mut findings = seen.findings.clone();
    if state.map_or(Ok(false), |state| state.has_other_records(&seen.ledger))? {
        findings.push(other_records());
    }
    findings.extend(changed_by_others(&seen.ledger, &seen.machine));
    if seen.ledger.is_empty() {
        let message = "colab-boot installed nothing here, or everything is already restored";
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

/// That this record is not all that colab-boot has changed.
fn other_records() -> Finding {
    let message = "another user or state folder also has a record of colab-boot's changes to this environment";
    let finding = Finding::warning(Code::PlanPruneKept, message);
    finding.with_help("packages in that record stay: run `colab-boot restore` there, too, or recreate the environment")
}

/// That nothing can be undone: what was changed is not known.
fn no_record(session: &Session<'_>) -> Failure {
    let state = session.paths.state.display();
    let message =
        format!("colab-boot has changed this environment, but `{state}` has no record of what was there before");
    Failure::answer(message).help(
        "if the record is elsewhere, set COLAB_BOOT_STATE_DIR to its folder; otherwise recreate the environment, for example with `python3 -m venv --clear`",
    )
    .help(format!("files that were kept aside are below `{state}/python`"))
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
    let text = render_plan(("restore", false), plan, &planned.seen.machine, restart, &[]) + &line + "\n";
    let data = PreviewReport { python: PythonReport::of(&planned.seen), plan, restart };
    Report::new(data, text).with_findings(planned.findings.clone())
}
