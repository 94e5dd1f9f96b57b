//! `apply`: make the machine what the lock says, once.

use crate::boot::apply::{ApplyManner, carry_out};
use crate::boot::goal::Request;
use crate::boot::lock::{lock_path, write_lock};
use crate::boot::plan::how_builds_run;
use crate::boot::planned::{Planned, make, script_of};
use crate::boot::session::Session;
use crate::boot::situation::Reading;
use crate::boot::verdict::{Report, Verdict};
use crate::cli::arguments::{ApplyOptions, Restarter};
use crate::cli::output::plan_page;
use crate::core::diag::{Failure, count_errors};
use crate::core::host::destination::{is_stdout, write_output, write_report};
use crate::core::log::Style;
use crate::golden::repository::check_pin;

pub(super) fn run(options: &ApplyOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let restarter = if options.no_restart { Restarter::Never } else { options.restart };
    let mut report = apply(options, &request_of(options, restarter), session, style)?;
    report.keeps_restart = restarter != Restarter::Caller;
    Ok(report)
}

fn apply(options: &ApplyOptions, request: &Request, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let pinned = check_pin((&options.plan.profile, options.plan.lock.as_ref()), request.index.offline, session)?;
    let errors = count_errors(&pinned.findings);
    if errors > 0 {
        let report = Report::new(serde_json::json!({}), String::new()).with_findings(pinned.findings);
        return Ok(report.with_verdict(Verdict::refused(errors)));
    }
    let held = session.hold_to_change(&request.machine, Some(&options.plan.profile))?;
    let mut planned = make(&options.plan.profile_request(), request, session, Reading::News)?;
    planned.add_release(pinned.release, pinned.findings);
    if !planned.has_error() {
        keep_lock(options, &planned)?;
    }
    let wanted = options.plan.script.as_ref().filter(|_| !planned.has_error());
    let script = wanted.map(|path| (path, script_of(&planned, &planned.decision.plan, session.matrix)));
    if let Some((path, script)) = script.as_ref().filter(|(path, _)| !is_stdout(path)) {
        write_report(path, script.as_bytes())?;
    }
    let mut report = carry_out(
        &planned,
        &request.index,
        session,
        &held.folder,
        ApplyManner { installer: options.installer.into(), style },
    )?;
    let (decision, machine) = (&planned.decision, &planned.seen.machine);
    let verdicts = how_builds_run(session.matrix, machine, &planned.target);
    report.page = Some(plan_page(&decision.plan, machine, &decision.restart, &verdicts));
    if let Some((_, script)) = script.filter(|(path, _)| is_stdout(path)) {
        report.print_instead(script);
    }
    Ok(report)
}

/// With a wheelhouse nothing else is asked; where no kernel is restarted, none is looked at.
fn request_of(options: &ApplyOptions, restarter: Restarter) -> Request {
    let mut request = options.plan.request();
    if restarter == Restarter::Never {
        request.machine.kernel_modules = None;
        request.machine.no_kernel = true;
    }
    if let Some(folder) = &options.wheelhouse {
        request.index.find_links.insert(0, folder.clone());
        request.index.offline = true;
        request.index.folders_only = true;
    }
    request
}

/// A new answer is kept beside the profile, so that the next run, and the next machine, do the same.
fn keep_lock(options: &ApplyOptions, planned: &Planned) -> Result<(), Failure> {
    let Some(lock) = planned.goal.lock().filter(|_| planned.keep_lock) else { return Ok(()) };
    let path = lock_path(&options.plan.profile, options.plan.lock.as_ref());
    write_output(&path, write_lock(lock).as_bytes())
}
