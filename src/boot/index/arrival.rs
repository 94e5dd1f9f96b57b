//! A wheel that is being downloaded, as others read it. What is here can be read; what is not is waited for. What was
//! hashed and read is let go, so that a wheel need neither fit into memory nor touch the disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error as IoError, Result as IoResult};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::boot::index::requested_bytes::Requests;
use crate::boot::index::room::Room;
use crate::boot::index::spans::Spans;
use crate::core::diag::Failure;
use crate::core::host::bell::Bell;
use crate::core::host::files;
use crate::core::host::mutex::held;
use crate::core::model::Sha256;
use crate::core::model::digest::Hasher;

/// One file.
pub struct Arrival {
    /// Where it lies once it is whole and has the right digest, if it is kept.
    path: PathBuf,
    bell: Arc<Bell>,
    /// How it can be read out of turn, where it comes in pieces.
    requests: Option<Requests>,
    state: Mutex<Received>,
    /// Of the first bytes, as many as the state says.
    hasher: Mutex<Hasher>,
}

#[derive(Default)]
struct Received {
    /// Once all of it is in its place: the file, and its length.
    file: Option<(Arc<File>, u64)>,
    /// Pieces in memory, by their places.
    blocks: BTreeMap<u64, Arc<Vec<u8>>>,
    /// What has arrived, and may have been let go.
    here: Spans,
    /// How many bytes were hashed, from the beginning on.
    hashed: u64,
    /// Bytes that no reader needs, or needs again.
    unwanted: Spans,
    /// What was asked for out of turn, and is believed only as far as the bytes that are hashed are the same.
    asked: Vec<(u64, Vec<u8>)>,
    /// What gets the room back that a block has taken.
    room: Option<Arc<Room>>,
    /// The server does not support ranges: the whole file will lie in its place.
    comes_whole: bool,
    /// The failure because of which the readers have stopped.
    given_up: Option<Failure>,
    /// Whether it is whole and as it should be, or why it won't be.
    ended: Option<Result<(), Failure>>,
}

