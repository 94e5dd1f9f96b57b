//! Reports as pages for browsers and notebooks. A report is values of text; one template makes the page of them, and
//! escapes each. A page runs nothing and fetches nothing; without its style, as in a notebook that is not trusted, it
//! reads as well.

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::core::diag::{Failure, Severity, harmless, presentable};

/// The style that all pages share. Its rules are about what is in `.cb` alone.
pub const STYLE: &str = include_str!("style.css");

/// The body of a report: what it is about, and tables.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// Facts of a few words, such as a driver.
    pub badges: Vec<String>,
    pub sections: Vec<Section>,
    /// The sections show the findings: there is no list of them.
    pub shows_findings: bool,
}

/// Something that folds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    pub title: String,
    /// A few words behind the title.
    pub sum: String,
    pub open: bool,
    pub head: Vec<&'static str>,
    pub rows: Vec<Vec<TableCell>>,
    /// What is no table.
    pub lines: Vec<String>,
    /// What is shown as it is written, line below line.
    pub text: String,
}

/// A cell of a table.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TableCell {
    Text {
        text: String,
    },
    Code {
        text: String,
    },
    /// A word on a color.
    Mark {
        text: String,
        tone: Tone,
    },
    /// A number with a bar beside it, in parts of the largest.
    Bar {
        text: String,
        value: u64,
        most: u64,
    },
    /// A sentence, what it follows from, and what helps.
    Said {
        text: String,
        evidence: Vec<String>,
        help: Vec<String>,
    },
}

/// What a mark says besides its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    Good,
    Plain,
    Note,
    Warning,
    Error,
}

impl From<Severity> for Tone {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note => Self::Note,
        }
    }
}

impl TableCell {
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text { text: shown(text.as_ref()) }
    }

    pub fn code(text: impl AsRef<str>) -> Self {
        Self::Code { text: shown(text.as_ref()) }
    }

    /// A sentence with its evidence and with what helps.
    pub fn said(text: &str, lists: [&[String]; 2]) -> Self {
        let [evidence, help] = lists.map(|lines| lines.iter().map(|line| shown(line)).collect());
        Self::Said { text: shown(text), evidence, help }
    }

    pub fn mark(text: &str, tone: Tone) -> Self {
        Self::Mark { text: text.to_owned(), tone }
    }
}

/// Without secrets and without characters that a reader can't see.
fn shown(text: &str) -> String {
    harmless(&presentable(text))
}

/// Findings of one code, or a failure.
#[derive(Clone, Debug, Serialize)]
pub struct Drawn {
    pub tone: Tone,
    /// `error[driver-too-old]`.
    pub title: String,
    pub messages: Vec<Message>,
    /// What helps against all of them.
    pub help: Vec<String>,
    /// What the code means, where it has one.
    pub why: Option<&'static str>,
}

/// What is wrong once.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Message {
    pub text: String,
    /// The place in the user's file, with its carets.
    pub place: String,
    pub notes: Vec<String>,
}

/// All that a page says.
#[derive(Clone, Debug, Serialize)]
pub struct Sheet<'a> {
    /// The verb.
    pub verb: &'a str,
    /// How it ended.
    pub verdict: String,
    pub tone: Tone,
    pub page: &'a Page,
    pub findings: Vec<Drawn>,
    /// What was said besides.
    pub talk: Vec<String>,
}

impl Sheet<'_> {
    /// A document of its own; or, as a `part`, what a notebook shows below a cell.
    pub fn render(&self, part: bool) -> Result<String, Failure> {
        let wrong = |error: minijinja::Error| Failure::bug(format!("the page can't be made: {error:#}"));
        let mut environment = Environment::new();
        environment.add_template("report.html", include_str!("report.html")).map_err(wrong)?;
        let template = environment.get_template("report.html").map_err(wrong)?;
        template.render(context! { sheet => Serde(self), part, style => STYLE }).map_err(wrong)
    }
}
