//! Which bytes of a file are here.

use std::ops::Range;

/// Spans of bytes, in order, none of which touches another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spans(Vec<Range<u64>>);

impl Spans {
    pub(super) fn add(&mut self, span: Range<u64>) {
        if span.is_empty() {
            return;
        }
        let from = self.0.partition_point(|one| one.end < span.start);
        let to = self.0.partition_point(|one| one.start <= span.end);
        let touched = &self.0[from..to];
        let start = touched.first().map_or(span.start, |one| one.start.min(span.start));
        let end = touched.last().map_or(span.end, |one| one.end.max(span.end));
        self.0.splice(from..to, std::iter::once(start..end));
    }

    /// Where the span that holds the byte at `at` ends; `at` where none does.
    pub(super) fn end_from(&self, at: u64) -> u64 {
        let next = self.0.partition_point(|one| one.end <= at);
        self.0.get(next).filter(|one| one.start <= at).map_or(at, |one| one.end)
    }

    /// Whether all of `span` is here.
    pub(super) fn has(&self, span: &Range<u64>) -> bool {
        self.end_from(span.start) >= span.end
    }

    /// What is missing of `span`.
    pub(super) fn missing(&self, span: Range<u64>) -> Vec<Range<u64>> {
        let (mut missing, mut at) = (Vec::new(), span.start);
        while at < span.end {
            let next = self.0.iter().map(|one| one.start).find(|start| *start > at).unwrap_or(span.end);
            let end = self.end_from(at);
            if end == at {
                missing.push(at..next.min(span.end));
            }
            at = end.max(if end == at { next } else { end });
        }
        missing
    }

    pub(super) fn spans(&self) -> &[Range<u64>] {
        &self.0
    }

    /// How many bytes are here.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|one| one.end - one.start).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Spans;

    proptest! {
        #[test]
        fn spans_know_what_a_list_of_bytes_knows(
            added in prop::collection::vec((0_u64..60, 0_u64..20), 0..12),
            asked in (0_u64..70, 0_u64..30),
        ) {
            let (mut spans, mut bytes) = (Spans::default(), [false; 128]);
            for (start, length) in added {
                spans.add(start..start + length);
                (start..start + length).for_each(|at| bytes[usize::try_from(at).expect("small")] = true);
            }
            let here = |at: u64| bytes[usize::try_from(at).expect("small")];
            let asked = asked.0..asked.0 + asked.1;
            prop_assert_eq!(spans.has(&asked), asked.clone().all(here));
            prop_assert_eq!(spans.count(), (0..128).filter(|at| here(*at)).count() as u64);
            prop_assert_eq!(spans.end_from(asked.start), (asked.start..128).find(|at| !here(*at)).expect("an end"));
            let missing: Vec<u64> = spans.missing(asked.clone()).into_iter().flatten().collect();
            prop_assert_eq!(missing, asked.filter(|at| !here(*at)).collect::<Vec<_>>());
        }
    }
}
