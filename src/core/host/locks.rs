//! Exclusive locks; and whether the process that holds one can ever let go: one that was killed while it waits for a
//! mount stays until the mount answers.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::core::diag::Failure;
use crate::core::host::command::stat_field;
use crate::core::host::files;
use crate::core::host::mounts::reach;
use crate::core::host::process_end::Watched;

/// An exclusive lock on a file that is never deleted, held until dropped. Waits up to `at_most`; `on_wait` is called
/// when it has to.
pub fn lock_exclusively(path: &Path, at_most: Duration, on_wait: &dyn Fn()) -> Result<File, Failure> {
    let failed =
        |error: &dyn std::error::Error| Failure::world(format!("could not lock `{}`", path.display())).because(error);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(|error| failed(&error))?;
    wait_for_lock(file, path, at_most, on_wait)?.map_err(|error| failed(&error))
}

/// Whether a process holds the lock on the file at `path`.
pub fn is_locked(path: &Path) -> bool {
    let file = files::open(path);
    file.is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// The same on a folder; `None` where its file system knows no such locks.
pub fn lock_folder(path: &Path, at_most: Duration, on_wait: &dyn Fn()) -> Result<Option<File>, Failure> {
    match reach(path).and_then(|()| File::open(path)) {
        Ok(folder) => Ok(wait_for_lock(folder, path, at_most, on_wait)?.ok()),
        Err(_) => Ok(None),
    }
}

fn wait_for_lock(
    file: File,
    path: &Path,
    at_most: Duration,
    on_wait: &dyn Fn(),
) -> Result<Result<File, std::io::Error>, Failure> {
    let step = Duration::from_millis(100);
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Ok(file)),
            Err(fs::TryLockError::Error(error)) => return Ok(Err(error)),
            Err(fs::TryLockError::WouldBlock) if waited >= at_most => {
                return Err(Failure::world(format!("another colab-boot holds `{}`", path.display()))
                    .help("wait for it to finish, then run the command again"));
            }
            Err(fs::TryLockError::WouldBlock) => {
                if let Some(pid) = stuck_holder(&file) {
                    let why = "was killed but waits for a mount that does not answer";
                    return Err(Failure::world(format!(
                        "`{}` is locked by process {pid}, which {why}",
                        path.display()
                    ))
                    .help("`colab-boot doctor` names the mount: unmount it, then run the command again"));
                }
                if waited.is_zero() {
                    on_wait();
                }
                std::thread::sleep(step);
                waited += step;
            }
        }
    }
}

/// The process that holds the lock on `file`, where it was killed and can't end.
fn stuck_holder(file: &File) -> Option<u32> {
    let data = file.metadata().ok()?;
    let (major, minor) = (rustix::fs::major(data.dev()), rustix::fs::minor(data.dev()));
    let place = format!("{major:02x}:{minor:02x}:{}", data.ino());
    let locks = files::read_optional(Path::new("/proc/locks")).ok().flatten()?;
    let pid = locks.lines().find_map(|line| holder_of(line, &place))?;
    (Watched::new(pid)?.is_dying() && waits(pid)).then_some(pid)
}

/// Of `1: FLOCK  ADVISORY  WRITE 12345 08:01:123456 0 EOF` the process, where the file is the one at `place`
/// (`proc_locks(5)`).
fn holder_of(line: &str, place: &str) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let at = fields.iter().position(|field| *field == place)?;
    (fields.get(1) == Some(&"FLOCK")).then(|| fields.get(at - 1)?.parse().ok())?
}

/// Whether a thread of it waits and can't be interrupted.
fn waits(pid: u32) -> bool {
    let threads = Path::new("/proc").join(pid.to_string()).join("task");
    files::names_if_any(&threads).iter().any(|thread| {
        let stat = files::read_optional(&threads.join(thread).join("stat")).ok().flatten();
        stat.is_some_and(|stat| stat_field(&stat, 3) == Some("D"))
    })
}

#[cfg(test)]
mod tests {
    use super::holder_of;

    #[test]
    fn a_lock_names_its_process() {
        let line = "1: FLOCK  ADVISORY  WRITE 12345 08:01:123456 0 EOF";
        assert_eq!(holder_of(line, "08:01:123456"), Some(12345));
        assert_eq!(holder_of(line, "08:01:12345"), None);
        // One that waits, and another kind.
        assert_eq!(holder_of("1: -> FLOCK  ADVISORY  WRITE 7 08:01:123456 0 EOF", "08:01:123456"), None);
        assert_eq!(holder_of("2: POSIX  ADVISORY  WRITE 9 08:01:123456 0 EOF", "08:01:123456"), None);
    }
}
