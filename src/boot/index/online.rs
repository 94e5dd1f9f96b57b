//! The catalog over the network, which fetches ahead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use reqwest::StatusCode;
use tokio::sync::OnceCell;

use crate::boot::index::cache::{LIFETIME, ListingRecord, MetadataRecord};
use crate::boot::index::catalog_base::View;
use crate::boot::index::client::Http;
use crate::boot::index::exchange::HttpRequest;
use crate::boot::index::page::{ACCEPT, read_page};
use crate::boot::index::prefetch::{Foresight, consequences, favourite};
use crate::boot::index::remote::Remote;
use crate::boot::index::retry::{no_answer, of_index};
use crate::boot::index::{Cache, Client, Locations, Scope};
use crate::core::diag::Failure;
use crate::core::host::mutex::held;
use crate::core::inspect::Sink;
use crate::core::matrix::{Hints, Matrix};
use crate::core::model::build::WheelBuild;
use crate::core::model::catalog::{Candidate, Catalog, Listing, Wish};
use crate::core::model::contents::{Files, Member};
use crate::core::model::linking::Linking;
use crate::core::model::metadata::Metadata;
use crate::core::model::{ExtraName, PackageName, Sha256, VersionRange};

/// The largest index page, decoded; the largest METADATA with its directory.
const PAGE_LIMIT: u64 = 64 << 20;
pub(super) const METADATA_LIMIT: u64 = 16 << 20;

type Cells<K, T> = Mutex<HashMap<K, Arc<OnceCell<Result<T, Failure>>>>>;

/// The catalog over the network.
pub struct Online<'a> {
    client: &'a Client,
    matrix: &'a Matrix,
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) view: View,
    pub(super) http: Http,
    pub(super) listings: Cells<PackageName, Option<Arc<Listing>>>,
    pub(super) metadata: Cells<Sha256, Arc<Metadata>>,
    pub(super) remotes: Cells<Sha256, Arc<Remote>>,
    pub(super) digests: Cells<Sha256, (Sha256, u64)>,
    pub(super) foresight: Foresight,
}

impl<'a> Online<'a> {
    pub fn new(client: &'a Client, matrix: &'a Matrix, locations: Locations, scope: Scope, cache: Cache) -> Self {
        let shared = Shared {
            view: View::new(locations, scope, cache),
            http: client.http.clone(),
            listings: Mutex::default(),
            metadata: Mutex::default(),
            remotes: Mutex::default(),
            digests: Mutex::default(),
            foresight: Foresight::default(),
        };
        Self { client, matrix, shared: Arc::new(shared) }
    }

    /// The listings of several packages, fetched together.
    pub fn listings(&self, packages: &[PackageName]) -> Result<Vec<Option<Arc<Listing>>>, Failure> {
        self.wait(async {
            let all = packages.iter().map(|package| self.shared.listing(package));
            futures::future::join_all(all).await.into_iter().collect()
        })
    }

    /// What `candidate` was built for; `thorough` also reads the fat binaries where a text file says it all.
    pub fn inspect(&self, candidate: &Candidate, thorough: bool) -> Result<Arc<WheelBuild>, Failure> {
        self.wait(self.shared.inspect(candidate, self.matrix, thorough)).map(Arc::new)
    }

    /// The headers of a wheel's METADATA as they stand in it.
    pub fn headers(&self, candidate: &Candidate) -> Result<String, Failure> {
        self.wait(async { Ok(self.shared.published(candidate).await?.headers) })
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        match self.client.runtime() {
            Ok(runtime) => runtime.block_on(answer),
            Err(failure) => Err(failure),
        }
    }
}

impl Online<'_> {
    /// What a wheel is linked against, as far as `limit` packed bytes tell it.
    pub fn linking_of(&self, candidate: &Candidate, limit: u64) -> Result<Linking, Failure> {
        self.wait(self.shared.linking(candidate, limit))
    }
}

impl Online<'_> {
    /// Unpacks a member of a wheel into `sink`.
    pub fn read_member(
        &self,
        candidate: &Candidate,
        member: &Member,
        sink: &mut (dyn Sink + Send),
    ) -> Result<(), Failure> {
        self.wait(async {
            let remote = self.shared.remote(candidate).await?;
            let whole = remote.unpack(&self.shared.http, member, None, sink).await?;
            let url = candidate.url()?;
            whole.map(drop).map_err(|error| no_answer(&url, &error.to_string(), 1))
        })
    }
}

