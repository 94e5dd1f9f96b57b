//! Wheels of the versions that were installed before colab-boot came, or before an apply that failed.

use std::collections::BTreeMap;

use crate::boot::index::{IndexSettings, digest_in_folder};
use crate::boot::lock::{LockedFrom, LockedPackage, LockedWheel};
use crate::boot::retrieval::Retrieval;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::Failure;
use crate::core::model::catalog::Listing;
use crate::core::model::{PackageName, Version};

impl Session<'_> {
    /// The wheels of what was there before colab-boot came and is wanted back, where an index has them. No request
    /// where nothing is.
    pub fn wheels_back(
        &self,
        wanted: &[(PackageName, Version)],
        settings: &IndexSettings,
        seen: &Seen,
    ) -> Result<BTreeMap<PackageName, LockedPackage>, Failure> {
        if wanted.is_empty() || !seen.is_here() {
            return Ok(BTreeMap::new());
        }
        let found = wheels_of(wanted, || self.sources(settings, seen, None, None), settings)?;
        Ok(found.into_iter().map(|package| (package.name.clone(), package)).collect())
    }
}

/// The wheels of `versions` that folders of wheels or the default index have; none where there is no folder and no
/// index may be asked.
pub fn wheels_of<'b>(
    versions: &[(PackageName, Version)],
    sources: impl FnOnce() -> Result<Retrieval<'b>, Failure>,
    settings: &IndexSettings,
) -> Result<Vec<LockedPackage>, Failure> {
    if settings.offline && settings.find_links.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<PackageName> = versions.iter().map(|(name, _)| name.clone()).collect();
    let listings = sources()?.listings(&names)?;
    let found = versions.iter().zip(listings);
    Ok(found.filter_map(|((name, version), listing)| package_of(name, version, &*listing?)).collect())
}

fn package_of(name: &PackageName, version: &Version, listing: &Listing) -> Option<LockedPackage> {
    let candidate = listing.get(version).filter(|one| !one.is_source())?;
    // A folder's listing tells no digests.
    let read = || digest_in_folder(candidate)?.ok();
    let (sha256, size) = candidate.sha256.map(|digest| (digest, candidate.size)).or_else(|| {
        let (digest, size) = read()?;
        Some((digest, Some(size)))
    })?;
    let (file, sha256) = (candidate.file.clone(), Some(sha256));
    let index = candidate.folder.clone().unwrap_or_else(|| "default".to_owned());
    let from = LockedFrom::Wheel(LockedWheel { file, sha256, size, index, metadata: None, from: None, commit: None });
    let (name, version) = (name.clone(), version.clone());
    Some(LockedPackage { name, version, from, why: Vec::new() })
}
