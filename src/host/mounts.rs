//! Mounts whose files are on another machine, or served by another process. Touching one whose server is silent blocks for ever, and no signal
//! helps; so a child process touches each of them first, and paths below one that does not answer are errors.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::diag::{Code, Failure, Finding, Kind};

/// How long the mounts have to answer, all at once.
const LIMIT: Duration = Duration::from_secs(2);

/// As many as Linux follows (`path_resolution(7)`).
const LINKS: usize = 40;

/// Kinds of file system whose files are somewhere else; so are those of FUSE.
const REMOTE: &[&str] =
    &["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "lustre", "ceph", "beegfs", "gpfs", "afs", "glusterfs"];

/// Whether files of this kind of file system are somewhere else.
pub fn is_remote(kind: &str) -> bool {
    let is_local = ["fuse.lxcfs", "fuse.fuse-overlayfs"].contains(&kind);
    kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.") && !is_local || REMOTE.contains(&kind)
}

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

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub path: PathBuf,
    /// `ext4`, `fuse.drive`, `nfs4`.
    pub kind: String,
}

impl Mount {
    /// Whether it has to be asked before it is touched. Without the root nothing here would run.
    pub fn is_remote(&self) -> bool {
        is_remote(&self.kind) && self.path != Path::new("/")
    }
}

/// The mounts of this process, those that hide others last.
fn mounts() -> &'static [Mount] {
    static MOUNTS: OnceLock<Vec<Mount>> = OnceLock::new();
    MOUNTS.get_or_init(|| {
        let bytes = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        mounts_of(&String::from_utf8_lossy(&bytes)).collect()
    })
}

/// The mounts that a text of `/proc/<pid>/mountinfo` names, in its order.
pub fn mounts_of(mountinfo: &str) -> impl Iterator<Item = Mount> {
    mountinfo.lines().filter_map(mount_of_line)
}

/// `36 35 98:0 / /mnt/with\040space rw,noatime shared:1 - ext3 /dev/root rw` (proc(5)).
fn mount_of_line(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let path = before.split(' ').nth(4)?;
    let plain = ["\\040", "\\011", "\\012", "\\134"].into_iter().zip([" ", "\t", "\n", "\\"]);
    let path = plain.fold(path.to_owned(), |path, (code, letter)| path.replace(code, letter));
    Some(Mount { path: path.into(), kind: after.split(' ').next()?.to_owned() })
}

/// The remote mounts that do not answer. They are asked once in a run, all at once, by children.
pub fn unreachable() -> &'static [Unreachable] {
    static ASKED: OnceLock<Vec<Unreachable>> = OnceLock::new();
    ASKED.get_or_init(|| {
        let mut seen = BTreeSet::new();
        let remote = mounts().iter().filter(|mount| mount.is_remote() && seen.insert(&mount.path));
        let asked: Vec<(&Mount, Option<Child>)> = remote.map(|mount| (mount, touch(&mount.path))).collect();
        let end = Instant::now() + LIMIT;
        let silent = |(mount, child): (&Mount, Option<Child>)| {
            let error = wait(child?, end)?;
            let error = (!error.is_empty()).then_some(error);
            Some(Unreachable { path: mount.path.clone(), kind: mount.kind.clone(), error })
        };
        asked.into_iter().filter_map(silent).collect()
    })
}

/// A child that asks the file system at `path` how large it is. `None` where it can't be started: then nothing is known.
#[expect(clippy::disallowed_methods, reason = "a child that may never end must not be waited for")]
fn touch(path: &Path) -> Option<Child> {
    let mut command = Command::new("stat");
    command.args(["-f", "--format=%i", "--"]).arg(path).current_dir("/").env_clear().env("LC_ALL", "C");
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
    if !mounts().iter().any(Mount::is_remote) {
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
    let Some(gone) = unreachable().iter().find(|one| one.path == mount.path) else { return Ok(()) };
    Err(gone.to_error())
}

/// A failure where one of `paths`, which the user has named, is below a mount that does not answer.
pub fn must_reach<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    for path in paths {
        let Err(error) = reach(path) else { continue };
        let code = if error.kind() == ErrorKind::NotConnected { Code::MountDead } else { Code::MountHangs };
        let finding = Finding::error(code, format!("`{}` can't be reached: {error}", path.display()));
        return Err(Failure::from_findings(
            Kind::World,
            vec![finding.with_help("then mount it again, or name another path")],
        ));
    }
    Ok(())
}