impl Catalog for Online<'_> {
    fn listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Failure> {
        self.wait(self.shared.listing(package))
    }

    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Failure> {
        self.wait(self.shared.metadata(candidate))
    }

    fn build(&self, candidate: &Candidate) -> Result<Option<Arc<WheelBuild>>, Failure> {
        self.inspect(candidate, false).map(Some)
    }

    fn digest(&self, candidate: &Candidate) -> Result<(Sha256, u64), Failure> {
        self.wait(self.shared.digest(candidate))
    }

    fn size(&self, candidate: &Candidate) -> Result<Option<u64>, Failure> {
        self.wait(self.shared.size(candidate))
    }

    fn roots(&self, candidate: &Candidate) -> Option<Vec<String>> {
        let cell = held(&self.shared.remotes).get(&candidate.identity()).cloned();
        let opened = cell.and_then(|cell| cell.get()?.as_ref().ok().map(|remote| remote.files.roots()));
        opened.or_else(|| self.shared.view.known_roots(candidate))
    }

    fn files(&self, candidates: &[Candidate]) -> Vec<Option<Arc<Files>>> {
        let all = candidates.iter().map(|candidate| self.shared.files(candidate));
        let all = self.wait(async { Ok(futures::future::join_all(all).await) }).unwrap_or_default();
        let found: Vec<_> = all.into_iter().map(Result::ok).collect();
        if found.is_empty() { vec![None; candidates.len()] } else { found }
    }

    fn linking(&self, wheels: &[(Candidate, u64)]) -> Vec<Option<Linking>> {
        let all = wheels.iter().map(|(candidate, limit)| self.shared.linking(candidate, *limit));
        let all = self.wait(async { Ok(futures::future::join_all(all).await) }).unwrap_or_default();
        let found: Vec<_> = all.into_iter().map(Result::ok).collect();
        if found.is_empty() { vec![None; wheels.len()] } else { found }
    }

    fn expect(&self, wishes: Vec<Wish>) {
        let Ok(runtime) = self.client.runtime() else {
            return;
        };
        let _entered = runtime.enter();
        let roots: Vec<_> = wishes.iter().map(|wish| (wish.package.clone(), wish.extra.clone())).collect();
        for wish in wishes {
            Shared::pursue(&self.shared, wish);
        }
        Shared::anticipate(&self.shared, &roots);
    }

    fn expect_listing(&self, package: &PackageName) {
        if let Ok(runtime) = self.client.runtime() {
            let (shared, package) = (Arc::clone(&self.shared), package.clone());
            runtime.spawn(async move { shared.listing(&package).await.map(drop) });
        }
    }

    fn expect_metadata(&self, candidates: &[Candidate]) {
        let Ok(runtime) = self.client.runtime() else {
            return;
        };
        // What has to be built is not built on a guess.
        for candidate in candidates.iter().filter(|one| !one.is_source()) {
            let (shared, candidate) = (Arc::clone(&self.shared), candidate.clone());
            runtime.spawn(async move { shared.metadata(&candidate).await.map(drop) });
        }
    }
}

impl Shared {
    /// Asks at once for the pages of all that `roots` usually bring along; and where nothing is known to hold a package
    /// back, for the metadata of its newest version. Otherwise each level of dependencies would wait for the one above.
    fn anticipate(shared: &Arc<Self>, roots: &[(PackageName, Option<ExtraName>)]) {
        let known = |name: &PackageName| matches!(shared.view.scope.preferred.get(name), Some((_, true)));
        for hint in Hints::bundled().closure(roots, &known) {
            if hint.free {
                Self::pursue(shared, Wish { package: hint.name, range: VersionRange::full(), extra: None });
            } else {
                let shared = Arc::clone(shared);
                tokio::spawn(async move { shared.listing(&hint.name).await.map(drop) });
            }
        }
    }

