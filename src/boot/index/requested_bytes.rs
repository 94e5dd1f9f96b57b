//! Bytes of a file that is still arriving, asked for out of turn: the directory of a wheel is at its end.

use std::sync::Mutex;

use tokio::runtime::Handle;
use url::Url;

use crate::boot::index::client::Http;
use crate::core::diag::Failure;
use crate::core::host::bell::LOOK;
use crate::core::host::mutex::held;
use crate::core::inspect::Flow;

/// How much is asked for at once, and of the end of a file first: the directories of most wheels, and what they say of
/// themselves, fit.
const AT_ONCE: u64 = 256 << 10;

/// Asks for bytes of one file.
pub(super) struct Requests {
    http: Http,
    handle: Handle,
    url: Url,
    /// Bytes of the whole.
    pub(super) size: u64,
    /// The last answer, and its place.
    last: Mutex<Answered>,
}

/// Bytes, and their place.
type Answered = (u64, Vec<u8>);

impl Requests {
    /// For bytes of the file at `url`, which has `size`.
    pub(super) fn new(http: Http, handle: Handle, url: &Url, size: u64) -> Self {
        Self { http, handle, url: url.clone(), size, last: Mutex::default() }
    }

    /// Reads what is at `at`, as much as `buffer` takes or as one answer has; fails where the answer `is_unwanted`
    /// before it comes. Also returns the answer and its place, if it is a new one. Not to be called by a thread of the
    /// network.
    pub(super) fn read_at(
        &self,
        buffer: &mut [u8],
        at: u64,
        is_unwanted: impl Fn() -> bool,
    ) -> Result<(usize, Option<Answered>), Failure> {
        if at >= self.size {
            return Ok((0, None));
        }
        let mut last = held(&self.last);
        let is_held = at >= last.0 && at - last.0 < last.1.len() as u64;
        if !is_held {
            let start = at.min(self.size.saturating_sub(AT_ONCE));
            let span = start..(at + AT_ONCE).min(self.size);
            let mut bytes = Vec::new();
            let mut take = |piece: &[u8]| {
                bytes.extend_from_slice(piece);
                Flow::More
            };
            let unwanted = async {
                while !is_unwanted() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            self.handle.block_on(async {
                tokio::select! {
                    answer = self.http.stream(&self.url, span, &mut take) => answer,
                    () = unwanted => Err(Failure::world("the request was cancelled, because the download has ended")),
                }
            })?;
            *last = (start, bytes);
        }
        let from = usize::try_from(at - last.0).unwrap_or(usize::MAX);
        let bytes = last.1.get(from..).unwrap_or_default();
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        Ok((count, (!is_held).then(|| last.clone())))
    }
}
