//! The catalog from the cache alone. What is read once is kept for the run: a solver asks for the same things over and
//! over. A second thread reads ahead, for decoding is half of the work.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Builder;

use crate::boot::index::catalog_base::View;
use crate::boot::index::prefetch::{Foresight, consequences, favourite};
use crate::boot::index::{Cache, LocalWheel, Locations, Scope, folder};
use crate::core::diag::Failure;
use crate::core::host::mutex::held;
use crate::core::matrix::Matrix;
use crate::core::model::build::WheelBuild;
use crate::core::model::catalog::{Candidate, Catalog, Listing, Wish};
use crate::core::model::contents::Files;
use crate::core::model::linking::Linking;
use crate::core::model::metadata::Metadata;
use crate::core::model::{PackageName, Sha256, WheelName};

type StoredCells<K, T> = Mutex<HashMap<K, Arc<OnceLock<Result<T, Failure>>>>>;

/// The catalog from the cache alone.
pub struct Offline<'a> {
    matrix: &'a Matrix,
    desk: Arc<Desk>,
    /// To the thread that reads ahead.
    wishes: Sender<Wish>,
}

/// What the solver and the thread that reads ahead share. Who comes first reads; the other waits for that.
struct Desk {
    view: View,
    foresight: Foresight,
    listings: StoredCells<PackageName, Option<Arc<Listing>>>,
    metadata: StoredCells<Sha256, Arc<Metadata>>,
}

impl<'a> Offline<'a> {
    pub fn new(matrix: &'a Matrix, locations: Locations, scope: Scope, cache: Cache) -> Self {
        let view = View::new(locations, scope, cache);
        let foresight = Foresight::default();
        let desk = Arc::new(Desk { view, foresight, listings: Mutex::default(), metadata: Mutex::default() });
        let (wishes, wished) = channel();
        let ahead = Arc::clone(&desk);
        // Ends when `wishes` is dropped. Without a thread nothing is read ahead.
        let _ = Builder::new().spawn(move || wished.iter().for_each(|wish| ahead.pursue(wish)));
        Self { matrix, desk, wishes }
    }
}

impl Desk {
    /// Reads what the solver will probably ask for, and so on down.
    fn pursue(&self, wish: Wish) {
        let mut open = vec![wish];
        while let Some(wish) = open.pop() {
            let scope = &self.view.scope;
            let Some(wish) = self.foresight.narrow(scope, wish) else {
                continue;
            };
            // What fails here fails again, and is reported, when the solver asks for it.
            let listing = self.listing(&wish.package).ok().flatten();
            let candidate = listing.as_ref().and_then(|listing| favourite(scope, &wish, listing));
            if let Some(Ok(metadata)) = candidate.map(|candidate| self.metadata(candidate)) {
                open.extend(consequences(scope, &wish, &metadata));
            }
        }
    }

    fn listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Failure> {
        let cell = Arc::clone(held(&self.listings).entry(package.clone()).or_default());
        cell.get_or_init(|| self.read_listing(package)).clone()
    }

    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Failure> {
        let cell = Arc::clone(held(&self.metadata).entry(candidate.identity()).or_default());
        cell.get_or_init(|| self.read_metadata(candidate)).clone()
    }

    fn read_listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Failure> {
        let listing = if self.view.is_local(package) {
            None
        } else {
            let (index, _, key) = self.view.place(package);
            match self.view.cache.listing(&key) {
                Some((record, _)) => record.listing.map(|listing| listing.called(index)),
                // What a folder has needs no index.
                None => match self.view.with_folders(package, None) {
                    Some(found) => return Ok(Some(Arc::new(found))),
                    None => return Err(not_cached(&format!("the page of `{package}`"))),
                },
            }
        };
        let found = self.view.with_folders(package, listing).map(Arc::new);
        if found.is_none() && self.view.is_wheelhouse() {
            let message = format!("the wheelhouse has no wheel of `{package}` for this Python and platform");
            return Err(
                Failure::world(message).help("add it with `colab-boot fetch` from a lock that has this package")
            );
        }
        Ok(found)
    }

    fn read_metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Failure> {
        if let Some(answer) = self.view.folder_metadata(candidate) {
            return answer.map(Arc::new);
        }
        let metadata = self.view.known_metadata(candidate);
        metadata.map(Arc::new).ok_or_else(|| not_cached(&format!("the metadata of `{}`", candidate.file)))
    }
}

fn not_cached(what: &str) -> Failure {
    Failure::world(format!("{what} is not in the cache, and --offline allows no requests"))
        .help("run the command once without --offline")
}

impl Catalog for Offline<'_> {
    fn listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Failure> {
        self.desk.listing(package)
    }

    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Failure> {
        self.desk.metadata(candidate)
    }

    fn size(&self, candidate: &Candidate) -> Result<Option<u64>, Failure> {
        Ok(self.metadata(candidate)?.size)
    }

    fn roots(&self, candidate: &Candidate) -> Option<Vec<String>> {
        self.desk.view.known_roots(candidate)
    }

    fn digest(&self, candidate: &Candidate) -> Result<(Sha256, u64), Failure> {
        folder::digest(candidate)
            .unwrap_or_else(|| Err(not_cached(&format!("`{}`, for which the index has no digest,", candidate.file))))
    }

    fn build(&self, candidate: &Candidate) -> Result<Option<Arc<WheelBuild>>, Failure> {
        if let Some(answer) = folder::build(candidate, self.matrix, false) {
            return answer.map(|build| Some(Arc::new(build)));
        }
        let (Ok(wheel), Some(key)) = (candidate.file.parse::<WheelName>(), self.desk.view.key(candidate)) else {
            return Ok(None);
        };
        Ok(self.desk.view.cache.build(&key, &self.matrix.reading(&wheel.name), false).map(Arc::new))
    }

    fn linking(&self, wheels: &[(Candidate, u64)]) -> Vec<Option<Linking>> {
        wheels
            .iter()
            .map(|(candidate, limit)| match folder::linking(candidate, *limit) {
                Some(answer) => answer.ok(),
                None => self.desk.view.cache.linking(&self.desk.view.key(candidate)?, *limit),
            })
            .collect()
    }

    fn files(&self, candidates: &[Candidate]) -> Vec<Option<Arc<Files>>> {
        candidates
            .iter()
            .map(|candidate| match LocalWheel::of(candidate) {
                Some(wheel) => wheel.ok().map(|wheel| Arc::new(wheel.files().clone())),
                None => self.desk.view.cache.files(&self.desk.view.key(candidate)?).map(Arc::new),
            })
            .collect()
    }

    fn expect(&self, wishes: Vec<Wish>) {
        for wish in wishes {
            let _ = self.wishes.send(wish);
        }
    }

    fn expect_listing(&self, _package: &PackageName) {}

    fn expect_metadata(&self, _candidates: &[Candidate]) {}
}
