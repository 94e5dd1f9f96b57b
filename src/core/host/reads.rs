//! Which files this run has read or run, in which folders packages lie, and what the files that it was asked to write
//! looked like when it began: an output must not replace what is the user's, named on the command line or not.

use std::collections::{BTreeMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;

/// Device and inode of each.
static READ: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);

/// Folders of an environment.
static FOLDERS: LazyLock<Mutex<Vec<PathBuf>>> = LazyLock::new(Mutex::default);

/// The files that the command line names to be written, as they were when the run began.
static BEFORE: LazyLock<Mutex<BTreeMap<PathBuf, Stamp>>> = LazyLock::new(Mutex::default);

/// Notes what lies at `written`, which this run was asked to write.
pub fn note_outputs(written: &[PathBuf]) {
    let seen = written.iter().map(|path| (path.clone(), Stamp::of(path)));
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner).extend(seen);
}

/// What lay at `path` when the run began; `None` of a path that it was not asked to write.
pub(super) fn before(path: &Path) -> Option<Stamp> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied()
}

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
