//! What a user asked to be written: a lock, a script, a report, a cell. A regular file is replaced whole and keeps its
//! owner and mode, and a link stays a link; a device or a pipe is written through; `-` is stdout, which the caller
//! writes.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, XattrFlags};

use crate::core::diag::{Failure, shell_word};
use crate::core::host::files::{TEMPORARY, writing_failed};
use crate::core::host::mounts::{Look, must_be_there};
use crate::core::host::reads::{before, is_of_environment, was_read};
use crate::core::host::stamps::Stamp;

/// The names that mean stdout: written by themselves, a report and a script would write over each other where stdout is
/// a file.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// So many links lead to a file at most, as on Linux.
const LINKS: usize = 40;

/// What a run that was killed was writing is removed after so long.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// How a path is written.
#[derive(Debug)]
enum Destination {
    /// The file at the end of all links, which may not be there yet.
    Whole(PathBuf, Option<fs::Metadata>),
    /// A device, a pipe, or an open file of a process.
    Through,
}

/// Whether `path` means stdout.
pub fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path == Path::new(name))
}

/// Whether the file is a program, or makes a folder an environment of Python's.
fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    let is_elf = File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok() && start == *b"\x7fELF");
    is_elf || path.file_name().is_some_and(|name| name == "pyvenv.cfg")
}

/// Writes `bytes` to `path`, which [`is_stdout`] has not claimed. Fails without having changed anything, unless a
/// device does; also where the command line names `path`, and it was changed since the run began.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write(path, find(path)?, bytes)
}

/// As [`write_output`], of a report, which is never an edited form of what was read: fails where this run has read or
/// run the file, be it named or not, and in an environment. Reports of the run before may lie where it reads.
pub fn write_report(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let destination = find(path)?;
    let why = match &destination {
        Destination::Whole(at, Some(_)) if is_of_environment(at) => {
            Some("it belongs to the environment or to colab-boot")
        }
        Destination::Whole(at, Some(_)) if is_program(at) => Some("it is a program"),
        Destination::Whole(at, Some(old)) if was_read(old) && !is_report(at) => Some("the command read it"),
        _ => None,
    };
    match why {
        Some(why) => Err(Failure::input(format!("`{}` would be overwritten, but {why}", path.display()))
            .help("choose another output file")),
        None => write(path, destination, bytes),
    }
}

fn write(path: &Path, destination: Destination, bytes: &[u8]) -> Result<(), Failure> {
    match destination {
        Destination::Whole(at, old) => {
            if old.is_none() || !holds(&at, bytes) {
                old.iter().try_for_each(|old| may_be_written(path, old))?;
                before(path).map_or(Ok(()), |seen| must_be_as_seen(path, seen))?;
            }
            replace(&at, old.as_ref(), bytes)
        }
        Destination::Through => write_through(path, bytes),
    }
    .map_err(|error| writing_failed(path, &error))
}

/// An error where the file is write-protected: a rename replaces such a file, too.
fn may_be_written(path: &Path, old: &fs::Metadata) -> Result<(), Failure> {
    if old.mode() & 0o222 != 0 {
        return Ok(());
    }
    Err(Failure::input(format!("`{}` is write-protected", path.display()))
        .help(format!("allow it with `chmod u+w {}`, or write another file", shell_word(path))))
}

/// An error where what lies at `path` is not what was `seen` there: another program has saved it, or this run itself
/// has written it.
pub fn must_be_as_seen(path: &Path, seen: Stamp) -> Result<(), Failure> {
    if Stamp::of(path) == seen {
        return Ok(());
    }
    Err(Failure::world(format!("`{}` was changed while the command ran: it was not overwritten", path.display()))
        .help("run the command again, or choose another output file"))
}

/// Whether the file at `path` is `bytes`.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    path.look().is_ok_and(|data| data.len() == bytes.len() as u64) && fs::read(path).is_ok_and(|there| there == bytes)
}

/// An error where `written` could not be: known now, and not when the work is done.
pub fn must_have_folders(written: &[PathBuf]) -> Result<(), Failure> {
    written.iter().filter(|path| !is_stdout(path)).try_for_each(|path| must_have_a_folder(path))
}

/// An error where one file is named twice in `written`, or in `written` and in `read`: what is read would be lost.
pub fn must_be_apart(read: &[PathBuf], written: &[PathBuf]) -> Result<(), Failure> {
    if written.iter().filter(|path| is_stdout(path)).count() > 1 {
        return Err(Failure::input("two outputs would go to stdout").help("write one of them to a file"));
    }
    let written: Vec<&PathBuf> = written.iter().filter(|path| !is_stdout(path)).collect();
    for (at, path) in written.iter().enumerate() {
        if let Some(input) = read.iter().find(|input| is_same(input, path)) {
            return Err(Failure::input(format!("`{}` would be overwritten, but it is read", path.display()))
                .cause(format!("the command reads `{}`", input.display()))
                .help("choose another output file"));
        }
        if written[..at].iter().any(|other| is_same(other, path)) {
            return Err(Failure::input(format!("`{}` would be written twice", path.display()))
                .help("name a file for each output"));
        }
    }
    Ok(())
}

/// Endings of reports, which each run writes again, be it into a folder that it reads.
const REPORTS: &[&str] = &["json", "sarif", "html", "xml"];

fn is_report(path: &Path) -> bool {
    path.extension().is_some_and(|ending| REPORTS.iter().any(|one| ending == *one))
}

