//! What both catalogs share: the target, addresses, filter and cache.

use std::collections::BTreeMap;

use pep508_rs::MarkerEnvironment;
use url::Url;

use crate::boot::index::cache::listing_key;
use crate::boot::index::page::{Buildable, Filter};
use crate::boot::index::which_index::page_address;
use crate::boot::index::{Builder, Cache, Locations, folder};
use crate::core::diag::Failure;
use crate::core::matrix::Hints;
use crate::core::model::catalog::{Candidate, Listing};
use crate::core::model::day::Moment;
use crate::core::model::metadata::Metadata;
use crate::core::model::version::public;
use crate::core::model::{PackageName, PythonFacts, Sha256, Tags, Version, VersionRange, WheelName};

/// What a catalog is for: a target, and what is known of it without asking.
#[derive(Clone, Debug)]
pub struct Scope {
    pub python: PythonFacts,
    pub markers: MarkerEnvironment,
    pub as_of: Option<Moment>,
    /// Packages that may be built from source.
    pub buildable: Buildable,
    /// Who can tell what these require; `None` where the target's Python is not here.
    pub builder: Option<Builder>,
    /// Versions that the solver will prefer; `true` where their requirements are known without the index.
    pub preferred: BTreeMap<PackageName, (Version, bool)>,
    /// Versions that the profile allows a package to have, by any requirement.
    pub bounds: BTreeMap<PackageName, VersionRange>,
}

impl Scope {
    /// For `python` alone; `None` where it makes no marker environment.
    pub fn of(python: &PythonFacts) -> Option<Self> {
        Some(Self {
            python: python.clone(),
            markers: python.marker_environment()?,
            as_of: None,
            buildable: Buildable::default(),
            builder: None,
            preferred: BTreeMap::new(),
            bounds: BTreeMap::new(),
        })
    }
}

/// The index as one target sees it: addresses, filter, cache. Both catalogs have one.
pub(super) struct View {
    locations: Locations,
    pub(super) scope: Scope,
    pub(super) filter: Filter,
    pub(super) cache: Cache,
    /// What a listing is filtered by, as part of its key.
    target: String,
}

impl View {
    pub(super) fn new(locations: Locations, scope: Scope, cache: Cache) -> Self {
        let python = scope.python.clone();
        let target = format!("{python:?} {:?}", scope.as_of);
        let (as_of, buildable) = (scope.as_of, scope.buildable.clone());
        let filter = Filter { tags: Tags::of(&python), python, as_of, buildable };
        Self { locations, scope, filter, cache, target }
    }

    /// Name of the responsible index, address of the page, key of its record.
    pub(super) fn place(&self, package: &PackageName) -> (&str, Url, Sha256) {
        let (index, base) = self.locations.responsible(package);
        let page = page_address(base, package);
        let buildable = match &self.filter.buildable {
            Buildable::Named(names) if names.contains(package) => " with sources",
            Buildable::Named(_) => "",
            Buildable::WithoutWheels => " with sources that have no wheels",
        };
        let key = listing_key(page.as_str(), &format!("{}{buildable}", self.target));
        (index, page, key)
    }

    /// What is known of a wheel's metadata without asking: from the cache, or bundled with the matrix.
    pub(super) fn known_metadata(&self, candidate: &Candidate) -> Option<Metadata> {
        let digest = candidate.sha256?;
        if let Some(record) = self.key(candidate).and_then(|key| self.cache.metadata(&key)) {
            return Some(Metadata::parse(&record.headers, candidate.size.or(record.size)));
        }
        let name = candidate.file.parse::<WheelName>().ok()?.name;
        let seed = Hints::bundled().seed(&name, &digest)?;
        Some(Metadata::parse(&seed.headers, seed.files.get(&digest).copied()))
    }

    /// What all paths of a wheel begin with, where that is known without asking.
    pub(super) fn known_roots(&self, candidate: &Candidate) -> Option<Vec<String>> {
        let digest = candidate.sha256?;
        let name = candidate.file.parse::<WheelName>().ok()?.name;
        let seed = Hints::bundled().seed(&name, &digest);
        seed.map(|seed| seed.roots.clone()).or_else(|| self.cache.roots(&self.key(candidate)?))
    }

    /// What is read of a file is kept by this: the digest that its index announces, which is not proven by reading
    /// parts of it, with the server it comes from; of a source distribution, which may say other things to another
    /// Python, with that too.
    pub(super) fn key(&self, candidate: &Candidate) -> Option<Sha256> {
        let digest = candidate.sha256?;
        let server: Vec<&str> = candidate.address.splitn(4, '/').take(3).collect();
        let (major, minor) = self.scope.python.minor();
        let builder = if candidate.is_source() { format!(" built by {major}.{minor}") } else { String::new() };
        Some(Sha256::of(format!("{digest} {}{builder}", server.join("/")).as_bytes()))
    }

    /// Adds what folders of wheels have of `package`; of one version the folder's wheel is taken.
    pub(super) fn with_folders(&self, package: &PackageName, listing: Option<Listing>) -> Option<Listing> {
        let folders = self.locations.folders(package);
        let found: Vec<Listing> =
            folders.filter_map(|(name, url)| folder::listing(name, url, package, &self.filter)).collect();
        if found.is_empty() {
            return listing;
        }
        let of_index: Option<Vec<Version>> = listing.as_ref().map(|one| one.versions().map(public).collect());
        let lacks = |version: &Version| of_index.as_ref().is_some_and(|all| !all.contains(&public(version)));
        let alone = |found: &Listing| {
            found.versions().find(|version| lacks(version)).map(|version| (version.clone(), found.index.clone()))
        };
        found.into_iter().fold(listing, |known, found| {
            let known = known.unwrap_or_default();
            let alone = known.of_folder_alone.clone().or_else(|| alone(&found));
            Some(Listing { of_folder_alone: alone, ..known.joined(found) })
        })
    }

    /// The metadata of a folder's file; `None` for one of the network.
    pub(super) fn folder_metadata(&self, candidate: &Candidate) -> Option<Result<Metadata, Failure>> {
        folder::metadata(candidate, self.scope.builder.as_ref(), &self.cache.folder("sources"))
    }

    /// Whether nothing but folders counts.
    pub(super) fn is_wheelhouse(&self) -> bool {
        self.locations.folders_only
    }

    /// Whether the responsible index is a folder: there is nothing to ask for then.
    pub(super) fn is_local(&self, package: &PackageName) -> bool {
        self.is_wheelhouse() || self.locations.responsible(package).1.scheme() == "file"
    }
}
