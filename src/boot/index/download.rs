//! Downloads of a lock's files, side by side: small ones in one stream each to a folder, large ones in pieces to those
//! that read them.

use std::cmp::Reverse;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;

use crate::boot::index::arrival::Arrival;
use crate::boot::index::client::Client;
use crate::boot::index::folder::path_of;
use crate::boot::index::in_pieces::{InPieces, Lines};
use crate::boot::index::one_stream::bring_whole;
use crate::boot::index::requested_bytes::Requests;
use crate::boot::index::wanted_file::{Download, WantedFile};
use crate::core::diag::{Failure, Kind};
use crate::core::host::bell::Bell;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::log::Progress;

/// What arrives at once, in one stream each.
const PARALLEL: usize = 8;

/// From so many bytes on, a file comes in pieces; so many of these at once at most.
const IN_PIECES: u64 = 16 << 20;
const MOST_IN_PIECES: usize = 4;

/// Downloads that are under way. With it they end.
pub struct Downloads {
    arrivals: Vec<Arc<Arrival>>,
    bell: Arc<Bell>,
    progress: Arc<dyn Progress>,
    /// Its threads do the work.
    _client: Client,
}

impl Drop for Downloads {
    fn drop(&mut self) {
        self.progress.ended();
    }
}

impl Downloads {
    /// Brings all of `downloads`, the largest first: to `folder`, or, where they are large and need not be kept, to
    /// those that read them. What is there and has the right digest is not fetched again.
    pub fn begin(
        client: Client,
        mut downloads: Vec<Download>,
        folder: &Path,
        progress: &Arc<dyn Progress>,
    ) -> Result<Self, Failure> {
        files::create_private_folder(folder)?;
        let (bell, runtime) = (Arc::new(Bell::default()), client.runtime()?);
        // What is begun last should not take longest.
        downloads.sort_by_key(|download| Reverse(download.size));
        let lines = Lines::new(client.http.clone());
        let (mut arrivals, mut whole, mut in_pieces) = (Vec::new(), Vec::new(), Vec::new());
        for download in downloads {
            let path = folder.join(&download.file);
            let in_place = path_of(&download.url).is_some() || path.look().is_ok();
            let is_large = download.size >= IN_PIECES && !in_place;
            let requests =
                || Requests::new(client.http.clone(), runtime.handle().clone(), &download.url, download.size);
            let arrival = Arc::new(Arrival::new(path, Arc::clone(&bell), is_large.then(requests)));
            arrivals.push(Arc::clone(&arrival));
            let wanted = Arc::new(WantedFile { download, arrival, progress: Arc::clone(progress) });
            if is_large {
                in_pieces.push(Arc::new(InPieces::new(wanted, lines.clone())));
            } else {
                whole.push(wanted);
            }
        }
        let http = client.http.clone();
        let whole = stream::iter(whole).map(move |wanted| {
            let (arrival, http) = (Arc::clone(&wanted.arrival), http.clone());
            until_its_end(arrival, async move { bring_whole(&wanted, &http).await })
        });
        let in_pieces = stream::iter(in_pieces)
            .map(|pieces| until_its_end(Arc::clone(pieces.arrival()), async move { pieces.bring().await }));
        let side_by_side = std::thread::available_parallelism().map_or(1, NonZero::get).clamp(2, MOST_IN_PIECES);
        runtime.spawn(whole.buffer_unordered(PARALLEL).collect::<()>());
        runtime.spawn(in_pieces.buffer_unordered(side_by_side).collect::<()>());
        Ok(Self { arrivals, bell, progress: Arc::clone(progress), _client: client })
    }

    /// What arrives, in the order in which it will be here.
    pub fn arrivals(&self) -> &[Arc<Arrival>] {
        &self.arrivals
    }

    /// What rings whenever something of it has arrived.
    pub const fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Waits until every download has ended; the readers have stopped. Fails as soon as one download has failed, or
    /// where it `is_stopped`.
    pub fn finish(&self, is_stopped: &dyn Fn() -> bool) -> Result<(), Failure> {
        self.arrivals.iter().for_each(|arrival| arrival.only(std::iter::empty()));
        loop {
            let before = self.bell.count();
            let ended: Vec<_> = self.arrivals.iter().map(|arrival| arrival.ended()).collect();
            if let Some(failure) = ended.iter().find_map(|ended| ended.as_ref()?.as_ref().err()) {
                return Err(failure.clone());
            }
            if ended.iter().all(Option::is_some) {
                self.progress.ended();
                return Ok(());
            }
            if is_stopped() {
                return Err(Failure::world("stopped before all files had arrived"));
            }
            self.bell.wait(before);
        }
    }

    /// The readers have stopped because of `failure`. Where it is about the content of a wheel, the downloads go on, so
    /// that [`Downloads::finish`] can say whether that is the locked wheel at all. Any other failure ends them.
    pub fn give_up(&self, failure: &Failure) {
        for arrival in &self.arrivals {
            match failure.kind {
                Kind::Answer => arrival.give_up(failure),
                _ => arrival.ends(Err(failure.clone())),
            }
        }
    }
}

/// Does `work`, which ends `arrival` where it succeeds, on a thread of the runtime: digests are computed side by side.
async fn until_its_end(arrival: Arc<Arrival>, work: impl Future<Output = Result<(), Failure>> + Send + 'static) {
    match tokio::spawn(work).await {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => arrival.ends(Err(failure)),
        Err(error) => arrival.ends(Err(Failure::bug("a download ended early").because(&error))),
    }
}
