//! The JSON envelope, the same for every verb: `{ "schema": 1, "command", "report", "findings" }`.

use serde_json::{Value, json};

use crate::diag::{Failure, Finding};

/// The envelope; with `failure` it also holds `error`.
pub fn envelope(command: &str, report: &Value, findings: &[Finding], failure: Option<&Failure>) -> Value {
    let all: Vec<&Finding> = findings.iter().chain(failure.into_iter().flat_map(|failure| &failure.findings)).collect();
    let findings: Vec<Value> = all.into_iter().map(finding).collect();
    let mut value = json!({ "schema": 1, "command": command, "report": report, "findings": findings });
    if let Some(failure) = failure {
        value["error"] = json!({ "message": failure.message, "causes": failure.causes, "help": failure.help });
    }
    value
}

fn finding(finding: &Finding) -> Value {
    let places: Vec<Value> = finding
        .labels
        .iter()
        .map(|label| {
            let (line, column) = label.position();
            json!({ "file": &*label.source.name, "line": line, "column": column, "text": label.text })
        })
        .collect();
    json!({
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "places": places,
        "notes": finding.notes,
        "help": finding.help,
    })
}
