//! What lies in a folder of a remote mount, as far as a child finds out in time.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::core::host::mounts::reach;

/// What a folder has in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// From the folder.
    pub path: String,
    pub is_folder: bool,
    pub size: u64,
    /// Seconds since 1970.
    pub written: u64,
}

/// How long remote folders are listed, all those of a run together.
static LEFT: Mutex<Duration> = Mutex::new(Duration::from_secs(1));

/// What is in `folder`, `depth` folders deep, by a child that has little time; nothing where that is too short.
#[expect(clippy::disallowed_methods, reason = "a child that may never end must not be waited for")]
pub fn list_remote(folder: &Path, depth: u32) -> Vec<Found> {
    if reach(folder).is_err() {
        return Vec::new();
    }
    let mut command = Command::new("find");
    command.arg(folder).args(["-mindepth", "1", "-maxdepth", &depth.to_string(), "-printf", "%y\\t%s\\t%T@\\t%P\\0"]);
    command.current_dir("/").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C");
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = spawned else { return Vec::new() };
    let pipe = child.stdout.take();
    let (sender, receiver) = std::sync::mpsc::channel();
    // The thread ends with the child, or with this program.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|mut pipe| std::io::Read::read_to_end(&mut pipe, &mut bytes));
        let _ = sender.send(bytes);
    });
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let bytes = receiver.recv_timeout(*left).unwrap_or_default();
    *left = left.saturating_sub(began.elapsed());
    let _ = child.kill();
    let _ = child.try_wait();
    bytes.split(|byte| *byte == 0).filter_map(found).collect()
}

/// `f\t12\t1700000000.5\tname`.
fn found(entry: &[u8]) -> Option<Found> {
    let text = String::from_utf8_lossy(entry);
    let mut fields = text.splitn(4, '\t');
    let (kind, size, time, path) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let written = time.split('.').next()?.parse().unwrap_or_default();
    Some(Found { path: path.to_owned(), is_folder: kind == "d", size: size.parse().ok()?, written })
}
