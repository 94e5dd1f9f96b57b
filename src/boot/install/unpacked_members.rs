//! Members of wheels become files, on all cores: each is inflated, compared with the CRC-32 of the directory, hashed
//! and written once. Neighbours that are small are read together; behind a large member a second thread hashes and
//! writes what the first inflates. The wheels themselves are hashed beside it, from the same open files.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::boot::files::WrittenFile;
use crate::boot::index::not_locked;
use crate::boot::install::launcher::FirstLine;
use crate::core::diag::Failure;
use crate::core::host::files::writing_failed;
use crate::core::host::parallel::on_all_cores;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::{Engine, Flow, Malformed, Sink, Unpacker};
use crate::core::model::Sha256;
use crate::core::model::contents::Member;
use crate::core::model::digest::Hasher;

/// Members with fewer packed bytes are read together, in reads of so many bytes at most.
const SMALL: u64 = 128 << 10;
const TOGETHER: u64 = 1 << 20;

/// How much is read at once of what is larger.
const PIECE: usize = 256 << 10;

/// From so many bytes on, a second thread writes.
const LARGE: u64 = 32 << 20;

/// How many pieces wait for that thread at most.
const WAITING: usize = 8;

/// A wheel to be unpacked.
pub(super) struct Packed<'a> {
    pub path: &'a Path,
    pub file: File,
    /// What it looked like when it was opened.
    pub stamp: Stamp,
    pub sha256: Sha256,
    pub targets: Vec<MemberTarget<'a>>,
}

impl Packed<'_> {
    /// Fails where the wheel was changed while it was read.
    fn must_be_as_opened(&self) -> Result<(), Failure> {
        if Stamp::of_open(&self.file).is_ok_and(|now| now == self.stamp) {
            return Ok(());
        }
        let message = format!("`{}` was changed while it was read", self.path.display());
        Err(Failure::world(message).help("nothing was installed; run the command again"))
    }
}

/// A member, and the file that it becomes.
#[derive(Debug)]
pub(super) struct MemberTarget<'a> {
    pub member: &'a Member,
    /// Where it is written now, and where it will stand.
    pub path: PathBuf,
    pub place: PathBuf,
    pub executable: bool,
    /// A script, whose first line is written for this interpreter.
    pub python: Option<&'a Path>,
}

/// What can be done at once.
enum Task {
    /// Hash the wheel.
    Digest { wheel: usize },
    /// Unpack these targets, which lie one behind the other.
    Unpack { wheel: usize, from: usize, to: usize },
}

/// What came of a task: the place of a wheel in the list, and files of it.
type Unpacked = Result<(usize, Vec<WrittenFile>), Failure>;

