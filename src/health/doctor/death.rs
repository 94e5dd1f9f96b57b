//! What is known of a kernel that is gone.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::boot::machine::Kernel;
use crate::boot::notebook::is_alive;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::locks;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;

/// The format of a record.
pub const SCHEMA: u32 = 1;

/// Where records of deaths, and the lock of the recorder, lie.
pub fn death_folder(state: &Path) -> PathBuf {
    state.join("recorder")
}

/// Where a kernel's `faulthandler` writes: the cell opens it.
pub fn crash_file(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("crash-{pid}.txt"))
}

/// A second of a kernel's life, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tick {
    /// Seconds since the boot, by a clock that is never set.
    pub at: u64,
    /// Of the kernel itself.
    pub resident: u64,
    /// Of all that its limit counts.
    pub used: u64,
}

/// Signals that the processor raises, and abort(3).
pub(super) const CRASHES: &[(i32, &str)] =
    &[(4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (11, "SIGSEGV"), (5, "SIGTRAP"), (31, "SIGSYS")];

/// The end of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Death {
    pub schema: u32,
    pub pid: u32,
    /// When it started, in clock ticks since the boot.
    pub start_time: u64,
    /// Seconds since 1970.
    pub at: u64,
    /// The boot that it was in.
    pub boot: String,
    /// Its connection file, which the kernels of one notebook have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// Seconds since that boot (`/proc/uptime`), which no setting of a clock moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime: Option<u64>,
    /// One of the two is there, or neither: its parent was faster.
    pub signal: Option<i32>,
    pub code: Option<i32>,
    /// The file of its control group that counts what is killed for memory; else `/proc/vmstat` counts, for the
    /// machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// Processes that were killed for memory, before and after.
    pub killed_before: Option<u64>,
    pub killed_after: Option<u64>,
    /// The most that it had.
    pub peak: u64,
    /// What it may have had; 0 where that is not known.
    pub limit: u64,
    /// The last minute, oldest first.
    pub ticks: Vec<Tick>,
    /// What `faulthandler` left, of it or of processes that it has forked: they write into the same file.
    pub crash: String,
    /// The record was begun, and never ended: its recorder has gone before the kernel. `at` is when it began.
    pub watching: bool,
}

impl Death {
    /// Whether the operating system killed it for memory: counted in its group, and by its signal.
    pub fn for_memory(&self) -> bool {
        let counted = self.killed_before.zip(self.killed_after).is_some_and(|(before, after)| after > before);
        counted && self.signal == Some(9)
    }

    /// Whether nobody saw how it ended.
    pub const fn is_unknown(&self) -> bool {
        self.signal.is_none() && self.code.is_none()
    }

    /// The texts that `faulthandler` has left, one for each crash, the oldest first.
    pub fn crashes(&self) -> Vec<&str> {
        crashes_of(&self.crash)
    }

    /// What `faulthandler` wrote of its own crash: the last that goes with the signal that ended it.
    fn own_crash(&self) -> Option<&str> {
        let signal = self.signal?;
        self.crashes().into_iter().rev().find(|text| signal_of(text) == signal)
    }

    /// The first line of what `faulthandler` left of its crash, and the newest frame of Python.
    pub fn top(&self) -> Option<(&str, &str)> {
        let what = self.own_crash()?.lines().next()?;
        Some((what, self.frames().next().unwrap_or_default().trim()))
    }

    /// The frames of the thread that crashed, newest first; of all where it does not say which. `faulthandler` writes
    /// other threads before it.
    pub(super) fn frames(&self) -> impl Iterator<Item = &str> {
        let crash = self.own_crash().unwrap_or_default();
        current_thread(crash).unwrap_or(crash).lines().filter(|line| line.trim_start().starts_with("File \""))
    }

    /// The module of site-packages that crashed: that of the newest frame outside the standard library. A cell of the
    /// user has none.
    pub fn module(&self) -> Option<&str> {
        module_of(self.frames().find(|line| !line.contains("/lib/python") || line.contains("-packages/"))?)
    }
}

/// The module of site-packages that a frame is in.
pub(super) fn module_of(frame: &str) -> Option<&str> {
    let (_, inside) = frame.split_once("-packages/")?;
    inside.split(['/', '.', '"']).next().filter(|name| !name.is_empty())
}

