//! What a verb found out or did, for people and for programs.

use serde::Serialize;
use serde_json::Value;

use crate::diag::{Finding, Severity};

/// What a verb found out or did.
#[derive(Debug)]
pub struct Report {
    /// `report` of the JSON envelope.
    pub data: Value,
    /// For stdout: what was asked for.
    pub text: String,
    /// For stderr: what is worth saying besides.
    pub talk: Vec<String>,
    pub findings: Vec<Finding>,
    /// Packages that the kernel has loaded were replaced.
    pub restart: bool,
}

impl Report {
    /// With nothing to say besides.
    pub fn new(data: impl Serialize, text: String) -> Self {
        let data = serde_json::to_value(data).unwrap_or_default();
        Self { data, text, talk: Vec::new(), findings: Vec::new(), restart: false }
    }

    #[must_use]
    pub fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings = findings;
        self
    }

    /// Whether a finding makes the answer "no".
    pub fn is_no(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}
