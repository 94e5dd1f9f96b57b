//! Processes: started without a shell, bounded in time, and shown as one could type them when they fail.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::{Look, reach, without_unreachable};
use crate::core::host::reads::note;
use crate::core::host::signals::{Deferred, name_of};

/// So much of a child's output is kept, and at most twice as much: its end, where a verdict and an error stand.
const OUTPUT_LIMIT: usize = 8 << 20;

/// Bytes that one read takes, and the most that any pipe holds.
const PIPE: usize = 64 << 10;
const LARGEST_PIPE: usize = 1 << 20;

/// A program with its arguments and the whole environment it gets.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: BTreeMap<String, String>,
    pub folder: Option<PathBuf>,
    /// What it leaves running in its process group ends with it.
    pub whole: bool,
}

/// Replaces this process with `program`, which inherits all that this one has, and `variables`. Returns why that
/// failed.
#[expect(clippy::disallowed_methods, reason = "with `Invocation` the one place that starts processes")]
pub fn become_program(program: &OsStr, arguments: &[OsString], variables: &[(String, String)]) -> Failure {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("PYTHONHOME").envs(variables.iter().map(|(name, value)| (name, value)));
    let error = command.exec();
    let shown = program.to_string_lossy();
    if error.kind() == ErrorKind::NotFound {
        return Failure::input(format!("there is no command `{shown}`"))
            .help("it is neither in the environment nor on PATH");
    }
    Failure::world(format!("could not run `{shown}`")).because(&error)
}

/// What a finished process left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The exit code; 128 + n for signal n, as shells count.
    pub code: i32,
    /// The signal that has ended it.
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// How it ended, for people: its exit code, or the signal.
    pub fn how(&self) -> String {
        self.signal.map_or_else(|| format!("exit code {}", self.code), |signal| format!("ended by {}", name_of(signal)))
    }

    /// How it ended, and the end of what it said.
    pub fn failure(&self, said: &str) -> String {
        let said = said.trim();
        if said.is_empty() { self.how() } else { format!("{}: {said}", self.how()) }
    }
}

/// Why a process gave no result.
#[derive(Debug)]
pub enum NoResult {
    NotFound,
    TimedOut(Duration),
    Failed(std::io::Error),
}

