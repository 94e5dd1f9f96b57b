//! The outcome of a verb as a page, from the values that its text and its JSON are made of.

use std::borrow::Cow;

use crate::boot::verdict::{Report, Verdict};
use crate::cli::output::findings::render_findings;
use crate::core::diag::{Failure, Finding, Severity, harmless};
use crate::core::log::{ProgressForm, Style};
use crate::core::page::{Drawn, Message, Page, Section, Sheet, Tone};

/// How what is drawn in a page looks: it has its own colors.
const PLAIN: Style = Style { color: false, progress: ProgressForm::Lines };

/// The page of what `verb` has come to; a `part` of one is for below a cell. `refused` says so of a failure.
pub fn report_page(
    verb: &str,
    outcome: &Result<Report, Failure>,
    refused: Option<&Verdict>,
    part: bool,
) -> Result<String, Failure> {
    match outcome {
        Ok(report) => {
            let verdict = last_line(verb, report);
            let own = report.page.as_ref().map_or_else(|| Cow::Owned(as_text(report, &verdict)), Cow::Borrowed);
            let warned = report.findings.iter().any(|one| one.severity == Severity::Warning);
            let tone = match (report.is_no(), warned || report.wants_restart()) {
                (true, _) => Tone::Error,
                (false, true) => Tone::Warning,
                (false, false) => Tone::Good,
            };
            let findings = if own.shows_findings { Vec::new() } else { drawn(&report.findings) };
            let talk = report.talk.iter().map(|line| harmless(line));
            let is_new = |line: &String| !own.badges.iter().any(|badge| badge.starts_with(line));
            let talk = talk.filter(is_new).collect();
            let verdict = verdict.strip_prefix(&format!("{verb}: ")).unwrap_or(&verdict).to_owned();
            Sheet { verb, verdict, tone, page: &own, findings, talk }.render(part)
        }
        Err(failure) => {
            let verdict = refused.map_or_else(|| harmless(&failure.message), |verdict| verdict.sentence().to_owned());
            let findings = match failure.findings.as_slice() {
                [] => vec![failed(failure)],
                findings => drawn(findings),
            };
            let page = Page::default();
            Sheet { verb, verdict, tone: Tone::Error, page: &page, findings, talk: Vec::new() }.render(part)
        }
    }
}

/// The last line of a report, where that is its verdict; nothing where it is one of many that say something.
fn last_line(verb: &str, report: &Report) -> String {
    let lines = report.text.trim_end().lines();
    let is_verdict = |last: &&str| {
        report.has_verdict()
            || report.page.is_some()
            || lines.clone().count() == 1
            || last.starts_with(&format!("{verb}: "))
    };
    if report.text.trim().is_empty() {
        "done".to_owned()
    } else {
        lines.clone().next_back().filter(is_verdict).map(harmless).unwrap_or_default()
    }
}

/// A report without a page of its own: its text, without the verdict at its end.
fn as_text(report: &Report, verdict: &str) -> Page {
    let text = harmless(report.text.trim_end());
    let before = text.strip_suffix(verdict).unwrap_or(&text).trim().to_owned();
    let section = Section { title: "Report".to_owned(), open: true, text: before, ..Section::default() };
    let sections = if section.text.is_empty() { Vec::new() } else { vec![section] };
    Page { sections, ..Page::default() }
}

/// The findings by their codes: what is wrong first, and in the order in which they were found. Help that several share
/// stands once.
fn drawn(findings: &[Finding]) -> Vec<Drawn> {
    let mut all: Vec<(&Finding, Drawn)> = Vec::new();
    for finding in findings {
        let same = |(first, _): &(&Finding, Drawn)| (first.code, first.severity) == (finding.code, finding.severity);
        let at = all.iter().position(same).unwrap_or_else(|| {
            all.push((finding, headed(finding)));
            all.len() - 1
        });
        let drawn = &mut all[at].1;
        drawn.messages.push(message(finding));
        for help in finding.help.iter().map(|help| harmless(help)) {
            if !drawn.help.contains(&help) {
                drawn.help.push(help);
            }
        }
    }
    all.sort_by_key(|(first, _)| first.severity);
    all.into_iter().map(|(_, drawn)| drawn).collect()
}

/// The code of `finding`, without its messages.
fn headed(finding: &Finding) -> Drawn {
    Drawn {
        tone: finding.severity.into(),
        title: format!("{}[{}]", finding.severity.as_str(), finding.code),
        messages: Vec::new(),
        help: Vec::new(),
        why: Some(finding.code.explanation()),
    }
}

fn message(finding: &Finding) -> Message {
    let bare = Finding { notes: Vec::new(), about: Vec::new(), help: Vec::new(), ..finding.clone() };
    let place = if finding.labels.is_empty() { String::new() } else { render_findings(&[&bare], PLAIN) };
    // Below the line with code and message.
    let place = place.split_once('\n').map(|(_, rest)| rest.trim_end().to_owned()).unwrap_or_default();
    Message {
        text: harmless(&finding.message),
        place,
        notes: finding.notes.iter().map(|note| harmless(note)).collect(),
    }
}

fn failed(failure: &Failure) -> Drawn {
    let notes = failure.causes.iter().map(|cause| harmless(cause)).collect();
    let message = Message { text: harmless(&failure.message), place: String::new(), notes };
    let help = failure.help.iter().map(|help| harmless(help)).collect();
    Drawn { tone: Tone::Error, title: "error".to_owned(), messages: vec![message], help, why: None }
}
