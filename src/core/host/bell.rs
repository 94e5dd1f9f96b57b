//! Threads that wait until something has happened, and miss nothing.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Rings whenever something has happened that somebody may wait for.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<u64>,
    heard: Condvar,
}

impl Bell {
    /// How often it has rung. To be asked before looking at what is waited for.
    pub fn count(&self) -> u64 {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.heard.notify_all();
    }

    /// Waits until it has rung more often than `before`, `at_most` so long.
    pub fn wait(&self, before: u64, at_most: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.heard.wait_timeout_while(rung, at_most, |rung| *rung == before));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Bell;

    #[test]
    fn what_has_rung_before_the_wait_is_not_waited_for() {
        let bell = Bell::default();
        let before = bell.count();
        bell.ring();
        let started = Instant::now();
        bell.wait(before, Duration::from_hours(1));
        bell.wait(bell.count(), Duration::from_millis(1));
        assert!(started.elapsed() < Duration::from_mins(1));
    }
}
