//! The catalog from the cache alone.

use std::sync::Arc;

use crate::index::Scope;
use crate::index::shelf::Shelf;
use crate::index::{Cache, LocalWheel, Locations, folder};
use crate::matrix::Matrix;
use crate::model::build::WheelBuild;
use crate::model::catalog::{Candidate, Catalog, Listing, Metadata, Trouble, Wish};
use crate::model::files::Files;
use crate::model::{PackageName, Sha256, WheelName};

/// The catalog from the cache alone.
pub struct Offline<'a>(Shelf, &'a Matrix);

impl<'a> Offline<'a> {
    pub fn new(matrix: &'a Matrix, locations: Locations, scope: Scope, cache: Cache) -> Self {
        Self(Shelf::new(locations, scope, cache), matrix)
    }
}

fn not_cached(what: &str) -> Trouble {
    Trouble {
        message: format!("{what} is not in the cache, and --offline forbids asking for it"),
        causes: Vec::new(),
        help: vec!["run the command once without --offline".to_owned()],
    }
}

impl Catalog for Offline<'_> {
    fn listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Trouble> {
        let listing = if self.0.is_local(package) {
            None
        } else {
            let (_, _, key) = self.0.place(package);
            let cached = self.0.cache.listing(&key);
            cached.ok_or_else(|| not_cached(&format!("the page of `{package}`")))?.0.listing
        };
        Ok(self.0.with_folders(package, listing).map(Arc::new))
    }

    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Trouble> {
        if let Some(answer) = folder::metadata(candidate) {
            return answer.map(Arc::new);
        }
        let metadata = self.0.known_metadata(candidate);
        metadata.map(Arc::new).ok_or_else(|| not_cached(&format!("the metadata of `{}`", candidate.file)))
    }

    fn digest(&self, candidate: &Candidate) -> Result<(Sha256, u64), Trouble> {
        let missing = || Err(not_cached(&format!("`{}`, whose digest the index does not give,", candidate.file)));
        folder::digest(candidate).unwrap_or_else(missing)
    }

    fn build(&self, candidate: &Candidate) -> Result<Option<Arc<WheelBuild>>, Trouble> {
        if let Some(answer) = folder::build(candidate, self.1, false) {
            return answer.map(|build| Some(Arc::new(build)));
        }
        let (Ok(wheel), Some(digest)) = (candidate.file.parse::<WheelName>(), candidate.sha256) else {
            return Ok(None);
        };
        Ok(self.0.cache.build(&digest, &self.1.reading(&wheel.name), false).map(Arc::new))
    }

    fn files(&self, candidates: &[Candidate]) -> Vec<Option<Arc<Files>>> {
        let of = |candidate: &Candidate| match LocalWheel::of(candidate) {
            Some(wheel) => wheel.ok().map(|wheel| Arc::new(wheel.files().clone())),
            None => self.0.cache.files(&candidate.sha256?).map(Arc::new),
        };
        candidates.iter().map(of).collect()
    }

    fn expect(&self, _wishes: Vec<Wish>) {}

    fn expect_metadata(&self, _candidates: &[Candidate]) {}
}
