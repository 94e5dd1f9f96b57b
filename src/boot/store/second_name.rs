//! A file gets a second place: by a reflink, by a hard link, or by a copy.

use std::fs::{File, Permissions};
use std::io::Result as IoResult;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::ioctl_ficlone;

use crate::core::host::files;

/// How a file has come to its second place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondName {
    /// The two are one file.
    Linked,
    /// They share their blocks until one of them is written to.
    Cloned,
    Copied,
}

/// Gives the file at `from`, with this `mode`, a second place at `to`, where nothing is. `clones`: whether the file
/// system may know reflinks; set to `false` where it doesn't.
pub(super) fn link(from: &Path, to: &Path, mode: u32, clones: &AtomicBool) -> IoResult<SecondName> {
    if clones.load(Ordering::Relaxed) {
        match clone(from, to, mode) {
            Ok(()) => return Ok(SecondName::Cloned),
            Err(_) => clones.store(false, Ordering::Relaxed),
        }
    }
    std::fs::hard_link(from, to).map(|()| SecondName::Linked)
}

fn clone(from: &Path, to: &Path, mode: u32) -> IoResult<()> {
    let source = files::open(from)?;
    let target = create(to, mode)?;
    // Whatever the umask is.
    let cloned = ioctl_ficlone(&target, &source)
        .map_err(Into::into)
        .and_then(|()| target.set_permissions(Permissions::from_mode(mode)));
    if cloned.is_err() {
        let _ = std::fs::remove_file(to);
    }
    cloned
}

/// A new file at `to`.
pub(super) fn create(to: &Path, mode: u32) -> IoResult<File> {
    File::options().write(true).create_new(true).mode(mode).open(to)
}

/// The mode that installed files have.
pub const fn mode_of(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}
