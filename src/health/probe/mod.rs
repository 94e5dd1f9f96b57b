//! Figures that are measured on request: runnable Python files look, each in a process of its own that ends with one
//! line of JSON; a pure function judges what they saw. Bounded in seconds and bytes; what they write lies in a folder
//! that goes with them.

mod disk;
mod gpu;
mod loader;
mod nccl;
mod scratch;

use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use crate::boot::session::Session;
use crate::core::diag::{Failure, Finding};
use crate::core::host::Invocation;
use crate::core::host::command::{NoResult, last_lines};

pub use disk::{Folder, Samples, probe_folders};
pub use gpu::{GpuWish, probe_gpu};
pub use loader::{LoaderWish, probe_loader};
pub use nccl::probe_nccl;

/// What a probe found.
#[derive(Debug, Default)]
pub struct Probed {
    pub measures: Vec<Measure>,
    pub findings: Vec<Finding>,
    /// What it means, in sentences.
    pub meaning: Vec<String>,
}

/// One figure.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measure {
    /// What of: a path, a card.
    pub of: String,
    pub what: &'static str,
    /// In `unit`; `None` where it could not be measured.
    pub figure: Option<f64>,
    pub unit: Unit,
    pub expected: Option<f64>,
    pub verdict: Verdict,
    /// How it was measured, or why it was not.
    pub note: String,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    #[serde(rename = "bytes")]
    Bytes,
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "TFLOPS")]
    Teraflops,
    #[serde(rename = "/s")]
    PerSecond,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    Low,
    /// There is nothing to hold it against, or it was not measured.
    Open,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Low => "low",
            Self::Open => "",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if *self == Self::Open { "open" } else { self.as_str() })
    }
}

impl Measure {
    fn new(of: &str, what: &'static str, figure: Option<f64>, unit: Unit) -> Self {
        Self { of: of.to_owned(), what, figure, unit, expected: None, verdict: Verdict::Open, note: String::new() }
    }

    /// Held against a figure that it should reach.
    fn at_least(self, expected: f64) -> Self {
        self.held(expected, |figure| figure >= expected)
    }

    /// Held against a figure that it should not pass.
    fn at_most(self, expected: f64) -> Self {
        self.held(expected, |figure| figure <= expected)
    }

    fn held(mut self, expected: f64, is_good: impl Fn(f64) -> bool) -> Self {
        self.expected = Some(expected);
        self.verdict = match self.figure.map(is_good) {
            Some(true) => Verdict::Good,
            Some(false) => Verdict::Low,
            None => Verdict::Open,
        };
        self
    }

    fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// `value` as people write it.
    pub fn shown(&self, value: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
        let bytes = |value: f64| crate::core::diag::bytes(value as u64);
        match self.unit {
            Unit::BytesPerSecond => format!("{}/s", bytes(value)),
            Unit::Bytes => bytes(value),
            Unit::Seconds if value < 1e-3 => format!("{:.0} µs", value * 1e6),
            Unit::Seconds if value < 1.0 => format!("{:.1} ms", value * 1e3),
            Unit::Seconds => format!("{value:.1} s"),
            Unit::Teraflops => format!("{value:.1} TFLOPS"),
            Unit::PerSecond => format!("{value:.1}/s"),
        }
    }
}

/// A table of figures, for people.
pub fn rendered(probed: &Probed) -> String {
    let mut text = String::new();
    let mut of = "";
    for measure in &probed.measures {
        if measure.of != of {
            of = &measure.of;
            text.push_str(of);
            text.push('\n');
        }
        let figure = measure.figure.map_or_else(|| "-".to_owned(), |figure| measure.shown(figure));
        let expected = measure.expected.map(|expected| measure.shown(expected)).unwrap_or_default();
        let line =
            format!("  {:<22}{figure:<16}{expected:<16}{:<6}{}", measure.what, measure.verdict.as_str(), measure.note);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let heading = format!("{:<24}{:<16}{:<16}\n", "", "measured", "expected");
    let means: String = probed.meaning.iter().map(|line| format!("{line}\n")).collect();
    format!("{}\n{text}{means}", heading.trim_end())
}

/// Runs `script` with `wish` as its argument, and reads the line that it ends with.
fn look<T: DeserializeOwned>(
    session: &Session<'_>,
    python: &Path,
    script: &str,
    wish: &impl Serialize,
    limit: Duration,
) -> Result<T, Failure> {
    let wish = serde_json::to_string(wish).map_err(|error| Failure::bug(error.to_string()))?;
    let invocation = Invocation::new(python, &["-I", "-c", script, &wish], session.environment);
    let finished = match invocation.output(limit) {
        Ok(finished) => finished,
        Err(NoResult::TimedOut(limit)) => return Err(failed(format!("not finished after {} s", limit.as_secs()))),
        Err(NoResult::NotFound) => return Err(failed(format!("there is no `{}`", python.display()))),
        Err(NoResult::Failed(error)) => return Err(failed(error.to_string())),
    };
    let line = finished.stdout.lines().rev().find(|line| line.starts_with('{'));
    line.filter(|_| finished.code == 0)
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or_else(|| failed(finished.failure(&last_lines(&finished.stderr, 3))))
}

fn failed(why: String) -> Failure {
    Failure::world("the probe has failed").cause(why)
}

#[cfg(test)]
mod tests;
