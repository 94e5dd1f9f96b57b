//! The end of a process that is not ours: `pidfd_open` and `poll` (Linux 5.3), looking every half second before that.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::core::host::command::stat_field;
use crate::core::host::files;

/// A process that is watched.
pub struct Watched {
    pid: u32,
    /// When it started, in clock ticks since the boot: no other process of this boot has both numbers.
    pub started: u64,
    descriptor: Option<OwnedFd>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// Its parent has taken the answer before it could be read.
    Unknown,
}

impl Watched {
    /// `None` where there is no such process.
    pub fn new(pid: u32) -> Option<Self> {
        let started = started(&stat_of(pid)?)?;
        let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let descriptor = pidfd_open(number, PidfdFlags::empty()).ok();
        Some(Self { pid, started, descriptor })
    }

    /// Waits for the end, at most so long; `true` when it has come. The process is a zombie then, until its parent asks
    /// for it.
    pub fn has_ended(&self, at_most: Duration) -> bool {
        match &self.descriptor {
            Some(descriptor) => {
                let limit = Timespec {
                    tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(1),
                    tv_nsec: at_most.subsec_nanos().into(),
                };
                let mut all = [PollFd::new(descriptor, PollFlags::IN)];
                poll(&mut all, Some(&limit)).is_ok_and(|count| count > 0)
            }
            None => {
                std::thread::sleep(at_most.min(Duration::from_millis(500)));
                matches!(self.stat().as_deref().and_then(Self::state), None | Some('Z' | 'X'))
            }
        }
    }

    /// Its line, not that of a later process with its number.
    fn stat(&self) -> Option<String> {
        stat_of(self.pid).filter(|stat| started(stat) == Some(self.started))
    }

    /// Whether it is about to end: killed, or at work on its end.
    pub fn is_dying(&self) -> bool {
        /// Of `flags`, field 9 (`PF_EXITING` in the kernel's sched.h).
        const EXITING: u64 = 4;
        let Some(stat) = self.stat() else { return true };
        let is_exiting =
            stat_field(&stat, 9).and_then(|flags| flags.parse::<u64>().ok()).is_none_or(|flags| flags & EXITING != 0);
        let status = files::read_optional(&PathBuf::from(format!("/proc/{}/status", self.pid))).ok().flatten();
        is_exiting
            || status.is_none_or(|status| {
                status.lines().any(|line| {
                    let mask = line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:"));
                    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
                        .is_some_and(|mask| mask & 1 << 8 != 0)
                })
            })
    }

    /// `R`, `S`, `Z`: the third field of its stat.
    fn state(stat: &str) -> Option<char> {
        stat_field(stat, 3)?.chars().next()
    }

    /// How it ended, read from the zombie: field 52 of `/proc/PID/stat` is the status that its parent will get
    /// (proc(5)).
    pub fn end(&self) -> End {
        let Some(stat) = self.stat().filter(|stat| Self::state(stat) == Some('Z')) else { return End::Unknown };
        match stat_field(&stat, 52).and_then(|field| field.parse::<i32>().ok()) {
            Some(status) if status & 0x7f != 0 => End::Signal(status & 0x7f),
            Some(status) => End::Exit(status >> 8 & 0xff),
            None => End::Unknown,
        }
    }
}

/// The line of `/proc/PID/stat`; `None` where there is no such process, or it can't be looked at.
pub fn stat_of(pid: u32) -> Option<String> {
    files::read_optional(&PathBuf::from(format!("/proc/{pid}/stat"))).ok().flatten()
}

/// When the process with this line of stat started, in clock ticks since the boot: field 22.
pub fn started(stat: &str) -> Option<u64> {
    stat_field(stat, 22)?.parse().ok()
}

/// Leaves the terminal and the process group of the caller, so that nothing that ends them ends this process.
pub fn leave_session() {
    let _ = rustix::process::setsid();
}
