//! Work on wheels, some of which are still arriving: what can be done is done, the longest first; what can't waits for
//! its bytes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::boot::index::OpenWheel;
use crate::core::diag::Failure;
use crate::core::host::bell::Bell;
use crate::core::host::mutex::held;

/// Threads beside those for the cores: work on bytes that have not all arrived waits for the network in between. So
/// many wheels come in pieces at once.
pub(super) const BEHIND_THE_NETWORK: usize = 4;

/// Something that is done in one go.
pub(super) struct Task<W> {
    /// How long it takes, in no unit.
    pub weight: u64,
    pub work: W,
    pub needs: Needs,
}

/// What has to be here before.
pub(super) enum Needs {
    /// The whole wheel, checked.
    End,
    /// These bytes.
    Span(Range<u64>),
    /// The first of these bytes. The others come when these were read: of a wheel, one such task is done at a time, in
    /// the order of their bytes.
    Begun(Range<u64>),
}

impl Needs {
    /// The bytes that are read.
    pub(super) fn span(&self) -> Option<Range<u64>> {
        match self {
            Self::End => None,
            Self::Span(span) | Self::Begun(span) => Some(span.clone()),
        }
    }

    fn is_met(&self, wheel: &OpenWheel) -> bool {
        match self {
            Self::End => wheel.arrival().is_none_or(|arrival| arrival.ended().is_some()),
            Self::Span(span) => wheel.has(span),
            Self::Begun(span) => wheel.has(&(span.start..span.start + 1)),
        }
    }
}

/// Work that belongs to an open wheel.
pub(super) trait OnWheel {
    fn wheel(&self) -> &OpenWheel;

    /// The number of that wheel.
    fn number(&self) -> usize;
}

/// The tasks that are left.
pub(super) struct Queue<W> {
    state: Mutex<TaskState<W>>,
    bell: Arc<Bell>,
}

struct TaskState<W> {
    ready: BinaryHeap<Task<W>>,
    waiting: Vec<Task<W>>,
    /// Of each wheel by its number, what is done in order; and whether one of it is being done.
    in_order: BTreeMap<usize, (VecDeque<Task<W>>, bool)>,
    /// How often the bell had rung when the waiting were looked at.
    looked: Option<u64>,
    /// No task will come any more.
    is_closed: bool,
    failure: Option<Failure>,
    is_given_up: bool,
}

/// A task that was taken.
pub(super) struct TakenTask<W> {
    pub work: W,
    is_in_order: bool,
}

impl<W: OnWheel> Queue<W> {
    /// What `bell` rings for may be what tasks wait for.
    pub(super) fn new(bell: Arc<Bell>) -> Self {
        let state = TaskState {
            ready: BinaryHeap::new(),
            waiting: Vec::new(),
            in_order: BTreeMap::new(),
            looked: None,
            is_closed: false,
            failure: None,
            is_given_up: false,
        };
        Self { state: Mutex::new(state), bell }
    }

    pub(super) fn add(&self, tasks: impl IntoIterator<Item = Task<W>>) {
        let mut state = held(&self.state);
        for task in tasks {
            if matches!(task.needs, Needs::Begun(_)) {
                state.in_order.entry(task.work.number()).or_default().0.push_back(task);
            } else {
                state.waiting.push(task);
            }
        }
        state.looked = None;
        drop(state);
        self.bell.ring();
    }

    /// No task will come any more.
    pub(super) fn close(&self) {
        held(&self.state).is_closed = true;
        self.bell.ring();
    }

    /// What is left is left; `true` where nobody has given up before.
    pub(super) fn give_up(&self, why: Option<Failure>) -> bool {
        let mut state = held(&self.state);
        let is_first = !std::mem::replace(&mut state.is_given_up, true);
        if is_first {
            state.failure = why;
        }
        drop(state);
        self.bell.ring();
        is_first
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        held(&self.state).failure.clone()
    }

    /// The next task; waits for it. `None` where none is left, or the work was given up.
    pub(super) fn next(&self) -> Option<TakenTask<W>> {
        loop {
            let rung = self.bell.count();
            let mut state = held(&self.state);
            if state.is_given_up {
                return None;
            }
            if let Some(taken) = state.take(rung) {
                return Some(taken);
            }
            if state.is_closed && state.waiting.is_empty() && state.in_order.is_empty() {
                return None;
            }
            drop(state);
            self.bell.wait(rung);
        }
    }

    /// To be called when a task is done.
    pub(super) fn done(&self, taken: &TakenTask<W>) {
        if !taken.is_in_order {
            return;
        }
        let mut state = held(&self.state);
        if let Entry::Occupied(mut of_wheel) = state.in_order.entry(taken.work.number()) {
            of_wheel.get_mut().1 = false;
            if of_wheel.get().0.is_empty() {
                of_wheel.remove();
            }
        }
        drop(state);
        self.bell.ring();
    }
}

impl<W: OnWheel> TaskState<W> {
    fn take(&mut self, rung: u64) -> Option<TakenTask<W>> {
        // What is done in order holds up what is behind it.
        for (tasks, is_busy) in self.in_order.values_mut().filter(|(_, is_busy)| !is_busy) {
            if tasks.front().is_some_and(|task| task.needs.is_met(task.work.wheel()))
                && let Some(task) = tasks.pop_front()
            {
                *is_busy = true;
                return Some(TakenTask { work: task.work, is_in_order: true });
            }
        }
        if self.looked != Some(rung) {
            self.looked = Some(rung);
            let ready = self.waiting.extract_if(.., |task| task.needs.is_met(task.work.wheel()));
            self.ready.extend(ready);
        }
        Some(TakenTask { work: self.ready.pop()?.work, is_in_order: false })
    }
}

impl<W> PartialEq for Task<W> {
    fn eq(&self, other: &Self) -> bool {
        self.weight == other.weight
    }
}

impl<W> Eq for Task<W> {}

impl<W> PartialOrd for Task<W> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<W> Ord for Task<W> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.weight.cmp(&other.weight)
    }
}
