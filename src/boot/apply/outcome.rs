//! How an apply ends: `applied`, `ready`, a restart by the cell, or a restart by hand.

use crate::boot::apply::report::ApplyReport;
use crate::boot::goal::Goal;
use crate::boot::machine::{Kernel, Python};
use crate::boot::marker::{Event, Marker, Next, Now, Standing, Touched};
use crate::boot::notebook::{Modules, is_alive, process_clock};
use crate::boot::planned::Planned;
use crate::boot::seen::PythonReport;
use crate::boot::situation::{OtherKernel, other_kernels};
use crate::boot::state::State;
use crate::boot::verdict::{Compared, Evidence, Files, KernelState, Report, Verdict};
use crate::core::diag::{Code, Failure, Finding, counted};

/// What is true now.
pub fn now<'a>(planned: &'a Planned, marker: Option<&Marker>) -> Result<Now<'a>, Failure> {
    let machine = &planned.seen.machine;
    Ok(Now {
        profile: planned.wish.title.clone(),
        lock: planned.goal.digest(),
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

/// Nothing to install or to remove: what is left is to say where the kernel stands. `has_changed`: files of the user
/// have come back; `differing`: what a restore could not make as it was.
pub(super) fn settle(
    planned: &Planned,
    state: &State,
    has_changed: bool,
    differing: Vec<Finding>,
) -> Result<Report, Failure> {
    if planned.files.has_news {
        state.keep_hashed(&planned.files.hashed)?;
    }
    let mut marker = planned.marker.clone();
    let now = now(planned, marker.as_ref())?;
    let known = marker.as_ref().is_some_and(|marker| marker.lock == now.lock && marker.boot_id == now.boot_id);
    let next = state.step(&mut marker, Event::Look, &now)?;
    let count = planned.decision.plan.kept.len();
    let count_differing = differing.len();
    let mut report = outcome(planned, next, planned.files.evidence(&[]), |evidence, stands| {
        let kernel = match stands {
            Standing::Restarted if has_started_since(planned) => KernelState::Restarted,
            _ if known => KernelState::Known,
            _ => KernelState::New,
        };
        match planned.goal {
            Goal::Profile { .. } => Verdict::ready(evidence, count, kernel),
            Goal::Restore => Verdict::restored(evidence, kept_by_restore(planned) + count_differing, has_changed),
        }
    })?;
    report.findings.extend(differing);
    Ok(report)
}

/// Whether the Python that asks is younger than the last change; one in a terminal is.
fn has_started_since(planned: &Planned) -> bool {
    let Some(kernel) = &planned.seen.machine.kernel else { return true };
    let touched = planned.marker.iter().flat_map(|marker| &marker.touched);
    touched.filter_map(|one| one.ended).all(|ended| kernel.start_time >= ended)
}

/// The end of an apply that has changed something, but for `differing` packages that a restore could not make as they
/// were.
pub(super) fn applied(planned: &Planned, evidence: Evidence, differing: usize) -> Verdict {
    match planned.goal {
        Goal::Profile { .. } => Verdict::applied(evidence, planned.target.packages.len()),
        Goal::Restore => Verdict::restored(evidence, kept_by_restore(planned) + differing, true),
    }
}

/// How many packages stay that a restore would not have.
fn kept_by_restore(planned: &Planned) -> usize {
    let kept = planned.findings.iter().filter(|finding| finding.code == Code::PlanPruneKept);
    kept.map(|finding| finding.about.len().max(1)).sum()
}

/// What a move of the marker means for the user; `done` gives the verdict where nothing is left to do.
pub(super) fn outcome(
    planned: &Planned,
    next: Next,
    files: Files,
    done: impl FnOnce(Evidence, Standing) -> Verdict,
) -> Result<Report, Failure> {
    let by_hand = "restart it with Runtime > Restart session, then run the cell again";
    let evidence = evidence_of(planned, files);
    // What a terminal sees of other kernels is in no marker.
    let next = match (&evidence.kernel, next) {
        (Compared::Differs(because), Next::Ready(_)) => Next::Restart(because.clone()),
        (_, next) => next,
    };
    match next {
        Next::Ready(stands) => {
            let data = ApplyReport { set_live: Some(&planned.decision.environment.live), ..describe(planned, stands) };
            Ok(report(planned, &data, String::new()).with_verdict(done(evidence, stands)))
        }
        Next::Restart(because) => {
            let evidence = Evidence { kernel: Compared::Differs(because.clone()), ..evidence };
            Ok(restart_report(planned, &because, evidence))
        }
        Next::RestartByHand => {
            Err(Failure::world("the kernel was asked to restart several times, but is still the same process")
                .help(by_hand))
        }
        Next::InVain(because) => {
            let failure = Failure::world(
                "several restarts did not help: each new kernel loads packages before this cell replaces them",
            );
            Err(because.into_iter().fold(failure, Failure::cause).help(
                "code before this cell changes the environment or imports from it: a cell above, an IPython \
                 start-up file (`~/.ipython/profile_default/startup`), or a `.pth` file; remove it, restart the kernel, \
                 then run the cell again",
            ))
        }
        Next::Change | Next::Stop => Err(Failure::bug("an apply that ended without a verdict")),
    }
}

/// What was compared, besides the `files`.
pub fn evidence_of(planned: &Planned, files: Files) -> Evidence {
    Evidence {
        files,
        kernel: kernel_evidence(planned),
        variables: variable_evidence(planned),
        // What was resolved for this machine is not what was published.
        release: release_evidence(planned),
        other_target: planned.other_target.clone(),
        unowned: Compared::Nothing,
        tested: 0,
    }
}

/// The pinned release; that of a cell is asked for by the cell.
fn release_evidence(planned: &Planned) -> Compared {
    let of_cell = match &planned.loaded.modules {
        Modules::Reported(facts) => facts.release.clone().map(Compared::Not),
        _ => None,
    };
    match &planned.release {
        _ if planned.other_target.is_some() => Compared::Nothing,
        Compared::Nothing => of_cell.unwrap_or_default(),
        pinned => pinned.clone(),
    }
}

/// What the kernel has loaded, where nothing speaks for a restart.
pub fn kernel_evidence(planned: &Planned) -> Compared {
    match (&planned.seen.machine.kernel, &planned.loaded.modules) {
        (None, _) => seen_from_outside(planned),
        (Some(_), Modules::Reported(facts)) if facts.changed.is_some() => Compared::Same(facts.modules.len()),
        (Some(_), Modules::Reported(_)) => {
            Compared::Not("the kernel did not compare its code with the files".to_owned())
        }
        (Some(_), Modules::Preloaded(_)) => {
            Compared::Not("no report from the kernel; a new kernel is assumed".to_owned())
        }
        (Some(_), Modules::Unknown) => Compared::Not("no report from the kernel".to_owned()),
    }
}

/// What can be seen of kernels from a terminal: libraries that were replaced under them.
fn seen_from_outside(planned: &Planned) -> Compared {
    let kernels = other_kernels(&planned.seen);
    let reasons: Vec<String> = kernels.iter().filter_map(OtherKernel::reason).collect();
    if !reasons.is_empty() {
        return Compared::Differs(reasons);
    }
    let counted = counted(kernels.len(), "running kernel");
    let is_replaced = |one: &Touched| one.existed && one.name.is_some();
    let is_changed_now = planned.decision.touched.iter().any(is_replaced);
    let changes = planned.marker.iter().flat_map(|marker| &marker.touched).filter(|one| is_replaced(one));
    let last = changes.filter_map(|one| one.ended).max().unwrap_or_default();
    match kernels.iter().filter(|one| is_changed_now || one.kernel.start_time < last).count() {
        _ if kernels.is_empty() => Compared::Nothing,
        0 => Compared::Not(format!("{counted} of this environment; run the cell in the kernel's notebook")),
        _ => Compared::Not(format!(
            "{counted} of this environment, started before packages were replaced; \
             restart each kernel that has imported one"
        )),
    }
}

fn variable_evidence(planned: &Planned) -> Compared {
    let count = planned.wish.environment.len();
    match (&planned.seen.machine.kernel, &planned.loaded.modules) {
        (kernel, _) if count == 0 || kernel.is_none() => Compared::Nothing,
        (_, Modules::Reported(_)) => Compared::Same(count),
        _ => Compared::Not("no report from the kernel".to_owned()),
    }
}

fn describe(planned: &Planned, stands: Standing) -> ApplyReport<'_> {
    let python = PythonReport::of(&planned.seen);
    ApplyReport { standing: Some(stands), python, plan: &planned.decision.plan, set_live: None, because: None }
}

/// A report that names the interpreter.
fn report(planned: &Planned, data: &ApplyReport<'_>, text: String) -> Report {
    let mut report = Report::new(data, text).with_findings(planned.findings.clone());
    report.talk.extend(planned.seen.machine.python.as_ref().map(Python::describe));
    report
}

fn restart_report(planned: &Planned, because: &[String], evidence: Evidence) -> Report {
    let data = ApplyReport { because: Some(because), ..describe(planned, Standing::RestartPending) };
    let text: String = because.iter().map(|reason| format!("  restart   {reason}\n")).collect();
    let named = planned.seen.machine.kernel.is_some();
    let mut report =
        report(planned, &data, text).with_verdict(Verdict::restart_pending(evidence, named, planned.goal.is_restore()));
    let message = "the kernel holds code or variables that were replaced: it must restart once";
    report.findings.push(Finding::note(Code::RestartPending, message));
    report
}
