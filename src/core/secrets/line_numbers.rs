//! The lines of a text, found once: a text may hold thousands of secrets.

use std::cell::RefCell;
use std::ops::Range;

/// A line with this is passed over: somebody has looked at it.
const ALLOWED: &str = "colab-boot: allow";

/// Where each line begins.
pub(super) struct Lines<'t> {
    pub(super) text: &'t str,
    starts: Vec<usize>,
    /// Of a line that was asked for: whether it is passed over.
    allowed: RefCell<Vec<Option<bool>>>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        Self { text, allowed: RefCell::new(vec![None; starts.len()]), starts }
    }

    /// The line of the byte at `at`, from 1.
    pub(super) fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Whether one of the lines that `span` lies in says that it is meant.
    pub(super) fn allow(&self, span: &Range<usize>) -> bool {
        (self.number(span.start) - 1..self.number(span.end)).any(|line| self.is_allowed(line))
    }

    fn is_allowed(&self, line: usize) -> bool {
        let mut allowed = self.allowed.borrow_mut();
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        *allowed[line].get_or_insert_with(|| self.text[self.starts[line]..end].contains(ALLOWED))
    }
}
