//! A wheel that is being downloaded, as others read it. What is here can be read; what is not is waited for. What was
//! hashed and read is let go, so that a wheel need neither fit into memory nor touch the disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error as IoError, Result as IoResult};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::boot::index::mutex::held;
use crate::boot::index::requested_bytes::Requests;
use crate::boot::index::spans::Spans;
use crate::core::diag::Failure;
use crate::core::host::bell::Bell;
use crate::core::host::files;
use crate::core::model::Sha256;
use crate::core::model::digest::Hasher;

/// The longest sleep of those that wait, should a ring be missed.
const LONGEST: Duration = Duration::from_secs(1);

/// One file.
pub struct Arrival {
    /// Where it lies once it is whole and has the right digest, if it is kept.
    path: PathBuf,
    bell: Arc<Bell>,
    /// How it can be read out of turn, where it comes in pieces.
    requests: Option<Requests>,
    state: Mutex<Received>,
    hashed: Mutex<(Hasher, u64)>,
}

#[derive(Default)]
struct Received {
    /// Once all of it is in its place: the file, and its length.
    file: Option<(Arc<File>, u64)>,
    /// Pieces in memory, by their places.
    blocks: BTreeMap<u64, Arc<Vec<u8>>>,
    /// What has arrived, and may have been let go.
    here: Spans,
    hashed: u64,
    /// What nobody will read.
    unwanted: Spans,
    /// What gets the room back that a block has taken.
    room: Option<Arc<Semaphore>>,
    /// Whether it is whole and as it should be, or why it won't be.
    ended: Option<Result<(), Failure>>,
}

