//! What observing needs to know, and how a program is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::machine::raw::Said;
use crate::core::host::command::NoResult;
use crate::core::host::{Invocation, Paths};
use crate::core::matrix::Hosts;

/// What observing needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Looker<'a> {
    pub paths: &'a Paths,
    pub environment: &'a BTreeMap<String, String>,
    /// What tells notebook hosts apart.
    pub hosts: &'a Hosts,
    /// `--python`.
    pub python: Option<&'a Path>,
    /// `--kernel-pid`.
    pub kernel_pid: Option<u32>,
    /// Folders in which, and above which, a `.venv` counts.
    pub near: &'a [PathBuf],
    /// Seconds since 1970.
    pub now: u64,
}

/// `PATH`, or the usual one.
pub(super) fn search_path(looker: Looker<'_>) -> &str {
    looker.environment.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str)
}

/// What a program prints, or why it does not.
pub(super) fn said(invocation: &Invocation, limit: Duration) -> Said {
    let source = invocation.line();
    match invocation.output(limit) {
        Ok(finished) if finished.code == 0 => {
            Said { source, text: Some(finished.stdout), error: None, timed_out: false }
        }
        Ok(finished) => {
            let error = finished.failure(&format!("{}{}", finished.stdout.trim(), finished.stderr.trim()));
            Said { source, text: None, error: Some(error), timed_out: false }
        }
        Err(NoResult::NotFound) => {
            Said { source, text: None, error: Some("program not found".to_owned()), timed_out: false }
        }
        Err(NoResult::TimedOut(limit)) => {
            Said { source, text: None, error: Some(format!("no answer within {} s", limit.as_secs())), timed_out: true }
        }
        Err(NoResult::Failed(error)) => Said { source, text: None, error: Some(error.to_string()), timed_out: false },
    }
}
