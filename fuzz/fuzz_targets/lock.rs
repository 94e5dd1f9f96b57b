//! Locks: whatever the text, an answer; a lock that was read is written, and read again as the same.

#![no_main]

use colab_boot::boot::lock::{read_lock, write_lock};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(lock) = read_lock(text) else { return };
    let again = read_lock(&write_lock(&lock)).expect("what was written can be read");
    assert_eq!(write_lock(&again), write_lock(&lock));
});
