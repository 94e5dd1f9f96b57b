//! What a verb found out or did, for people and for programs.

use std::path::Path;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::boot::verdict::Verdict;
use crate::core::diag::{Finding, without_secrets};
use crate::core::page::Page;

/// For fields of reports: a path as text. Bytes that are no UTF-8 show as `\u{fffd}`, where serde would fail.
pub fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn cover(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_secrets(text),
        Value::Array(values) => values.iter_mut().for_each(cover),
        Value::Object(values) => values.values_mut().for_each(cover),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
    /// The same as a page; `text` where there is none.
    pub page: Option<Page>,
    /// How it ended; its sentence stands behind `text`.
    verdict: Option<Verdict>,
    /// The caller restarts kernels by itself: exit code 10 tells it nothing.
    pub keeps_restart: bool,
    /// `text` is a script or a lock, to be used as it is.
    verbatim: bool,
}

impl Report {
    /// With nothing to say besides.
    pub fn new(data: impl Serialize, text: String) -> Self {
        let data = serde_json::to_value(data).unwrap_or_else(|error| Value::String(format!("bug: {error}")));
        Self {
            data,
            text,
            talk: Vec::new(),
            findings: Vec::new(),
            page: None,
            verdict: None,
            keeps_restart: false,
            verbatim: false,
        }
    }

    #[must_use]
    pub fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings = findings;
        self
    }

    /// With how it ended, as the last line and as `verdict` of the JSON report.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.text.push_str(verdict.sentence());
        self.text.push('\n');
        if let Value::Object(data) = &mut self.data {
            let value = serde_json::to_value(&verdict);
            data.insert("verdict".to_owned(), value.unwrap_or_else(|error| Value::String(format!("bug: {error}"))));
        }
        self.verdict = Some(verdict);
        self
    }

    /// Puts `text` on stdout, and what stood there on stderr.
    pub fn print_instead(&mut self, text: String) {
        let before = std::mem::replace(&mut self.text, text);
        self.verbatim = true;
        self.talk.extend(before.lines().map(str::to_owned));
    }

    /// As [`print_instead`](Self::print_instead), where there is a text.
    #[must_use]
    pub fn printing(mut self, text: Option<String>) -> Self {
        if let Some(text) = text {
            self.print_instead(text);
        }
        self
    }

    /// The same as people and files may see it; a text that was asked for as it is stays so.
    #[must_use]
    pub fn presentable(mut self) -> Self {
        cover(&mut self.data);
        if !self.verbatim {
            self.text = without_secrets(&self.text);
        }
        self.talk = self.talk.iter().map(|line| without_secrets(line)).collect();
        self.findings = self.findings.into_iter().map(Finding::presentable).collect();
        self
    }

    /// Whether the last line of its text says how it ended.
    pub const fn has_verdict(&self) -> bool {
        self.verdict.is_some()
    }

    /// Whether its text is a script or a lock, to be used as it is.
    pub const fn is_verbatim(&self) -> bool {
        self.verbatim
    }

    /// Whether a finding makes the answer "no".
    pub fn is_no(&self) -> bool {
        self.findings.iter().any(Finding::is_error) || self.verdict.as_ref().is_some_and(Verdict::is_no)
    }

    /// Whether the caller is to restart the kernel.
    pub fn wants_restart(&self) -> bool {
        !self.keeps_restart && self.verdict.as_ref().is_some_and(Verdict::wants_restart)
    }
}
