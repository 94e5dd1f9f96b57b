//! Files that were written by this run: what they look like proves what they hold.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::core::host::stamps::look_of;
use crate::core::model::Sha256;

/// One file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WrittenFile {
    /// Where it stands, or will stand.
    pub place: PathBuf,
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// `st_mtime`, in nanoseconds since 1970.
    pub modified: i64,
    /// Of what was written.
    pub sha256: Sha256,
}

impl WrittenFile {
    /// A file that will stand at `place` and looks like `data` after bytes with this digest were written.
    pub fn of(place: PathBuf, data: &Metadata, sha256: Sha256) -> Self {
        let (inode, size, modified) = Self::look_of(data);
        Self { place, inode, size, modified, sha256 }
    }

    /// What tells it from any other: inode, size and time.
    pub fn look(&self) -> (u64, u64, i64) {
        (self.inode, self.size, self.modified)
    }

    /// The same of a file that looks like `data`.
    pub fn look_of(data: &Metadata) -> (u64, u64, i64) {
        look_of(data)
    }
}

/// Several, by their places.
#[derive(Debug, Default)]
pub struct WrittenFiles<'a>(HashMap<&'a OsStr, &'a WrittenFile>);

impl<'a> WrittenFiles<'a> {
    pub fn new(files: impl Iterator<Item = &'a WrittenFile>) -> Self {
        Self(files.map(|file| (file.place.as_os_str(), file)).collect())
    }

    /// The digest of the file at `place`, which looks like `data`, where it is one of these and was not changed since.
    pub fn digest(&self, place: &Path, data: &Metadata) -> Option<Sha256> {
        let file = self.0.get(place.as_os_str())?;
        (file.look() == WrittenFile::look_of(data)).then_some(file.sha256)
    }
}