/// Unpacks `wheels` and checks their digests. The folders of the targets exist, the files do not. Returns what was
/// written of each wheel; at the first failure the rest is left.
pub(super) fn unpack(
    wheels: &mut [Packed<'_>],
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Vec<WrittenFile>>, Failure> {
    for wheel in wheels.iter_mut() {
        wheel.targets.sort_by_key(|target| target.member.offset);
    }
    let wheels = &*wheels;
    let tasks = tasks(wheels)?;
    let failed = AtomicBool::new(false);
    let outcomes = on_all_cores(&tasks, |task| {
        if failed.load(Ordering::Relaxed) || is_stopped() {
            return None;
        }
        let outcome = perform(task, wheels);
        failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
        Some(outcome)
    });
    let mut files: Vec<Vec<WrittenFile>> = wheels.iter().map(|_| Vec::new()).collect();
    for outcome in outcomes {
        let (wheel, written) = outcome?;
        files[wheel].extend(written);
    }
    if is_stopped() {
        return Err(Failure::world("stopped before all wheels were unpacked"));
    }
    wheels.iter().try_for_each(Packed::must_be_as_opened)?;
    Ok(files)
}

/// Where a member ends at the latest: behind its header, which has two fields of 64 kB at most, and its data.
fn extent(member: &Member) -> u64 {
    let data = member.offset.saturating_add(member.compressed);
    member.end.min(data.saturating_add(30 + 2 * 65_535))
}

/// What there is to do, the longest first.
fn tasks(wheels: &[Packed<'_>]) -> Result<Vec<Task>, Failure> {
    let mut tasks: Vec<(u64, Task)> = Vec::new();
    for (wheel, packed) in wheels.iter().enumerate() {
        let size = packed.file.metadata().map_err(|error| unreadable(packed.path, &error))?.len();
        // Hashing is some five times as fast as inflating.
        tasks.push((size / 2, Task::Digest { wheel }));
        let mut from = 0;
        while let Some(first) = packed.targets.get(from) {
            let (start, mut to, mut unpacked) = (first.member.offset, from + 1, first.member.size);
            if first.member.compressed <= SMALL {
                while let Some(next) = packed.targets.get(to)
                    && next.member.compressed <= SMALL
                    && extent(next.member).saturating_sub(start) <= TOGETHER
                {
                    unpacked += next.member.size;
                    to += 1;
                }
            }
            tasks.push((unpacked, Task::Unpack { wheel, from, to }));
            from = to;
        }
    }
    tasks.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    Ok(tasks.into_iter().map(|(_, task)| task).collect())
}

fn perform(task: &Task, wheels: &[Packed<'_>]) -> Unpacked {
    match *task {
        Task::Digest { wheel } => check_digest(&wheels[wheel]).map(|()| (wheel, Vec::new())),
        Task::Unpack { wheel, from, to } => {
            let packed = &wheels[wheel];
            let targets = &packed.targets[from..to];
            let files = match targets {
                [one] if one.member.compressed > SMALL => vec![unpack_alone(packed, one)?],
                _ => unpack_together(packed, targets)?,
            };
            Ok((wheel, files))
        }
    }
}

/// Fails where the wheel is not the one that is locked.
fn check_digest(packed: &Packed<'_>) -> Result<(), Failure> {
    let (mut hasher, mut at, mut buffer) = (Hasher::default(), 0, vec![0; PIECE]);
    loop {
        let count = packed.file.read_at(&mut buffer, at).map_err(|error| unreadable(packed.path, &error))?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        at += count as u64;
    }
    match hasher.finish() {
        digest if digest == packed.sha256 => Ok(()),
        digest => Err(not_locked(packed.path, packed.sha256, Some(digest))),
    }
}

/// Unpacks `targets` from one read.
fn unpack_together(packed: &Packed<'_>, targets: &[MemberTarget<'_>]) -> Result<Vec<WrittenFile>, Failure> {
    let start = targets.first().map_or(0, |target| target.member.offset);
    let end = targets.iter().map(|target| extent(target.member)).max().unwrap_or(start);
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
    packed.file.read_exact_at(&mut bytes, start).map_err(|error| unreadable(packed.path, &error))?;
    let mut engine = Engine::default();
    let mut written = Vec::with_capacity(targets.len());
    for target in targets {
        let from = usize::try_from(target.member.offset - start).unwrap_or(0);
        let to = usize::try_from(extent(target.member) - start).unwrap_or(0);
        let mut output = Output::create(target)?;
        let mut unpacker = Unpacker::with(target.member, engine).map_err(|error| malformed(packed, &error))?;
        unpacker.take(&bytes[from..to], &mut output).map_err(|error| malformed(packed, &error))?;
        unpacker.finish().map_err(|error| output.refused(packed, &error))?;
        engine = unpacker.into_engine();
        written.push(output.close()?);
    }
    Ok(written)
}

/// Unpacks one target piece by piece.
fn unpack_alone(packed: &Packed<'_>, target: &MemberTarget<'_>) -> Result<WrittenFile, Failure> {
    let mut output = Output::create(target)?;
    if target.member.size < LARGE {
        pour(packed, target.member, &mut output)?;
        return output.close();
    }
    std::thread::scope(|scope| {
        let (sender, receiver): (SyncSender<Vec<u8>>, Receiver<Vec<u8>>) = sync_channel(WAITING);
        let writer = std::thread::Builder::new().spawn_scoped(scope, move || {
            for piece in receiver {
                output.write(&piece);
                if output.failed.is_some() {
                    break;
                }
            }
            output.close()
        });
        let writer = writer.map_err(|error| Failure::world("could not start a thread").because(&error))?;
        let mut relay = Relay { sender, piece: Vec::with_capacity(PIECE) };
        let poured = pour(packed, target.member, &mut relay);
        relay.flush();
        drop(relay);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        poured.and(written)
    })
}

/// Reads a member and gives what it unpacks to `sink`.
fn pour(packed: &Packed<'_>, member: &Member, sink: &mut dyn Sink) -> Result<(), Failure> {
    let mut unpacker = Unpacker::new(member).map_err(|error| malformed(packed, &error))?;
    let (mut at, mut buffer) = (member.offset, vec![0; PIECE]);
    while at < member.end {
        let most = usize::try_from(member.end - at).unwrap_or(PIECE).min(PIECE);
        let count = packed.file.read_at(&mut buffer[..most], at).map_err(|error| unreadable(packed.path, &error))?;
        let flow = unpacker.take(&buffer[..count], sink).map_err(|error| malformed(packed, &error))?;
        if count == 0 || flow == Flow::Enough {
            break;
        }
        at += count as u64;
    }
    unpacker.finish().map(drop).map_err(|error| malformed(packed, &error))
}

/// A file that is being written.
struct Output<'a> {
    target: &'a MemberTarget<'a>,
    file: File,
    hasher: Hasher,
    first: Option<FirstLine>,
    failed: Option<std::io::Error>,
}

impl<'a> Output<'a> {
    fn create(target: &'a MemberTarget<'a>) -> Result<Self, Failure> {
        let mode = mode_of(target.executable);
        let file = File::options().write(true).create_new(true).mode(mode).open(&target.path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                let place = target.place.display();
                return Failure::answer(format!("the wheel has two files for one place, `{place}`"))
                    .help("nothing was changed; choose another release");
            }
            writing_failed(&target.path, &error)
        })?;
        let first = target.python.map(|_| FirstLine::new());
        Ok(Self { target, file, hasher: Hasher::default(), first, failed: None })
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let Some((first, python)) = self.first.as_mut().zip(self.target.python) {
            let (made, behind) = first.take(bytes, python);
            rest = behind;
            self.write_as_it_is(&made);
        }
        self.write_as_it_is(rest);
    }

    fn write_as_it_is(&mut self, bytes: &[u8]) {
        if self.failed.is_none() && !bytes.is_empty() {
            self.hasher.update(bytes);
            self.failed = self.file.write_all(bytes).err();
        }
    }

    /// Why a member is not whole: the disk, else the wheel.
    fn refused(&mut self, packed: &Packed<'_>, error: &Malformed) -> Failure {
        self.failed.take().map_or_else(|| malformed(packed, error), |error| writing_failed(&self.target.path, &error))
    }

    fn close(mut self) -> Result<WrittenFile, Failure> {
        if let Some((first, python)) = self.first.as_mut().zip(self.target.python) {
            let made = first.finish(python);
            self.write_as_it_is(&made);
        }
        if let Some(error) = self.failed {
            return Err(writing_failed(&self.target.path, &error));
        }
        let (path, place) = (&self.target.path, self.target.place.clone());
        looked_at(&self.file, path, place, self.target.executable, self.hasher.finish())
    }
}

