//! A run beside remote mounts. A server may fall silent at any moment, and a process that touches its mount then waits
//! for ever: no signal ends it. So the run is a child, and its parent, which touches nothing, tells which mount it
//! waits for, and ends.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::FileType;
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use crate::core::diag::Failure;
use crate::core::host::command::processes_of;
use crate::core::host::files;
use crate::core::host::mounts::{Unreachable, has_remote, silent_at};
use crate::core::host::signals::Deferred;

/// Tells the child that it is one.
const NAME: &str = "COLAB_BOOT_SUPERVISED";

/// How the kernel functions begin in which a process waits for the server of a mount (`proc_pid_wchan(5)`): FUSE, NFS,
/// CIFS, 9p, a page of a file, and the locks of a folder that another process holds which waits.
const WAITS: &[&str] = &[
    "fuse_",
    "request_wait_answer",
    "nfs",
    "rpc_",
    "cifs_",
    "smb",
    "wait_for_response",
    "p9_",
    "v9fs_",
    "folio_wait",
    "wait_on_page",
    "d_alloc_parallel",
    "rwsem_",
    "mutex_lock",
    "__mutex_lock",
];

/// A thread that waits so long has its mount asked.
const ASKED_AFTER: Duration = Duration::from_millis(700);

/// In a run that is not older, a mount that does not answer then is taken for silent: little is lost.
const EARLY: Duration = Duration::from_secs(6);

/// In an older one, it may only be slow for so long.
const SLOW: Duration = Duration::from_secs(15);

/// No call is waited for longer.
const AT_MOST: Duration = Duration::from_mins(1);

/// A first argument of a system call that is less is an open file, and no address.
const FILES: u64 = 4096;

/// How a supervised run ended.
#[derive(Debug)]
pub enum Ended {
    /// With an exit code.
    Exit(u8),
    /// It waits for this mount, for ever.
    Waits(Unreachable),
}

/// Runs `arguments` as a child where there are remote mounts, and returns how that ended. `None` where this process is
/// to do the work: it is that child, or no mount is remote, or no child can be started.
pub fn supervised(arguments: &[OsString], environment: &mut BTreeMap<String, String>) -> Option<Ended> {
    if environment.remove(NAME).is_some() {
        // A kill of the parent is meant for this process.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        return None;
    }
    // The recorder lives beside a kernel, and touches no file of a user's. A program that is run may wait as it likes.
    let verb = arguments.iter().skip(1).find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    if verb.is_some_and(|verb| verb == "record" || verb == "run") || !has_remote() {
        return None;
    }
    let signals = Deferred::begin().ok()?;
    let (mut child, said) = start(arguments)?;
    let ended = wait(&mut child, &signals);
    if matches!(ended, Ended::Exit(_)) {
        // A reader may take its time.
        for end in said {
            let _ = end.recv();
        }
    }
    Some(ended)
}

#[expect(clippy::disallowed_methods, reason = "this program again, with all that it was given")]
fn start(arguments: &[OsString]) -> Option<(Child, Vec<Receiver<()>>)> {
    let (name, arguments) = arguments.split_first()?;
    let mut command = Command::new("/proc/self/exe");
    // A group of its own: a signal reaches it once, from here.
    command.arg0(name).args(arguments).env(NAME, "1").process_group(0);
    // A child that can't be ended would keep a pipe open, and its reader waiting.
    let (passes_out, passes_err) = (has_reader(std::io::stdout()), has_reader(std::io::stderr()));
    let mut said = Vec::new();
    if passes_out && passes_err && is_one_file() {
        let (from, to) = std::io::pipe().ok()?;
        command.stdout(to.try_clone().ok()?).stderr(to);
        said.push(relay(from, std::io::stdout()));
        return Some((command.spawn().ok()?, said));
    }
    let mut child = command.stdout(through(passes_out)).stderr(through(passes_err)).spawn().ok()?;
    said.extend(child.stdout.take().map(|pipe| relay(pipe, std::io::stdout())));
    said.extend(child.stderr.take().map(|pipe| relay(pipe, std::io::stderr())));
    Some((child, said))
}

fn through(passes: bool) -> Stdio {
    if passes { Stdio::piped() } else { Stdio::inherit() }
}

/// Whether a reader at the other end may wait until it is closed.
fn has_reader(stream: impl AsFd) -> bool {
    let kind = rustix::fs::fstat(stream).map(|data| FileType::from_raw_mode(data.st_mode));
    kind.is_ok_and(|kind| matches!(kind, FileType::Fifo | FileType::Socket))
}

/// Whether stdout and stderr go to one pipe: what is written stays in its order.
fn is_one_file() -> bool {
    let (out, err) = (rustix::fs::fstat(std::io::stdout()), rustix::fs::fstat(std::io::stderr()));
    out.is_ok_and(|out| err.is_ok_and(|err| identity(out) == identity(err)))
}

fn identity(data: rustix::fs::Stat) -> (u64, u64) {
    (data.st_dev, data.st_ino)
}

/// Passes on what comes from a pipe, as it comes. The receiver hears of its end.
fn relay(mut pipe: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut block = vec![0; 64 << 10];
        while let Ok(count @ 1..) = pipe.read(&mut block)
            && to.write_all(&block[..count]).and_then(|()| to.flush()).is_ok()
        {}
        let _ = sender.send(());
    });
    receiver
}

