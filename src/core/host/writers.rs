//! Files that other processes have open for writing: what is written to one that was replaced is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::core::diag::Failure;
use crate::core::host::destination::write_output;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::shared::Shared;

/// The files that processes of this user write to, each with one of these processes.
#[derive(Debug, Default)]
pub struct Writers(BTreeMap<PathBuf, u32>);

impl Writers {
    /// Those of now. Names are compared, and no file is touched: one may lie on a mount that does not answer.
    pub fn now() -> Self {
        let mut found = BTreeMap::new();
        let pids = files::names_if_any(Path::new("/proc")).into_iter().filter_map(|name| name.parse::<u32>().ok());
        for pid in pids.filter(|pid| *pid != std::process::id()) {
            let process = Path::new("/proc").join(pid.to_string());
            for open in files::names_if_any(&process.join("fd")) {
                let Ok(target) = process.join("fd").join(&open).read_link() else { continue };
                let is_file = target.is_absolute() && !target.starts_with("/dev") && !target.starts_with("/proc");
                if is_file && is_for_writing(&process.join("fdinfo").join(&open)) {
                    found.insert(target, pid);
                }
            }
        }
        Self(found)
    }

    /// A process that writes to the file at `path`.
    pub fn of(&self, path: &Path) -> Option<u32> {
        self.0.get(&path.real().ok()?).copied()
    }
}

/// `flags: 0100001`, octal: the last two bits are the access mode (proc(5)).
fn is_for_writing(info: &Path) -> bool {
    let text = files::read_optional(info).ok().flatten().unwrap_or_default();
    let flags = text.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// Replaces the file at `path` with `bytes`. One that a process writes to stays as it is: what that process writes from
/// then on would be lost. Its other names, if it has any.
pub fn replace_alone(path: &Path, bytes: &[u8], writers: &Writers) -> Result<Option<Shared>, Failure> {
    if let Some(pid) = writers.of(path) {
        let left = "it was not changed: end the process, then run the command again";
        return Err(Failure::input(format!("process {pid} is writing to it; {left}")));
    }
    let shared = Shared::of(path);
    write_output(path, bytes)?;
    Ok(shared)
}
