//! `run`: a command in the environment as locked.

use std::path::Path;

use crate::boot::lock::lock_path;
use crate::boot::machine::{Layout, RawPython};
use crate::boot::profile::Profile;
use crate::boot::session::Session;
use crate::boot::state::State;
use crate::boot::verdict::Report;
use crate::cli::arguments::RunOptions;
use crate::cli::verbs::apply;
use crate::core::diag::{Failure, Kind};
use crate::core::host::command::become_program;
use crate::core::host::mounts::Look;
use crate::core::log::Style;

/// Returns only where the command does not run.
pub(super) fn run(options: &RunOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let (python, profile) = match as_locked(options, session)? {
        Some(both) => both,
        None => {
            let report = apply::run(&options.to_apply(), session, style)?;
            if report.is_no() {
                return Ok(report);
            }
            report.findings.iter().for_each(|finding| session.say(&finding.message));
            report.talk.iter().map(String::as_str).chain(report.text.lines()).for_each(|line| session.say(line));
            let python = interpreter(options, session)?;
            let python = python.ok_or_else(|| Failure::bug("the environment has no Python after an apply"))?;
            (python, session.profile(&options.edited.profile)?)
        }
    };
    Err(become_command(options, &python, &profile, session))
}

fn interpreter(options: &RunOptions, session: &Session<'_>) -> Result<Option<RawPython>, Failure> {
    session.interpreter_near(&options.edited.machine.request(), Some(&options.edited.profile))
}

/// The Python of the environment, where the last apply there was of the lock and its packages are still there; and the
/// profile.
fn as_locked(options: &RunOptions, session: &Session<'_>) -> Result<Option<(RawPython, Profile)>, Failure> {
    let (profile, lock) = match session
        .with_fresh_lock(&options.edited.profile, &lock_path(&options.edited.profile, options.edited.lock.as_ref()))
    {
        Ok(both) => both,
        Err(failure) if failure.kind == Kind::Answer => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let python = interpreter(options, session)?;
    let is_so = |python: &RawPython| State::of(&session.paths.state, &python.layout).is_as_locked(lock.digest());
    Ok(python.filter(|python| is_so(python).unwrap_or(false)).map(|python| (python, profile)))
}

/// Runs the command in place of this program, as in an activated environment; returns why that failed.
fn become_command(options: &RunOptions, python: &RawPython, profile: &Profile, session: &Session<'_>) -> Failure {
    let Some((first, arguments)) = options.command.split_first() else {
        return Failure::bug("a command without words");
    };
    let is_file = Path::new(first).extension().is_some_and(|extension| extension == "py");
    let (program, arguments) =
        if is_file { (python.path.as_os_str(), options.command.as_slice()) } else { (first.as_os_str(), arguments) };
    let Layout { scripts, data, .. } = &python.layout;
    let path = session.environment.get("PATH").map(|path| format!(":{path}")).unwrap_or_default();
    let mut variables: Vec<(String, String)> = profile.environment.clone().into_iter().collect();
    variables.push(("PATH".to_owned(), format!("{}{path}", scripts.display())));
    if data.join("pyvenv.cfg").is_file_there() {
        variables.push(("VIRTUAL_ENV".to_owned(), data.display().to_string()));
    }
    become_program(program, arguments, &variables)
}