impl Invocation {
    /// `program` with `arguments` and `environment`; nothing else is inherited.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str], environment: &BTreeMap<String, String>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: environment.clone(),
            folder: None,
            whole: false,
        }
    }

    /// The command line as one could type it.
    pub fn line(&self) -> String {
        let program = self.program.to_string_lossy();
        let words = self.arguments.iter().map(|word| word.to_string_lossy());
        let words: Vec<_> = std::iter::once(program).chain(words).collect();
        shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_else(|_| words.join(" "))
    }

    /// Whether the program is found from any folder.
    fn is_anywhere(&self) -> bool {
        self.program.is_absolute() || self.program.components().count() == 1
    }

    /// Notes the program, and the files among its arguments, as files that are read.
    fn note_files(&self) {
        let folder = self.folder.as_deref().unwrap_or(Path::new("/"));
        for path in std::iter::once(self.program.as_path()).chain(self.arguments.iter().map(Path::new)) {
            let place = folder.join(path);
            if let Some(data) = place.look().ok().filter(fs::Metadata::is_file) {
                note(&data);
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "with `become_program` the one place that starts processes")]
    fn command(&self) -> Command {
        self.note_files();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().stdin(Stdio::null());
        command.envs(without_unreachable(&self.environment).iter());
        // Away from where the user works: what lies there must not be found before what is meant.
        if let Some(folder) = self.folder.as_deref().or_else(|| self.is_anywhere().then_some(Path::new("/"))) {
            command.current_dir(folder);
            // Shells look at what these name when they start, and it may be on a mount that does not answer.
            command.env("PWD", folder).env_remove("OLDPWD");
        }
        command
    }

    /// Runs it to its end or for `limit`, and collects what it printed by then. What it leaves running may keep its
    /// streams open; that is not waited for. A signal that ends this program ends it first.
    pub fn output(&self, limit: Duration) -> Result<Finished, NoResult> {
        self.output_of(None, limit, &|| false)
    }

    /// As [`output`](Self::output). The program reads `input`, where there is one; it is ended as soon as `must_end`
    /// says so, which is asked every few milliseconds.
    pub fn output_of(
        &self,
        input: Option<File>,
        limit: Duration,
        must_end: &dyn Fn() -> bool,
    ) -> Result<Finished, NoResult> {
        self.check_reachable()?;
        // Without handlers a signal ends us at once, and the child goes on.
        let signals = Deferred::begin().ok();
        let mut command = self.command();
        if self.whole {
            command.process_group(0);
        }
        if let Some(input) = input {
            command.stdin(input);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(no_result)?;
        let is_over = || signals.as_ref().is_some_and(Deferred::is_waiting) || must_end();
        let collected = collect(&mut child, limit, &is_over);
        if collected.is_err() {
            end_with_descendants(&mut child);
        }
        if self.whole {
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        }
        collected
    }

    /// As [`output`](Self::output), where anything but success is a failure that shows the command and its last lines.
    pub fn must_succeed(&self, limit: Duration) -> Result<Finished, Failure> {
        let finished = self.output(limit).map_err(|error| self.describe(&error))?;
        if finished.code == 0 {
            return Ok(finished);
        }
        Err(Failure::world(format!("`{}` failed with exit code {}", self.line(), finished.code))
            .cause(last_lines(&finished.stderr, 8)))
    }

    /// Starts it with stdout and stderr to one pipe-free file each call may follow, in a process group of its own; used
    /// for long runs. What it reads comes from the child's `stdin`.
    pub fn spawn_into(&self, log: File) -> Result<Child, Failure> {
        let describe = |error: std::io::Error| self.describe(&no_result(error));
        let other = log.try_clone().map_err(describe)?;
        self.command().stdin(Stdio::piped()).stdout(log).stderr(other).process_group(0).spawn().map_err(describe)
    }

    /// An error where the program, or the folder that it is to run in, is on a mount that does not answer: starting it
    /// would block us.
    fn check_reachable(&self) -> Result<(), NoResult> {
        let program = if self.program.is_absolute() { reach(&self.program) } else { Ok(()) };
        let folder = self.folder.as_deref().map_or(Ok(()), reach);
        program.and(folder).map_err(NoResult::Failed)
    }

    fn describe(&self, error: &NoResult) -> Failure {
        let line = self.line();
        match error {
            NoResult::NotFound => Failure::world(format!("could not start `{line}`: there is no such program")),
            NoResult::TimedOut(limit) => {
                Failure::world(format!("`{line}` did not finish within {} s and was ended", limit.as_secs()))
            }
            NoResult::Failed(error) => Failure::world(format!("could not run `{line}`")).because(error),
        }
    }
}

fn no_result(error: std::io::Error) -> NoResult {
    match error.kind() {
        ErrorKind::NotFound => NoResult::NotFound,
        _ => NoResult::Failed(error),
    }
}

/// What is read of a stream of a child. It never blocks.
struct Stream {
    pipe: Option<File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<impl Into<OwnedFd>>) -> std::io::Result<Self> {
        let pipe = pipe.map(|pipe| File::from(pipe.into()));
        pipe.as_ref().map_or(Ok(()), |pipe| rustix::fs::fcntl_setfl(pipe, OFlags::NONBLOCK))?;
        Ok(Self { pipe, bytes: Vec::new() })
    }

    /// Takes what is there, `PIPE` bytes at most; whether anything was.
    fn take(&mut self) -> bool {
        let Some(pipe) = &mut self.pipe else {
            return false;
        };
        let mut buffer = vec![0; PIPE];
        let count = match pipe.read(&mut buffer) {
            Ok(0) => {
                self.pipe = None;
                0
            }
            Ok(count) => count,
            Err(_) => 0,
        };
        self.bytes.extend_from_slice(&buffer[..count]);
        if self.bytes.len() > 2 * OUTPUT_LIMIT {
            self.bytes.drain(..self.bytes.len() - OUTPUT_LIMIT);
        }
        count > 0
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

fn collect(child: &mut Child, limit: Duration, must_end: &dyn Fn() -> bool) -> Result<Finished, NoResult> {
    let mut stdout = Stream::new(child.stdout.take()).map_err(NoResult::Failed)?;
    let mut stderr = Stream::new(child.stderr.take()).map_err(NoResult::Failed)?;
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        // First, so that all it wrote is there to be read.
        let ended = child.try_wait().map_err(NoResult::Failed)?;
        let any = [stdout.take(), stderr.take()].contains(&true);
        if let Some(status) = ended {
            // No pipe holds more than this; a daemon may go on writing.
            for _ in 0..LARGEST_PIPE / PIPE {
                if ![stdout.take(), stderr.take()].contains(&true) {
                    break;
                }
            }
            let (code, signal) = (exit_code(status), status.signal());
            return Ok(Finished { code, signal, stdout: stdout.text(), stderr: stderr.text() });
        }
        if must_end() {
            return Err(NoResult::Failed(ErrorKind::Interrupted.into()));
        }
        if started.elapsed() >= limit {
            return Err(NoResult::TimedOut(limit));
        }
        if any {
            pause = Duration::from_millis(1);
        } else {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

/// Kills `child` and all that it and its children have started. What has left the family, as daemons do, is not found.
fn end_with_descendants(child: &mut Child) {
    for pid in descendants(child.id()) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
    }
    let _ = child.kill();
    // One that waits for a driver or a mount does not die before that answers: it is left to itself.
    let end = Instant::now() + TO_DIE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn descendants(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = files::names_if_any(Path::new("/proc"))
        .iter()
        .filter_map(|name| {
            let stat = files::read_optional(&Path::new("/proc").join(name).join("stat")).ok()??;
            Some((name.parse().ok()?, stat_field(&stat, 4)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

/// How long a child that was killed may take to be gone.
const TO_DIE: Duration = Duration::from_millis(300);

/// A signal seldom comes alone: a terminal that is closed sends two. Those of so short a time are one.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Ends `child` and whatever else runs in its process group: politely, and by force after `grace` or as soon as `hurry`
/// says so. Returns when all of the group have ended.
pub fn end_group(child: &mut Child, grace: Duration, hurry: &dyn Fn() -> bool) -> std::io::Result<()> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let kill = |signal| match group.map(|group| kill_process_group(group, signal)) {
        None | Some(Ok(()) | Err(Errno::SRCH)) => Ok(()),
        Some(Err(error)) => Err(error),
    };
    kill(Signal::TERM)?;
    let started = Instant::now();
    let mut forced = false;
    while child.try_wait()?.is_none() || is_at_work(child.id()) {
        let (waited, hurried) = (started.elapsed(), hurry());
        if !forced && (waited >= grace || hurried && waited >= AT_ONCE) {
            kill(Signal::KILL)?;
            forced = true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether a process of `group` runs; a zombie, which may never be waited for, does not.
pub fn is_at_work(group: u32) -> bool {
    processes_of(group).next().is_some()
}

/// The processes of `group` that are no zombies.
pub fn processes_of(group: u32) -> impl Iterator<Item = u32> {
    let folders = files::names_if_any(Path::new("/proc")).into_iter();
    folders.filter_map(move |name: String| {
        let stat = files::read_optional(&Path::new("/proc").join(&name).join("stat")).ok().flatten()?;
        let own = stat_field(&stat, 5).and_then(|field| field.parse().ok());
        (stat_field(&stat, 3) != Some("Z") && own == Some(group)).then(|| name.parse().ok())?
    })
}

/// A field of a `/proc/<pid>/stat`, from the third on, numbered as proc(5) does. The second is the command in
/// parentheses, which may itself hold spaces and parentheses.
pub fn stat_field(stat: &str, number: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(number.checked_sub(3)?)
}

/// The exit code as shells count it: 128 + n for signal n.
pub fn exit_code(status: std::process::ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// The last `count` lines of `text` that are not empty.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// The first executable called `name` in the folders of `search` (a `PATH`).
pub fn find_program(name: &str, search: &str) -> Option<PathBuf> {
    search
        .split(':')
        .filter(|folder| !folder.is_empty())
        .map(|folder| Path::new(folder).join(name))
        .find(|path| is_executable(path))
}

/// Whether `path` is a file that may be executed.
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.look().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
