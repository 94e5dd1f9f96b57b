//! The journal of a switch: each rename is written down before it happens. Lines are JSON behind their CRC-32; one that
//! is cut off, and what follows it, did not happen.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crc32fast::hash as crc_of;

use crate::core::diag::Failure;
use crate::core::host::files;

/// The name of a journal, in the folder of the environment's state.
pub const SWITCH: &str = "switch.journal";

/// The longest journal that is read: a line for each file of a million.
const LONGEST: u64 = 512 << 20;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JournalEntry {
    /// A switch begins. These folders hold what is new, and get what is old.
    Begin { folders: Vec<PathBuf> },
    /// The entry with this inode is moved; nothing is at `to`.
    Move { from: PathBuf, to: PathBuf, inode: u64 },
    /// Two entries change their places; the one with this inode lies at `from` before.
    Exchange { from: PathBuf, to: PathBuf, inode: u64 },
    /// An empty folder, which can't be moved, is removed.
    Remove { folder: PathBuf, mode: u32 },
    /// What the entry before says was refused: it has not happened.
    Refused,
    /// All of a package is in its place, or gone.
    Done { name: String },
    /// What is new stays; what is old may go.
    Settled,
}

/// A journal that is being written.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Begins a new one at `path`.
    pub(super) fn begin(path: &Path, folders: &[PathBuf]) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| files::writing_failed(path, &error);
        files::remove_if_there(path)?;
        let file = File::options().append(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
        let mut journal = Self { file, path: path.to_owned() };
        journal.add(&JournalEntry::Begin { folders: folders.to_vec() })?;
        journal.file.sync_data().map_err(failed)?;
        Ok(journal)
    }

    /// Adds `entry`, which is about to happen.
    pub(super) fn add(&mut self, entry: &JournalEntry) -> Result<(), Failure> {
        append(&mut self.file, entry).map_err(|error| files::writing_failed(&self.path, &error))
    }
}

fn append(file: &mut File, entry: &JournalEntry) -> std::io::Result<()> {
    let text = serde_json::to_string(entry)?;
    file.write_all(format!("{:08x} {text}\n", crc_of(text.as_bytes())).as_bytes())
}

/// Adds that what is new stays to the journal at `path`.
pub(super) fn add_settled(path: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| files::writing_failed(path, &error);
    let mut file = File::options().append(true).open(path).map_err(failed)?;
    append(&mut file, &JournalEntry::Settled).and_then(|()| file.sync_data()).map_err(failed)
}

/// The entries of the journal at `path`; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<JournalEntry>>, Failure> {
    let bytes = match files::read_bytes(path, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Failure::world(format!("could not read `{}`", path.display())).because(&error));
        }
    };
    Ok(Some(entries(&bytes)))
}

fn entries(bytes: &[u8]) -> Vec<JournalEntry> {
    let entry = |line: &[u8]| {
        let (crc, text) = line.strip_suffix(b"\n")?.split_at_checked(9)?;
        let crc = u32::from_str_radix(std::str::from_utf8(crc).ok()?.trim_end(), 16).ok()?;
        serde_json::from_slice(text).ok().filter(|_| crc == crc_of(text))
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map_while(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::{Journal, JournalEntry, add_settled, entries, read};
    use crate::core::host::files::read_bytes;

    #[test]
    fn a_journal_that_is_cut_off_ends_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        assert_eq!(read(&path).expect("no journal"), None);
        let mut journal = Journal::begin(&path, &[folder.path().to_owned()]).expect("a journal");
        let moved = JournalEntry::Move { from: "/a\nb".into(), to: "/c".into(), inode: 7 };
        journal.add(&moved).expect("a line");
        add_settled(&path).expect("a line");
        let begin = JournalEntry::Begin { folders: vec![folder.path().to_owned()] };
        let all = vec![begin, moved, JournalEntry::Settled];
        assert_eq!(read(&path).expect("a journal"), Some(all.clone()));
        let bytes = read_bytes(&path, 9999).expect("bytes");
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        for end in 0..bytes.len() {
            let whole = ends.iter().filter(|line| **line < end).count();
            assert_eq!(entries(&bytes[..end]), all[..whole], "cut off at {end}");
        }
        let mut damaged = bytes;
        damaged[ends[0] + 20] ^= 1;
        assert_eq!(entries(&damaged), all[..1]);
    }
}
