//! The files that a run writes besides: for a notebook's cell, for CI, for a bug report.

use std::path::PathBuf;

use serde_json::Value;

use crate::boot::machine::Observed;
use crate::boot::notebook::Facts;
use crate::core::diag::{Failure, Finding, envelope};
use crate::core::host::destination::{is_stdout, write_report};
use crate::health::doctor::{Outcome, Vitals, bundle::bundled, junit::junit, sarif_log::sarif_log};

/// Where to.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    pub junit: Option<PathBuf>,
    pub sarif: Option<PathBuf>,
    pub bundle: Option<PathBuf>,
    /// Warnings are failures.
    pub strict: bool,
}

impl Outputs {
    /// Writes them; returns what is for stdout. `outcomes` are presentable.
    pub fn write(
        &self,
        outcomes: &[Outcome],
        observed: Option<Observed>,
        vitals: &Vitals,
        facts: Option<&Facts>,
    ) -> Result<Option<String>, Failure> {
        let mut texts: Vec<(&PathBuf, String)> = Vec::new();
        if let Some(path) = &self.junit {
            texts.push((path, junit(outcomes, self.strict)?));
        }
        if let Some(path) = &self.sarif {
            texts.push((path, format!("{:#}\n", sarif_log(outcomes))));
        }
        if let Some(path) = &self.bundle {
            let findings: Vec<Finding> = outcomes.iter().flat_map(|outcome| outcome.findings.clone()).collect();
            let findings = envelope("doctor", &Value::Null, &findings, None)["findings"].take();
            let checks = outcomes.iter().map(|one| {
                serde_json::json!({ "check": one.check, "group": one.group, "state": one.state, "said": one.said })
            });
            let bundle = bundled(observed, vitals, facts, &checks.collect(), &findings)?;
            texts.push((path, format!("{bundle:#}\n")));
        }
        let mut printed = None;
        for (path, text) in texts {
            if is_stdout(path) {
                printed = Some(text);
            } else {
                write_report(path, text.as_bytes())?;
            }
        }
        Ok(printed)
    }
}