impl Sink for Output<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        self.write(bytes);
        Ok(if self.failed.is_some() { Flow::Enough } else { Flow::More })
    }
}

/// Gives pieces to another thread.
struct Relay {
    sender: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
}

impl Relay {
    fn flush(&mut self) -> bool {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        piece.is_empty() || self.sender.send(piece).is_ok()
    }
}

impl Sink for Relay {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        self.piece.extend_from_slice(bytes);
        let goes_on = self.piece.len() < PIECE || self.flush();
        Ok(if goes_on { Flow::More } else { Flow::Enough })
    }
}

/// Writes a whole file, as [`unpack`] writes those of wheels.
pub(super) fn write_made(path: &Path, place: PathBuf, bytes: &[u8], executable: bool) -> Result<WrittenFile, Failure> {
    let failed = |error: std::io::Error| writing_failed(path, &error);
    let options = File::options().write(true).create_new(true).mode(mode_of(executable)).clone();
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    looked_at(&file, path, place, executable, Sha256::of(bytes))
}

const fn mode_of(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

/// What a file looks like that was just written, once it has its mode, whatever the umask is.
fn looked_at(
    file: &File,
    path: &Path,
    place: PathBuf,
    executable: bool,
    sha256: Sha256,
) -> Result<WrittenFile, Failure> {
    let failed = |error: std::io::Error| writing_failed(path, &error);
    let data = file.metadata().map_err(failed)?;
    if data.mode() & 0o777 != mode_of(executable) {
        file.set_permissions(std::fs::Permissions::from_mode(mode_of(executable))).map_err(failed)?;
    }
    Ok(WrittenFile::of(place, &data, sha256))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::world(format!("could not read `{}`", path.display())).because(error)
}

fn malformed(packed: &Packed<'_>, error: &Malformed) -> Failure {
    Failure::answer(format!("`{}` can't be unpacked", packed.path.display()))
        .because(error)
        .help("nothing was installed; replace the file, or choose another release")
}
