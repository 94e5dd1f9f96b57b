//! Whether a machine is fit to work, and why a kernel may die: `observe` collects [`Vitals`], a function for each row
//! of `matrix/doctor-checks.toml` judges them. Nothing is ended, mounted or deleted; what a person may do about it is
//! printed.

mod compared;
mod control_group;
mod death;
mod device;
mod foreign_checks;
mod junit;
mod after_crash;
mod bundle;
mod credentials_seen;
mod importing;
mod lifetime;
mod error_lines;
mod name_lookup;
mod mapped;
mod observe;
mod report_files;
mod on_disk;
mod processes;
mod ram;
mod loaded_builds;
mod sarif_log;
mod text_report;
mod outcome_page;
mod look_context;
mod storage;
mod symptom;
mod tokens;
mod variables;
mod variables_seen;
mod vitals;
mod vram;
mod workers;

use std::borrow::Cow;

use serde::Serialize;

use crate::boot::machine::Machine;
use crate::boot::notebook::Facts;
use crate::boot::profile::Fitness;
use crate::core::diag::{Code, Failure, Finding, Severity, first_of, without_secrets};
use crate::core::matrix::{Check, Matrix, checks};

pub use bundle::unbundled;
pub use compared::conditions;
pub use control_group::COUNTER;
pub use death::{
    Death, SCHEMA, Tick, connection_file, crash_file, crash_in_short, death_folder, deaths, is_recorded, recorder_lock,
};
pub use foreign_checks::{Asked, foreign_checks, foreign_names};
pub use look_context::{Place, Sight, smi_hangs, unread};
pub use name_lookup::Knowledge;
pub use observe::{observe_memory, observe_vitals, utilization};
pub use outcome_page::outcome_page;
pub use report_files::Outputs;
pub use symptom::{explained_log, explained_text, is_known_error};
pub use text_report::{known, listed, shown};
pub use vitals::{Checkpoint, Credential, FileSystem, Memory, Process, Vitals};

/// What a check looks at.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub vitals: &'a Vitals,
    pub machine: &'a Machine,
    /// What the kernel says of itself, where the cell has asked it.
    pub facts: Option<&'a Facts>,
    pub plans: &'a Plans,
    pub matrix: &'a Matrix,
    pub row: &'a Check,
}

impl Case<'_> {
    /// The kernel's value of a variable, or this process's; `None` where the kernel has unset it.
    fn variable(&self, name: &str) -> Option<String> {
        let kernel = self.facts.and_then(|facts| facts.environment.get(name).cloned());
        kernel.unwrap_or_else(|| self.vitals.environment.get(name).cloned())
    }
}

/// What the user is going to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plans {
    /// Seconds that it will take.
    pub long: Option<f64>,
    pub workers: Option<u64>,
    /// Bytes of one batch.
    pub batch: Option<u64>,
    /// `bf16`, `tf32`, `fp8`.
    pub precision: Option<String>,
    /// Where the data lies.
    pub data: Vec<String>,
    /// Where the profile has data, and nothing is; `None` where nobody could look.
    pub missing: Option<Vec<String>>,
    /// What of the data could not be looked at, and why.
    pub unread: Vec<String>,
    /// Services whose credentials are needed.
    pub needs: Vec<String>,
    /// A kernel has died.
    pub after_crash: bool,
    /// The boot id of the last apply.
    pub applied_on: Option<String>,
}

/// What a check says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All is well, with what was seen.
    Fine(String),
    /// It could not be looked at here, and why.
    Unseen(String),
    /// The check itself went wrong: a source that is there could not be read.
    Failed(String),
    Found(Vec<Hit>),
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub severity: Severity,
    pub message: String,
    pub evidence: Vec<String>,
}

impl Hit {
    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self { severity, message: message.into(), evidence: Vec::new() }
    }

    fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    fn note(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message)
    }

    fn seen(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    /// With the first few of `all`.
    fn seen_all(mut self, all: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(first_of(&all.into_iter().collect::<Vec<_>>(), MOST));
        self
    }
}

/// As many pieces of evidence are printed.
const MOST: usize = 5;

impl From<Hit> for Answer {
    fn from(hit: Hit) -> Self {
        Self::Found(vec![hit])
    }
}

/// What became of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Ok,
    Finding,
    Skipped,
    Failed,
    /// A program that it asks did not end.
    TimedOut,
}

impl State {
    /// In a word, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Finding => "found",
            Self::Skipped => "not seen",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
        }
    }
}

/// A check with what it said.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its id: a code, or the name that somebody else has given it.
    pub check: String,
    pub group: String,
    pub state: State,
    /// What was seen, or why nothing was.
    pub said: String,
    pub findings: Vec<Finding>,
}

