//! How an apply ends: `applied`, `ready`, a restart by the cell, or a restart by hand.

use crate::apply::report::ApplyReport;
use crate::diag::{Code, Failure, Finding};
use crate::machine::{Kernel, Python};
use crate::marker::{Event, Marker, Now, Standing, Verdict};
use crate::notebook::{is_alive, process_clock};
use crate::output::Report;
use crate::session::{Planned, PythonReport};
use crate::state::State;

/// What is true now.
pub fn now<'a>(planned: &'a Planned, marker: Option<&Marker>) -> Result<Now<'a>, Failure> {
    let machine = &planned.seen.machine;
    Ok(Now {
        profile: planned.wish.title.clone(),
        lock: planned.lock.digest(),
        python: machine.python.as_ref().and_then(|python| python.path.clone()).unwrap_or_default(),
        boot_id: machine.boot_id.as_str(),
        kernel: machine.kernel.as_ref(),
        loaded: &planned.loaded,
        folders: &planned.folders,
        evidence: &planned.decision.evidence,
        gone: marker.map(gone).unwrap_or_default(),
        clock: process_clock()?,
    })
}

/// The kernels that were asked to restart and are no process any more.
pub fn gone(marker: &Marker) -> Vec<Kernel> {
    marker.asked.iter().map(|asked| &asked.kernel).filter(|kernel| !is_alive(kernel)).cloned().collect()
}

/// Nothing to change: what is left is to say where the kernel stands.
pub(super) fn settle(planned: &Planned, state: &State) -> Result<Report, Failure> {
    let mut marker = planned.marker.clone();
    let now = now(planned, marker.as_ref())?;
    let known = marker.as_ref().is_some_and(|marker| marker.lock == now.lock && marker.boot_id == now.boot_id);
    let verdict = state.step(&mut marker, Event::Look, &now)?;
    let count = planned.decision.plan.kept.len();
    outcome(planned, verdict, |stands| {
        let text = match stands {
            Standing::Restarted => "in a kernel that has started since",
            _ if known => "no restart needed",
            _ => "nothing had to be changed",
        };
        match planned.profile {
            Some(_) => format!("ready: {count} packages as locked, {text}"),
            None if keeps_some(planned) => RESTORED_MOST.to_owned(),
            None => "restored: colab-boot has nothing here".to_owned(),
        }
    })
}

/// The last line of an apply that has changed something.
pub(super) fn applied(planned: &Planned) -> String {
    match planned.profile {
        Some(_) => format!("applied: {} packages as locked, no restart needed", planned.target.packages.len()),
        None if keeps_some(planned) => format!("{RESTORED_MOST}, no restart needed"),
        None => "restored: everything is as it was before colab-boot came, no restart needed".to_owned(),
    }
}

const RESTORED_MOST: &str = "restored: all but what stands above";

/// Whether something stays that a restore would remove.
fn keeps_some(planned: &Planned) -> bool {
    planned.findings.iter().any(|finding| finding.code == Code::PlanPruneKept)
}

/// What a verdict means for the user; `ready` is the last line where nothing is left to do.
pub(super) fn outcome(
    planned: &Planned,
    verdict: Verdict,
    ready: impl FnOnce(Standing) -> String,
) -> Result<Report, Failure> {
    let by_hand = "restart it by hand: Runtime, then Restart session; then run the cell again";
    match verdict {
        Verdict::Ready(stands) => {
            let data = ApplyReport { set_live: Some(&planned.decision.environment.live), ..describe(planned, stands) };
            let line = format!("{}\n", ready(stands));
            let mut report = Report::new(data, line).with_findings(planned.findings.clone());
            report.talk.extend(interpreter(planned));
            Ok(report)
        }
        Verdict::Restart(because) => Ok(restart_report(planned, &because)),
        Verdict::RestartByHand => {
            Err(Failure::world("the kernel has been asked to restart several times and is still the same process")
                .help(by_hand))
        }
        Verdict::Change | Verdict::Stop => Err(Failure::bug("an apply that ended without a verdict")),
    }
}

fn describe(planned: &Planned, stands: Standing) -> ApplyReport<'_> {
    let python = PythonReport::of(&planned.seen);
    ApplyReport { standing: Some(stands), python, plan: &planned.decision.plan, set_live: None, because: None }
}

/// A line that names the interpreter.
fn interpreter(planned: &Planned) -> Option<String> {
    planned.seen.machine.python.as_ref().map(Python::describe)
}

fn restart_report(planned: &Planned, because: &[String]) -> Report {
    let data = ApplyReport { because: Some(because), ..describe(planned, Standing::RestartPending) };
    let mut text: String = because.iter().map(|reason| format!("  restart   {reason}\n")).collect();
    text.push_str(match planned.seen.machine.kernel {
        Some(_) => "applied: restart the kernel once, then run this again\n",
        None => "applied: a kernel that was asked to restart still runs; restart it once\n",
    });
    let mut report = Report::new(data, text).with_findings(planned.findings.clone());
    let message = "the kernel runs code, or has read variables, that were replaced since: it must restart once";
    report.findings.push(Finding::note(Code::RestartPending, message));
    report.talk.extend(interpreter(planned));
    report.restart = true;
    report
}