/// The parts of a file of `faulthandler`: one for each crash.
fn crashes_of(text: &str) -> Vec<&str> {
    let starts = text.match_indices("Fatal Python error").map(|(at, _)| at);
    let starts: Vec<usize> = starts.filter(|at| *at == 0 || text[..*at].ends_with('\n')).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// What a crash says of the thread that crashed, the newest frame first; `None` where it does not name one.
fn current_thread(crash: &str) -> Option<&str> {
    let at = crash.find("\nCurrent thread ")? + 1;
    crash[at..].split("\n\n").next()
}

/// What a record keeps of a file of `faulthandler`, which has up to a hundred frames of each thread: of each crash, the
/// oldest first, its first line and the newest frames of the thread that crashed.
pub fn crash_in_short(text: &str) -> String {
    const CRASHES: usize = 4;
    const LINES: usize = 40;
    let crashes = crashes_of(text);
    let newest = &crashes[crashes.len().saturating_sub(CRASHES)..];
    newest
        .iter()
        .map(|crash| {
            let head = crash.lines().next().unwrap_or_default();
            let rest = current_thread(crash).unwrap_or_else(|| crash[head.len()..].trim_start());
            let lines: Vec<String> = rest.lines().take(LINES).map(short).collect();
            format!("{}\n\n{}\n", short(head), lines.join("\n"))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn short(line: &str) -> String {
    line.chars().take(300).collect::<String>()
}

/// The signal that a text of `faulthandler` is about, by its first line (`faulthandler_handlers` in CPython's
/// faulthandler.c); other fatal errors end in abort(3).
fn signal_of(crash: &str) -> i32 {
    const NAMES: [(&str, i32); 4] =
        [("Segmentation fault", 11), ("Bus error", 7), ("Floating-point exception", 8), ("Illegal instruction", 4)];
    let head = crash.lines().next().unwrap_or_default();
    NAMES.iter().find(|(name, _)| head == format!("Fatal Python error: {name}")).map_or(6, |(_, signal)| *signal)
}

/// All that are kept in `folder`, newest first. One that can't be read is left out.
pub fn deaths(folder: &Path) -> Result<Vec<Death>, Failure> {
    let mut found = Vec::new();
    for name in files::names_if_any(folder).iter().filter(|name| name.starts_with("death-")) {
        let Ok(Some(text)) = files::read_optional(&folder.join(name)) else { continue };
        // The place of a record is made before it is needed, so that a full disk does not lose it: what is behind it is
        // nothing.
        found.extend(serde_json::from_str::<Death>(text.trim_end_matches('\0').trim()).ok());
    }
    // Of a format that is not known nothing is known.
    found.retain(|death| death.schema == SCHEMA);
    // Of one that is watched now there is nothing to say yet.
    found.retain(|death| !death.watching || !is_alive(&Kernel { pid: death.pid, start_time: death.start_time }));
    // A clock that was set must not reorder the deaths of one boot; a kernel that began in the second in which another
    // died has ended after it.
    let boot = files::read_optional(Path::new("/proc/sys/kernel/random/boot_id"))?.unwrap_or_default();
    found.sort_by_key(|death| {
        let is_now = death.boot == boot.trim();
        std::cmp::Reverse((is_now, death.uptime.filter(|_| is_now), death.at, death.watching))
    });
    Ok(found)
}

/// The lock of the recorder that watches the kernel `pid`, and those that the server starts in its place: they have one
/// connection file. Its name is known to [`crash_file`]'s writer in the environment, too.
pub fn recorder_lock(folder: &Path, pid: u32) -> PathBuf {
    let digest = |path: PathBuf| Sha256::of(path.as_os_str().as_encoded_bytes()).to_string()[..16].to_owned();
    folder.join(format!("lock-{}", connection_path(pid).map_or_else(|| pid.to_string(), digest)))
}

/// The connection file of a kernel, by its arguments.
pub fn connection_file(pid: u32) -> Option<String> {
    connection_path(pid).map(|path| path.to_string_lossy().into_owned())
}

/// The path that a kernel was given with `-f`, as notebook servers start kernels; else its last argument that is a JSON
/// file. A relative path is one from the kernel's working folder.
fn connection_path(pid: u32) -> Option<PathBuf> {
    let bytes = files::read_bytes(Path::new(&format!("/proc/{pid}/cmdline")), 64 << 10).ok()?;
    let words: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let is_json = |word: &[u8]| word.ends_with(b".json");
    let behind = words.iter().zip(words.iter().skip(1)).find(|(option, word)| **option == b"-f" && is_json(word));
    let after =
        |word: &&[u8]| OPTIONS.iter().find_map(|option| word.strip_prefix(option.as_bytes())).map(<[u8]>::to_vec);
    let named = behind.map(|(_, word)| word.to_vec());
    let named = named.or_else(|| words.iter().filter(|word| is_json(word)).find_map(after));
    let path = named.or_else(|| words.iter().rfind(|word| is_json(word)).map(|word| word.to_vec()))?;
    let path = PathBuf::from(OsString::from_vec(path));
    let folder = files::link_of(Path::new(&format!("/proc/{pid}/cwd"))).unwrap_or_default();
    Some(folder.join(path))
}

/// Options of `ipykernel` that a connection file follows.
const OPTIONS: [&str; 3] = ["-f=", "--f=", "--IPKernelApp.connection_file="];

/// Whether a recorder watches the kernel `pid`: it holds the lock.
pub fn is_recorded(folder: &Path, pid: u32) -> bool {
    let lock = recorder_lock(folder, pid);
    // Who gets the lock at once is alone.
    lock.is_file_there() && locks::lock_exclusively(&lock, Duration::ZERO, &|| ()).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_is_that_of_the_thread_that_crashed() {
        let of = |signal: i32, crash: &str| Death { crash: crash.to_owned(), signal: Some(signal), ..Death::default() };
        let poller = "Thread 0x1 (most recent call first):\n  File \"/v/site-packages/ipykernel/parentpoller.py\", line 37 in run\n";
        let current =
            "Current thread 0x2 (most recent call first):\n  File \"/v/site-packages/torch/cuda.py\", line 5 in init\n";
        let many = of(
            11,
            &format!("Fatal Python error: Segmentation fault\n\n{poller}\n{current}\nExtension modules: numpy\n"),
        );
        let (what, frame) = many.top().expect("a crash");
        assert_eq!(what, "Fatal Python error: Segmentation fault");
        assert!(frame.contains("cuda.py") && many.module() == Some("torch"), "{frame}");
        let one = of(6, &format!("Fatal Python error: Aborted\n\n{}", poller.replace("Thread 0x1", "Stack")));
        assert_eq!(one.module(), Some("ipykernel"));
        // A thread that runs no Python has no frame, and those of others say nothing of it.
        let bare = format!(
            "Fatal Python error: Aborted\n\n{poller}\nCurrent thread 0x2 (most recent call first):\n  <no Python frame>\n"
        );
        assert_eq!(of(6, &bare).top(), Some(("Fatal Python error: Aborted", "")));
        assert!(of(11, "").top().is_none());
    }

    #[test]
    fn a_crash_of_many_threads_keeps_its_first_line_and_its_thread() {
        let path = format!("/a/{}/site-packages", "long/".repeat(12));
        let other = format!(
            "Thread 0x1 (most recent call first):\n{}",
            format!("  File \"{path}/x.py\", line 1 in f\n").repeat(100)
        );
        let own = "Current thread 0x2 (most recent call first):\n  File \"/v/site-packages/torch/a.py\", line 1 in f\n";
        let one = |what: &str| {
            format!(
                "Fatal Python error: {what}\n\n{}\n{own}\nExtension modules: {}\n",
                format!("{other}\n").repeat(50),
                "a.b, ".repeat(500)
            )
        };
        let many = format!("{}{}", one("Segmentation fault").repeat(9), one("Aborted"));
        let kept = crash_in_short(&many);
        assert!(many.len() > 2_000_000 && kept.len() < 24_000, "{} of {}", kept.len(), many.len());
        for (signal, what) in [(6, "Aborted"), (11, "Segmentation fault")] {
            let death = Death { crash: kept.clone(), signal: Some(signal), ..Death::default() };
            let (head, frame) = death.top().expect("a crash");
            assert!(head.ends_with(what) && frame.contains("torch/a.py"), "{head} {frame}");
            assert_eq!(death.module(), Some("torch"));
        }
        let alone = "Fatal Python error: Aborted\n\nStack (most recent call first):\n  File \"/v/site-packages/jax/c.py\", line 1 in f\n";
        let death = Death { crash: crash_in_short(alone), signal: Some(6), ..Death::default() };
        assert_eq!(death.module(), Some("jax"));
        assert_eq!(crash_in_short("nothing"), "");
    }

    #[test]
    fn a_worker_that_crashed_is_not_the_kernel() {
        let dump = |what: &str, file: &str| {
            format!("Fatal Python error: {what}\n\nStack (most recent call first):\n  File \"{file}\", line 1 in f\n\n")
        };
        let worker = dump("Segmentation fault", "/v/site-packages/torch/a.py");
        let own = dump("Segmentation fault", "/v/site-packages/numpy/b.py");
        let fatal = dump("f: no thread state", "/v/site-packages/jax/c.py");
        let of = |signal: Option<i32>, crash: &str| Death { crash: crash.to_owned(), signal, ..Death::default() };
        assert!(of(Some(9), &worker).top().is_none() && of(None, &worker).top().is_none());
        assert!(of(Some(6), &worker).module().is_none(), "another signal than the text says");
        assert_eq!(of(Some(11), &format!("{worker}{own}")).module(), Some("numpy"));
        assert_eq!(of(Some(11), &format!("{own}{fatal}")).module(), Some("numpy"));
        assert_eq!(of(Some(6), &format!("{own}{fatal}")).module(), Some("jax"));
    }

    #[test]
    fn of_one_second_the_kernel_that_began_is_the_newer() {
        let folder = tempfile::tempdir().expect("a folder");
        let (dead, begun) = (
            Death { schema: SCHEMA, pid: 4_000_001, at: 7, ..Death::default() },
            Death { schema: SCHEMA, pid: 4_000_002, at: 7, watching: true, ..Death::default() },
        );
        for one in [&dead, &begun] {
            let text = serde_json::to_string(one).expect("JSON");
            files::write_whole_fast(&folder.path().join(format!("death-7-{}.json", one.pid)), text.as_bytes())
                .expect("a record");
        }
        // What is no record of ours is passed over, and hides none.
        std::fs::create_dir(folder.path().join("death-8-1.json")).expect("a folder");
        files::write_whole_fast(&folder.path().join("death-9-1.json"), b"{\"schema\": 99, \"pid\": 5}")
            .expect("a record");
        let order: Vec<u32> = deaths(folder.path()).expect("records").iter().map(|one| one.pid).collect();
        assert_eq!(order, [begun.pid, dead.pid]);
    }
}
