//! Which files this run has read: an output must not replace one, named on the command line or not.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Device and inode of each.
static READ: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);

/// Notes that the file was opened to be read.
pub(super) fn note(data: &Metadata) {
    READ.lock().unwrap_or_else(PoisonError::into_inner).insert((data.dev(), data.ino()));
}

/// Whether the file was opened to be read.
pub(super) fn was_read(data: &Metadata) -> bool {
    READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&(data.dev(), data.ino()))
}
