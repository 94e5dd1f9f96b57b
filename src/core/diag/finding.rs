//! Something we have to tell the user, with a stable code and a place.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::core::diag::{Code, Subject, few, presentable, without_secrets};

/// How bad a finding is. Errors make the answer "no".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

impl Severity {
    /// The word for it, in texts and in formats of other tools.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A text that labels point into: the user's own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as the user gave it.
    pub name: Arc<str>,
    pub text: Arc<str>,
}

/// A place in a [`Source`], in bytes, with a word about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub source: Source,
    pub span: Range<usize>,
    pub text: String,
}

impl Label {
    /// Line and column of its start, both from 1, columns in characters.
    pub fn position(&self) -> (usize, usize) {
        let before = &self.source.text[..self.span.start.min(self.source.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    /// What it is about: each of these has the fault. Nothing where that is the whole profile or machine.
    pub about: Vec<Subject>,
    /// What these do not agree with.
    pub against: Vec<Subject>,
    pub labels: Vec<Label>,
    pub notes: Vec<String>,
    pub help: Vec<String>,
}

impl Finding {
    /// The same as people and files may see it.
    #[must_use]
    pub fn presentable(mut self) -> Self {
        self.message = presentable(&self.message);
        for text in self.notes.iter_mut().chain(&mut self.help) {
            *text = presentable(text);
        }
        self.about.iter_mut().chain(&mut self.against).for_each(Subject::presentable);
        for label in &mut self.labels {
            label.text = presentable(&label.text);
            label.source.text = without_secrets(&label.source.text).into();
        }
        self
    }

    fn new(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            about: Vec::new(),
            against: Vec::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Whether it makes the answer "no".
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, message)
    }

    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>, text: impl Into<String>) -> Self {
        self.labels.push(Label { source: source.clone(), span, text: text.into() });
        self
    }

    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        self.about.push(subject);
        self
    }

    /// About the environment variables with these names.
    #[must_use]
    pub fn about_variables(self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        names.into_iter().map(|name| Subject::variable(name.as_ref())).fold(self, Self::about)
    }

    #[must_use]
    pub fn against(mut self, subject: Subject) -> Self {
        self.against.push(subject);
        self
    }

    /// What it is about, where neither its message nor a note names the first of it.
    pub fn unnamed(&self) -> &[Subject] {
        let mut texts = std::iter::once(&self.message).chain(&self.notes);
        if self.about.first().is_none_or(|subject| texts.any(|text| text.contains(subject.name()))) {
            &[]
        } else {
            &self.about
        }
    }

    /// Whether both say the same, of whatever.
    fn says_the_same(&self, other: &Self) -> bool {
        (self.code, self.severity) == (other.code, other.severity)
            && self.message == other.message
            && self.against == other.against
            && self.labels == other.labels
            && self.notes == other.notes
            && self.help == other.help
    }

    #[must_use]
    pub fn with_note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// With a note for each of the first dozen of `places`, which it is about as well.
    #[must_use]
    pub fn with_others<'p>(self, places: impl Iterator<Item = &'p Path>) -> Self {
        let others: Vec<String> = places.map(|place| format!("`{}` too", place.display())).collect();
        few(&others).into_iter().fold(self, Self::with_note)
    }

    #[must_use]
    pub fn with_help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// `findings` with those that say the same of several things as one about all of them, where the first of them was.
pub fn grouped(findings: Vec<Finding>) -> Vec<Finding> {
    let mut groups: Vec<Finding> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|group| !finding.about.is_empty() && group.says_the_same(&finding)) {
            Some(group) => group.about.extend(finding.about),
            None => groups.push(finding),
        }
    }
    groups
}

/// How many of `findings` make the answer "no".
pub fn count_errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.is_error()).count()
}
