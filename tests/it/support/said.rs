//! What a run says, by its findings and its verdict: the words of a message are pinned by the snapshot of all wording,
//! not here.

use crate::support::test::Outcome;

/// Text for people: what the program wrote, or what a cell of a notebook printed.
pub trait Said {
    /// Whether a finding is reported: `error[lock-stale]`.
    fn reports(&self, finding: &str) -> bool;

    /// Whether the message of such a finding names this: a package, a file, a variable.
    fn reports_about(&self, finding: &str, subject: &str) -> bool;

    /// Whether the result is this: `ready`, `applied: 2 packages`, `not verified`.
    fn concludes(&self, verdict: &str) -> bool;
}

impl Said for str {
    fn reports(&self, finding: &str) -> bool {
        self.reports_about(finding, "")
    }

    fn reports_about(&self, finding: &str, subject: &str) -> bool {
        let mut messages = self.lines().filter_map(|line| line.trim_start().strip_prefix(finding)?.strip_prefix(": "));
        messages.any(|message| names(message, subject))
    }

    fn concludes(&self, verdict: &str) -> bool {
        let mut after = self.lines().filter_map(|line| line.trim_start().strip_prefix(verdict));
        after.any(|rest| !rest.starts_with(char::is_alphanumeric))
    }
}

impl Said for Outcome {
    fn reports(&self, finding: &str) -> bool {
        self.stderr.reports(finding)
    }

    fn reports_about(&self, finding: &str, subject: &str) -> bool {
        self.stderr.reports_about(finding, subject)
    }

    fn concludes(&self, verdict: &str) -> bool {
        self.stdout.concludes(verdict)
    }
}

/// Whether the words are in the message and do not begin or end inside a longer name.
fn names(message: &str, subject: &str) -> bool {
    let belongs = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    subject.is_empty()
        || message.match_indices(subject).any(|(at, _)| {
            !belongs(message[..at].chars().next_back()) && !belongs(message[at + subject.len()..].chars().next())
        })
}
