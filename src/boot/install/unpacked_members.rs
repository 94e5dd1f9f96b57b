//! Members of wheels become files, on all cores: each is inflated, compared with the CRC-32 of the directory, hashed
//! and written once. Neighbours that are small are read together; behind a large member a second thread hashes and
//! writes what the first inflates. The wheels themselves are hashed beside it, from the same open files.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::boot::files::WrittenFile;
use crate::boot::index::{OpenWheel, not_locked};
use crate::boot::install::output::Output;
use crate::boot::install::packed::{MemberTarget, Packed, malformed, unreadable};
use crate::boot::install::queue::{Needs, OnWheel, Task};
use crate::boot::install::stored_members::bring_stored;
use crate::core::diag::Failure;
use crate::core::inspect::{Flow, Malformed, Sink, Unpacker, WholeUnpacker};
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

/// So many files are brought from the store in one go.
const LINKED: usize = 256;

/// From so many packed bytes on, a member is unpacked while it arrives.
const STREAMED: u64 = 4 << 20;

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
    /// Bring these from the store.
    Stored { from: usize, to: usize },
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
    if packed.open.stored().is_some() {
        let starts = (0..packed.targets.len().max(1)).step_by(LINKED);
        let ends = starts.clone().map(|from| (from, (from + LINKED).min(packed.targets.len())));
        return ends.map(|(from, to)| task(0, Portion::Stored { from, to }, Needs::Span(0..0))).collect();
    }
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

impl Unpacking {
    /// Does it; returns what was written.
    pub(super) fn perform(&self) -> Result<Vec<WrittenFile>, Failure> {
        let (from, to) = match self.portion {
            Portion::Digest => return check_digest(&self.packed).map(|()| Vec::new()),
            Portion::Stored { from, to } => return bring_stored(&self.packed, &self.packed.targets[from..to]),
            Portion::Targets { from, to } => (from, to),
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
        written.push(output.close(packed)?);
    }
    Ok(written)
}

/// Unpacks one target piece by piece.
fn unpack_alone(packed: &Packed, target: &MemberTarget) -> Result<WrittenFile, Failure> {
    let mut output = Output::create(target)?;
    let member = packed.member(target);
    if member.size < LARGE {
        pour(packed, member, &mut output)?;
        return output.close(packed);
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
            output.close(packed)
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
