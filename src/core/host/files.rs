//! Files: read with the path in every error, written whole or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::core::diag::{Failure, Kind};
use crate::core::host::mounts::{Look, reach};
use crate::core::host::reads::note;

/// The largest text we read as a whole: profiles, locks, markers, METADATA.
const TEXT_LIMIT: u64 = 16 << 20;

/// How the names of files begin that are being written.
pub(super) const TEMPORARY: &str = ".colab-boot-";

/// Opens a file to read it. A pipe or a device is an error, for reading it may never end, except below `/dev` and
/// `/proc`, which a user names on purpose: `/dev/stdin`, or what a shell makes of `<(…)`.
pub fn open(path: &Path) -> std::io::Result<File> {
    reach(path)?;
    // Without NONBLOCK, opening a pipe waits for its writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let data = file.metadata()?;
    if data.is_file() || data.is_dir() {
        note(&data);
        return Ok(file);
    }
    if !["/dev", "/proc"].iter().any(|folder| path.starts_with(folder)) {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is a pipe or a device, not a file"));
    }
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// Whether `error` is of a link that leads to itself.
pub fn is_loop(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Whose fault it is that a file can't be read: a folder, bytes that are no text or a link to itself are not the file
/// that the user meant.
fn kind_of(error: &std::io::Error) -> Kind {
    match error.kind() {
        ErrorKind::InvalidData | ErrorKind::IsADirectory | ErrorKind::InvalidInput => Kind::Input,
        _ if is_loop(error) => Kind::Input,
        _ => Kind::World,
    }
}

/// The text of `path`, or `None` where there is no such file.
pub fn read_optional(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |error: &std::io::Error| {
        Failure::new(kind_of(error), format!("could not read `{}`", path.display())).because(error)
    };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(&error)),
    };
    // What `take` hides: without it the text would arrive in small pieces.
    let size = file.metadata().map_or(0, |data| data.len().min(TEXT_LIMIT));
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(TEXT_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > TEXT_LIMIT {
        return Err(Failure::input(format!("`{}` is larger than {} MB", path.display(), TEXT_LIMIT >> 20)));
    }
    decode(bytes).map(Some).map_err(|error| failed(&error))
}

/// UTF-8, or UTF-16 behind its byte order mark: what `>` writes in Windows' PowerShell, and pip reads.
pub(super) fn decode(bytes: Vec<u8>) -> std::io::Result<String> {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).map_err(|_| {
            std::io::Error::new(ErrorKind::InvalidData, "it is neither UTF-8 nor UTF-16 with a byte order mark")
        }),
    }
}

