//! Threads that wait until something has happened, and miss nothing.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::core::host::mutex::held;

/// How often those that wait look up, should nothing ring: the user may want the end.
pub const LOOK: Duration = Duration::from_millis(100);

/// Rings whenever something has happened that somebody may wait for.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<u64>,
    heard: Condvar,
}

impl Bell {
    /// How often it has rung. To be asked before looking at what is waited for.
    pub fn count(&self) -> u64 {
        *held(&self.rung)
    }

    pub fn ring(&self) {
        *held(&self.rung) += 1;
        self.heard.notify_all();
    }

    /// Waits until it has rung more often than `before`, at most [`LOOK`].
    pub fn wait(&self, before: u64) {
        drop(self.heard.wait_timeout_while(held(&self.rung), LOOK, |rung| *rung == before));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{Bell, LOOK};

    #[test]
    fn what_has_rung_before_the_wait_is_not_waited_for() {
        let bell = Bell::default();
        let before = bell.count();
        bell.ring();
        let started = Instant::now();
        (0..1000).for_each(|_| bell.wait(before));
        assert!(started.elapsed() < 500 * LOOK);
        bell.wait(bell.count());
    }
}
