//! The first request to a server goes alone: until its connection stands, each of the others would open one of its own,
//! though one carries them all (HTTP/2). Forty handshakes at once take four times as long as one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use url::{Origin, Url};

use crate::core::host::mutex::held;

/// How long the others wait for the first.
const PATIENT: Duration = Duration::from_millis(150);

/// The gates of all servers of one client. A gate is a semaphore of one permit, closed when the server has answered
/// once.
#[derive(Debug, Default)]
pub(super) struct Gates {
    gates: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// What a request holds while it is sent.
pub(super) struct Passed {
    gate: Arc<Semaphore>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Gates {
    /// Waits until a request to `url` may be sent. Where the first fails, the next is the first.
    pub(super) async fn pass(&self, url: &Url) -> Passed {
        let origin: Origin = url.origin();
        let gate = held(&self.gates)
            .entry(origin.ascii_serialization())
            .or_insert_with(|| Arc::new(Semaphore::new(1)))
            .clone();
        let permit = timeout(PATIENT, gate.clone().acquire_owned()).await;
        Passed { gate, _permit: permit.ok().and_then(Result::ok) }
    }
}

impl Passed {
    /// The server has answered: all may go.
    pub(super) fn answered(self) {
        self.gate.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::{Gates, PATIENT};

    #[tokio::test(start_paused = true)]
    async fn the_others_wait_for_the_first_answer_or_for_a_while() {
        let gates = Gates::default();
        let url = |text: &str| text.parse().unwrap();
        let first = gates.pass(&url("https://index.example/simple/a/")).await;
        let began = Instant::now();
        drop(gates.pass(&url("https://files.example/a.whl")).await);
        assert_eq!(began.elapsed(), Duration::ZERO, "another server has another gate");
        let second = gates.pass(&url("https://index.example/simple/b/")).await;
        assert_eq!(began.elapsed(), PATIENT);
        drop(first);
        let third = gates.pass(&url("https://index.example/simple/c/")).await;
        assert_eq!(began.elapsed(), PATIENT, "the first has failed: the next takes its place at once");
        assert!(timeout(PATIENT / 2, gates.pass(&url("https://index.example/simple/d/"))).await.is_err());
        second.answered();
        gates.pass(&url("https://index.example/simple/e/")).await.answered();
        assert_eq!(began.elapsed(), PATIENT + PATIENT / 2);
        drop(third);
    }
}
