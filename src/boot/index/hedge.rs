//! Requests that take far longer than others of their kind are asked again beside themselves: an index answers some
//! after seconds that it usually answers at once. The first good answer counts. At most one request in twenty is asked
//! twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::core::host::mutex::held;

/// Nothing is asked again sooner.
const SOONEST: Duration = Duration::from_millis(250);

/// Before enough answers have come to know what is usual.
const AT_FIRST: Duration = Duration::from_millis(500);

/// Answers that are remembered of each kind.
const REMEMBERED: usize = 128;
const ENOUGH: usize = 8;

/// One more request for so many.
const SHARE: u64 = 20;

/// What requests are alike in how long they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// A page of an index, a document.
    Whole,
    /// A part of a file.
    Part,
}

/// How long answers took, by kind.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    taken: [Mutex<Vec<Duration>>; 2],
    hedged: AtomicU64,
}

impl Latencies {
    /// Remembers how long an answer took.
    pub(super) fn note(&self, kind: RequestKind, taken: Duration) {
        let mut all = held(&self.taken[kind as usize]);
        if all.len() == REMEMBERED {
            all.remove(0);
        }
        all.push(taken);
    }

    /// How long an answer of this kind is waited for before it is asked for again: thrice what nine in ten took.
    pub(super) fn usual(&self, kind: RequestKind) -> Duration {
        let mut all = held(&self.taken[kind as usize]).clone();
        if all.len() < ENOUGH {
            return AT_FIRST;
        }
        all.sort_unstable();
        (all[all.len() * 9 / 10] * 3).max(SOONEST)
    }

    /// Whether one more may be asked, of `requests` so far. Counts it if so.
    pub(super) fn may_hedge(&self, requests: u64) -> bool {
        let allowed = (requests / SHARE).max(1);
        let count = |hedged: u64| (hedged < allowed).then_some(hedged + 1);
        self.hedged.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{AT_FIRST, Latencies, RequestKind, SOONEST};

    #[test]
    fn usual_times_are_learned_and_few_requests_are_hedged() {
        let latencies = Latencies::default();
        assert_eq!(latencies.usual(RequestKind::Whole), AT_FIRST);
        (0..100).for_each(|_| latencies.note(RequestKind::Whole, Duration::from_millis(50)));
        assert_eq!(latencies.usual(RequestKind::Whole), SOONEST);
        (0..100).for_each(|_| latencies.note(RequestKind::Whole, Duration::from_millis(800)));
        assert_eq!(latencies.usual(RequestKind::Whole), Duration::from_millis(2400));
        assert_eq!(latencies.usual(RequestKind::Part), AT_FIRST, "each kind is its own");
        let asked = (0..100).filter(|_| latencies.may_hedge(200)).count();
        assert_eq!(asked, 10, "one in twenty");
        assert!(Latencies::default().may_hedge(3), "and one of a few");
    }
}
