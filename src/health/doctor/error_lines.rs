//! The lines of a log or a pasted text, by how much they say about its end: what ended it before what came on the way.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogLine<'t> {
    /// From 1.
    pub number: usize,
    pub text: &'t str,
    pub weight: LineWeight,
}

/// How much a line says about what ended the program; the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineWeight {
    /// Part of the last traceback, or behind it.
    Last,
    /// It names an error.
    Error,
    Plain,
    /// A warning or a message: the program went on.
    Warning,
}

/// The lines of `text` in their order. Of lines that are the same but for their numbers, as those of a training are,
/// the newest.
pub(super) fn log_lines(text: &str) -> Vec<LogLine<'_>> {
    let mut seen = BTreeSet::new();
    let all: Vec<(usize, &str)> = text.lines().enumerate().collect();
    let last = last_traceback(&all);
    let mut kept: Vec<LogLine<'_>> = all
        .into_iter()
        .rev()
        .filter(|(_, line)| seen.insert(line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>()))
        .map(|(at, text)| LogLine { number: at + 1, text, weight: weight(text, last.is_some_and(|last| at >= last)) })
        .collect();
    kept.reverse();
    kept
}

impl LogLine<'_> {
    /// Whether it is the line of an exception that ended the program: `ValueError: …` in the last traceback.
    pub(super) fn is_end(&self) -> bool {
        static EXCEPTION: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"^[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit)(:|$)").ok());
        let is_exception = EXCEPTION.as_ref().is_some_and(|exception| exception.is_match(self.text.trim_end()));
        self.weight == LineWeight::Last && is_exception
    }
}

/// `text` without the codes that color it in a terminal.
pub(super) fn without_colors(text: &str) -> Cow<'_, str> {
    static CODES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]").ok());
    CODES.as_ref().map_or(Cow::Borrowed(text), |codes| codes.replace_all(text, ""))
}

/// Where the last traceback begins, or the first of those that it names as its cause.
fn last_traceback(lines: &[(usize, &str)]) -> Option<usize> {
    let is_start = |line: &str| line.contains("Traceback (most recent call last)");
    let is_link = |line: &str| {
        line.contains("During handling of the above exception")
            || line.contains("The above exception was the direct cause")
    };
    let mut start = None;
    let mut is_linked = false;
    for (at, line) in lines {
        if is_link(line) {
            is_linked = true;
        } else if is_start(line) {
            start = if is_linked { start.or(Some(*at)) } else { Some(*at) };
            is_linked = false;
        }
    }
    start
}

/// Whether absl or glog (`W0000 00:00:1732 …`) or TensorFlow (`2026-11-01 10:00:00.1: W tensorflow/…`) logged `line`
/// with the severity `letter`.
fn is_logged_as(letter: char, line: &str) -> bool {
    let first = line.trim_start().strip_prefix(letter);
    first.is_some_and(|rest| rest.len() > 4 && rest.bytes().take(4).all(|byte| byte.is_ascii_digit()))
        || [" tensorflow/", " external/", " xla/"].iter().any(|place| line.contains(&format!(": {letter}{place}")))
}

fn weight(line: &str, is_last: bool) -> LineWeight {
    let lower = line.to_ascii_lowercase();
    if is_logged_as('W', line) || is_logged_as('I', line) || lower.contains("warning") || lower.contains("deprecat") {
        LineWeight::Warning
    } else if is_last {
        LineWeight::Last
    } else if is_logged_as('E', line)
        || is_logged_as('F', line)
        || ["error", "fatal", "killed", "fault", "failed", "abort"].iter().any(|word| lower.contains(word))
    {
        LineWeight::Error
    } else {
        LineWeight::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::LineWeight::{Error, Last, Plain, Warning};
    use super::log_lines;

    #[test]
    fn what_ends_a_program_comes_before_what_it_warned_of() {
        let text = "W0000 00:00:1732 x.cc:1] Could not find cuda drivers\nTraceback (most recent call last):\nKeyError: 1\n\
                    \nDuring handling of the above exception, another exception occurred:\n\n\
                    Traceback (most recent call last):\nImportError: x\nstep 3 of 9\n";
        let weights: Vec<_> =
            log_lines(text).iter().filter(|line| !line.text.is_empty()).map(|line| line.weight).collect();
        assert_eq!(weights, [Warning, Last, Last, Last, Last, Last]);
        let text = "Traceback (most recent call last):\nKeyError: 1\nstep 1\nTraceback (most recent call last):\nImportError: x\n";
        let weights: Vec<_> = log_lines(text).iter().map(|line| (line.number, line.weight)).collect();
        assert_eq!(weights, [(2, Error), (3, Plain), (4, Last), (5, Last)]);
    }
}
