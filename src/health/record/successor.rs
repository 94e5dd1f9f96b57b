//! The kernel that a notebook server starts in the place of another.

use std::path::Path;
use std::time::Duration;

use crate::boot::machine::{Kernel, kernel_identity, parent_of};
use crate::boot::notebook::is_alive;
use crate::core::host::command::stat_field;
use crate::core::host::files;
use crate::core::host::process_end::stat_of;
use crate::health::doctor::connection_file;

/// It is looked for so long, in half seconds.
const LOOKS: u32 = 240;

/// A kernel, as far as its successor is known by it.
pub(super) struct Predecessor {
    kernel: Kernel,
    /// It leads a session of its own, which the processes that it forks are in too.
    leads: bool,
    server: Kernel,
    /// The connection file, which the server hands down.
    connection: String,
}

impl Predecessor {
    /// `None` where it is no kernel of a server.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let connection = connection_file(pid)?;
        let stat = stat_of(pid)?;
        let leads = leads_session(&stat, pid);
        let server = server_of(&stat, &connection)?;
        Some(Self { kernel: kernel_identity(pid, &stat)?, leads, server, connection })
    }

    /// Waits for it; `None` where the server has ended, or starts none for two minutes.
    pub(super) fn successor(&self) -> Option<u32> {
        for _ in 0..LOOKS {
            let pids = files::names_if_any(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok());
            if let Some(pid) = pids.filter(|pid| self.is_followed_by(*pid)).min() {
                return Some(pid);
            }
            if !is_alive(&self.server) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        None
    }

    /// Whether `pid` is a younger child of the same server, and no process that the kernel has forked and left.
    fn is_followed_by(&self, pid: u32) -> bool {
        if connection_file(pid).as_ref() != Some(&self.connection) {
            return false;
        }
        let Some(stat) = stat_of(pid).filter(|stat| stat_field(stat, 3) != Some("Z")) else { return false };
        let is_younger = kernel_identity(pid, &stat)
            .is_some_and(|one| one != self.kernel && one.start_time >= self.kernel.start_time);
        // What a server starts leads a session where the kernel before it did; what that kernel has forked does not.
        is_younger
            && leads_session(&stat, pid) == self.leads
            && server_of(&stat, &self.connection).as_ref() == Some(&self.server)
    }
}

/// Whether the process with this line of stat leads a session of its own.
fn leads_session(stat: &str, pid: u32) -> bool {
    stat_field(stat, 6).is_some_and(|session| session.parse() == Ok(pid))
}

/// The process that has started the one with this line of stat: a wrapper (`conda run`) has the connection file among
/// its words, too.
fn server_of(stat: &str, connection: &str) -> Option<Kernel> {
    let mut pid = parent_of(stat)?;
    while connection_file(pid).as_deref() == Some(connection) {
        pid = parent_of(&stat_of(pid)?)?;
    }
    kernel_identity(pid, &stat_of(pid)?)
}
