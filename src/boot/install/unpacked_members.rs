//! Members of wheels become files, on all cores: each is inflated, compared with the CRC-32 of the directory, hashed
//! and written once. Neighbours that are small are read together; behind a large member a second thread hashes and
//! writes what the first inflates. The wheels themselves are hashed beside it, from the same open files.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::boot::files::{Downloaded, WrittenFile};
use crate::boot::index::{OpenWheel, failure_in, not_locked};
use crate::boot::install::launcher::FirstLine;
use crate::boot::install::queue::{Needs, OnWheel, Task};
use crate::core::diag::Failure;
use crate::core::host::files::writing_failed;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::{Flow, Malformed, Sink, Unpacker, WholeUnpacker};
use crate::core::model::Sha256;
use crate::core::model::contents::Member;
use crate::core::model::digest::Hasher;

/// Members with at most so many bytes, packed and unpacked, are unpacked at once; neighbours are read together, in
/// reads of so many bytes at most.
const SMALL: u64 = 1 << 20;
const SMALL_UNPACKED: u64 = 4 << 20;
const TOGETHER: u64 = 1 << 20;

/// How much is read at once of what is larger.
const PIECE: usize = 256 << 10;

/// From so many bytes on, a second thread writes.
const LARGE: u64 = 32 << 20;

/// How many pieces wait for that thread at most.
const WAITING: usize = 8;

/// From so many packed bytes on, a member is unpacked while it arrives.
const STREAMED: u64 = 4 << 20;

/// A wheel that is being unpacked.
pub(super) struct Packed {
    /// Its number in the stage.
    pub at: usize,
    pub path: PathBuf,
    pub open: OpenWheel,
    /// What it looked like when it was opened, where it is a file of others.
    pub stamp: Stamp,
    pub sha256: Sha256,
    pub wheel: Arc<Downloaded>,
    /// In the order of their members.
    pub targets: Vec<MemberTarget>,
}

impl Packed {
    /// Fails where the wheel was changed while it was read.
    pub(super) fn must_be_as_opened(&self) -> Result<(), Failure> {
        if self.open.file().is_none_or(|file| Stamp::of_open(file).is_ok_and(|now| now == self.stamp)) {
            return Ok(());
        }
        let message = format!("`{}` was changed while it was read", self.path.display());
        Err(Failure::world(message).help("nothing was installed; run the command again"))
    }
}

/// A member, and the file that it becomes.
#[derive(Debug)]
pub(super) struct MemberTarget {
    /// Its number in the directory.
    pub member: usize,
    /// Where it is written now, and where it will stand.
    pub path: PathBuf,
    pub place: PathBuf,
    pub executable: bool,
    /// A script, whose first line is written for this interpreter.
    pub python: Option<Arc<Path>>,
}

/// What is done in one go.
pub(super) struct Unpacking {
    pub packed: Arc<Packed>,
    portion: Portion,
}

enum Portion {
    /// See that the wheel is the one that is locked.
    Digest,
    /// Unpack these targets, which lie one behind the other.
    Targets { from: usize, to: usize },
}

impl OnWheel for Unpacking {
    fn wheel(&self) -> &OpenWheel {
        &self.packed.open
    }

    fn number(&self) -> usize {
        self.packed.at
    }
}

/// Where a member ends at the latest: behind its header, which has two fields of 64 kB at most, and its data.
fn extent(member: &Member) -> u64 {
    let data = member.offset.saturating_add(member.compressed);
    member.end.min(data.saturating_add(30 + 2 * 65_535))
}

fn is_small(member: &Member) -> bool {
    member.compressed <= SMALL && member.size <= SMALL_UNPACKED
}

/// What there is to do for `packed`; of a download, nothing else will be read. The folders of its targets exist, the
/// files do not.
pub(super) fn tasks_of(packed: &Arc<Packed>) -> Vec<Task<Unpacking>> {
    let task = |weight, portion, needs| Task { weight, work: Unpacking { packed: Arc::clone(packed), portion }, needs };
    // Hashing is some five times as fast as inflating.
    let mut tasks = vec![task(packed.open.size() / 2, Portion::Digest, Needs::End)];
    let member = |at: usize| Some(packed.member(packed.targets.get(at)?));
    let mut from = 0;
    while let Some(first) = member(from) {
        let (start, mut end, mut to, mut weight) = (first.offset, extent(first), from + 1, first.size);
        if is_small(first) {
            while let Some(next) = member(to)
                && is_small(next)
                && extent(next).saturating_sub(start) <= TOGETHER
            {
                weight += next.size;
                end = end.max(extent(next));
                to += 1;
            }
        }
        let arrives = packed.open.arrival().is_some();
        let needs =
            if arrives && first.compressed >= STREAMED { Needs::Begun(start..end) } else { Needs::Span(start..end) };
        tasks.push(task(weight, Portion::Targets { from, to }, needs));
        from = to;
    }
    if let Some(arrival) = packed.open.arrival() {
        arrival.only(tasks.iter().filter_map(|task| task.needs.span()));
    }
    tasks
}

