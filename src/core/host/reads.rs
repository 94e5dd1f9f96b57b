//! Which files this run has read or run, and in which folders packages lie: a report must not replace one, named on the
//! command line or not.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::core::host::mounts::Look;

/// Device and inode of each.
static READ: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);

/// Folders of an environment.
static FOLDERS: LazyLock<Mutex<Vec<PathBuf>>> = LazyLock::new(Mutex::default);

/// Notes that what lies in `folder` belongs to an environment.
pub fn note_folder(folder: &Path) {
    let real = folder.real().unwrap_or_else(|_| folder.to_owned());
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(real);
}

/// Whether what lies at `path` belongs to an environment.
pub(super) fn is_of_environment(path: &Path) -> bool {
    let path = path.real().unwrap_or_else(|_| path.to_owned());
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|folder| path.starts_with(folder))
}

/// Notes that the file was opened to be read, or is run.
pub(super) fn note(data: &Metadata) {
    READ.lock().unwrap_or_else(PoisonError::into_inner).insert((data.dev(), data.ino()));
}

/// Whether this run has read or run the file.
pub(super) fn was_read(data: &Metadata) -> bool {
    READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&(data.dev(), data.ino()))
}
