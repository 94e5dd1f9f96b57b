//! What the checks have said, for people: a line for each group, what is well if that is wanted, and the sum.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::diag::{Code, Failure, Severity};
use crate::doctor::{Outcome, State, groups};
use crate::matrix::{Check, checks};

/// A line for each check that `is_meant`: its group, its name, what it looks for.
pub fn listed(is_meant: &dyn Fn(&Check) -> bool) -> Result<Vec<String>, Failure> {
    let rows = checks().map_err(Failure::bug)?.iter().filter(|row| is_meant(row));
    Ok(rows.map(|row| format!("{:<12}{:<28}{}", row.group, row.id, first_sentence(row.id))).collect())
}

fn first_sentence(code: Code) -> &'static str {
    let text = code.explanation();
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

/// A line for each group, what is well if that is wanted, and the sum.
pub fn shown(outcomes: &[Outcome], all: bool) -> Result<String, Failure> {
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
