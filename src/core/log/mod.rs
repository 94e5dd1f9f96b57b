//! What is said while the work goes on, by how much the user wants to hear. The core says nothing: it returns findings.

mod progress;

use std::fmt;
use std::sync::Arc;

use crate::core::diag::without_secrets;

pub use progress::{Progress, RECORD, progress_of};

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub color: bool,
    pub progress: ProgressForm,
}

/// How the progress of downloads and copies is written to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressForm {
    /// One that moves, for a terminal.
    Bar,
    /// A line now and then, for a log.
    Lines,
    /// Records for a program that draws them: see [`RECORD`].
    Records,
}

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// `-q`: errors and the verdict.
    Quiet,
    #[default]
    Usual,
    /// `-v`: what is done, and why.
    Verbose,
    /// `-vv`: every request as well.
    Requests,
}

impl Verbosity {
    /// From the number of `-v`, and `-q`.
    pub fn of(verbose: u8, quiet: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Quiet,
            (false, 0) => Self::Usual,
            (false, 1) => Self::Verbose,
            (false, _) => Self::Requests,
        }
    }
}

/// Takes one line.
pub type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Says lines that the user wants to hear; may be used by several threads.
#[derive(Clone)]
pub struct Log {
    verbosity: Verbosity,
    sink: LineSink,
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Log").field("verbosity", &self.verbosity).finish_non_exhaustive()
    }
}

impl Log {
    pub fn new(verbosity: Verbosity, sink: LineSink) -> Self {
        Self { verbosity, sink }
    }

    /// Whether details are said.
    pub fn is_verbose(&self) -> bool {
        self.verbosity >= Verbosity::Verbose
    }

    /// Work in progress.
    pub fn say(&self, line: &str) {
        self.at(Verbosity::Usual, || line.to_owned());
    }

    /// What is done and why, made only where it is said.
    pub fn detail(&self, line: impl FnOnce() -> String) {
        self.at(Verbosity::Verbose, line);
    }

    /// A request, made into a line only where it is said.
    pub fn request(&self, line: impl FnOnce() -> String) {
        self.at(Verbosity::Requests, line);
    }

    fn at(&self, verbosity: Verbosity, line: impl FnOnce() -> String) {
        if self.verbosity >= verbosity {
            (self.sink)(&without_secrets(&line()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::{Log, Verbosity};

    #[test]
    fn each_verbosity_hears_what_it_asked_for() {
        for (verbose, quiet, heard) in [(0, true, 0), (2, true, 0), (0, false, 1), (1, false, 2), (3, false, 3)] {
            let lines = Arc::new(Mutex::new(Vec::new()));
            let sink = lines.clone();
            let write = move |line: &str| sink.lock().expect("a list").push(line.to_owned());
            let log = Log::new(Verbosity::of(verbose, quiet), Arc::new(write));
            log.say("work");
            log.detail(|| "why".to_owned());
            log.request(|| "GET".to_owned());
            assert_eq!(lines.lock().expect("a list").len(), heard, "{verbose} {quiet}");
        }
    }
}
