//! One large file from an index, in pieces over several connections, of which few are in memory at once: the next comes
//! when an earlier one was read. What comes slowly, or is to be kept, is written to a part as well, with a list of what
//! is in it, so that another run can go on.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream;
use reqwest::StatusCode;
use reqwest::header::CONTENT_RANGE;
use tokio::sync::Semaphore;
use tokio::task::block_in_place;

use crate::boot::index::arrival::Arrival;
use crate::boot::index::client::Http;
use crate::boot::index::exchange::ByteSpan;
use crate::boot::index::headers::{part as part_of, text_of};
use crate::boot::index::one_stream::{KEPT, bring_whole, not_written, open_part, pour};
use crate::boot::index::retry::{Miss, Retries, refused};
use crate::boot::index::room::{BLOCK, Room};
use crate::boot::index::spans::Spans;
use crate::boot::index::wanted_file::{WantedFile, not_locked};
use crate::boot::index::wheel_source::failure_in;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::mutex::held;
use crate::core::host::stamps::Stamp;

/// Bytes of a piece. Smaller ones cost more requests, larger ones more memory.
const PIECE: u64 = 4 << 20;

/// The first piece, which shows whether the server sends pieces at all.
const FIRST: u64 = 256 << 10;

/// Connections that bring pieces, of all files.
const CONNECTIONS: usize = 8;

/// Bytes that are in memory at most, of all files.
const ROOM: usize = 40 << 20;

/// Below so many bytes a second, as far as the first seconds tell, what comes is written to the disk: to fetch it again
/// would take minutes.
const SLOW: u64 = 32 << 20;
const FIRST_SECONDS: Duration = Duration::from_secs(2);

/// What all that comes in pieces shares.
#[derive(Clone)]
pub(super) struct Lines {
    http: Http,
    room: Arc<Room>,
    connections: Arc<Semaphore>,
    began: Instant,
    bytes: Arc<AtomicU64>,
}

impl Lines {
    pub(super) fn new(http: Http) -> Self {
        let (room, connections) = (Arc::new(Room::new(ROOM)), Arc::new(Semaphore::new(CONNECTIONS)));
        Self { http, room, connections, began: Instant::now(), bytes: Arc::default() }
    }

    fn are_slow(&self) -> bool {
        let (took, bytes) = (self.began.elapsed(), self.bytes.load(Ordering::Relaxed));
        took > FIRST_SECONDS && u128::from(bytes) * 1000 < u128::from(SLOW) * took.as_millis()
    }
}

/// A file whose pieces arrive.
pub(super) struct InPieces {
    wanted: Arc<WantedFile>,
    lines: Lines,
    part: PathBuf,
    disk: Mutex<Option<OnDisk>>,
}

/// What of it is on disk.
struct OnDisk {
    file: File,
    list: File,
    here: Spans,
}

/// What came of a try.
enum PieceAnswer {
    Came,
    Missed(Miss),
    /// The server knows no pieces.
    Whole,
}

impl InPieces {
    pub(super) fn new(wanted: Arc<WantedFile>, lines: Lines) -> Self {
        Self { part: wanted.part(), wanted, lines, disk: Mutex::default() }
    }

    pub(super) fn arrival(&self) -> &Arc<Arrival> {
        &self.wanted.arrival
    }

    /// Brings all of it, and checks it.
    pub(super) async fn bring(self: Arc<Self>) -> Result<(), Failure> {
        let WantedFile { download, arrival, .. } = &*self.wanted;
        let (seen, total) = (Stamp::of(arrival.path()), download.size);
        let earlier = OnDisk::of_earlier(&self.part, total)?;
        let is_resumed = earlier.is_some();
        *held(&self.disk) = earlier;
        arrival.takes(Arc::clone(&self.lines.room));
        if download.kept {
            arrival.only(std::iter::empty());
        }
        let first = 0..FIRST.min(total);
        self.lines.room.take(first.end).await;
        if !Arc::clone(&self).piece(first).await? {
            self.forget()?;
            arrival.comes_whole();
            return bring_whole(&self.wanted, &self.lines.http).await;
        }
        let starts = (FIRST..total).step_by(usize::try_from(PIECE).unwrap_or(usize::MAX));
        let pieces = starts.map(|start| start..(start + PIECE).min(total));
        // Room is taken in the order of the pieces: what can't be hashed yet must not fill it.
        let room = Arc::clone(&self.lines.room);
        let in_room = stream::iter(pieces).then(move |span: Range<u64>| {
            let room = Arc::clone(&room);
            async move {
                room.take(span.end - span.start).await;
                span
            }
        });
        let work = in_room.map(|span| tokio::spawn(Arc::clone(&self).piece(span))).buffer_unordered(CONNECTIONS);
        tokio::pin!(work);
        while let Some(done) = work.next().await {
            done.map_err(|error| Failure::bug("a download ended early").because(&error))??;
        }
        if arrival.ended().is_some() {
            // Given up: what is on disk is for another run.
            return Ok(());
        }
        self.check(seen, is_resumed).await
    }

