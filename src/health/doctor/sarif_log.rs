//! What the checks have found as SARIF 2.1.0. A machine has no lines: places are logical ones,
//! `doctor/storage/disk-low`.

use serde_json::{Value, json};

use crate::core::diag::Code;
use crate::core::secrets::sarif_frame;
use crate::health::doctor::Outcome;

/// A log of one run.
pub(super) fn sarif_log(outcomes: &[Outcome]) -> Value {
    let mut codes: Vec<Code> =
        outcomes.iter().flat_map(|outcome| &outcome.findings).map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<Value> = codes
        .into_iter()
        .map(|code| json!({ "id": code.as_str(), "fullDescription": { "text": code.explanation() } }))
        .collect();
    let all = outcomes.iter().flat_map(|outcome| outcome.findings.iter().map(move |finding| (outcome, finding)));
    let results: Vec<Value> = all
        .map(|(outcome, finding)| {
            let lines = std::iter::once(&finding.message).chain(&finding.notes).chain(&finding.help);
            let text = lines.map(String::as_str).collect::<Vec<_>>().join("\n");
            let name = format!("doctor/{}/{}", outcome.group, outcome.check);
            json!({
                "ruleId": finding.code.as_str(),
                "level": finding.severity.as_str(),
                "message": { "text": text },
                "locations": [{ "logicalLocations": [{ "fullyQualifiedName": name }] }],
            })
        })
        .collect();
    sarif_frame(&rules, &results)
}
