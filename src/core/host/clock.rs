//! This machine's clock against that of a server: what an answer has said of it, kept for `doctor`.

use serde::{Deserialize, Serialize};

use crate::core::host::{Paths, files};

/// What the answer of a server has said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClockRecord {
    /// Seconds that this machine's clock was ahead.
    pub ahead: i64,
    /// When the machine started, by that clock, in seconds since 1970. It moves when the clock is set.
    pub started: i64,
    /// The boot that it was in.
    pub boot: String,
}

impl ClockRecord {
    /// Of an answer that was sent at `server` and has arrived `now`, in seconds since 1970. `None` where there is no
    /// /proc.
    pub fn of_answer(server: i64, now: u64, paths: &Paths) -> Option<Self> {
        let now = now.cast_signed();
        let read = |path: &str| files::read_optional(&paths.under_root(path)).ok().flatten();
        let uptime = uptime_of(&read("/proc/uptime")?)?;
        let boot = read("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
        Some(Self { ahead: now.saturating_sub(server), started: now.saturating_sub(uptime.cast_signed()), boot })
    }

    /// Keeps it in the cache of `paths`.
    pub fn keep(&self, paths: &Paths) -> std::io::Result<()> {
        files::write_whole_fast(&paths.cache.join(FILE), &serde_json::to_vec(self)?)
    }
}

/// In the cache's folder.
pub const FILE: &str = "clock.json";

/// Whole seconds of `/proc/uptime`.
pub fn uptime_of(text: &str) -> Option<u64> {
    text.split(['.', ' ']).next()?.parse().ok()
}