    /// Fetches what the solver will probably ask for: the page, the metadata of the version it would choose, and so on
    /// down.
    fn pursue(shared: &Arc<Self>, wish: Wish) {
        let Some(wish) = shared.foresight.narrow(&shared.view.scope, wish) else {
            return;
        };
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let scope = &shared.view.scope;
            // What fails here fails again, and is reported, when the solver asks for it.
            let Ok(Some(listing)) = shared.listing(&wish.package).await else {
                return;
            };
            let Some(candidate) = favourite(scope, &wish, &listing) else {
                return;
            };
            let Ok(metadata) = shared.metadata(candidate).await else {
                return;
            };
            for next in consequences(scope, &wish, &metadata) {
                Self::pursue(&shared, next);
            }
        });
    }

    async fn listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Failure> {
        let cell = Arc::clone(held(&self.listings).entry(package.clone()).or_default());
        cell.get_or_init(|| async { self.fetch_listing(package).await.map(|found| found.map(Arc::new)) }).await.clone()
    }

    pub(super) async fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Failure> {
        let cell = Arc::clone(held(&self.metadata).entry(candidate.identity()).or_default());
        cell.get_or_init(|| async { self.fetch_metadata(candidate).await.map(Arc::new) }).await.clone()
    }

    async fn fetch_listing(&self, package: &PackageName) -> Result<Option<Listing>, Failure> {
        let listing = if self.view.is_local(package) { None } else { self.fetch_page(package).await? };
        Ok(self.view.with_folders(package, listing))
    }

    async fn fetch_page(&self, package: &PackageName) -> Result<Option<Listing>, Failure> {
        let (index, page, key) = self.view.place(package);
        let cached = self.view.cache.listing(&key);
        let validator = match cached {
            Some((record, true)) => {
                self.http.log.request(|| format!("cache: the page of {package} is fresh"));
                return Ok(record.listing.map(|listing| listing.called(index)));
            }
            Some((record, false)) => record.validator.map(|tag| (tag, record.listing)),
            None => None,
        };
        let tag = validator.as_ref().map(|(tag, _)| tag.as_str());
        let request = HttpRequest { url: &page, accept: Some(ACCEPT), part: None, validator: tag, limit: PAGE_LIMIT };
        let reply = self.http.get(&request).await.map_err(|failure| of_index(failure, index))?;
        let listing = match reply.status {
            StatusCode::NOT_MODIFIED => validator.and_then(|(_, listing)| listing),
            StatusCode::NOT_FOUND | StatusCode::GONE => None,
            _ => {
                let body = String::from_utf8(reply.body)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
                let read = read_page(&reply.content_type, &body, &reply.url, package, &self.view.filter);
                let mut listing = read.map_err(|why| no_answer(&page, &why, 1))?;
                index.clone_into(&mut listing.index);
                Some(listing)
            }
        };
        let lifetime = reply.max_age.unwrap_or(LIFETIME).min(LIFETIME);
        let fetched = self.view.cache.now();
        let record = ListingRecord { fetched, lifetime, validator: reply.etag, listing };
        // A link with a query is signed for a while, or holds a token.
        let is_plain = |listing: &Listing| listing.candidates.iter().all(|one| !one.address.contains('?'));
        if record.listing.as_ref().is_none_or(is_plain) {
            self.view.cache.keep_listing(&key, &record);
        }
        Ok(record.listing.map(|listing| listing.called(index)))
    }

    async fn fetch_metadata(&self, candidate: &Candidate) -> Result<Metadata, Failure> {
        if let Some(answer) = self.view.folder_metadata(candidate) {
            return answer;
        }
        if let Some(metadata) = self.view.known_metadata(candidate) {
            return Ok(metadata);
        }
        let record = self.published(candidate).await?;
        Ok(Metadata::parse(&record.headers, record.size))
    }

    /// Bytes of a file, where its page does not say: reading it tells.
    async fn size(&self, candidate: &Candidate) -> Result<Option<u64>, Failure> {
        if let Some(size) = self.metadata(candidate).await?.size {
            return Ok(Some(size));
        }
        let Ok(remote) = self.remote(candidate).await else {
            return Ok(None);
        };
        if let Some(key) = &self.view.key(candidate)
            && let Some(record) = self.view.cache.metadata(key)
        {
            self.view.cache.keep_metadata(key, &MetadataRecord { size: Some(remote.total), ..record });
        }
        Ok(Some(remote.total))
    }
}