/// An error where one of `written` would replace a file of `folders`, which are read, and that is no report.
pub fn must_be_outside(folders: &[PathBuf], written: &[PathBuf]) -> Result<(), Failure> {
    let folders: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.real().ok()).collect();
    for path in written.iter().filter(|path| !is_stdout(path) && path.is_file_there()) {
        let Ok(real) = path.real() else { continue };
        if let Some(folder) = folders.iter().find(|folder| !is_report(&real) && real.starts_with(folder)) {
            return Err(Failure::input(format!("`{}` would be overwritten, but it is read", path.display()))
                .cause(format!("the command reads files in `{}`", folder.display()))
                .help("choose another output file, or give it the suffix `.json`, `.sarif` or `.html`"));
        }
    }
    Ok(())
}

/// Whether two paths are one regular file, or would be.
fn is_same(a: &Path, b: &Path) -> bool {
    match (a.look(), b.look()) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => std::path::absolute(a).ok() == std::path::absolute(b).ok(),
        _ => false,
    }
}

/// Follows the links of `path` one by one.
fn find(path: &Path) -> Result<Destination, Failure> {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        // `/dev/stdout` and `/dev/fd/63` lead to open files, which only the process that opened them may replace.
        if at.starts_with("/proc") {
            return Ok(Destination::Through);
        }
        let data = match at.look_at_entry() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return must_have_a_folder(&at).map(|()| Destination::Whole(at, None));
            }
            data => data.map_err(|error| writing_failed(path, &error))?,
        };
        if data.is_dir() {
            return Err(Failure::input(format!("`{}` is a folder", path.display())).help("name a file in it"));
        }
        if !data.is_symlink() {
            return Ok(if data.is_file() { Destination::Whole(at, Some(data)) } else { Destination::Through });
        }
        let folder = folder_of(&at);
        let open = folder.look().is_ok_and(|folder| folder.mode() & 0o002 != 0);
        if open && ![rustix::process::geteuid().as_raw(), 0].contains(&data.uid()) {
            return Err(Failure::input(format!("`{}` is a link of another user", at.display()))
                .cause("its folder is writable for every user, so it could point anywhere")
                .help("name a file in a folder of your own"));
        }
        let to = at.read_link().map_err(|error| writing_failed(path, &error))?;
        at = folder.join(to);
    }
    Err(Failure::input(format!("`{}` is a link that points to itself", path.display())))
}

/// An error where `path` can't be written because nothing is there to hold it: a slip of the pen is more likely than a
/// wish.
fn must_have_a_folder(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    let help = if folder.is_missing() { "create it first, or choose another file" } else { "choose another file" };
    must_be_there(folder, "there is no folder")
        .map(drop)
        .map_err(|failure| failure.cause(format!("the folder is needed to write `{}`", path.display())).help(help))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, old: Option<&fs::Metadata>, bytes: &[u8]) -> std::io::Result<()> {
    let folder = folder_of(path);
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    let new = file.as_file().metadata()?;
    remove_left_behind(folder, &new);
    if let Some(old) = old.filter(|old| (old.uid(), old.gid()) != (new.uid(), new.gid())) {
        keep_owner(file.as_file(), old);
    }
    let mode = old.map_or(0o644, |old| old.mode() & 0o7777);
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    if old.is_some() {
        copy_attributes(path, file.as_file());
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// Gives `file` the owner and group of `old`. Only root may give a file away; a group that one belongs to may have it.
pub fn keep_owner(file: &File, old: &fs::Metadata) {
    let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
}

/// Gives `to` the extended attributes of the file at `from`: access control lists, notes of the user's. What the system
/// keeps for itself is left.
fn copy_attributes(from: &Path, to: &File) {
    let mut names = vec![0; 64 << 10];
    let mut value = vec![0; 64 << 10];
    let length = rustix::fs::listxattr(from, names.as_mut_slice()).unwrap_or_default();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = rustix::fs::getxattr(from, name, value.as_mut_slice()) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// A pipe without a reader is an error at once, where opening it would wait for one for ever.
fn write_through(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(rustix::io::Errno::NXIO) => {
            return Err(std::io::Error::new(ErrorKind::BrokenPipe, "the pipe has no reader"));
        }
        opened => opened?,
    };
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.flush()
}

/// Removes what killed runs were writing to `folder` well before `new` was written: what is younger may belong to a run
/// at work.
fn remove_left_behind(folder: &Path, new: &fs::Metadata) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let is_old = |data: fs::Metadata| {
        let age = new.modified().ok().zip(data.modified().ok()).and_then(|(now, then)| now.duration_since(then).ok());
        data.is_file() && age.is_some_and(|age| age > LEFT_BEHIND)
    };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY)) {
        if entry.metadata().is_ok_and(is_old) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::write_output;
    use crate::core::host::files::{read_text, write_whole};
    use crate::core::host::reads::note_outputs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_may_not_be_written_keeps_its_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("n.ipynb");
        write_output(&path, b"mine").expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("a mode");
        let said = write_output(&path, b"new").expect_err("a refusal").to_string();
        assert!(said.contains("is write-protected"), "{said}");
        assert_eq!(read_text(&path, "file").expect("a file"), "mine");
        write_output(&path, b"mine").expect("nothing to write");
    }

    /// A run begins, a user saves, the run ends.
    #[test]
    fn what_was_saved_while_a_run_was_at_work_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        for (before, saved) in [(None, "mine"), (Some("old"), "mine"), (Some("old"), "old and more")] {
            let path = folder.path().join("p.lock");
            before.inspect(|text| write_whole(&path, text.as_bytes()).expect("a file"));
            note_outputs(std::slice::from_ref(&path));
            write_whole(&path, saved.as_bytes()).expect("a file");
            assert!(write_output(&path, b"new").is_err());
            assert_eq!(read_text(&path, "file").expect("a file"), saved);
            // Another run had the same answer.
            write_output(&path, saved.as_bytes()).expect("nothing is lost");
            std::fs::remove_file(&path).expect("a file");
        }
    }
}
