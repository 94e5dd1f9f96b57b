//! Size and time of the last change of many files, without reading them.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags, Stat, statat};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::core::host::mounts::{Look, reach};

/// A file system counts times in ticks of 10 ms at most; what changes twice within one has the same time.
const TICKS: i64 = 20_000_000;

/// Waits until what was written before the moment `since` can't have the time of what will be written after.
pub fn wait_a_tick(since: Instant) {
    std::thread::sleep(Duration::from_nanos(2 * TICKS.unsigned_abs()).saturating_sub(since.elapsed()));
}

/// What a file looks like from outside. `ctime` moves with every change of content or name, and no program can set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    pub size: u64,
    /// `st_ctime`, in nanoseconds since 1970.
    pub changed: i64,
}

impl Stamp {
    /// Of a file of which nothing is known: no file has it.
    pub const UNKNOWN: Self = Self { size: 0, changed: i64::MIN };

    /// Of the file at `path`; [`Stamp::UNKNOWN`] where it can't be looked at.
    pub fn of(path: &Path) -> Self {
        path.look().map_or(Self::UNKNOWN, |data| Self::of_data(&data))
    }

    /// Of a file that looks like `data`.
    pub fn of_data(data: &Metadata) -> Self {
        Self::new(data.size(), data.ctime(), data.ctime_nsec())
    }

    /// Of an open file.
    pub fn of_open(file: &File) -> std::io::Result<Self> {
        file.metadata().map(|data| Self::of_data(&data))
    }

    fn of_stat(stat: &Stat) -> Self {
        let nanoseconds = i64::try_from(stat.st_ctime_nsec).unwrap_or_default();
        Self::new(u64::try_from(stat.st_size).unwrap_or_default(), stat.st_ctime, nanoseconds)
    }

    fn new(size: u64, seconds: i64, nanoseconds: i64) -> Self {
        Self { size, changed: since_1970(seconds, nanoseconds) }
    }

    /// This stamp if a change after the moment `begun` would give another one.
    #[must_use]
    pub fn settled(self, begun: Moment) -> Self {
        if self.changed < begun.0 - TICKS { self } else { Self::UNKNOWN }
    }
}

/// Inode, size and `st_mtime` (nanoseconds since 1970) of a file: what a second name or a rename leaves as it is.
pub fn look_of(data: &Metadata) -> (u64, u64, i64) {
    (data.ino(), data.size(), since_1970(data.mtime(), data.mtime_nsec()))
}

/// In nanoseconds.
const fn since_1970(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// A moment of the clock that file systems of this machine take their times from.
#[derive(Clone, Copy, Debug)]
pub struct Moment(i64);

impl Moment {
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self(since_1970(now.tv_sec, now.tv_nsec))
    }
}

impl Stamp {
    /// Whether the file was changed at `moment` or later.
    pub const fn is_since(&self, moment: Moment) -> bool {
        self.changed >= moment.0
    }
}

/// An open folder: names in it are looked up without walking its path.
pub struct Folder(File);

impl Folder {
    pub fn open(path: &Path) -> std::io::Result<Self> {
        reach(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(File::from(rustix::fs::open(path, flags, Mode::empty())?)))
    }

    /// Of the folder itself: it changes when an entry comes or goes.
    pub fn own(&self) -> Stamp {
        Stamp::of_open(&self.0).unwrap_or(Stamp::UNKNOWN)
    }

    /// Of `name` in it; [`Stamp::UNKNOWN`] where it can't be looked at.
    pub fn stamp(&self, name: &str) -> Stamp {
        statat(&self.0, name, AtFlags::empty()).map_or(Stamp::UNKNOWN, |stat| Stamp::of_stat(&stat))
    }
}