fn wait(child: &mut Child, signals: &Deferred) -> Ended {
    let began = Instant::now();
    let mut waits: HashMap<String, Wait> = HashMap::new();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ended::Exit(code_of(status)),
            Ok(None) => {}
            Err(_) => return Ended::Exit(4),
        }
        if let Some(signal) = signals.take() {
            pass_on(child, signal);
        }
        if began.elapsed() > ASKED_AFTER
            && let Some(silent) = stuck(child.id(), &mut waits, began)
        {
            let _ = child.kill();
            return Ended::Waits(silent);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// As shells count it.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(4)
}

fn pass_on(child: &Child, signal: i32) {
    let known = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].into_iter().find(|one| one.as_raw() == signal);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, known) {
        let _ = kill_process(pid, signal);
    }
}

/// What a thread waits in.
struct Wait {
    /// The system call.
    call: String,
    since: Instant,
    /// When its mount was asked last, or might have been.
    asked: Instant,
}

/// The mount that a thread of `pid` waits for, where no answer can be expected any more.
fn stuck(pid: u32, waits: &mut HashMap<String, Wait>, began: Instant) -> Option<Unreachable> {
    let now = threads(pid);
    waits.retain(|thread, wait| now.get(thread) == Some(&wait.call));
    for (thread, call) in now {
        let wait = waits.entry(thread).or_insert_with(|| Wait { call, since: Instant::now(), asked: Instant::now() });
        let is_early = wait.since.duration_since(began) < EARLY;
        let limit = if is_early { ASKED_AFTER } else { SLOW };
        if wait.since.elapsed() < limit || wait.asked.elapsed() < ASKED_AFTER {
            continue;
        }
        let is_over = wait.since.elapsed() > AT_MOST;
        let before = threads(pid);
        let silent = path_of(pid, &wait.call).and_then(|path| silent_at(&path, is_over));
        wait.asked = Instant::now();
        // A server with one thread that is slow alone has answered another call since.
        let is_slow = before != threads(pid);
        if silent.is_some() && (is_over || !is_slow) {
            return silent;
        }
    }
    None
}

/// Asks now and then whether processes that are waited for wait themselves, for a mount that does not answer.
pub struct Patrol {
    pause: Duration,
    asked: Instant,
    /// They did so when they were asked last, or once is enough.
    is_stuck: bool,
}

/// How often a mount must be silent before it counts: one may only be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    Once,
    Twice,
}

impl Patrol {
    /// One that asks each time that `pause` has gone by.
    pub fn new(pause: Duration, asks: Asks) -> Self {
        Self { pause, asked: Instant::now(), is_stuck: asks == Asks::Once }
    }

    /// An error where `who`, the processes of `group`, wait for ever. Nothing ends them, and later runs have to know of
    /// them.
    pub fn must_go_on(&mut self, group: u32, who: &str) -> Result<(), Failure> {
        if self.asked.elapsed() < self.pause {
            return Ok(());
        }
        match waits_for(group) {
            Some(silent) if self.is_stuck => return Err(silent.to_failure_of(who)),
            silent => self.is_stuck |= silent.is_some(),
        }
        self.asked = Instant::now();
        Ok(())
    }
}

/// The mount that a process of `group` waits for, and that does not answer.
fn waits_for(group: u32) -> Option<Unreachable> {
    let stuck = |pid: u32| {
        let before = threads(pid);
        let silent = before.values().find_map(|call| silent_at(&path_of(pid, call)?, false))?;
        (before == threads(pid)).then_some(silent)
    };
    if has_remote() { processes_of(group).find_map(stuck) } else { None }
}

/// The threads of `pid` that wait for a file system, each with its system call: number, arguments, stack and
/// instruction (`proc_pid_syscall(5)`).
fn threads(pid: u32) -> HashMap<String, String> {
    let tasks = PathBuf::from(format!("/proc/{pid}/task"));
    let text = |path: PathBuf| files::read_optional(&path).ok().flatten().unwrap_or_default();
    let entries = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
    let waiting = entries.filter_map(|entry| {
        let wait = text(entry.path().join("wchan"));
        let is_remote = WAITS.iter().any(|name| wait.starts_with(name));
        is_remote.then(|| (entry.file_name().to_string_lossy().into_owned(), text(entry.path().join("syscall"))))
    });
    waiting.collect()
}

/// The path that a system call of `pid` is about: that of an open file, or a text in its memory.
fn path_of(pid: u32, call: &str) -> Option<PathBuf> {
    let mut arguments =
        call.split_whitespace().skip(1).map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    let (first, second) = (arguments.next()?, arguments.next()?);
    if first < FILES {
        return std::fs::read_link(format!("/proc/{pid}/fd/{first}")).ok();
    }
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    [second, first].into_iter().find_map(|address| {
        let mut bytes = [0; 4096];
        let count = memory.read_at(&mut bytes, address).ok()?;
        let text = bytes[..count].split(|byte| *byte == 0).next()?;
        let path = Path::new(std::str::from_utf8(text).ok()?);
        path.is_absolute().then(|| path.to_owned())
    })
}
