//! What is read of one file: its METADATA beside it or within, what it puts on disk, what it was built for, its size
//! and digest.

use std::sync::Arc;

use crate::boot::index::cache::MetadataRecord;
use crate::boot::index::exchange::HttpRequest;
use crate::boot::index::online::{METADATA_LIMIT, Shared};
use crate::boot::index::remote::Remote;
use crate::boot::index::retry::no_answer;
use crate::boot::index::{LocalWheel, folder, sdist};
use crate::core::diag::Failure;
use crate::core::host::mutex::held;
use crate::core::inspect::{InspectedWheel, TAIL};
use crate::core::matrix::{Hints, Matrix};
use crate::core::model::build::WheelBuild;
use crate::core::model::catalog::{Candidate, Sidecar};
use crate::core::model::contents::Files;
use crate::core::model::linking::Linking;
use crate::core::model::{PackageName, Sha256, WheelName};

/// A wheel whose directory and tail take more bytes is not kept open after its METADATA is read.
const HELD: usize = 128 << 10;

/// As many wheels are kept open, for requests for their directories; the others are opened again.
const OPEN: usize = 256;

/// Whether `text` is the METADATA of `wheel` and not, say, the login page of a proxy.
fn is_metadata_of(text: &str, wheel: &str) -> bool {
    let name = text.lines().take_while(|line| !line.is_empty()).find_map(|line| line.strip_prefix("Name:"));
    let name = name.and_then(|name| name.trim().parse::<PackageName>().ok());
    let wheel = wheel.parse::<WheelName>().ok().map(|wheel| wheel.name);
    text.starts_with("Metadata-Version:") && name.is_some() && name == wheel
}

impl Shared {
    /// METADATA as the index has it, or had it when it was asked.
    pub(super) async fn published(&self, candidate: &Candidate) -> Result<MetadataRecord, Failure> {
        let key = self.view.key(candidate);
        if let Some(record) = key.and_then(|key| self.view.cache.metadata(&key)) {
            return Ok(record);
        }
        let record =
            if candidate.is_source() { self.of_source(candidate).await? } else { self.of_wheel(candidate).await? };
        if let Some(key) = &key {
            self.view.cache.keep_metadata(key, &record);
        }
        Ok(record)
    }

    /// The metadata of a wheel, from beside it or from within.
    async fn of_wheel(&self, candidate: &Candidate) -> Result<MetadataRecord, Failure> {
        let (text, size) = match self.sidecar(candidate).await? {
            Some(text) => (text, candidate.size),
            None => self.by_range(candidate).await?,
        };
        let headers = text.split("\n\n").next().unwrap_or_default().replace('\r', "");
        let headers = headers.split("\n\n").next().unwrap_or_default().to_owned();
        Ok(MetadataRecord { size, headers })
    }

    /// The metadata of a source distribution, which is fetched whole.
    async fn of_source(&self, candidate: &Candidate) -> Result<MetadataRecord, Failure> {
        let url = &candidate.url()?;
        let request = HttpRequest { url, accept: None, part: None, validator: None, limit: sdist::LIMIT };
        let reply = self.http.get(&request).await?;
        if !reply.status.is_success() {
            return Err(no_answer(url, &format!("the server answered {}", reply.status), 1));
        }
        let size = Some(reply.body.len() as u64);
        let (builder, folder) = (self.view.scope.builder.clone(), self.view.cache.folder("sources"));
        let one = candidate.clone();
        let read = move || sdist::headers(&one, &reply.body, builder.as_ref(), &folder);
        let headers = tokio::task::spawn_blocking(read).await;
        let headers = headers.map_err(|error| no_answer(url, &error.to_string(), 1))??;
        Ok(MetadataRecord { size, headers })
    }

    /// `<wheel>.metadata`, where the index advertises it. A 404 never means "no dependencies", and another text than
    /// was announced means nothing: then the wheel itself is read.
    async fn sidecar(&self, candidate: &Candidate) -> Result<Option<String>, Failure> {
        let announced = match candidate.sidecar {
            Sidecar::Absent => return Ok(None),
            Sidecar::There => None,
            Sidecar::Hashed(digest) => Some(digest),
        };
        let mut url = candidate.url()?;
        let path = format!("{}.metadata", url.path());
        url.set_path(&path);
        let request = HttpRequest { url: &url, accept: None, part: None, validator: None, limit: METADATA_LIMIT };
        let reply = self.http.get(&request).await?;
        let right = announced.is_none_or(|digest| Sha256::of(&reply.body) == digest);
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        Ok((reply.status.is_success() && right && is_metadata_of(&text, &candidate.file)).then_some(text))
    }