fn wide(rest: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, std::io::Error> {
    let (units, odd) = rest.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(units.iter().copied().map(unit)).collect();
    text.ok()
        .filter(|_| odd.is_empty())
        .ok_or_else(|| std::io::Error::new(ErrorKind::InvalidData, "it is not valid UTF-16"))
}

/// The text of `path` up to its first empty line, or `None` where there is no such file.
pub fn read_to_blank_line(path: &Path) -> std::io::Result<Option<String>> {
    let mut file = match open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        opened => opened?.take(TEXT_LIMIT),
    };
    let mut bytes = vec![0; 8 << 10];
    let mut filled = 0;
    loop {
        let count = match file.read(&mut bytes[filled..]) {
            Err(error) if error.kind() == ErrorKind::IsADirectory => return Ok(None),
            read => read?,
        };
        // The two line ends may have come apart.
        let from = filled.saturating_sub(1);
        filled += count;
        let end = bytes[from..filled].windows(2).position(|two| two == b"\n\n").map(|at| from + at);
        if count == 0 || end.is_some() {
            bytes.truncate(end.unwrap_or(filled));
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
        if filled == bytes.len() {
            bytes.resize(filled * 2, 0);
        }
    }
}

/// The bytes of `path`, which may be `limit` at most.
pub fn read_bytes(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(std::io::Error::new(ErrorKind::InvalidData, format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// `path` from the root; the current folder is asked here alone.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::world(format!("could not find the folder of `{}`", path.display())).because(&error))
}

/// The first `count` bytes of a file; fewer or none where it has fewer or cannot be read.
pub fn read_start(path: &Path, count: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(count).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// At most `limit` bytes of standard input, whatever they are.
pub fn read_input(limit: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes over the beginning of a file that is there, in place: no room is needed that it has not.
pub fn overwrite(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.sync_data()
}

/// Where a link leads; `None` for what is none, or can't be looked at.
pub fn link_of(path: &Path) -> Option<PathBuf> {
    reach(path).ok()?;
    path.read_link().ok()
}

/// The last `limit` bytes of a log, whatever they are; nothing where it cannot be read.
pub fn read_end(path: &Path, limit: u64) -> String {
    String::from_utf8_lossy(&last_bytes(path, limit).unwrap_or_default()).into_owned()
}

fn last_bytes(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of `path`, which must exist; `what` names it for the user.
pub fn read_text(path: &Path, what: &str) -> Result<String, Failure> {
    read_optional(path)?.ok_or_else(|| Failure::input(format!("there is no {what} at `{}`", path.display())))
}

/// Writes `bytes` to `path` whole: a temporary file beside it, synced, then renamed. A killed run leaves the old file
/// or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(path, bytes, true).map_err(|error| writing_failed(path, &error))
}

/// Why `path` could not be written, with what helps.
pub fn writing_failed(path: &Path, error: &std::io::Error) -> Failure {
    let failure = Failure::world(format!("could not write `{}`", path.display())).because(error);
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            failure.help("free some disk space and run the command again")
        }
        ErrorKind::FileTooLarge => {
            failure.help("raise the limit on file sizes (`ulimit -f`) and run the command again")
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            failure.help("choose a folder that you may write to")
        }
        ErrorKind::BrokenPipe => failure.help("start the reader of the pipe first, or choose a file"),
        _ => failure,
    }
}

/// As [`write_whole`], without waiting for the disk: for caches, where a lost record costs a request.
pub fn write_whole_fast(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    replace(path, bytes, false)
}

fn replace(path: &Path, bytes: &[u8], durable: bool) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    reach(folder)?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    if durable {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    if durable { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes from `folder` what killed runs were writing; no run may be writing there now.
pub fn remove_temporaries(folder: &Path) -> Result<(), Failure> {
    names_in(folder)?.iter().filter(|name| is_temporary(name)).try_for_each(|name| remove_if_there(&folder.join(name)))
}

/// Whether a file of this name was being written: `.colab-boot-` and six letters or digits.
fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(TEMPORARY);
    random.is_some_and(|random| random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// What a user does who can't write into an environment, because of an error of this `kind`.
pub fn way_to_write(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ReadOnlyFilesystem => "mount the file system with write access, or use another environment",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free disk space, then run this command again",
        _ => "take ownership of the environment (`sudo chown -R` on its folder), or run the command as its owner",
    }
}

/// Creates `folder` and its parents, as the user's own would be.
pub fn create_folder(folder: &Path) -> Result<(), Failure> {
    reach(folder)
        .and_then(|()| fs::create_dir_all(folder))
        .map_err(|error| Failure::world(format!("could not create the folder `{}`", folder.display())).because(&error))
}

/// Creates `folder` and its parents, readable for its owner alone.
pub fn create_private_folder(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    reach(folder)
        .and_then(|()| fs::DirBuilder::new().recursive(true).mode(0o700).create(folder))
        .map_err(|error| Failure::world(format!("could not create the folder `{}`", folder.display())).because(&error))
}

/// Refuses a folder that another user owns or may write to: what lies in it decides what we do. `variable` names
/// another. One that is not there is fine, and so is one on a mount that does not answer: it is not read. A folder that
/// is written to is no link, a folder of settings may be one.
pub fn must_be_ours(folder: &Path, variable: &str, may_be_link: bool) -> Result<(), Failure> {
    let Ok(data) = (if may_be_link { folder.look() } else { folder.look_at_entry() }) else { return Ok(()) };
    let why = if data.is_symlink() { Some("it is a symbolic link") } else { others_in(&data) };
    let refused = |why: &str| {
        let help = format!("create a private one with `mkdir -m 700 FOLDER`, and set {variable} to it");
        Failure::world(format!("`{}` is not read: {why}", folder.display())).help(help)
    };
    why.map_or(Ok(()), |why| Err(refused(why)))
}

/// Why others have a say in what lies in a folder.
pub fn others_in(folder: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if folder.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (folder.mode() & 0o022 != 0).then_some("other users may write to it")
}

/// Removes a file; one that is not there is fine.
pub fn remove_if_there(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        // A file system that is read-only says so of what is not there, too.
        Err(error) if error.kind() != ErrorKind::NotFound && path.look_at_entry().is_ok() => {
            Err(Failure::world(format!("could not remove `{}`", path.display())).because(&error))
        }
        _ => Ok(()),
    }
}

/// The names in `folder`, sorted; none where there is no such folder. Names that are no text are left out.
pub fn names_in(folder: &Path) -> Result<Vec<String>, Failure> {
    match sorted_names(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
        other => other.map_err(|error| {
            Failure::world(format!("could not read the folder `{}`", folder.display())).because(&error)
        }),
    }
}

fn sorted_names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    reach(folder)?;
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Whether `path` is a file; an error if that can't be found out.
pub fn is_file(path: &Path) -> Result<bool, Failure> {
    match path.look() {
        Ok(data) => Ok(data.is_file()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(Failure::world(format!("could not read `{}`", path.display())).because(&error)),
    }
}

/// As [`names_in`], where a folder that can't be read is as good as an empty one.
pub fn names_if_any(folder: &Path) -> Vec<String> {
    names_in(folder).unwrap_or_default()
}

/// Bytes free for us on the file system that holds `path` or its nearest existing parent.
pub fn free_bytes(path: &Path) -> Option<u64> {
    reach(path).ok()?;
    let existing = path.ancestors().find(|ancestor| ancestor.is_there())?;
    let stat = rustix::fs::statvfs(existing).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// A file system, in bytes and inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    pub size: u64,
    /// For us.
    pub free: u64,
    pub inodes: u64,
    pub inodes_free: u64,
}

/// The file system that holds `path` (statvfs(3)); a mount that does not answer fails with `NotConnected`.
pub fn volume(path: &Path) -> std::io::Result<Volume> {
    reach(path)?;
    let stat = rustix::fs::statvfs(path)?;
    Ok(Volume {
        size: stat.f_blocks.saturating_mul(stat.f_frsize),
        free: stat.f_bavail.saturating_mul(stat.f_frsize),
        inodes: stat.f_files,
        inodes_free: stat.f_favail,
    })
}
