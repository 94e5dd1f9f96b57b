//! The store: what wheels have become when they were unpacked, by the digest of the wheel. A second environment, and a
//! way back to an earlier version, take their files from here: as reflinks where the file system has them, else as hard
//! links, else as copies.
//!
//! Each entry is a folder with the files, by the number of their member, and an index. Its digests were checked when it
//! was made. A hard link is a second name of one file: one that was edited in an environment has another size, time or
//! inode than the index says, and its whole entry goes.

mod entry;
mod second_name;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD};

use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;

pub use entry::{NewEntry, StoredFile, StoredWheel, Template, WheelTexts};
pub use second_name::{SecondName, mode_of};

/// The folder in the cache; raised when entries are written in another way.
const FOLDER: &str = "store-1";

/// The most that all entries have on disk, where nothing else is said.
const LIMIT: u64 = 20 << 30;

/// How names begin of entries that are being written, or deleted.
const UNFINISHED: &str = ".new-";
const GOING: &str = ".old-";

/// An entry that was asked for within this time is never taken from a run that may still need it.
const RECENT: Duration = Duration::from_mins(30);

/// Unpacked wheels.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    /// Bytes; 0 turns it off.
    limit: u64,
    now: SystemTime,
    /// Whether the file system may know reflinks.
    clones: Arc<AtomicBool>,
}

/// What the store has of a wheel.
pub enum StoreAnswer {
    Nothing,
    Wheel(StoredWheel),
    /// The member at this path was changed since: the entry is gone.
    Changed(String),
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub wheels: usize,
    /// Bytes on disk that no environment has as well.
    pub freed: u64,
}

impl Store {
    /// The one in the folder `cache`, with another `limit` in bytes where the user has set one; `now` is in seconds
    /// since 1970.
    pub fn new(cache: &Path, limit: Option<u64>, now: u64) -> Self {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        let clones = Arc::new(AtomicBool::new(true));
        Self { folder: cache.join(FOLDER), limit: limit.unwrap_or(LIMIT), now, clones }
    }

    /// One that has nothing and takes nothing.
    pub fn off() -> Self {
        Self { folder: PathBuf::new(), limit: 0, now: SystemTime::UNIX_EPOCH, clones: Arc::default() }
    }

    /// The unpacked wheel with this digest. Every file of it is looked at.
    pub fn get(&self, wheel: &Sha256) -> StoreAnswer {
        let folder = self.folder.join(wheel.to_string());
        if self.limit == 0 || !folder.is_folder_there() {
            return StoreAnswer::Nothing;
        }
        let Some(stored) = self.read(&folder) else {
            self.remove(&folder);
            return StoreAnswer::Nothing;
        };
        if let Some(path) = stored.changed() {
            self.remove(&folder);
            return StoreAnswer::Changed(path);
        }
        // What was used last goes last.
        let now = rustix::fs::Timespec { tv_sec: seconds(self.now), tv_nsec: 0 };
        let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
        let _ = rustix::fs::utimensat(CWD, &folder, &times, AtFlags::empty());
        StoreAnswer::Wheel(stored)
    }

    /// An entry to be filled for a wheel; `None` where it is there, or can't be.
    pub fn begin(&self, wheel: &Sha256) -> Option<NewEntry> {
        let place = self.folder.join(wheel.to_string());
        if self.limit == 0 || place.look_at_entry().is_ok() {
            return None;
        }
        files::create_private_folder(&self.folder).ok()?;
        let folder = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.folder).ok()?;
        Some(NewEntry::new(folder, place, Arc::clone(&self.clones)))
    }

    fn read(&self, folder: &Path) -> Option<StoredWheel> {
        StoredWheel::read(folder, &self.clones)
    }

    /// Removes what was not used for longest until the rest has at most the limit; entries of killed runs, too.
    pub fn trim(&self) -> Pruned {
        self.remove_oldest(self.limit, &|folder, used| !self.is_recent(used) || self.read(folder).is_none())
    }

    /// Removes all but what a run may be using now: the disk is full.
    pub fn make_room(&self) -> Pruned {
        self.remove_oldest(0, &|_, used| !self.is_recent(used))
    }

    /// Removes what no environment has as well, whose disk space is that of the store alone; or `all`.
    pub fn prune(&self, all: bool) -> Pruned {
        let is_unused = |folder: &Path| self.read(folder).is_none_or(|stored| !stored.is_linked());
        self.remove_oldest(0, &|folder, _| all || is_unused(folder))
    }

    fn remove_oldest(&self, limit: u64, may_go: &dyn Fn(&Path, SystemTime) -> bool) -> Pruned {
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for name in files::names_if_any(&self.folder) {
            let folder = self.folder.join(&name);
            let Ok(used) = folder.look_at_entry().and_then(|data| data.modified()) else { continue };
            let is_recent = self.is_recent(used);
            if name.starts_with('.') {
                if !is_recent || name.starts_with(GOING) {
                    let _ = std::fs::remove_dir_all(&folder);
                }
            } else {
                entries.push((used, StoredWheel::size_in(&folder), folder));
            }
        }
        entries.sort();
        let mut all: u64 = entries.iter().map(|(_, size, _)| size).sum();
        let mut pruned = Pruned::default();
        for (used, size, folder) in entries {
            if all <= limit || !may_go(&folder, used) {
                continue;
            }
            let freed = self.read(&folder).map_or(0, |stored| stored.alone());
            if self.remove(&folder) {
                all -= size;
                pruned.wheels += 1;
                pruned.freed += freed;
            }
        }
        pruned
    }

    fn is_recent(&self, used: SystemTime) -> bool {
        self.now.duration_since(used).map_or(true, |age| age < RECENT)
    }

    /// Removes an entry; at once for others, who see it whole or not at all.
    fn remove(&self, folder: &Path) -> bool {
        let name = format!("{GOING}{}", folder.file_name().unwrap_or_default().to_string_lossy());
        let old = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&old);
        std::fs::rename(folder, &old).and_then(|()| std::fs::remove_dir_all(&old)).is_ok()
    }
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs().try_into().unwrap_or(i64::MAX)
}
