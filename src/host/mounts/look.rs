//! How paths are looked at.

use std::fs::Metadata;
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};

use crate::host::mounts::reach;

/// Looks at paths, without touching a mount that does not answer: what is below one is not there.
pub trait Look {
    /// Whether there is anything.
    fn is_there(&self) -> bool;
    /// Whether there is a file.
    fn is_file_there(&self) -> bool;
    /// Whether there is a folder.
    fn is_folder_there(&self) -> bool;
    /// Of what the path leads to.
    fn look(&self) -> IoResult<Metadata>;
    /// Of the entry itself, which may be a link.
    fn look_at_entry(&self) -> IoResult<Metadata>;
    /// The path without links.
    fn real(&self) -> IoResult<PathBuf>;
}

#[expect(clippy::disallowed_methods, reason = "here alone, behind `reach`")]
impl Look for Path {
    fn is_there(&self) -> bool {
        self.look().is_ok()
    }

    fn is_file_there(&self) -> bool {
        self.look().is_ok_and(|data| data.is_file())
    }

    fn is_folder_there(&self) -> bool {
        self.look().is_ok_and(|data| data.is_dir())
    }

    fn look(&self) -> IoResult<Metadata> {
        reach(self)?;
        std::fs::metadata(self)
    }

    fn look_at_entry(&self) -> IoResult<Metadata> {
        reach(self)?;
        std::fs::symlink_metadata(self)
    }

    fn real(&self) -> IoResult<PathBuf> {
        reach(self)?;
        std::fs::canonicalize(self)
    }
}
