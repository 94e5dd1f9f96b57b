//! One unpacked wheel in the store.

use std::fs::{Metadata, Permissions};
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::boot::store::second_name::{SecondName, create, link};
use crate::core::host::files::{self, write_whole_fast};
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::core::model::contents::Files;

/// The list of an entry, and how many bytes its files have.
const INDEX: &str = "index";
const SIZE: &str = "size";

/// The most that is read of a list; that of 30,000 files has 6 MB.
const LARGEST: u64 = 512 << 20;

/// The texts of a wheel's metadata that are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WheelTexts {
    pub record: String,
    pub metadata: String,
    pub wheel: String,
    pub entry_points: String,
}

/// A file in the store.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its number in the directory of the wheel.
    pub member: usize,
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// `st_mtime`, in nanoseconds since 1970.
    pub modified: i64,
    pub executable: bool,
    /// Of the file as it lies here.
    pub sha256: Sha256,
    /// A script whose first line stands for the interpreter: each environment has another one.
    pub is_template: bool,
}

#[derive(Serialize, Deserialize)]
struct Index {
    files: Files,
    texts: WheelTexts,
    /// By the number of their member.
    stored: Vec<StoredFile>,
}

/// An unpacked wheel.
pub struct StoredWheel {
    folder: PathBuf,
    index: Arc<Index>,
    clones: AtomicBool,
}

/// The first line of a script that was written for one interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// As the wheel has it, with its end.
    pub line: Vec<u8>,
    /// How many bytes stand in its place.
    pub written: usize,
}

impl StoredFile {
    /// The file of a member that looks like `data`.
    fn of(data: &Metadata, member: usize, sha256: Sha256, executable: bool) -> Self {
        let (inode, size, modified) = look_of(data);
        Self { member, inode, size, modified, executable, sha256, is_template: false }
    }

    fn looks_like(&self, data: &Metadata) -> bool {
        data.is_file()
            && (self.inode, self.size, self.modified) == look_of(data)
            && data.mode() & 0o777 == mode_of(self.executable)
    }
}

/// Inode, size and time of a file.
fn look_of(data: &Metadata) -> (u64, u64, i64) {
    let modified = data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec());
    (data.ino(), data.size(), modified)
}

const fn mode_of(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

impl StoredWheel {
    /// The entry in `folder`; `None` where there is none that can be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let bytes = files::read_bytes(&folder.join(INDEX), LARGEST).ok()?;
        let index = Arc::new(postcard::from_bytes(&bytes).ok()?);
        Some(Self { folder: folder.to_owned(), index, clones: AtomicBool::new(true) })
    }

    /// How many bytes the files of the entry in `folder` have.
    pub(super) fn size_in(folder: &Path) -> u64 {
        let text = files::read_optional(&folder.join(SIZE)).ok().flatten().unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// The folder that it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The directory of the wheel.
    pub fn files(&self) -> &Files {
        &self.index.files
    }

    pub fn texts(&self) -> &WheelTexts {
        &self.index.texts
    }

    /// The path in the wheel of the first file that does not look as it did.
    pub(super) fn changed(&self) -> Option<String> {
        let changed = self
            .index
            .stored
            .iter()
            .find(|one| !self.place(one.member).look_at_entry().is_ok_and(|data| one.looks_like(&data)))?;
        Some(self.index.files.members.get(changed.member).map_or_else(String::new, |member| member.path.clone()))
    }

    /// Whether an environment has one of its files as well.
    pub(super) fn is_linked(&self) -> bool {
        let mut looked = self.index.stored.iter().filter_map(|one| self.place(one.member).look_at_entry().ok());
        looked.any(|data| data.nlink() > 1)
    }

    /// The bytes of its files that no environment has as well.
    pub(super) fn alone(&self) -> u64 {
        let looked = self.index.stored.iter().filter_map(|one| self.place(one.member).look_at_entry().ok());
        looked.filter(|data| data.nlink() == 1).map(|data| data.size()).sum()
    }

    /// The file of a member.
    pub fn file(&self, member: usize) -> IoResult<&StoredFile> {
        let at = self.index.stored.binary_search_by_key(&member, |one| one.member);
        at.map(|at| &self.index.stored[at]).map_err(|_| ErrorKind::NotFound.into())
    }

    fn place(&self, member: usize) -> PathBuf {
        self.folder.join(member.to_string())
    }

    /// Gives the file of a member a place at `to`, where nothing is.
    pub fn bring(&self, one: &StoredFile, to: &Path) -> IoResult<SecondName> {
        let (from, mode) = (self.place(one.member), mode_of(one.executable));
        if let Ok(brought) = link(&from, to, mode, &self.clones) {
            return Ok(brought);
        }
        // Another file system, or one that has given this file all the names that it can.
        let mut target = create(to, mode)?;
        std::io::copy(&mut files::open(&from)?, &mut target)?;
        target.set_permissions(Permissions::from_mode(mode))?;
        Ok(SecondName::Copied)
    }

    /// The bytes of a member, `most` at most.
    pub fn read_member(&self, member: usize, most: u64) -> IoResult<Vec<u8>> {
        let mut bytes = Vec::new();
        files::open(&self.place(member))?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }
}

/// An entry that is being filled. Dropped before [`finish`](Self::finish), it goes.
pub struct NewEntry {
    folder: tempfile::TempDir,
    place: PathBuf,
    stored: Vec<StoredFile>,
    clones: AtomicBool,
}

impl NewEntry {
    pub(super) fn new(folder: tempfile::TempDir, place: PathBuf) -> Self {
        Self { folder, place, stored: Vec::new(), clones: AtomicBool::new(true) }
    }

    /// Adds the file at `from`, which is that of a member and has this digest. One that can't share its bytes is an
    /// error: the store takes no room beside them.
    pub fn add(&mut self, member: usize, from: &Path, sha256: Sha256, executable: bool) -> IoResult<()> {
        let to = self.folder.path().join(member.to_string());
        link(from, &to, mode_of(executable), &self.clones)?;
        self.stored.push(StoredFile::of(&to.look_at_entry()?, member, sha256, executable));
        Ok(())
    }

    /// Adds a script whose first line was replaced when it was written to `from`.
    pub fn add_template(&mut self, member: usize, from: &Path, template: &Template) -> IoResult<()> {
        let mut bytes = template.line.clone();
        let written = std::fs::read(from)?;
        bytes.extend_from_slice(written.get(template.written..).ok_or(ErrorKind::UnexpectedEof)?);
        let to = self.folder.path().join(member.to_string());
        write_whole_fast(&to, &bytes)?;
        std::fs::set_permissions(&to, Permissions::from_mode(mode_of(true)))?;
        let file = StoredFile::of(&to.look_at_entry()?, member, Sha256::of(&bytes), true);
        self.stored.push(StoredFile { is_template: true, ..file });
        Ok(())
    }

    /// Makes it an entry. Where another run was faster, theirs stays.
    pub fn finish(mut self, files: &Files, texts: WheelTexts) -> IoResult<()> {
        self.stored.sort_by_key(|one| one.member);
        let size: u64 = self.stored.iter().map(|one| one.size).sum();
        let index = Index { files: files.clone(), texts, stored: self.stored };
        let bytes = postcard::to_stdvec(&index).map_err(IoError::other)?;
        let folder = self.folder.path();
        write_whole_fast(&folder.join(SIZE), format!("{size}\n").as_bytes())?;
        write_whole_fast(&folder.join(INDEX), &bytes)?;
        std::fs::rename(folder, &self.place)?;
        // It has another name now.
        let _ = self.folder.keep();
        Ok(())
    }
}
