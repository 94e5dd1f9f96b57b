//! The checks as a page that a notebook's cell shows as well: a group to a fold, nothing that runs, nothing from
//! elsewhere, no style that would reach beyond it.

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::core::diag::{Failure, Severity, harmless};
use crate::health::doctor::text_report::{by_group, count};
use crate::health::doctor::{Outcome, State};

#[derive(Serialize)]
struct Group {
    name: String,
    sum: String,
    /// Something is wrong in it.
    open: bool,
    rows: Vec<TableRow>,
}

#[derive(Serialize)]
struct TableRow {
    check: String,
    /// A word, and the colour behind it: white is readable on each.
    state: &'static str,
    color: &'static str,
    said: String,
    evidence: Vec<String>,
    help: Vec<String>,
}

impl TableRow {
    /// A row of `outcome`; `state` is its word and color, and the lists are its evidence and what helps.
    fn new(outcome: &Outcome, state: (&'static str, &'static str), said: &str, lists: [&[String]; 2]) -> Self {
        let (state, color) = state;
        let [evidence, help] = lists.map(|texts| texts.iter().map(|text| harmless(text)).collect());
        Self { check: outcome.check.clone(), state, color, said: harmless(said), evidence, help }
    }
}

/// The page. Texts are escaped; without styles it reads as well.
pub(super) fn html(outcomes: &[Outcome]) -> Result<String, Failure> {
    let groups = by_group(outcomes)?.into_iter().map(|(name, own)| Group {
        name: name.to_owned(),
        sum: count(&own),
        open: own.iter().any(|outcome| {
            matches!(outcome.state, State::Failed | State::TimedOut)
                || outcome.findings.iter().any(|finding| finding.severity != Severity::Note)
        }),
        rows: own.into_iter().flat_map(rows).collect(),
    });
    let groups: Vec<Group> = groups.collect();
    let sum = count(&outcomes.iter().collect::<Vec<_>>());
    let wrong = |error: minijinja::Error| Failure::bug(format!("the page of checks can't be made: {error:#}"));
    let mut environment = Environment::new();
    environment.add_template("report.html", include_str!("report.html")).map_err(wrong)?;
    let template = environment.get_template("report.html").map_err(wrong)?;
    template.render(context! { groups => Serde(groups), sum }).map_err(wrong)
}

fn rows(outcome: &Outcome) -> Vec<TableRow> {
    if outcome.findings.is_empty() {
        let color = if outcome.state == State::Ok { "#1b6e3c" } else { "#5f6368" };
        return vec![TableRow::new(outcome, (outcome.state.as_str(), color), &outcome.said, [&[], &[]])];
    }
    outcome
        .findings
        .iter()
        .map(|finding| {
            let (state, color) = match finding.severity {
                Severity::Error => ("error", "#b3261e"),
                Severity::Warning => ("warning", "#8a5300"),
                Severity::Note => ("note", "#2b5f8f"),
            };
            TableRow::new(outcome, (state, color), &finding.message, [&finding.notes, &finding.help])
        })
        .collect()
}
