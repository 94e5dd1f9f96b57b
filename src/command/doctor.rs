//! `doctor`: what of this machine will end, slow down or spoil the work.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::DoctorOptions;
use crate::diag::{Code, Failure, Finding, Severity, nearest};
use crate::doctor::{
    Examination, Outcome, Place, Plans, Sight, State, Vitals, examine, explain_text, groups, listed, observe_vitals,
    rendered, shown,
};
use crate::host::files;
use crate::matrix::checks;
use crate::notebook::facts_of;
use crate::output::Report;
use crate::session::{Seen, Session};
use crate::state::State as Applied;

/// So much of the end of a log is looked at.
const LOG: u64 = 4 << 20;

#[derive(Serialize)]
struct DoctorReport {
    checks: Vec<CheckReport>,
    vitals: Vitals,
}

#[derive(Serialize)]
struct CheckReport {
    check: Code,
    group: String,
    state: State,
    said: String,
}

pub(super) fn run(options: &DoctorOptions, session: &Session<'_>) -> Result<Report, Failure> {
    if let Some(log) = &options.log {
        return explained(&text_of(log)?);
    }
    known(&options.only)?;
    let is_meant = |row: &crate::matrix::Check| {
        let named = options.only.iter().any(|one| *one == row.group || *one == row.id.as_str());
        match (options.after_crash, row.group.as_str()) {
            (true, group) => group == "crash" || group == "memory",
            (false, "crash") => named || options.list && options.only.is_empty(),
            _ => named || options.only.is_empty(),
        }
    };
    if options.list {
        let lines = listed(&is_meant)?;
        return Ok(Report::new(&lines, lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()));
    }
    let seen = session.machine(&options.machine)?;
    let here = files::absolute(Path::new("."))?;
    let facts = options.machine.kernel_modules.as_deref().map(facts_of).transpose()?;
    let python = seen.machine.python.as_ref();
    if let Some(lost) = options.data.iter().find(|path| !path.exists()) {
        return Err(Failure::input(format!("--data: there is no `{}`", lost.display())));
    }
    let place = Place {
        here,
        packages: python.and_then(|python| python.layout.as_ref()).map(|layout| layout.purelib.clone()),
        stdlib: python.and_then(|python| python.home.as_ref()).map(|home| home.stdlib.clone()),
        data: options.data.iter().map(|path| files::absolute(path)).collect::<Result<Vec<PathBuf>, Failure>>()?,
    };
    let kernel = seen.machine.kernel.as_ref().map(|kernel| kernel.pid);
    let sight =
        Sight { paths: &session.paths, environment: session.environment, now: session.now, kernel, place: &place };
    let vitals = observe_vitals(&sight);
    let plans = plans(options, &place, session, &seen)?;
    let (machine, matrix) = (&seen.machine, session.matrix);
    let all = Examination { vitals: &vitals, machine, facts: facts.as_ref(), plans: &plans, matrix };
    let outcomes = examine(&all, &is_meant)?;
    let text = shown(&outcomes, options.all)?;
    let mut findings: Vec<Finding> = outcomes.iter().flat_map(|outcome| outcome.findings.clone()).collect();
    for finding in findings.iter_mut().filter(|finding| options.strict && finding.severity == Severity::Warning) {
        finding.severity = Severity::Error;
    }
    let checks =
        outcomes.into_iter().map(|Outcome { check, group, state, said, .. }| CheckReport { check, group, state, said });
    let report = DoctorReport { checks: checks.collect(), vitals };
    Ok(Report::new(report, text).with_findings(findings))
}

/// The end of a log: what is newest explains a failure.
fn text_of(log: &Path) -> Result<String, Failure> {
    if log == Path::new("-") {
        return files::read_input(LOG).map_err(|error| Failure::world("could not read standard input").because(&error));
    }
    if !files::is_file(log)? {
        return Err(Failure::input(format!("there is no file `{}`", log.display())));
    }
    Ok(files::read_end(log, LOG))
}

/// What an error text means; "no" where no rule knows it.
pub(super) fn explained(text: &str) -> Result<Report, Failure> {
    let found = explain_text(text)?;
    if found.is_empty() {
        return Err(Failure::answer("no rule knows an error in this text").help(
            "`colab-boot doctor` says what can be seen of the machine; `colab-boot audit` judges what is installed",
        ));
    }
    let text = rendered(&found);
    Ok(Report::new(found, text))
}

/// An error for a group or a check that there is none of.
fn known(only: &[String]) -> Result<(), Failure> {
    let (groups, rows) = (groups()?, checks().map_err(Failure::bug)?);
    let names = || groups.iter().copied().chain(rows.iter().map(|row| row.id.as_str()));
    let Some(strange) = only.iter().find(|one| !names().any(|name| name == *one)) else { return Ok(()) };
    let failure = Failure::input(format!("there is no group or check `{strange}`"));
    Err(match nearest(names(), strange) {
        Some(name) => failure.help(format!("did you mean `{name}`? `colab-boot doctor --list` names all")),
        None => failure.help("`colab-boot doctor --list` names all"),
    })
}

fn plans(options: &DoctorOptions, place: &Place, session: &Session<'_>, seen: &Seen) -> Result<Plans, Failure> {
    let python = seen.machine.python.as_ref().and_then(|python| python.path.clone());
    let markers = Applied::all(&session.paths.state)?.into_iter().filter_map(|state| state.marker().ok().flatten());
    let marker = markers.into_iter().find(|marker| Some(&marker.python) == python.as_ref());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
    let batch = options.batch_bytes.map(|bytes| bytes as u64);
    Ok(Plans {
        long: options.long,
        workers: options.workers,
        batch,
        precision: options.precision.clone(),
        data: place.data.iter().map(|path| path.display().to_string()).collect(),
        applied_on: marker.map(|marker| marker.boot_id),
    })
}
