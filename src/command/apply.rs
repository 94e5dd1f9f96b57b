//! `apply`: make the machine what the lock says, once.

use crate::apply::carry_out;
use crate::cli::{ApplyOptions, Restarter, lock_path};
use crate::diag::{Failure, count_errors};
use crate::host::destination::{is_stdout, write_output, write_report};
use crate::lock::write_lock;
use crate::output::{Report, Style};
use crate::repository::check_pin;
use crate::script::Part;
use crate::session::{Planned, Reading, Session, make, script_of};
use crate::verdict::Verdict;

pub(super) fn run(options: ApplyOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let options = &understood(options);
    let mut report = apply(options, session, style)?;
    report.keeps_restart = options.restart != Restarter::Caller;
    Ok(report)
}

fn apply(options: &ApplyOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let pinned = check_pin(&options.plan, session)?;
    let errors = count_errors(&pinned.findings);
    if errors > 0 {
        let report = Report::new(serde_json::json!({}), String::new()).with_findings(pinned.findings);
        return Ok(report.with_verdict(Verdict::refused(errors)));
    }
    let held = session.hold(&options.plan.machine, Some(&options.plan.profile))?;
    let mut planned = make(&options.plan, session, Reading::News)?;
    planned.add_release(pinned.release, pinned.findings);
    if !planned.has_error() {
        keep_lock(options, &planned)?;
    }
    let wanted = options.plan.script.as_ref().filter(|_| !planned.has_error());
    let script = wanted.map(|path| (path, script_of(&planned, &planned.decision.plan, Part::Whole)));
    if let Some((path, script)) = script.as_ref().filter(|(path, _)| !is_stdout(path)) {
        write_report(path, script.as_bytes())?;
    }
    let mut report = carry_out(&planned, &options.plan, session, &held.folder, style)?;
    if let Some((_, script)) = script.filter(|(path, _)| is_stdout(path)) {
        report.print_instead(script);
    }
    Ok(report)
}

/// What short options stand for: with a wheelhouse nothing else is asked; with --no-restart there is no kernel to look at.
fn understood(mut options: ApplyOptions) -> ApplyOptions {
    if options.no_restart {
        options.restart = Restarter::Never;
    }
    if options.restart == Restarter::Never {
        options.plan.machine.kernel_modules = None;
        options.plan.machine.no_kernel = true;
    }
    if let Some(folder) = options.wheelhouse.take() {
        options.plan.index.find_links.insert(0, folder);
        options.plan.index.offline = true;
        options.plan.index.folders_only = true;
    }
    options
}

/// A new answer is kept beside the profile, so that the next run, and the next machine, do the same.
fn keep_lock(options: &ApplyOptions, planned: &Planned) -> Result<(), Failure> {
    if !planned.keep_lock {
        return Ok(());
    }
    let path = lock_path(&options.plan.profile, options.plan.lock.as_ref());
    write_output(&path, write_lock(&planned.lock).as_bytes())
}
