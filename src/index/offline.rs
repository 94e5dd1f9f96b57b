//! The catalog from the cache alone. What is read once is kept for the run: a solver asks for the same things over and over.

use std::cell::RefCell;
use std::collections::HashMap;
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
pub struct Offline<'a> {
    shelf: Shelf,
    matrix: &'a Matrix,
    listings: RefCell<HashMap<PackageName, Option<Arc<Listing>>>>,
    metadata: RefCell<HashMap<Sha256, Arc<Metadata>>>,
}

impl<'a> Offline<'a> {
    pub fn new(matrix: &'a Matrix, locations: Locations, scope: Scope, cache: Cache) -> Self {
        let shelf = Shelf::new(locations, scope, cache);
        Self { shelf, matrix, listings: RefCell::default(), metadata: RefCell::default() }
    }

    fn read_listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Trouble> {
        let listing = if self.shelf.is_local(package) {
            None
        } else {
            let (index, _, key) = self.shelf.place(package);
            match self.shelf.cache.listing(&key) {
                Some((record, _)) => record.listing.map(|listing| listing.called(index)),
                // What a folder has needs no index.
                None => match self.shelf.with_folders(package, None) {
                    Some(found) => return Ok(Some(Arc::new(found))),
                    None => return Err(not_cached(&format!("the page of `{package}`"))),
                },
            }
        };
        Ok(self.shelf.with_folders(package, listing).map(Arc::new))
    }

    fn read_metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Trouble> {
        if let Some(answer) = folder::metadata(candidate, &self.shelf) {
            return answer.map(Arc::new);
        }
        let metadata = self.shelf.known_metadata(candidate);
        metadata.map(Arc::new).ok_or_else(|| not_cached(&format!("the metadata of `{}`", candidate.file)))
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
        if let Some(known) = self.listings.borrow().get(package) {
            return Ok(known.clone());
        }
        let listing = self.read_listing(package)?;
        self.listings.borrow_mut().insert(package.clone(), listing.clone());
        Ok(listing)
    }

    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Trouble> {
        let key = candidate.identity();
        if let Some(known) = self.metadata.borrow().get(&key) {
            return Ok(Arc::clone(known));
        }
        let metadata = self.read_metadata(candidate)?;
        self.metadata.borrow_mut().insert(key, Arc::clone(&metadata));
        Ok(metadata)
    }

    fn size(&self, candidate: &Candidate) -> Result<Option<u64>, Trouble> {
        Ok(self.metadata(candidate)?.size)
    }

    fn roots(&self, candidate: &Candidate) -> Option<Vec<String>> {
        self.shelf.known_roots(candidate)
    }

    fn digest(&self, candidate: &Candidate) -> Result<(Sha256, u64), Trouble> {
        let missing = || Err(not_cached(&format!("`{}`, whose digest the index does not give,", candidate.file)));
        folder::digest(candidate).unwrap_or_else(missing)
    }

    fn build(&self, candidate: &Candidate) -> Result<Option<Arc<WheelBuild>>, Trouble> {
        if let Some(answer) = folder::build(candidate, self.matrix, false) {
            return answer.map(|build| Some(Arc::new(build)));
        }
        let (Ok(wheel), Some(key)) = (candidate.file.parse::<WheelName>(), self.shelf.key(candidate)) else {
            return Ok(None);
        };
        Ok(self.shelf.cache.build(&key, &self.matrix.reading(&wheel.name), false).map(Arc::new))
    }

    fn files(&self, candidates: &[Candidate]) -> Vec<Option<Arc<Files>>> {
        let of = |candidate: &Candidate| match LocalWheel::of(candidate) {
            Some(wheel) => wheel.ok().map(|wheel| Arc::new(wheel.files().clone())),
            None => self.shelf.cache.files(&self.shelf.key(candidate)?).map(Arc::new),
        };
        candidates.iter().map(of).collect()
    }

    fn expect(&self, _wishes: Vec<Wish>) {}

    fn expect_metadata(&self, _candidates: &[Candidate]) {}
}
