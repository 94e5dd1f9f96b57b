//! What the checks have said, for people: a line for each group, what is well if that is wanted, and the sum.

use std::fmt::Write;

use crate::core::diag::{Code, Failure, Severity, nearest};
use crate::core::matrix::{Check, checks};
use crate::health::doctor::{Outcome, State, groups};

/// Reasons why checks have seen nothing that are printed.
const REASONS: usize = 3;

/// A line for each check that `is_meant`: its group, its name, what it looks for.
pub fn listed(is_meant: &dyn Fn(&Check) -> bool) -> Result<Vec<String>, Failure> {
    let rows = checks().map_err(Failure::bug)?.iter().filter(|row| is_meant(row));
    Ok(rows.map(|row| format!("{:<12}{:<28}{}", row.group, row.id, first_sentence(row.id))).collect())
}

fn first_sentence(code: Code) -> &'static str {
    let text = code.explanation();
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

/// `70 ok, 2 warnings, 7 not seen`.
pub(super) fn count(outcomes: &[&Outcome]) -> String {
    let with = |severity: Severity| {
        let found = outcomes.iter().flat_map(|outcome| &outcome.findings);
        found.filter(|finding| finding.severity == severity).count()
    };
    let of = |state: State| outcomes.iter().filter(|outcome| outcome.state == state).count();
    let parts = [
        (with(Severity::Error), "error", "errors"),
        (with(Severity::Warning), "warning", "warnings"),
        (with(Severity::Note), "note", "notes"),
        (of(State::Failed), "failed", "failed"),
        (of(State::TimedOut), "timed out", "timed out"),
        (of(State::Skipped), "not seen", "not seen"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts = parts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
    std::iter::once(format!("{} ok", of(State::Ok))).chain(parts).collect::<Vec<_>>().join(", ")
}

/// Outcomes by group: those of our own groups in their order, then those of others.
pub(super) fn by_group(outcomes: &[Outcome]) -> Result<Vec<(&str, Vec<&Outcome>)>, Failure> {
    let mut all: Vec<(&str, Vec<&Outcome>)> = groups()?.into_iter().map(|group| (group, Vec::new())).collect();
    for outcome in outcomes {
        match all.iter_mut().find(|(group, _)| *group == outcome.group) {
            Some((_, own)) => own.push(outcome),
            None => all.push((&outcome.group, vec![outcome])),
        }
    }
    all.retain(|(_, own)| !own.is_empty());
    Ok(all)
}

/// A line for each group, what is well if that is wanted, and the sum.
pub fn shown(outcomes: &[Outcome], all: bool) -> Result<String, Failure> {
    let mut text = String::new();
    for (group, own) in by_group(outcomes)? {
        let _ = writeln!(text, "{group:<12}{}", count(&own));
        for outcome in own.iter().filter(|outcome| all || matches!(outcome.state, State::Failed | State::TimedOut)) {
            let state = outcome.state.as_str();
            let _ = writeln!(text, "  {:<28}{state:<10}{}", outcome.check, outcome.said);
        }
    }
    if !all {
        text.push_str(&unseen(outcomes));
    }
    let _ = writeln!(text, "doctor: {}", count(&outcomes.iter().collect::<Vec<_>>()));
    Ok(text)
}

/// Why checks have not seen anything: a line for each of the most frequent reasons.
fn unseen(outcomes: &[Outcome]) -> String {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.state == State::Skipped) {
        match reasons.iter_mut().find(|(reason, _)| *reason == outcome.said) {
            Some((_, count)) => *count += 1,
            None => reasons.push((&outcome.said, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rest: usize = reasons.iter().skip(REASONS).map(|(_, count)| count).sum();
    let mut text = String::new();
    for (at, (reason, count)) in reasons.iter().take(REASONS).enumerate() {
        let head = if at == 0 { "not seen" } else { "" };
        let _ = writeln!(text, "{head:<12}{count:>2}  {reason}");
    }
    if rest > 0 {
        let _ = writeln!(text, "{:<12}{rest:>2}  for other reasons (--all)", "");
    }
    text
}

/// An error for a group or a check that there is none of. `foreign` are names that are not ours.
pub fn known(only: &[String], foreign: &[&str]) -> Result<(), Failure> {
    let (groups, rows) = (groups()?, checks().map_err(Failure::bug)?);
    let names = || groups.iter().copied().chain(rows.iter().map(|row| row.id.as_str())).chain(foreign.iter().copied());
    let Some(strange) = only.iter().find(|one| !names().any(|name| name == *one)) else { return Ok(()) };
    let failure = Failure::input(format!("there is no group or check `{strange}`"));
    Err(match nearest(names(), strange) {
        Some(name) => failure.help(format!("did you mean `{name}`? `colab-boot doctor --list` lists all")),
        None => failure.help("`colab-boot doctor --list` lists all"),
    })
}
