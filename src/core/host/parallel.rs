//! Work on many small things at once.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` for each of `items`, on all cores; its answers in no order. If no more threads can be started, fewer do
/// the work.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker =
        || std::iter::from_fn(|| items.get(next.fetch_add(1, Ordering::Relaxed))).filter_map(&work).collect::<Vec<_>>();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..cores).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, worker).ok()).collect();
        let mut found = worker();
        found.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))));
        found
    })
}