impl Arrival {
    pub(super) fn new(path: PathBuf, bell: Arc<Bell>, requests: Option<Requests>) -> Self {
        Self { path, bell, requests, state: Mutex::default(), hasher: Mutex::default() }
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
        let here = held(&self.state).readable_at(at);
        if let Some(here) = here {
            return here.read_at(buffer, at);
        }
        let is_over = || self.ended().is_some();
        let out_of_turn = self.requests.as_ref().map(|requests| requests.read_at(buffer, at, is_over));
        match out_of_turn {
            Some(Ok((count, answer))) => {
                if let Some((start, bytes)) = answer {
                    self.compare_answer(start, bytes).map_err(IoError::other)?;
                }
                Ok(count)
            }
            failed => {
                // A server that sends no parts sends the whole. Otherwise there will be no file to read.
                let is_over = self.wait(|state| {
                    let is_over = state.comes_whole || state.ended.is_some() || self.requests.is_none();
                    (is_over || state.here.count() > 0).then_some(is_over)
                });
                if is_over {
                    self.end().map_err(IoError::other)?;
                }
                let here = held(&self.state).readable_at(at);
                match (here, failed) {
                    (Some(here), _) => here.read_at(buffer, at),
                    (None, Some(Err(failure))) => Err(IoError::other(self.given_up().unwrap_or(failure))),
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
            if let Some(Err(failure)) = &state.ended {
                return Some(Err(IoError::other(failure.clone())));
            }
            let readable = state.readable_at(at).map(Ok);
            // An honest wheel has each byte in one member.
            readable.or_else(|| {
                let gone = || state.given_up.clone().map_or(IoError::other("its members overlap"), IoError::other);
                state.here.has(&(at..at + 1)).then(|| Err(gone()))
            })
        })?;
        block.read_at(buffer, at)
    }

    fn wait<R>(&self, look: impl Fn(&Received) -> Option<R>) -> R {
        loop {
            let before = self.bell.count();
            if let Some(found) = look(&held(&self.state)) {
                return found;
            }
            self.bell.wait(before);
        }
    }

    /// Readers need the spans in `wanted` alone; blocks beside them are let go once they are hashed.
    pub fn only(&self, wanted: impl Iterator<Item = Range<u64>>) {
        let mut all = Spans::default();
        wanted.for_each(|span| all.add(span));
        let mut state = held(&self.state);
        for gap in all.missing(0..u64::MAX) {
            state.unwanted.add(gap);
        }
        state.let_go(0..u64::MAX);
    }

    /// The readers have stopped because of `failure`. The download goes on, and its digest is checked.
    pub(super) fn give_up(&self, failure: &Failure) {
        held(&self.state).given_up.get_or_insert_with(|| failure.clone());
        self.only(std::iter::empty());
    }

    fn given_up(&self) -> Option<Failure> {
        held(&self.state).given_up.clone()
    }

    /// The server does not support ranges.
    pub(super) fn comes_whole(&self) {
        held(&self.state).comes_whole = true;
        self.bell.ring();
    }

    /// A reader has read `span`, and no reader needs it again.
    pub fn was_read(&self, span: Range<u64>) {
        let mut state = held(&self.state);
        state.unwanted.add(span.clone());
        state.let_go(span);
    }

    /// Blocks will take bytes of `room`, and give them back.
    pub(super) fn takes(&self, room: Arc<Room>) {
        held(&self.state).room = Some(room);
    }

    /// `bytes` are what the server has answered out of turn. Fails where it sends something else in turn.
    fn compare_answer(&self, start: u64, bytes: Vec<u8>) -> Result<(), Failure> {
        let mut state = held(&self.state);
        let missing = state.here.missing(start..start + bytes.len() as u64);
        let missing: u64 = missing.iter().map(|gap| gap.end - gap.start).sum();
        let equal: Option<u64> = state.blocks.iter().map(|(at, block)| equal_bytes(*at, block, start, &bytes)).sum();
        // What was let go before can't be compared any more.
        if equal.is_none_or(|equal| equal + missing != bytes.len() as u64) {
            let given_up = state.given_up.clone();
            return Err(given_up.unwrap_or_else(|| self.other_bytes()));
        }
        state.asked.push((start, bytes));
        Ok(())
    }

    pub(super) fn other_bytes(&self) -> Failure {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Failure::answer(format!("the server sends other bytes of `{file}` each time that it is asked"))
            .help("nothing was installed; report it to the operator of the index")
    }

    /// `block` is what is at `at`; `false`, and nothing else, where an answer out of turn was another.
    pub(super) fn arrived(&self, at: u64, block: Arc<Vec<u8>>) -> bool {
        let mut state = held(&self.state);
        if state.asked.iter().any(|(start, bytes)| equal_bytes(at, &block, *start, bytes).is_none()) {
            return false;
        }
        if matches!(state.ended, Some(Err(_))) {
            state.give_back(block);
            return true;
        }
        state.here.add(at..at + block.len() as u64);
        state.blocks.insert(at, block);
        drop(state);
        self.bell.ring();
        true
    }

    /// Hashes what has come behind what was hashed, unless another thread is at it.
    pub(super) fn hash(&self) {
        // What came while the other was about to leave is seen by one of both.
        while held(&self.state).next_to_hash().is_some() {
            let Ok(mut hasher) = self.hasher.try_lock() else { return };
            self.hash_on(&mut hasher);
        }
    }

    fn hash_on(&self, hasher: &mut Hasher) {
        loop {
            let next = held(&self.state).next_to_hash();
            let Some(block) = next else { return };
            hasher.update(&block);
            let mut state = held(&self.state);
            let from = state.hashed;
            state.hashed += block.len() as u64;
            let to = state.hashed;
            drop(block);
            state.let_go(from..to);
        }
    }

    /// The digest of the whole; once.
    pub(super) fn digest(&self) -> Sha256 {
        let mut hasher = held(&self.hasher);
        self.hash_on(&mut hasher);
        std::mem::take(&mut *hasher).finish()
    }

    /// It is whole and right, and lies in its place if that is where it is read from; or it never will be. Only the
    /// first end counts.
    pub fn ends(&self, how: Result<(), Failure>) {
        let mut state = held(&self.state);
        if state.ended.get_or_insert(how).is_err() {
            // Others need the room.
            for (_, block) in std::mem::take(&mut state.blocks) {
                state.give_back(block);
            }
        }
        drop(state);
        self.bell.ring();
    }

    /// It is whole and right, and lies in its place.
    pub(super) fn ends_as_file(&self) -> Result<(), Failure> {
        let failed =
            |error: &IoError| Failure::world(format!("could not read `{}`", self.path.display())).because(error);
        let file = files::open(&self.path).map_err(|error| failed(&error))?;
        let size = file.metadata().map_err(|error| failed(&error))?.len();
        let mut state = held(&self.state);
        for (start, bytes) in &state.asked {
            let mut own = vec![0; bytes.len()];
            file.read_exact_at(&mut own, *start).map_err(|error| failed(&error))?;
            if own != *bytes {
                return Err(self.other_bytes());
            }
        }
        state.file = Some((Arc::new(file), size));
        state.here.add(0..size);
        drop(state);
        self.ends(Ok(()));
        Ok(())
    }
}

/// How many bytes two pieces of a file have both, which lie at these places in it; `None` where those bytes differ.
fn equal_bytes(at: u64, one: &[u8], start: u64, other: &[u8]) -> Option<u64> {
    let (from, to) = (at.max(start), (at + one.len() as u64).min(start + other.len() as u64));
    if from >= to {
        return Some(0);
    }
    let part = |place: u64| Some(usize::try_from(from - place).ok()?..usize::try_from(to - place).ok()?);
    (one.get(part(at)?)? == other.get(part(start)?)?).then_some(to - from)
}

enum Readable {
    File(Arc<File>),
    /// And its place.
    Block(Arc<Vec<u8>>, u64),
}

impl Readable {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> IoResult<usize> {
        match self {
            Self::File(file) => file.read_at(buffer, at),
            Self::Block(block, start) => {
                let bytes = usize::try_from(at - start).ok().and_then(|from| block.get(from..)).unwrap_or_default();
                let count = bytes.len().min(buffer.len());
                buffer[..count].copy_from_slice(&bytes[..count]);
                Ok(count)
            }
        }
    }
}

impl Received {
    /// What holds the byte at `at`.
    fn readable_at(&self, at: u64) -> Option<Readable> {
        if let Some((file, _)) = &self.file {
            return Some(Readable::File(Arc::clone(file)));
        }
        let (start, block) = self.blocks.range(..=at).next_back()?;
        (at - start < block.len() as u64).then(|| Readable::Block(Arc::clone(block), *start))
    }

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
        for (_, block) in gone {
            if let Some(room) = room {
                room.take_back(block);
            }
        }
    }

    /// No reader needs `block`.
    fn give_back(&self, block: Arc<Vec<u8>>) {
        if let Some(room) = &self.room {
            room.take_back(block);
        }
    }
}
