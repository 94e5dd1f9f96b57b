//! The JSON envelope, the same for every verb: `{ "schema": 2, "command", "report", "findings" }`. Keys are kebab-case.

use serde::Serialize;
use serde_json::Value;

use crate::core::diag::{Code, Failure, Finding, Severity, Subject};

/// The number of the form that reports have; a change of a key or of its meaning raises it.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Envelope<'a> {
    schema: u32,
    command: &'a str,
    report: &'a Value,
    findings: Vec<FindingReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport<'a>>,
}

#[derive(Serialize)]
struct ErrorReport<'a> {
    message: &'a str,
    causes: &'a [String],
    help: &'a [String],
}

#[derive(Serialize)]
struct FindingReport<'a> {
    code: Code,
    severity: Severity,
    message: &'a str,
    /// All that it is about, also what the text leaves out.
    #[serde(skip_serializing_if = "<[Subject]>::is_empty")]
    about: &'a [Subject],
    /// What these do not agree with.
    #[serde(skip_serializing_if = "<[Subject]>::is_empty")]
    against: &'a [Subject],
    places: Vec<SourcePlace<'a>>,
    notes: &'a [String],
    help: &'a [String],
}

/// A place in a file of the user's.
#[derive(Serialize)]
struct SourcePlace<'a> {
    file: &'a str,
    /// From 1.
    line: usize,
    column: usize,
    text: &'a str,
}

/// The envelope; with `failure` it also holds `error`.
pub fn envelope(command: &str, report: &Value, findings: &[Finding], failure: Option<&Failure>) -> Value {
    let all: Vec<&Finding> = findings.iter().chain(failure.into_iter().flat_map(|failure| &failure.findings)).collect();
    let findings = all.into_iter().map(finding_report).collect();
    let error =
        failure.map(|failure| ErrorReport { message: &failure.message, causes: &failure.causes, help: &failure.help });
    serde_json::to_value(Envelope { schema: SCHEMA, command, report, findings, error }).unwrap_or_default()
}

fn finding_report(finding: &Finding) -> FindingReport<'_> {
    let places = finding.labels.iter().map(|label| {
        let (line, column) = label.position();
        SourcePlace { file: &label.source.name, line, column, text: &label.text }
    });
    FindingReport {
        code: finding.code,
        severity: finding.severity,
        message: &finding.message,
        about: &finding.about,
        against: &finding.against,
        places: places.collect(),
        notes: &finding.notes,
        help: &finding.help,
    }
}
