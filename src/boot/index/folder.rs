//! Wheels of this machine: a folder of them as a source, which is what `find-links` and a wheelhouse are, and one as a
//! file.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use pep508_rs::PackageName;
use url::Url;

use crate::boot::index::page::{Filter, read_folder};
use crate::boot::index::retry::no_answer;
use crate::boot::index::{Builder, sdist};
use crate::core::diag::Failure;
use crate::core::host::digests::digest as digest_of;
use crate::core::host::files;
use crate::core::host::files::names_if_any;
use crate::core::inspect::{Archive, InspectedWheel, Inspection, Malformed};
use crate::core::matrix::Matrix;
use crate::core::model::build::WheelBuild;
use crate::core::model::catalog::{Candidate, Listing};
use crate::core::model::contents::Files;
use crate::core::model::linking::Linking;
use crate::core::model::metadata::Metadata;
use crate::core::model::{Sha256, WheelName};

/// The largest METADATA.
const TEXT_LIMIT: u64 = 16 << 20;

/// What the folder at `url`, called `name`, has of `package`; `None` where it has nothing.
pub(super) fn listing(name: &str, url: &Url, package: &PackageName, filter: &Filter) -> Option<Listing> {
    let mut names = names_if_any(&path_of(url)?);
    names.sort();
    let mut listing = read_folder(&names, url, package, filter);
    if listing.candidates.is_empty() && listing.rejected.is_empty() {
        return None;
    }
    name.clone_into(&mut listing.index);
    for candidate in &mut listing.candidates {
        candidate.folder = Some(name.to_owned());
    }
    Some(listing)
}

/// The path that `url` means, if it is one of this machine's.
pub(super) fn path_of(url: &Url) -> Option<PathBuf> {
    if url.scheme() == "file" { url.to_file_path().ok() } else { None }
}

/// The address of a folder's file; `None` for one of the network.
fn local(candidate: &Candidate) -> Option<Url> {
    candidate.address.starts_with("file:").then(|| candidate.url().ok()).flatten()
}

/// A wheel on disk.
pub struct LocalWheel {
    archive: Archive<File>,
    /// Bytes.
    pub size: u64,
}

impl LocalWheel {
    /// Opens the wheel at `path`. What is no wheel is an error of kind `InvalidData`.
    pub fn open(path: &Path) -> IoResult<Self> {
        let file = files::open(path)?;
        let size = file.metadata()?.len();
        Ok(Self { archive: Archive::open(file)?, size })
    }

    /// That of a folder's listing; `None` for a wheel of the network.
    pub(super) fn of(candidate: &Candidate) -> Option<Result<Self, Failure>> {
        let url = local(candidate)?;
        let path = path_of(&url)?;
        Some(Self::open(&path).map_err(|error| no_answer(&url, &error.to_string(), 1)))
    }

    /// What it puts on disk.
    pub fn files(&self) -> &Files {
        self.archive.files()
    }

    /// Its METADATA. That it has none is an error of kind `InvalidData`.
    pub fn metadata(&mut self) -> IoResult<Metadata> {
        let text = match self.archive.files().dist_info("METADATA").cloned() {
            Some(member) => self.archive.text(&member, TEXT_LIMIT)?,
            None => return Err(IoError::new(ErrorKind::InvalidData, "it has no .dist-info/METADATA")),
        };
        Ok(Metadata::parse(&text, Some(self.size)))
    }

    /// What it is linked against, as far as `limit` packed bytes tell it.
    pub fn linking(&mut self, limit: u64) -> IoResult<Linking> {
        self.archive.linking(limit)
    }

    /// What it was built for; `thorough` also reads the fat binaries where a text file says it all.
    pub fn inspect(&mut self, package: &PackageName, matrix: &Matrix, thorough: bool) -> IoResult<WheelBuild> {
        let files = self.archive.files().clone();
        let mut inspection = Inspection::new(InspectedWheel { package, files: &files, matrix, thorough });
        while let Some(mut request) = inspection.next_request() {
            let outcome = match self.archive.unpack(&files.members[request.member], &mut request) {
                Ok(whole) => Ok(whole),
                // What is wrong with its bytes is a finding; anything else is trouble with the disk.
                Err(error) => Err(error.downcast::<Malformed>()?),
            };
            inspection.took(request, outcome);
        }
        Ok(inspection.finish())
    }
}

/// The metadata of a folder's file; `None` for one of the network.
/// Sources are built by `builder`, in `sources`.
pub(super) fn metadata(
    candidate: &Candidate,
    builder: Option<&Builder>,
    sources: &Path,
) -> Option<Result<Metadata, Failure>> {
    let url = local(candidate)?;
    let failed = |error: IoError| no_answer(&url, &error.to_string(), 1);
    if candidate.is_source() {
        let bytes = files::read_bytes(&path_of(&url)?, sdist::LIMIT).map_err(failed);
        return Some(
            bytes
                .and_then(|bytes| sdist::headers(candidate, &bytes, builder, sources))
                .map(|headers| Metadata::parse(&headers, None)),
        );
    }
    Some(LocalWheel::of(candidate)?.and_then(|mut wheel| wheel.metadata().map_err(failed)))
}

/// The build of a folder's wheel; `None` for one of the network.
pub(super) fn build(candidate: &Candidate, matrix: &Matrix, thorough: bool) -> Option<Result<WheelBuild, Failure>> {
    let wheel = candidate.file.parse::<WheelName>().ok()?;
    let url = local(candidate)?;
    Some(LocalWheel::of(candidate)?.and_then(|mut local| {
        local.inspect(&wheel.name, matrix, thorough).map_err(|error| no_answer(&url, &error.to_string(), 1))
    }))
}

/// What a folder's wheel is linked against; `None` for one of the network.
pub(super) fn linking(candidate: &Candidate, limit: u64) -> Option<Result<Linking, Failure>> {
    let url = local(candidate)?;
    Some(
        LocalWheel::of(candidate)?
            .and_then(|mut local| local.linking(limit).map_err(|error| no_answer(&url, &error.to_string(), 1))),
    )
}

/// Digest and length of a folder's file; `None` for one of the network.
pub fn digest(candidate: &Candidate) -> Option<Result<(Sha256, u64), Failure>> {
    let url = local(candidate)?;
    Some(digest_of(&path_of(&url)?).map_err(|error| no_answer(&url, &error.to_string(), 1)))
}