impl Outcome {
    /// The same as people and files may see it.
    #[must_use]
    pub fn presentable(mut self) -> Self {
        self.said = without_secrets(&self.said);
        self.findings = self.findings.into_iter().map(Finding::presentable).collect();
        self
    }
}

type Judge = fn(&Case<'_>) -> Answer;

const JUDGES: &[&[(Code, Judge)]] = &[
    ram::CHECKS,
    device::CHECKS,
    mapped::CHECKS,
    loaded_builds::CHECKS,
    vram::CHECKS,
    workers::CHECKS,
    storage::CHECKS,
    importing::CHECKS,
    variables::CHECKS,
    tokens::CHECKS,
    lifetime::CHECKS,
    after_crash::CHECKS,
];

/// The groups, in the order of the rows.
pub fn groups() -> Result<Vec<&'static str>, Failure> {
    let mut groups: Vec<&str> = Vec::new();
    for row in checks().map_err(Failure::bug)? {
        if !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    Ok(groups)
}

/// Asks every check that `is_meant`.
pub fn examine(case: &Examination<'_>, is_meant: &dyn Fn(&Check) -> bool) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    for row in checks().map_err(Failure::bug)?.iter().filter(|row| is_meant(row)) {
        let judge = JUDGES.iter().copied().flatten().find(|(code, _)| *code == row.id);
        let (_, judge) = judge.ok_or_else(|| Failure::bug(format!("no check for `{}`", row.id)))?;
        if case.wish.ignore.contains(&row.id) {
            outcomes.push(outcome(row, Answer::Unseen("the profile disables it".to_owned())));
            continue;
        }
        if case.described && !row.described {
            outcomes.push(outcome(row, Answer::Unseen("the check runs only on this machine".to_owned())));
            continue;
        }
        let Examination { vitals, machine, facts, plans, matrix, wish, .. } = *case;
        let row = &as_wished(row, wish);
        let answer = judge(&Case { vitals, machine, facts, plans, matrix, row });
        outcomes.push(outcome(row, answer));
    }
    Ok(outcomes)
}

/// All that is looked at.
#[derive(Clone, Copy)]
pub struct Examination<'a> {
    pub vitals: &'a Vitals,
    pub machine: &'a Machine,
    pub facts: Option<&'a Facts>,
    pub plans: &'a Plans,
    pub matrix: &'a Matrix,
    /// Of the profile.
    pub wish: &'a Fitness,
    /// Only its packages, driver and GPUs are known.
    pub described: bool,
}

/// The row with the limits and the words that the profile sets.
fn as_wished<'r>(row: &'r Check, wish: &Fitness) -> Cow<'r, Check> {
    let (limits, remedy) = (wish.thresholds.get(&row.id), wish.remedies.get(&row.id));
    if limits.is_none() && remedy.is_none() {
        return Cow::Borrowed(row);
    }
    let mut row = row.clone();
    row.limits.extend(limits.cloned().unwrap_or_default());
    row.remedy = remedy.cloned().unwrap_or(row.remedy);
    Cow::Owned(row)
}

fn outcome(row: &Check, answer: Answer) -> Outcome {
    let (state, said, hits) = match answer {
        Answer::Fine(said) => (State::Ok, said, Vec::new()),
        Answer::Unseen(why) => (State::Skipped, why, Vec::new()),
        Answer::Failed(why) => (State::Failed, why, Vec::new()),
        // Nothing was found, and nothing was said of what was looked at: that is no answer.
        Answer::Found(hits) if hits.is_empty() => (State::Failed, "the check gave no answer".to_owned(), Vec::new()),
        Answer::Found(hits) => (State::Finding, hits[0].message.clone(), hits),
    };
    let findings = hits.into_iter().map(|hit| finding_of(row, hit)).collect();
    Outcome { check: row.id.to_string(), group: row.group.clone(), state, said, findings }
}

fn finding_of(row: &Check, hit: Hit) -> Finding {
    Finding {
        about: Vec::new(),
        against: Vec::new(),
        code: row.id,
        severity: hit.severity,
        message: hit.message,
        labels: Vec::new(),
        notes: hit.evidence,
        help: vec![row.remedy.clone()],
    }
}

/// `1.5 GB`, for people.
fn amount(bytes: u64) -> String {
    crate::core::diag::bytes(bytes)
}

/// `share` of `whole`, in percent.
fn percent(part: u64, whole: u64) -> String {
    format!("{} %", (u128::from(part) * 100).checked_div(whole.into()).unwrap_or_default())
}

/// For comparisons with thresholds.
#[expect(clippy::cast_precision_loss, reason = "bytes and counts, against thresholds")]
fn float(count: u64) -> f64 {
    count as f64
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

#[cfg(test)]
mod tests;
