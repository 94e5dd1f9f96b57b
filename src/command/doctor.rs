//! `doctor`: what of this machine will end, slow down or spoil the work.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::DoctorOptions;
use crate::diag::{Code, Failure, Finding, Severity};
use crate::doctor::{Examination, Outcome, Place, Plans, Sight, State, Vitals, examine, groups, observe_vitals};
use crate::host::files;
use crate::matrix::checks;
use crate::notebook::{Facts, read_facts};
use crate::output::Report;
use crate::session::{Seen, Session};
use crate::state::State as Applied;

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
    known(&options.only)?;
    let is_meant = |row: &crate::matrix::Check| {
        options.only.is_empty() || options.only.iter().any(|one| *one == row.group || *one == row.id.as_str())
    };
    if options.list {
        let rows = checks().map_err(Failure::bug)?.iter().filter(|row| is_meant(row));
        let lines: Vec<String> =
            rows.map(|row| format!("{:<12}{:<28}{}", row.group, row.id, first_sentence(row.id))).collect();
        return Ok(Report::new(&lines, lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()));
    }
    let seen = session.machine(&options.machine)?;
    let here = files::absolute(Path::new("."))?;
    let facts = options.machine.kernel_modules.as_deref().map(facts_of).transpose()?;
    let python = seen.machine.python.as_ref();
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
    let text = rendered(&outcomes, options.all)?;
    let mut findings: Vec<Finding> = outcomes.iter().flat_map(|outcome| outcome.findings.clone()).collect();
    for finding in findings.iter_mut().filter(|finding| options.strict && finding.severity == Severity::Warning) {
        finding.severity = Severity::Error;
    }
    let checks =
        outcomes.into_iter().map(|Outcome { check, group, state, said, .. }| CheckReport { check, group, state, said });
    let report = DoctorReport { checks: checks.collect(), vitals };
    Ok(Report::new(report, text).with_findings(findings))
}

/// An error for a group or a check that there is none of.
fn known(only: &[String]) -> Result<(), Failure> {
    let (groups, rows) = (groups()?, checks().map_err(Failure::bug)?);
    let names = || groups.iter().copied().chain(rows.iter().map(|row| row.id.as_str()));
    let Some(strange) = only.iter().find(|one| !names().any(|name| name == *one)) else { return Ok(()) };
    let nearest = names().max_by(|a, b| strsim::jaro(a, strange).total_cmp(&strsim::jaro(b, strange)));
    let failure = Failure::input(format!("there is no group or check `{strange}`"));
    Err(match nearest.filter(|name| strsim::jaro(name, strange) > 0.8) {
        Some(name) => failure.help(format!("did you mean `{name}`? `colab-boot doctor --list` names all")),
        None => failure.help("`colab-boot doctor --list` names all"),
    })
}

fn facts_of(path: &Path) -> Result<Facts, Failure> {
    let text = files::read_text(path, "list of modules")?;
    read_facts(&text)
        .map_err(|why| Failure::input(format!("`{}` does not say what a kernel has loaded", path.display())).cause(why))
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

fn first_sentence(code: Code) -> &'static str {
    let text = code.explanation();
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

/// A line for each group, what is well if that is wanted, and the sum.
fn rendered(outcomes: &[Outcome], all: bool) -> Result<String, Failure> {
    let mut text = String::new();
    let count = |outcomes: &[&Outcome]| {
        let with = |severity: Severity| {
            let found = outcomes.iter().flat_map(|outcome| &outcome.findings);
            found.filter(|finding| finding.severity == severity).count()
        };
        let of = |state: State| outcomes.iter().filter(|outcome| outcome.state == state).count();
        let parts = [
            (with(Severity::Error), "errors"),
            (with(Severity::Warning), "warnings"),
            (with(Severity::Note), "notes"),
            (of(State::Failed), "failed"),
            (of(State::Skipped), "not seen"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        std::iter::once(format!("{} ok", of(State::Ok))).chain(parts).collect::<Vec<_>>().join(", ")
    };
    let mut by_group: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        by_group.entry(&outcome.group).or_default().push(outcome);
    }
    for group in groups()?.into_iter().filter(|group| by_group.contains_key(group)) {
        let own = &by_group[group];
        let _ = writeln!(text, "{group:<12}{}", count(own));
        for outcome in own.iter().filter(|outcome| all || outcome.state == State::Failed) {
            let state = match outcome.state {
                State::Ok => "ok",
                State::Finding => "found",
                State::Skipped => "not seen",
                State::Failed => "failed",
            };
            let _ = writeln!(text, "  {:<26}{state:<9}{}", outcome.check, outcome.said);
        }
    }
    let _ = writeln!(text, "doctor: {}", count(&outcomes.iter().collect::<Vec<_>>()));
    Ok(text)
}
