//! One unpacked wheel in the store.

use std::fs::{Metadata, Permissions};
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::boot::store::second_name::{SecondName, create, link, mode_of};
use crate::core::host::digests::digest;
use crate::core::host::files::{self, write_whole_fast};
use crate::core::host::mounts::Look;
use crate::core::host::mutex::held;
use crate::core::host::parallel::on_all_cores;
use crate::core::host::stamps::{Stamp, look_of};
use crate::core::model::Sha256;
use crate::core::model::contents::Files;

/// The list of an entry, and how many bytes its files have.
const INDEX: &str = "index";
const SIZE: &str = "size";
const TIMES: &str = "times";

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
    /// Each environment gets its own: what runs when Python starts adds certificates to such files.
    pub is_apart: bool,
}

#[derive(Serialize, Deserialize)]
struct Index {
    files: Files,
    texts: WheelTexts,
    /// By the number of their member.
    stored: Vec<StoredFile>,
}

/// So few files are looked at by one thread: to start another one takes longer.
const FEW: usize = 200;

/// How files end of which each environment has its own: bundles of certificates.
const APART: [&str; 2] = ["pem", "crt"];

fn changed_since() -> IoError {
    IoError::other("the file in the cache was changed a moment ago; run the command again")
}

/// Copies the file at `from` to `to`, where nothing is.
fn copy(from: &Path, to: &Path, mode: u32) -> IoResult<()> {
    let mut target = create(to, mode)?;
    std::io::copy(&mut files::open(from)?, &mut target)?;
    target.set_permissions(Permissions::from_mode(mode))
}

/// An unpacked wheel.
pub struct StoredWheel {
    folder: PathBuf,
    index: Index,
    /// Of each file the time of its last change (`st_ctime`, in nanoseconds since 1970) when it was known to be right:
    /// an edit moves it, whatever it does to size and time. So do new names of the file, which are noted.
    times: Mutex<Vec<i64>>,
    /// Whether `times` are others than on disk.
    are_new: AtomicBool,
    clones: Arc<AtomicBool>,
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
        Self { member, inode, size, modified, executable, sha256, is_template: false, is_apart: false }
    }

    fn looks_like(&self, data: &Metadata) -> bool {
        data.is_file()
            && (self.inode, self.size, self.modified) == look_of(data)
            && data.mode() & 0o777 == mode_of(self.executable)
    }
}