    /// METADATA out of the wheel, never the whole wheel. Also tells its size.
    async fn by_range(&self, candidate: &Candidate) -> Result<(String, Option<u64>), Failure> {
        let remote = self.remote(candidate).await?;
        let metadata = remote.metadata(&self.http).await?;
        // Of hundreds of versions one is chosen; the large directories of the others would fill the memory.
        let mut remotes = held(&self.remotes);
        if remote.held_bytes() > HELD || remotes.len() > OPEN {
            remotes.remove(&candidate.identity());
        }
        drop(remotes);
        Ok((metadata, Some(remote.total)))
    }

    /// The opened wheel; opened once.
    pub(super) async fn remote(&self, candidate: &Candidate) -> Result<Arc<Remote>, Failure> {
        let cell = Arc::clone(held(&self.remotes).entry(candidate.identity()).or_default());
        let wheel = candidate.file.parse::<WheelName>().ok();
        let tail = wheel.and_then(|wheel| Hints::bundled().tail(&wheel.name)).unwrap_or(TAIL);
        cell.get_or_init(|| async {
            let remote = Remote::open(&self.http, &candidate.url()?, tail).await.map(Arc::new)?;
            if let Some(key) = &self.view.key(candidate) {
                self.view.cache.keep_roots(key, &remote.files.roots());
            }
            Ok(remote)
        })
        .await
        .clone()
    }

    /// What the wheel puts on disk.
    pub(super) async fn files(&self, candidate: &Candidate) -> Result<Arc<Files>, Failure> {
        if let Some(files) = self.view.key(candidate).and_then(|key| self.view.cache.files(&key)) {
            return Ok(Arc::new(files));
        }
        if let Some(wheel) = LocalWheel::of(candidate) {
            return wheel.map(|wheel| Arc::new(wheel.files().clone()));
        }
        let remote = self.remote(candidate).await?;
        if let Some(key) = &self.view.key(candidate) {
            self.view.cache.keep_files(key, &remote.files);
        }
        Ok(Arc::clone(&remote.files))
    }

    /// What the wheel was built for.
    pub(super) async fn inspect(
        &self,
        candidate: &Candidate,
        matrix: &Matrix,
        thorough: bool,
    ) -> Result<WheelBuild, Failure> {
        let wheel = candidate.file.parse::<WheelName>();
        let url = &candidate.url()?;
        let package = wheel.map_err(|_| no_answer(url, "its name is not the name of a wheel", 1))?.name;
        let reading = matrix.reading(&package);
        if let Some(build) = self.view.key(candidate).and_then(|key| self.view.cache.build(&key, &reading, thorough)) {
            return Ok(build);
        }
        if let Some(answer) = folder::build(candidate, matrix, thorough) {
            return answer;
        }
        let remote = self.remote(candidate).await?;
        let subject = InspectedWheel { package: &package, files: &remote.files, matrix, thorough };
        let build = remote.inspect(&self.http, subject).await?;
        if let Some(key) = self.view.key(candidate).filter(|_| build.unreadable.is_empty()) {
            self.view.cache.keep_build(&key, &reading, thorough, &build);
        }
        Ok(build)
    }

    /// What the wheel is linked against, as far as `limit` packed bytes tell it.
    pub(super) async fn linking(&self, candidate: &Candidate, limit: u64) -> Result<Linking, Failure> {
        if let Some(linking) = self.view.key(candidate).and_then(|key| self.view.cache.linking(&key, limit)) {
            return Ok(linking);
        }
        if let Some(answer) = folder::linking(candidate, limit) {
            return answer;
        }
        let linking = self.remote(candidate).await?.linking(&self.http, limit).await?;
        if let Some(key) = self.view.key(candidate) {
            self.view.cache.keep_linking(&key, limit, &linking);
        }
        Ok(linking)
    }

    /// Digest and size of a file for which the index gives none: it has to be read whole, once.
    pub(super) async fn digest(&self, candidate: &Candidate) -> Result<(Sha256, u64), Failure> {
        let cell = Arc::clone(held(&self.digests).entry(candidate.identity()).or_default());
        cell.get_or_init(|| async {
            match folder::digest(candidate) {
                Some(answer) => answer,
                None => self.http.digest(&candidate.url()?, candidate.stated.as_ref()).await,
            }
        })
        .await
        .clone()
    }
}