    /// Sees that all that has come is what it should be, and ends the arrival. `seen` is what lay in its place before.
    async fn check(&self, seen: Stamp, is_resumed: bool) -> Result<(), Failure> {
        let WantedFile { download, arrival, progress } = &*self.wanted;
        let digest = block_in_place(|| arrival.digest());
        if digest != download.sha256 {
            self.forget()?;
            // The part was of another file, or torn.
            if is_resumed && download.kept {
                return bring_whole(&self.wanted, &self.lines.http).await;
            }
            if is_resumed {
                let message = format!("what an earlier run had left of `{}` was damaged", download.file);
                return Err(Failure::world(message).help("it was removed; run the command again"));
            }
            return Err(not_locked(Path::new(&download.file), download.sha256, Some(digest)));
        }
        if download.kept {
            files::remove_if_there(&list_of(&self.part))?;
            return self.wanted.settle(&self.part, seen, Some(digest));
        }
        self.forget()?;
        progress.finished();
        arrival.ends(Ok(()));
        Ok(())
    }

    /// Removes what is on disk.
    fn forget(&self) -> Result<(), Failure> {
        *held(&self.disk) = None;
        files::remove_if_there(&self.part)?;
        files::remove_if_there(&list_of(&self.part))
    }

    /// Brings `span`, for which there is room; `false` where the server knows no pieces.
    async fn piece(self: Arc<Self>, mut span: Range<u64>) -> Result<bool, Failure> {
        let answer = self.fill(&mut span).await;
        // What has not come takes no room.
        self.lines.room.give_back(usize::try_from(span.end - span.start).unwrap_or(0));
        let came = answer?;
        block_in_place(|| self.wanted.arrival.hash());
        Ok(came)
    }

    async fn fill(&self, span: &mut Range<u64>) -> Result<bool, Failure> {
        let (start, mut retries) = (span.start, Retries::new());
        while !span.is_empty() && self.wanted.arrival.ended().is_none() {
            if self.is_on_disk(span).map_err(|error| not_written(&self.part, &error))? {
                continue;
            }
            let miss = match self.receive(span).await? {
                PieceAnswer::Came => continue,
                PieceAnswer::Missed(miss) => miss,
                PieceAnswer::Whole if start == 0 => return Ok(false),
                PieceAnswer::Whole => {
                    Miss { again: true, ..Miss::lasting("the server sent a whole file instead of a part") }
                }
            };
            retries.came(span.start - start);
            let (url, left) = (&self.wanted.download.url, self.lines.http.left());
            retries.after(url, miss, left).await.map_err(|failure| match &*held(&self.disk) {
                Some(_) => failure.help(KEPT),
                None => failure,
            })?;
        }
        Ok(true)
    }

    /// Takes from the disk what an earlier run has left of `span`, at its beginning.
    fn is_on_disk(&self, span: &mut Range<u64>) -> std::io::Result<bool> {
        let (block, end) = {
            let disk = held(&self.disk);
            let Some(disk) = &*disk else { return Ok(false) };
            let end = disk.here.end_from(span.start).min(span.end).min(span.start + BLOCK as u64);
            if end == span.start {
                return Ok(false);
            }
            let mut block = self.lines.room.block();
            block.resize(usize::try_from(end - span.start).unwrap_or(0), 0);
            disk.file.read_exact_at(&mut block, span.start)?;
            (block, end)
        };
        if !self.wanted.arrival.arrived(span.start, Arc::new(block)) {
            // It is damaged.
            self.forget().map_err(std::io::Error::other)?;
            return Ok(false);
        }
        self.wanted.progress.bytes(&self.wanted.download.file, end - span.start);
        span.start = end;
        Ok(true)
    }