impl Packed {
    fn member(&self, target: &MemberTarget) -> &Member {
        &self.wheel.files.members[target.member]
    }
}

impl Unpacking {
    /// Does it; returns what was written.
    pub(super) fn perform(&self) -> Result<Vec<WrittenFile>, Failure> {
        let Portion::Targets { from, to } = self.portion else {
            return check_digest(&self.packed).map(|()| Vec::new());
        };
        match &self.packed.targets[from..to] {
            [one] if !is_small(self.packed.member(one)) => Ok(vec![unpack_alone(&self.packed, one)?]),
            targets => unpack_together(&self.packed, targets),
        }
    }
}

/// Fails where the wheel is not the one that is locked.
fn check_digest(packed: &Packed) -> Result<(), Failure> {
    if let Some(arrival) = packed.open.arrival() {
        // It was hashed as it came.
        return arrival.end();
    }
    let (mut hasher, mut at, mut buffer) = (Hasher::default(), 0, vec![0; PIECE]);
    loop {
        let count = packed.open.read_at(&mut buffer, at).map_err(|error| unreadable(&packed.path, &error))?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        at += count as u64;
    }
    match hasher.finish() {
        digest if digest == packed.sha256 => Ok(()),
        digest => Err(not_locked(&packed.path, packed.sha256, Some(digest))),
    }
}

/// Unpacks `targets` from one read.
fn unpack_together(packed: &Packed, targets: &[MemberTarget]) -> Result<Vec<WrittenFile>, Failure> {
    let start = targets.first().map_or(0, |target| packed.member(target).offset);
    let end = targets.iter().map(|target| extent(packed.member(target))).max().unwrap_or(start);
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
    packed.open.read_exact_at(&mut bytes, start).map_err(|error| unreadable(&packed.path, &error))?;
    packed.open.was_read(start..end);
    let mut unpacker = WholeUnpacker::default();
    let mut written = Vec::with_capacity(targets.len());
    for target in targets {
        let member = packed.member(target);
        let from = usize::try_from(member.offset - start).unwrap_or(0);
        let to = usize::try_from(extent(member) - start).unwrap_or(0);
        let unpacked = unpacker.unpack(member, &bytes[from..to]).map_err(|error| malformed(packed, &error))?;
        let mut output = Output::create(target)?;
        output.write(unpacked);
        written.push(output.close()?);
    }
    Ok(written)
}

/// Unpacks one target piece by piece.
fn unpack_alone(packed: &Packed, target: &MemberTarget) -> Result<WrittenFile, Failure> {
    let mut output = Output::create(target)?;
    let member = packed.member(target);
    if member.size < LARGE {
        pour(packed, member, &mut output)?;
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
        let poured = pour(packed, member, &mut relay);
        relay.flush();
        drop(relay);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        poured.and(written)
    })
}

/// Reads a member and gives what it unpacks to `sink`.
fn pour(packed: &Packed, member: &Member, sink: &mut dyn Sink) -> Result<(), Failure> {
    let mut unpacker = Unpacker::new(member).map_err(|error| malformed(packed, &error))?;
    let (mut at, mut buffer) = (member.offset, vec![0; PIECE]);
    let end = extent(member);
    while at < end {
        let most = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
        let count = packed.open.read_at(&mut buffer[..most], at).map_err(|error| unreadable(&packed.path, &error))?;
        packed.open.was_read(at..at + count as u64);
        let flow = unpacker.take(&buffer[..count], sink).map_err(|error| malformed(packed, &error))?;
        if count == 0 || flow == Flow::Enough {
            break;
        }
        at += count as u64;
    }
    packed.open.was_read(member.offset..end);
    unpacker.finish().map(drop).map_err(|error| malformed(packed, &error))
}

/// A file that is being written.
struct Output<'a> {
    target: &'a MemberTarget,
    file: File,
    hasher: Hasher,
    first: Option<FirstLine>,
    failed: Option<std::io::Error>,
}

impl<'a> Output<'a> {
    fn create(target: &'a MemberTarget) -> Result<Self, Failure> {
        let mode = mode_of(target.executable);
        let file = File::options().write(true).create_new(true).mode(mode).open(&target.path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                let place = target.place.display();
                return Failure::answer(format!("the wheel has two files for one place, `{place}`"))
                    .help("nothing was changed; choose another release");
            }
            writing_failed(&target.path, &error)
        })?;
        let first = target.python.as_ref().map(|_| FirstLine::new());
        Ok(Self { target, file, hasher: Hasher::default(), first, failed: None })
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let Some((first, python)) = self.first.as_mut().zip(self.target.python.as_deref()) {
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

    fn close(mut self) -> Result<WrittenFile, Failure> {
        if let Some((first, python)) = self.first.as_mut().zip(self.target.python.as_deref()) {
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

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    if let Some(failure) = failure_in(error) {
        return failure;
    }
    Failure::world(format!("could not read `{}`", path.display())).because(error)
}

fn malformed(packed: &Packed, error: &Malformed) -> Failure {
    Failure::answer(format!("`{}` can't be unpacked", packed.path.display()))
        .because(error)
        .help("nothing was installed; replace the file, or choose another release")
}