impl Unreachable {
    fn to_error(&self) -> Error {
        let (path, kind) = (self.path.display(), &self.kind);
        let said = self.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
        let message = format!("the {kind} mount `{path}` does not answer{said}; unmount it with `umount -l {path}`");
        let kind = if self.error.is_some() { ErrorKind::NotConnected } else { ErrorKind::TimedOut };
        Error::new(kind, message)
    }
}

/// Whether an entry of a folder of this machine is neither a mount nor a link.
fn is_plain(path: &Path) -> bool {
    let is_mount = mounts().iter().any(|mount| mount.path == path);
    !is_mount && !std::fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink())
}

/// The remote mount that `path` leads into.
fn remote_mount_of(path: &Path) -> IoResult<Option<&'static Mount>> {
    Ok(resolve(path)?.0)
}

/// The remote mount that `path` leads into, else its place without links. Nothing below a remote mount is touched to find out.
fn resolve(path: &Path) -> IoResult<(Option<&'static Mount>, PathBuf)> {
    let mut open: VecDeque<OsString> = parts(&std::path::absolute(path)?).collect();
    let mut place = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = open.pop_front() {
        if part == ".." {
            place.pop();
            continue;
        }
        place.push(&part);
        // What is mounted last at the longest path counts.
        let inside = mounts().iter().enumerate().filter(|(_, mount)| place.starts_with(&mount.path));
        let mount = inside.max_by_key(|(at, mount)| (mount.path.components().count(), *at)).map(|(_, mount)| mount);
        if let Some(mount) = mount.filter(|mount| mount.is_remote()) {
            return Ok((Some(mount), place));
        }
        let Ok(target) = std::fs::read_link(&place) else { continue };
        links += 1;
        if links > LINKS {
            return Ok((None, place));
        }
        place.pop();
        if target.is_absolute() {
            place = PathBuf::from("/");
        }
        for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
            open.push_front(part);
        }
    }
    Ok((None, place))
}

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

/// How long a remote folder is listed.
const LISTING: Duration = Duration::from_millis(1500);

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
    let bytes = receiver.recv_timeout(LISTING).unwrap_or_default();
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

/// Whether `path` leads to a remote mount.
pub fn is_elsewhere(path: &Path) -> bool {
    remote_mount_of(path).is_ok_and(|mount| mount.is_some())
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

/// Looks at paths, without touching a mount that does not answer: what is below one is not there.
pub trait Look {
    /// Whether there is anything.
    fn is_there(&self) -> bool;
    /// Whether there is a file.
    fn is_file_there(&self) -> bool;
    /// Whether there is a folder.
    fn is_folder_there(&self) -> bool;
    /// Of what the path leads to.
    fn look(&self) -> IoResult<Metadata>;
    /// Of the entry itself, which may be a link.
    fn look_at_entry(&self) -> IoResult<Metadata>;
    /// The path without links.
    fn real(&self) -> IoResult<PathBuf>;
}

#[expect(clippy::disallowed_methods, reason = "here alone, behind `reach`")]
impl Look for Path {
    fn is_there(&self) -> bool {
        self.look().is_ok()
    }

    fn is_file_there(&self) -> bool {
        self.look().is_ok_and(|data| data.is_file())
    }

    fn is_folder_there(&self) -> bool {
        self.look().is_ok_and(|data| data.is_dir())
    }

    fn look(&self) -> IoResult<Metadata> {
        reach(self)?;
        std::fs::metadata(self)
    }

    fn look_at_entry(&self) -> IoResult<Metadata> {
        reach(self)?;
        std::fs::symlink_metadata(self)
    }

    fn real(&self) -> IoResult<PathBuf> {
        reach(self)?;
        std::fs::canonicalize(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_remote, mount_of_line};

    #[test]
    fn mounts_are_read_as_linux_writes_them() {
        let mount =
            mount_of_line("36 35 98:0 / /mnt/my\\040drive rw,noatime shared:1 - fuse.drive drive rw").expect("a mount");
        assert_eq!((mount.path.to_str(), mount.kind.as_str()), (Some("/mnt/my drive"), "fuse.drive"));
        for (kind, remote) in
            [("fuse.drive", true), ("fuse", true), ("nfs4", true), ("ext4", false), ("fuse.lxcfs", false)]
        {
            assert_eq!(is_remote(kind), remote, "{kind}");
        }
    }
}
