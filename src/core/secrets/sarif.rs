//! Sightings as SARIF 2.1.0, which forges show beside the lines.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::core::secrets::Sighting;

/// A log of one run; files by the names that they were given.
pub fn sarif(files: &[(String, Vec<Sighting>)]) -> Value {
    let all = files.iter().flat_map(|(file, sightings)| sightings.iter().map(move |one| (file, one)));
    let rules: BTreeSet<&str> = all.clone().map(|(_, one)| one.rule).collect();
    let rules: Vec<Value> = rules.into_iter().map(|rule| json!({ "id": rule })).collect();
    let results: Vec<Value> = all
        .map(|(file, one)| {
            json!({
                "ruleId": one.rule,
                "level": "error",
                "message": { "text": format!("{}: {} ({})", one.place, one.rule, one.shown) },
                "partialFingerprints": { "secret/v1": one.sha256 },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": file },
                        "region": { "startLine": one.line },
                    },
                }],
            })
        })
        .collect();
    sarif_frame(&rules, &results)
}

/// A log of one run with these rules and results.
pub fn sarif_frame(rules: &[Value], results: &[Value]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "colab-boot", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}
