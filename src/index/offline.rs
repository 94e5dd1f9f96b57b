//! The catalog from the cache alone.

use std::sync::Arc;

use crate::index::store::{Scope, Shelf};
use crate::index::{Cache, Locations};
use crate::matrix::Matrix;
use crate::model::build::WheelBuild;
use crate::model::catalog::{Candidate, Catalog, Listing, Metadata, Trouble, Wish};
use crate::model::files::Files;
use crate::model::{PackageName, WheelName};

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
        let (_, _, key) = self.0.place(package);
        let (record, _) = self.0.cache.listing(&key).ok_or_else(|| not_cached(&format!("the page of `{package}`")))?;
        Ok(record.listing.map(Arc::new))
    }

    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Trouble> {
        let metadata = self.0.cached_metadata(candidate);
        metadata.map(Arc::new).ok_or_else(|| not_cached(&format!("the metadata of `{}`", candidate.file)))
    }

    fn build(&self, candidate: &Candidate) -> Result<Option<Arc<WheelBuild>>, Trouble> {
        let Ok(wheel) = candidate.file.parse::<WheelName>() else {
            return Ok(None);
        };
        Ok(self.0.cache.build(&candidate.sha256, &self.1.reading(&wheel.name), false).map(Arc::new))
    }

    fn files(&self, candidates: &[Candidate]) -> Vec<Option<Arc<Files>>> {
        candidates.iter().map(|candidate| self.0.cache.files(&candidate.sha256).map(Arc::new)).collect()
    }

    fn expect(&self, _wishes: Vec<Wish>) {}

    fn expect_metadata(&self, _candidates: &[Candidate]) {}
}
