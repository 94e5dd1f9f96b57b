//! Whether a mount answers. Nothing below one is touched here before a child was seen to come back from it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::core::diag::{Code, Failure, Finding, Kind, Subject, shell_word};
use crate::core::host::mounts::{Mount, has_remote, is_plain, mounts, remote_mount_of, resolve};

/// How long the mounts have to answer, all at once.
const LIMIT: Duration = Duration::from_secs(2);

/// How long each has for a path below it: a slow one takes 0.3 s a call.
const BELOW: Duration = Duration::from_secs(2);

/// How long a program is waited for that may have run into a silent mount.
const MAY_HANG: Duration = Duration::from_secs(1);

/// So many paths of a mount are asked for. One that has answered so often is taken at its word.
const PATHS: usize = 64;

/// A mount that does not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unreachable {
    pub path: PathBuf,
    /// `fuse.drive`, `nfs4`.
    pub kind: String,
    /// What the server says: its end of the mount is gone. Absent where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// The remote mounts that do not answer, as far as is known by now. Children ask them once in a run, all at once.
pub fn unreachable() -> Vec<Unreachable> {
    let below = below().silent.clone();
    silent_roots().iter().cloned().chain(below).collect()
}

/// Those that do not answer for the folder that they are mounted at.
fn silent_roots() -> &'static [Unreachable] {
    static ASKED: OnceLock<Vec<Unreachable>> = OnceLock::new();
    ASKED.get_or_init(|| {
        let mut seen = BTreeSet::new();
        let remote = mounts().iter().filter(|mount| mount.is_remote() && seen.insert(&mount.path));
        let asked: Vec<(&Mount, Option<Child>)> = remote.map(|mount| (mount, touch(ROOT, &mount.path))).collect();
        let end = Instant::now() + LIMIT;
        let mut found: Vec<Unreachable> = asked
            .into_iter()
            .filter_map(|(mount, child)| {
                let Some(error) = wait(child?, end) else {
                    below().answered.insert(mount.path.clone());
                    return None;
                };
                Some(Unreachable::new(mount, (!error.is_empty()).then_some(error)))
            })
            .collect();
        // An overlay with an upper folder of this machine answers for its root, whatever becomes of the layers below.
        let over_silent = |mount: &&Mount| {
            let is_known = found.iter().any(|known| known.path == mount.path);
            !is_known && found.iter().any(|known| mount.has_layer_below(&known.path))
        };
        let overlays: Vec<Unreachable> =
            mounts().iter().filter(over_silent).map(|mount| Unreachable::new(mount, None)).collect();
        found.extend(overlays);
        found
    })
}

/// What is known of paths below mounts that answered at first.
#[derive(Default)]
struct Below {
    answered: HashSet<PathBuf>,
    /// For how many paths a mount was asked.
    asked: HashMap<&'static Path, usize>,
    silent: Vec<Unreachable>,
    avoided: BTreeMap<PathBuf, Unreachable>,
}

fn below() -> MutexGuard<'static, Below> {
    static KNOWN: OnceLock<Mutex<Below>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl Below {
    /// Asks for `path`: a mount may answer for its root and be silent, or slow, further down.
    fn ask(&mut self, mount: &'static Mount, path: &Path) {
        let count = self.asked.entry(&mount.path).or_default();
        if *count == PATHS || self.answered.contains(path) {
            return;
        }
        // Where the folder was opened, the rest is taken at its word: on a slow mount each call counts.
        let is_in_opened = path.parent().is_some_and(|folder| self.answered.contains(folder));
        let script = if is_in_opened { NAMED } else { OPENED };
        *count += 1;
        // Whatever it says is an answer; an error is met again by who looks.
        let said = touch(script, path).and_then(|child| wait(child, Instant::now() + BELOW));
        if said.is_some_and(|error| error.is_empty()) {
            self.silent.push(Unreachable::new(mount, None));
        } else {
            self.answered.insert(path.to_owned());
        }
    }
}

/// Asks for the file system of a folder, and opens it.
const ROOT: &str = r#"stat -f --format=%i -- "$1" && exec dd if="$1" of=/dev/null bs=1 count=1 status=none"#;

/// Asks what a path leads to.
const NAMED: &str = r#"exec stat -L --format=%i -- "$1""#;

/// Opens a folder or a file, and reads a byte of a file: some servers answer for names alone. A pipe is not waited for.
const OPENED: &str = r#"exec dd if="$1" of=/dev/null bs=1 count=1 iflag=nonblock status=none"#;

/// Before [`OPENED`]: reads the first entry of a folder as well.
const LISTED: &str = r#"[ -d "$1" ] && exec find "$1" -maxdepth 0 -empty"#;

/// A child that touches `path` as `script` does. `None` where it can't be started: then nothing is known.
#[expect(clippy::disallowed_methods, reason = "a child that may never end must not be waited for")]
fn touch(script: &str, path: &Path) -> Option<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(path).current_dir("/").env_clear().env("LC_ALL", "C");
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()
}

/// Why the mount that `child` touches does not answer; an empty text where it says nothing, `None` where it answers.
fn wait(mut child: Child, end: Instant) -> Option<String> {
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                // It may not die before the mount answers: it is left to itself.
                let _ = child.kill();
                return Some(String::new());
            }
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(_)) => {
                let mut text = String::new();
                let _ = child.stderr.take().map(|mut pipe| std::io::Read::read_to_string(&mut pipe, &mut text));
                let is_gone = ["not connected", "Stale file handle", "Host is down", "Input/output error"];
                return is_gone.into_iter().find(|error| text.contains(error)).map(str::to_owned);
            }
            Err(_) => return None,
        }
    }
}

