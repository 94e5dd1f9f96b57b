//! What a verb found out or did, for people and for programs.

use std::path::Path;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::diag::{Finding, Severity};

/// For fields of reports: a path as text. Bytes that are no UTF-8 show as `\u{fffd}`, where serde would fail.
pub fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

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
        let data = serde_json::to_value(data).unwrap_or_else(|error| Value::String(format!("bug: {error}")));
        Self { data, text, talk: Vec::new(), findings: Vec::new(), restart: false }
    }

    #[must_use]
    pub fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings = findings;
        self
    }

    /// Puts `text` on stdout, and what stood there on stderr.
    pub fn print_instead(&mut self, text: String) {
        let before = std::mem::replace(&mut self.text, text);
        self.talk.extend(before.lines().map(str::to_owned));
    }

    /// Whether a finding makes the answer "no".
    pub fn is_no(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}
