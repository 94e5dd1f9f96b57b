//! How much of what arrives is in memory at once.

use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use crate::core::host::mutex::held;

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
        let spare = held(&self.spare).pop();
        spare.unwrap_or_else(|| Vec::with_capacity(BLOCK))
    }

    /// Takes `block` back, and its bytes. The last of those that have it leaves it for the next.
    pub(super) fn take_back(&self, block: Arc<Vec<u8>>) {
        self.give_back(block.len());
        if let Some(block) = Arc::into_inner(block) {
            self.reuse(block);
        }
    }

    /// Takes back a `block` whose bytes were never taken.
    pub(super) fn reuse(&self, mut block: Vec<u8>) {
        if block.capacity() == BLOCK {
            block.clear();
            held(&self.spare).push(block);
        }
    }
}
