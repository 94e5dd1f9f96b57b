//! How paths are looked at.

use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use crate::core::diag::Failure;
use crate::core::host::mounts::{must_reach, reach};

/// Looks at paths, without touching a mount that does not answer: what is below one is not there.
pub trait Look {
    /// Whether there is anything.
    fn is_there(&self) -> bool;
    /// Whether nothing is there. Of what can't be looked at, neither this is true nor [`Look::is_there`].
    fn is_missing(&self) -> bool;
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

    fn is_missing(&self) -> bool {
        self.look().is_err_and(|error| is_none(&error))
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

fn is_none(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Of what `path`, which the user has named, leads to. An error that begins with `none` where nothing is there; where
/// it can't be looked at, for its mount does not answer or its folder is closed to this user, that is the error.
pub fn must_be_there(path: &Path, none: &str) -> Result<Metadata, Failure> {
    must_reach([path])?;
    path.look().map_err(|error| {
        if is_none(&error) {
            return Failure::input(format!("{none} `{}`", path.display()));
        }
        Failure::world(format!("could not read `{}`", path.display())).because(&error)
    })
}

/// The same for a folder; anything else is none.
pub fn must_be_folder(path: &Path, none: &str) -> Result<(), Failure> {
    let is_folder = must_be_there(path, none)?.is_dir();
    if is_folder {
        Ok(())
    } else {
        Err(Failure::input(format!("{none} `{}`", path.display())).cause("it is not a folder"))
    }
}