/// An error where `path` is below a mount that does not answer.
pub fn reach(path: &Path) -> IoResult<()> {
    static LOCAL: OnceLock<Mutex<HashMap<PathBuf, PathBuf>>> = OnceLock::new();
    if !has_remote() {
        return Ok(());
    }
    let Ok(path) = std::path::absolute(path) else { return Ok(()) };
    let path = path.as_path();
    // Thousands of files lie in few folders, of which the real places are kept.
    let known = LOCAL.get_or_init(Mutex::default);
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = path.parent().zip(path.file_name());
    if let Some((folder, name)) = entry
        && let Some(real) = lock().get(folder)
        && is_plain(&real.join(name))
    {
        return Ok(());
    }
    let Some(mount) = remote_mount_of(path)? else {
        let place = entry.map(|(folder, _)| Ok::<_, Error>((folder, resolve(folder)?)));
        if let Some((folder, (None, real))) = place.transpose()? {
            lock().insert(folder.to_owned(), real);
        }
        return Ok(());
    };
    let is_it = |one: &&Unreachable| one.path == mount.path;
    let root = silent_roots().iter().find(is_it);
    let mut below = below();
    if root.is_none() && !below.silent.iter().any(|one| is_it(&one)) {
        below.ask(mount, path);
    }
    let Some(gone) = root.or_else(|| below.silent.iter().find(is_it)).cloned() else { return Ok(()) };
    let error = gone.to_error();
    below.avoided.insert(gone.path.clone(), gone);
    Err(error)
}

/// The remote mount that `path` leads into, where it does not answer for it; it is not asked where it `has_failed`.
pub fn silent_at(path: &Path, has_failed: bool) -> Option<Unreachable> {
    let mount = remote_mount_of(path).ok()??;
    let error = if has_failed {
        Some(String::new())
    } else {
        touch(&format!("{LISTED}\n{OPENED}"), path).and_then(|child| wait(child, Instant::now() + BELOW))
    };
    Some(Unreachable::new(mount, Some(error?).filter(|error| !error.is_empty())))
}

/// The mounts below which something was wanted in this run, and not looked at.
pub fn avoided() -> Vec<Unreachable> {
    below().avoided.values().cloned().collect()
}

/// How long colab-boot waits for a program that has `limit`: less where a mount is silent, for the program may have run
/// into it.
pub fn limited(limit: Duration) -> Duration {
    if unreachable().is_empty() { limit } else { limit.min(MAY_HANG) }
}

/// `environment` for a child, without the folders and files of mounts that do not answer: the child would wait for ever
/// for the first that it looks at, be it of PATH, PYTHONPATH or HOME.
pub fn without_unreachable(environment: &BTreeMap<String, String>) -> Cow<'_, BTreeMap<String, String>> {
    if !has_remote() {
        return Cow::Borrowed(environment);
    }
    let kept = environment.iter().filter_map(|(name, value)| {
        let rest: Vec<&str> =
            value.split(':').filter(|entry| !entry.starts_with('/') || reach(Path::new(entry)).is_ok()).collect();
        (!rest.is_empty()).then(|| (name.clone(), rest.join(":")))
    });
    Cow::Owned(kept.collect())
}

/// A failure where one of `paths`, which the user has named, is below a mount that does not answer.
pub fn must_reach<'a, P: AsRef<Path> + ?Sized + 'a>(paths: impl IntoIterator<Item = &'a P>) -> Result<(), Failure> {
    for path in paths.into_iter().map(AsRef::as_ref) {
        let Err(error) = reach(path) else { continue };
        let code = code_of(&error);
        let finding = Finding::error(code, format!("`{}` can't be reached: {error}", path.display()));
        return Err(Failure::from_findings(
            Kind::World,
            vec![finding.with_help("after unmounting it, mount it again or name another path")],
        ));
    }
    Ok(())
}

fn code_of(error: &Error) -> Code {
    if error.kind() == ErrorKind::NotConnected { Code::MountDead } else { Code::MountHangs }
}

impl Unreachable {
    /// The failure of a run that waits for it, for ever.
    pub fn to_failure(&self) -> Failure {
        self.to_failure_of("the run was stopped: it")
    }

    /// The failure of a run because `who` waits for it, for ever.
    pub fn to_failure_of(&self, who: &str) -> Failure {
        let error = self.to_error();
        let finding = Finding::error(code_of(&error), format!("{who} waits for `{}`", self.path.display()));
        let finding = finding.about(Subject::mount(&self.path));
        let finding = finding
            .with_note(error.to_string())
            .with_help("after unmounting it, mount it again and run the same command");
        Failure::from_findings(Kind::World, vec![finding])
    }

    /// A warning for a run in which something below it was wanted.
    pub fn to_finding(&self) -> Finding {
        let error = self.to_error();
        Finding::warning(code_of(&error), format!("nothing below `{}` was checked", self.path.display()))
            .about(Subject::mount(&self.path))
            .with_note(error.to_string())
    }

    /// The line that unmounts it.
    pub fn unmounts(&self) -> String {
        format!("umount -l {}", shell_word(&self.path))
    }

    fn new(mount: &Mount, error: Option<String>) -> Self {
        Self { path: mount.path.clone(), kind: mount.kind.clone(), error }
    }

    fn to_error(&self) -> Error {
        let (path, kind) = (self.path.display(), &self.kind);
        let said = self.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
        let message = format!("the {kind} mount `{path}` does not answer{said}; unmount it with `{}`", self.unmounts());
        let kind = if self.error.is_some() { ErrorKind::NotConnected } else { ErrorKind::TimedOut };
        Error::new(kind, message)
    }
}
