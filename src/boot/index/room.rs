//! How much of what arrives is in memory at once.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

/// Bytes of a block, which are announced, and written, at once.
pub(super) const BLOCK: usize = 512 << 10;

/// A number of bytes that several take from and give back to; with the blocks themselves, which the next uses again:
/// what one thread has asked the system for and another gives back lies idle for long.
pub(super) struct Room {
    free: Semaphore,
    spare: Mutex<Vec<Vec<u8>>>,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self { free: Semaphore::new(bytes), spare: Mutex::default() }
    }

    /// Takes so many bytes, in the order in which they are asked for.
    pub(super) async fn take(&self, bytes: u64) {
        if let Ok(taken) = self.free.acquire_many(u32::try_from(bytes).unwrap_or(u32::MAX)).await {
            taken.forget();
        }
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.free.add_permits(bytes);
    }

    /// An empty block.
    pub(super) fn block(&self) -> Vec<u8> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| Vec::with_capacity(BLOCK))
    }

    /// Nobody reads `block` any more.
    pub(super) fn reuse(&self, mut block: Vec<u8>) {
        if block.capacity() == BLOCK {
            block.clear();
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        }
    }
}
