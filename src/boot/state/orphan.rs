//! The installer of an apply that was killed: who it is, and when it has ended.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::machine::kernel_identity;
use crate::core::diag::Failure;
use crate::core::host::command::is_at_work;
use crate::core::host::files;
use crate::core::host::supervisor::{Asks, Patrol};

fn process_file(state: &Path) -> PathBuf {
    state.join("apply.process")
}

fn stat_of(pid: u32) -> Result<Option<String>, Failure> {
    files::read_optional(Path::new(&format!("/proc/{pid}/stat")))
}

/// Writes down the process of the install script, for an apply that comes after a killed one.
pub fn record_process(state: &Path, pid: u32) -> Result<(), Failure> {
    let identity = stat_of(pid)?.and_then(|stat| kernel_identity(pid, &stat));
    let Some(identity) = identity else {
        return Ok(());
    };
    let text = format!("{} {}\n", identity.pid, identity.start_time);
    files::write_whole(&process_file(state), text.as_bytes())
}

/// Its process has ended.
pub fn forget_process(state: &Path) -> Result<(), Failure> {
    files::remove_if_there(&process_file(state))
}

/// A killed apply may have left its script running; two installers at once would ruin each other. Waits for it to end.
pub(super) fn wait_for_orphan(state: &Path, at_most: Duration, on_wait: &mut dyn FnMut(u32)) -> Result<(), Failure> {
    let text = files::read_optional(&process_file(state))?.unwrap_or_default();
    let numbers: Option<(u32, u64)> =
        text.trim().split_once(' ').and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?)));
    let Some((pid, start_time)) = numbers else {
        return Ok(());
    };
    // Another process of that number means that the group is gone: while it lives, it keeps the number.
    let is_it = |stat: &str| kernel_identity(pid, stat).is_some_and(|identity| identity.start_time == start_time);
    let (mut waited, mut patrol) = (Duration::ZERO, Patrol::new(Duration::from_secs(5), Asks::Once));
    while stat_of(pid)?.is_none_or(|stat| is_it(&stat)) && is_at_work(pid) {
        if waited.is_zero() {
            on_wait(pid);
        }
        if waited >= at_most {
            return Err(Failure::world(format!("the installer of an earlier run (process {pid}) is still running"))
                .help("wait for it to finish, or end it, then run the command again"));
        }
        patrol.must_go_on(pid, &format!("the installer of an earlier run (process {pid})"))?;
        let step = Duration::from_millis(100);
        std::thread::sleep(step);
        waited += step;
    }
    Ok(())
}