impl StoredWheel {
    /// The entry in `folder`; `None` where there is none that can be read.
    pub(super) fn read(folder: &Path, clones: &Arc<AtomicBool>) -> Option<Self> {
        let bytes = files::read_bytes(&folder.join(INDEX), LARGEST).ok()?;
        let index: Index = postcard::from_bytes(&bytes).ok()?;
        let times = files::read_bytes(&folder.join(TIMES), LARGEST).ok();
        let mut times: Vec<i64> = times.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default();
        times.resize(index.stored.len(), 0);
        let (times, are_new, clones) = (Mutex::new(times), AtomicBool::new(false), Arc::clone(clones));
        Some(Self { folder: folder.to_owned(), index, times, are_new, clones })
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

    /// The path in the wheel of a file that is not as it was. What has changed since it was looked at, if only by a new
    /// name, is read.
    pub(super) fn changed(&self) -> Option<String> {
        let all: Vec<usize> = (0..self.index.stored.len()).collect();
        let changed = |at: &usize| self.is_right(*at).is_err().then_some(*at);
        let changed: Vec<usize> =
            if all.len() < FEW { all.iter().filter_map(changed).collect() } else { on_all_cores(&all, changed) };
        if changed.is_empty() {
            self.keep_times();
        }
        let member = self.index.stored[*changed.first()?].member;
        Some(self.index.files.members.get(member).map_or_else(String::new, |member| member.path.clone()))
    }

    /// Fails where the file with this number in the index is not the one that was put there.
    fn is_right(&self, at: usize) -> IoResult<()> {
        let one = &self.index.stored[at];
        let place = self.place(one.member);
        let data = place.look_at_entry()?;
        if !one.looks_like(&data) {
            return Err(changed_since());
        }
        let time = Stamp::of_data(&data).changed;
        if held(&self.times)[at] != time {
            if digest(&place)?.0 != one.sha256 {
                return Err(changed_since());
            }
            self.note(at, time);
        }
        Ok(())
    }

    fn note(&self, at: usize, time: i64) {
        held(&self.times)[at] = time;
        self.are_new.store(true, Ordering::Relaxed);
    }

    /// Writes down when the files have changed last. Without it they are read the next time.
    pub fn keep_times(&self) {
        if !self.are_new.swap(false, Ordering::Relaxed) {
            return;
        }
        if let Ok(bytes) = postcard::to_stdvec(&*held(&self.times)) {
            let _ = write_whole_fast(&self.folder.join(TIMES), &bytes);
        }
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

    /// The number in the index of the file of a member, and the file.
    pub fn file(&self, member: usize) -> IoResult<(usize, &StoredFile)> {
        let at = self.index.stored.binary_search_by_key(&member, |one| one.member);
        at.map(|at| (at, &self.index.stored[at])).map_err(|_| ErrorKind::NotFound.into())
    }

    fn place(&self, member: usize) -> PathBuf {
        self.folder.join(member.to_string())
    }

    /// Gives the file with this number in the index a place at `to`, where nothing is.
    pub fn bring(&self, at: usize, to: &Path) -> IoResult<SecondName> {
        let one = &self.index.stored[at];
        let (from, mode) = (self.place(one.member), mode_of(one.executable));
        // It may have been edited since the entry was looked at.
        self.is_right(at)?;
        if !one.is_apart
            && let Ok(brought) = link(&from, to, mode, &self.clones)
        {
            if brought == SecondName::Linked {
                self.note(at, Stamp::of_data(&to.look_at_entry()?).changed);
            }
            return Ok(brought);
        }
        // Another file system, or one that has given this file all the names that it can.
        copy(&from, to, mode)?;
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
    stored: Vec<(StoredFile, i64)>,
    clones: Arc<AtomicBool>,
}

impl NewEntry {
    pub(super) fn new(folder: tempfile::TempDir, place: PathBuf, clones: Arc<AtomicBool>) -> Self {
        Self { folder, place, stored: Vec::new(), clones }
    }

    /// Adds the file at `from`, which is that of a member and has this digest. One that can't share its bytes is an
    /// error: the store takes no room beside them.
    pub fn add(&mut self, member: usize, from: &Path, sha256: Sha256, executable: bool) -> IoResult<()> {
        let to = self.folder.path().join(member.to_string());
        let is_apart = APART.iter().any(|end| from.extension().is_some_and(|own| own == *end));
        if is_apart {
            copy(from, &to, mode_of(executable))?;
        } else {
            link(from, &to, mode_of(executable), &self.clones)?;
        }
        let data = to.look_at_entry()?;
        let file = StoredFile::of(&data, member, sha256, executable);
        self.stored.push((StoredFile { is_apart, ..file }, Stamp::of_data(&data).changed));
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
        let data = to.look_at_entry()?;
        let file = StoredFile::of(&data, member, Sha256::of(&bytes), true);
        self.stored.push((StoredFile { is_template: true, ..file }, Stamp::of_data(&data).changed));
        Ok(())
    }

    /// Makes it an entry. Where another run was faster, theirs stays.
    pub fn finish(mut self, files: &Files, texts: WheelTexts) -> IoResult<()> {
        self.stored.sort_by_key(|(one, _)| one.member);
        let (stored, times): (Vec<StoredFile>, Vec<i64>) = self.stored.into_iter().unzip();
        let size: u64 = stored.iter().map(|one| one.size).sum();
        let times = postcard::to_stdvec(&times).map_err(IoError::other)?;
        let index = Index { files: files.clone(), texts, stored };
        let bytes = postcard::to_stdvec(&index).map_err(IoError::other)?;
        let folder = self.folder.path();
        write_whole_fast(&folder.join(SIZE), format!("{size}\n").as_bytes())?;
        write_whole_fast(&folder.join(TIMES), &times)?;
        write_whole_fast(&folder.join(INDEX), &bytes)?;
        std::fs::rename(folder, &self.place)?;
        // It has another name now.
        let _ = self.folder.keep();
        Ok(())
    }
}
