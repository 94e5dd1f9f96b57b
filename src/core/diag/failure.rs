//! The work could not be done: what, why, and what to do next.

use std::fmt::{Display, Formatter, Result as FmtResult};

use crate::core::diag::{Finding, presentable};

/// Who has to act, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The answer is no: a conflict, a stale lock, a failed verification.
    Answer,
    /// The user wrote something wrong.
    Input,
    /// The machine or the network would not; trying again may help.
    World,
    /// A bug of ours.
    Bug,
    /// This signal has ended the work.
    Signal(i32),
}

/// One failure. `message` names the path, address or command line; `help` the next step.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    pub causes: Vec<String>,
    pub help: Vec<String>,
    /// Findings that explain it; shown in its place when there are any.
    pub findings: Vec<Finding>,
}

impl Failure {
    /// A failure of `kind`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), help: Vec::new(), findings: Vec::new() }
    }

    pub fn answer(message: impl Into<String>) -> Self {
        Self::new(Kind::Answer, message)
    }

    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Kind::Input, message)
    }

    pub fn world(message: impl Into<String>) -> Self {
        Self::new(Kind::World, message)
    }

    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Kind::Bug, message)
    }

    /// The same as people and files may see it.
    #[must_use]
    pub fn presentable(mut self) -> Self {
        self.message = presentable(&self.message);
        for text in self.causes.iter_mut().chain(&mut self.help) {
            *text = presentable(text);
        }
        self.findings = self.findings.into_iter().map(Finding::presentable).collect();
        self
    }

    /// A failure that is nothing but its findings.
    pub fn from_findings(kind: Kind, findings: Vec<Finding>) -> Self {
        let message = findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
        Self { findings, ..Self::new(kind, message) }
    }

    /// Adds an error and the chain of its causes.
    #[must_use]
    pub fn because(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            if self.causes.last() != Some(&text) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    #[must_use]
    pub fn cause(mut self, text: impl Into<String>) -> Self {
        self.causes.push(text.into());
        self
    }

    /// With a next step, where findings are shown in place of the message, too.
    #[must_use]
    pub fn advise(mut self, text: impl Into<String>) -> Self {
        match self.findings.last_mut() {
            Some(last) => last.help.push(text.into()),
            None => self.help.push(text.into()),
        }
        self
    }

    /// With a next step.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str(&self.message)?;
        self.causes.iter().try_for_each(|cause| write!(f, ": {cause}"))
    }
}

impl std::error::Error for Failure {}