    /// One try to bring `span`, of which what has come is taken away. The outer error is the disk's.
    async fn receive(&self, span: &mut Range<u64>) -> Result<PieceAnswer, Failure> {
        let _connection = self.lines.connections.acquire().await;
        let http = &self.lines.http;
        let response = match http.open(&self.wanted.download.url, Some(ByteSpan::Of(span.clone()))).await {
            Ok(response) => response,
            Err(miss) => return Ok(PieceAnswer::Missed(miss)),
        };
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {}
            // Or it has a file of another length.
            status if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE => {
                return Ok(PieceAnswer::Whole);
            }
            _ => return Ok(PieceAnswer::Missed(refused(&response))),
        }
        let range = text_of(response.headers(), CONTENT_RANGE.as_str()).and_then(|range| part_of(&range));
        let expected = self.wanted.download.size;
        if let Some((_, total)) = range.filter(|(_, total)| *total != expected) {
            let why = format!("the file has {total} bytes there, and {expected} in the lock");
            return Ok(PieceAnswer::Missed(Miss::lasting(why)));
        }
        if range.is_none_or(|(start, _)| start != span.start) {
            let miss = Miss::lasting("the server sent a different range than requested");
            return Ok(PieceAnswer::Missed(Miss { again: true, ..miss }));
        }
        let mut block = self.lines.room.block();
        let mut take = |mut bytes: &[u8]| {
            // A server that sends more than it was asked for is not listened to.
            while !bytes.is_empty() && (block.len() as u64) < span.end - span.start {
                let missing = usize::try_from(span.end - span.start).unwrap_or(BLOCK).min(BLOCK) - block.len();
                let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                block.extend_from_slice(now);
                bytes = rest;
                if block.len() == BLOCK {
                    self.came(span, std::mem::replace(&mut block, self.lines.room.block()))?;
                }
            }
            Ok(Ok(()))
        };
        let poured = pour(response, http, &mut take).await;
        let rest = self.came(span, block);
        let failed = |error: std::io::Error| failure_in(&error).unwrap_or_else(|| not_written(&self.part, &error));
        let poured = poured.and_then(|poured| rest.map(|()| poured)).map_err(failed)?;
        Ok(match poured {
            Ok(()) if span.is_empty() => PieceAnswer::Came,
            Ok(()) => PieceAnswer::Missed(Miss { again: true, ..Miss::lasting("the reply ended early") }),
            Err(miss) => PieceAnswer::Missed(miss),
        })
    }

    /// `block` is what `span` begins with.
    fn came(&self, span: &mut Range<u64>, block: Vec<u8>) -> std::io::Result<()> {
        let (at, count) = (span.start, block.len() as u64);
        if count == 0 {
            self.lines.room.reuse(block);
            return Ok(());
        }
        self.lines.bytes.fetch_add(count, Ordering::Relaxed);
        let block = Arc::new(block);
        if !self.wanted.arrival.arrived(at, Arc::clone(&block)) {
            return Err(std::io::Error::other(self.wanted.arrival.other_bytes()));
        }
        span.start += count;
        self.wanted.progress.bytes(&self.wanted.download.file, count);
        if !self.wanted.download.kept && !self.lines.are_slow() {
            return Ok(());
        }
        let mut disk = held(&self.disk);
        let disk = match &mut *disk {
            Some(disk) => disk,
            None => disk.insert(OnDisk::create(&self.part)?),
        };
        disk.write(at, &block)
    }
}

impl OnDisk {
    /// What an earlier run has left of a file with `total` bytes, if it has left anything.
    fn of_earlier(part: &Path, total: u64) -> Result<Option<Self>, Failure> {
        let list = list_of(part);
        let length = part.look_at_entry().ok().filter(std::fs::Metadata::is_file).map_or(0, |data| data.len());
        let mut here = Spans::default();
        match files::read_optional(&list).ok().flatten() {
            Some(text) => spans_in(&text, length.min(total)).for_each(|span| here.add(span)),
            // One stream has written it.
            None if length <= total => here.add(0..length),
            None => {}
        }
        files::remove_if_there(&list)?;
        let opened = Self::create(part).and_then(|mut disk| {
            if disk.file.metadata()?.len() < length {
                // It was none of ours.
                here = Spans::default();
            }
            here.spans().iter().try_for_each(|span| disk.note(span.clone()))?;
            Ok(disk)
        });
        if here.count() == 0 {
            files::remove_if_there(part)?;
            files::remove_if_there(&list)?;
            return Ok(None);
        }
        opened.map(Some).map_err(|error| not_written(part, &error))
    }

    fn create(part: &Path) -> std::io::Result<Self> {
        Ok(Self { file: open_part(part)?, list: open_part(&list_of(part))?, here: Spans::default() })
    }

    fn write(&mut self, at: u64, block: &[u8]) -> std::io::Result<()> {
        self.file.write_all_at(block, at)?;
        self.note(at..at + block.len() as u64)
    }

    /// `span` is in the file.
    fn note(&mut self, span: Range<u64>) -> std::io::Result<()> {
        self.list.write_all(format!("{} {}\n", span.start, span.end).as_bytes())?;
        self.here.add(span);
        Ok(())
    }
}

/// Where the list of what is in `part` lies.
fn list_of(part: &Path) -> PathBuf {
    part.with_added_extension("spans")
}

/// The spans in a list, as far as they lie within `length` bytes. A line that was cut off is none.
fn spans_in(text: &str, length: u64) -> impl Iterator<Item = Range<u64>> {
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.split_once(' '));
    lines
        .filter_map(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?))
        .filter(move |span: &Range<u64>| span.start < span.end && span.end <= length)
}

#[cfg(test)]
mod tests {
    use super::spans_in;

    #[test]
    fn a_list_that_was_cut_off_or_lies_is_believed_as_far_as_it_can_be() {
        let spans: Vec<_> = spans_in("0 4\n8 9\nx y\n9 3\n5 90\n6 7", 10).collect();
        assert_eq!(spans, [0..4, 8..9]);
    }
}
