//! The checks as a page: a group to a fold, open where something is wrong.

use crate::core::diag::{Failure, Severity};
use crate::core::page::{Page, Section, TableCell, Tone};
use crate::health::doctor::text_report::{by_group, count};
use crate::health::doctor::{Outcome, State};

/// The page of `outcomes`, which are presentable.
pub fn outcome_page(outcomes: &[Outcome]) -> Result<Page, Failure> {
    let sections = by_group(outcomes)?.into_iter().map(|(name, own)| Section {
        title: name.to_owned(),
        sum: count(&own),
        open: own.iter().any(|outcome| is_wrong(outcome)),
        head: vec!["check", "state", "what was seen"],
        rows: own.into_iter().flat_map(rows).collect(),
        ..Section::default()
    });
    Ok(Page { badges: Vec::new(), sections: sections.collect(), shows_findings: true })
}

fn is_wrong(outcome: &Outcome) -> bool {
    let has_more = outcome.findings.iter().any(|finding| finding.severity != Severity::Note);
    matches!(outcome.state, State::Failed | State::TimedOut) || has_more
}

fn rows(outcome: &Outcome) -> Vec<Vec<TableCell>> {
    let row = |mark: TableCell, said: TableCell| vec![TableCell::code(&outcome.check), mark, said];
    if outcome.findings.is_empty() {
        let tone = if outcome.state == State::Ok { Tone::Good } else { Tone::Plain };
        return vec![row(TableCell::mark(outcome.state.as_str(), tone), TableCell::said(&outcome.said, [&[], &[]]))];
    }
    let of_findings = outcome.findings.iter().map(|finding| {
        let said = TableCell::said(&finding.message, [&finding.notes, &finding.help]);
        row(TableCell::mark(finding.severity.as_str(), finding.severity.into()), said)
    });
    of_findings.collect()
}