impl Arrival {
    pub(super) fn new(path: PathBuf, bell: Arc<Bell>, requests: Option<Requests>) -> Self {
        Self { path, bell, requests, state: Mutex::default(), hashed: Mutex::default() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it has ended, if it has.
    pub fn ended(&self) -> Option<Result<(), Failure>> {
        held(&self.state).ended.clone()
    }

    /// Waits for the end.
    pub fn end(&self) -> Result<(), Failure> {
        self.wait(|state| state.ended.clone())
    }

    /// Whether `span` can be read without waiting; a file that will never come is no reason to wait either.
    pub fn has(&self, span: &Range<u64>) -> bool {
        let state = held(&self.state);
        state.ended.is_some() || state.here.has(span)
    }

    /// Its length; waits for the end of what does not come in pieces.
    pub(super) fn size(&self) -> IoResult<u64> {
        if let Some(requests) = &self.requests {
            return Ok(requests.size);
        }
        self.end().map_err(IoError::other)?;
        Ok(self.file().map_or(0, |(_, size)| size))
    }

    /// Reads what is at `at` now: from the file, else out of turn.
    pub(super) fn read_now(&self, buffer: &mut [u8], at: u64) -> IoResult<usize> {
        if let Some((file, _)) = self.file() {
            return file.read_at(buffer, at);
        }
        let out_of_turn = self.requests.as_ref().map(|requests| requests.read_at(buffer, at));
        match out_of_turn {
            Some(Ok(count)) => Ok(count),
            // A server that sends no parts sends the whole.
            failed => {
                self.end().map_err(IoError::other)?;
                match (self.file(), failed) {
                    (Some((file, _)), _) => file.read_at(buffer, at),
                    (None, Some(Err(failure))) => Err(IoError::other(failure)),
                    (None, _) => Err(IoError::other("it was not kept")),
                }
            }
        }
    }

    /// The file in its place, and its length, where there is one already.
    fn file(&self) -> Option<(Arc<File>, u64)> {
        held(&self.state).file.clone()
    }

    /// Reads what is here of as much as `buffer` takes, from `at` on: at least one byte but at the end of the file.
    /// Waits for it.
    pub(super) fn read_at(&self, buffer: &mut [u8], at: u64) -> IoResult<usize> {
        let block = self.wait(|state| {
            if let Some((start, block)) = state.blocks.range(..=at).next_back()
                && at - start < block.len() as u64
            {
                return Some(Ok(Readable::Block(Arc::clone(block), at - start)));
            }
            match (&state.ended, &state.file) {
                (Some(Err(failure)), _) => Some(Err(IoError::other(failure.clone()))),
                (_, Some((file, _))) => Some(Ok(Readable::File(Arc::clone(file)))),
                // An honest wheel has each byte in one member.
                _ => state.here.has(&(at..at + 1)).then(|| Err(IoError::other("its members overlap"))),
            }
        })?;
        match block {
            Readable::File(file) => file.read_at(buffer, at),
            Readable::Block(block, from) => {
                let bytes = &block[usize::try_from(from).unwrap_or(usize::MAX)..];
                let count = bytes.len().min(buffer.len());
                buffer[..count].copy_from_slice(&bytes[..count]);
                Ok(count)
            }
        }
    }

    fn wait<R>(&self, look: impl Fn(&Received) -> Option<R>) -> R {
        loop {
            let before = self.bell.count();
            if let Some(found) = look(&held(&self.state)) {
                return found;
            }
            self.bell.wait(before, LONGEST);
        }
    }

    /// Nobody will read anything but `wanted`.
    pub fn only(&self, wanted: impl Iterator<Item = Range<u64>>) {
        let mut all = Spans::default();
        wanted.for_each(|span| all.add(span));
        let mut state = held(&self.state);
        for gap in all.missing(0..u64::MAX) {
            state.unwanted.add(gap);
        }
        state.let_go(0..u64::MAX);
    }

    /// Nobody will read `span` again.
    pub fn was_read(&self, span: Range<u64>) {
        let mut state = held(&self.state);
        state.unwanted.add(span.clone());
        state.let_go(span);
    }

    /// Blocks will take bytes of `room`, and give them back.
    pub(super) fn takes(&self, room: Arc<Semaphore>) {
        held(&self.state).room = Some(room);
    }

    /// `block` is what is at `at`.
    pub(super) fn arrived(&self, at: u64, block: Vec<u8>) {
        let mut state = held(&self.state);
        state.here.add(at..at + block.len() as u64);
        state.blocks.insert(at, Arc::new(block));
        drop(state);
        self.bell.ring();
    }

    /// Hashes what has come behind what was hashed, unless another thread is at it.
    pub(super) fn hash(&self) {
        // What came while the other was about to leave is seen by one of both.
        while held(&self.state).next_to_hash().is_some() {
            let Ok(mut hashed) = self.hashed.try_lock() else { return };
            self.hash_on(&mut hashed);
        }
    }

    fn hash_on(&self, (hasher, at): &mut (Hasher, u64)) {
        loop {
            let next = held(&self.state).next_to_hash();
            let Some(block) = next else { return };
            hasher.update(&block);
            let from = *at;
            *at += block.len() as u64;
            let mut state = held(&self.state);
            state.hashed = *at;
            state.let_go(from..*at);
        }
    }

    /// The digest of the whole, and how many bytes it has; once.
    pub(super) fn digest(&self) -> (Sha256, u64) {
        let mut hashed = held(&self.hashed);
        self.hash_on(&mut hashed);
        (std::mem::take(&mut hashed.0).finish(), hashed.1)
    }

    /// It is whole and right, and lies in its place if that is where it is read from; or it never will be. Only the
    /// first end counts.
    pub fn ends(&self, how: Result<(), Failure>) {
        held(&self.state).ended.get_or_insert(how);
        self.bell.ring();
    }

    /// It is whole and right, and lies in its place.
    pub(super) fn ends_as_file(&self) -> Result<(), Failure> {
        let failed =
            |error: &IoError| Failure::world(format!("could not read `{}`", self.path.display())).because(error);
        let file = files::open(&self.path).map_err(|error| failed(&error))?;
        let size = file.metadata().map_err(|error| failed(&error))?.len();
        let mut state = held(&self.state);
        state.file = Some((Arc::new(file), size));
        state.here.add(0..size);
        drop(state);
        self.ends(Ok(()));
        Ok(())
    }
}

enum Readable {
    File(Arc<File>),
    /// From that byte on.
    Block(Arc<Vec<u8>>, u64),
}

impl Received {
    fn next_to_hash(&self) -> Option<Arc<Vec<u8>>> {
        self.blocks.get(&self.hashed).cloned()
    }

    /// Lets go of what of `span` was hashed and will not be read.
    fn let_go(&mut self, span: Range<u64>) {
        let first = self.blocks.range(..=span.start).next_back().map_or(span.start, |(at, _)| *at);
        let Self { blocks, unwanted, hashed, room, .. } = self;
        let gone = blocks.extract_if(first..span.end, |at, block| {
            let end = *at + block.len() as u64;
            end <= *hashed && unwanted.has(&(*at..end))
        });
        let bytes: usize = gone.map(|(_, block)| block.len()).sum();
        if let Some(room) = room {
            room.add_permits(bytes);
        }
    }
}
