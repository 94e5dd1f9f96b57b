//! Files that other processes have open for writing: what is written to one that was replaced is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::core::diag::Failure;
use crate::core::host::destination::{must_be_as_seen, write_output};
use crate::core::host::files;
use crate::core::host::hard_links::Shared;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;

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
                let is_device = target.starts_with("/dev") && !target.starts_with("/dev/shm");
                let is_file = target.is_absolute() && !is_device && !target.starts_with("/proc");
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

/// Replaces the file at `path`, which was `seen` before it was read, with `bytes`. One that was changed since, or that
/// a process writes to, stays as it is: what was saved meanwhile, or will be, would be lost. Its other names, if it
/// has any.
pub fn replace_alone((path, seen): (&Path, Stamp), bytes: &[u8], writers: &Writers) -> Result<Option<Shared>, Failure> {
    if let Some(pid) = writers.of(path) {
        return Err(Failure::input(format!("process {pid} is writing to it: it was not changed"))
            .help("end the process, then run the command again"));
    }
    let shared = Shared::of(path);
    must_be_as_seen(path, seen)?;
    write_output(path, bytes)?;
    Ok(shared)
}

#[cfg(test)]
mod tests {
    use super::{Stamp, Writers, replace_alone};
    use crate::core::host::files::{read_text, write_whole};

    #[test]
    fn what_was_saved_meanwhile_is_not_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.ipynb");
        for is_saved in [false, true] {
            write_whole(&path, b"read").expect("a file");
            let seen = Stamp::of(&path);
            if is_saved {
                std::thread::sleep(std::time::Duration::from_millis(20));
                write_whole(&path, b"more").expect("a file");
            }
            let written = replace_alone((&path, seen), b"clean", &Writers::default());
            assert_eq!(written.is_err(), is_saved);
            let expected = if is_saved { "more" } else { "clean" };
            assert_eq!(read_text(&path, "file").expect("a file"), expected);
        }
    }
}
