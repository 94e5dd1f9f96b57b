//! The cache on disk. What makes a record wrong:
//! - a listing: another index, target, `as-of` date or [`FORMAT`] (all in its key), or age (ten minutes, unless the
//!   index says otherwise);
//! - metadata and files: nothing. They are keyed by the wheel's digest, and a wheel never changes;
//! - builds: another way of reading them ([`BUILDS`] in the name of their folder; the matrix's probe and toolkits in
//!   their key).
//!
//! A record that cannot be read is as good as none. Nothing here is needed: the folder may be deleted at any time.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::core::host::files;
use crate::core::model::build::WheelBuild;
use crate::core::model::catalog::Listing;
use crate::core::model::contents::Files;
use crate::core::model::linking::Linking;
use crate::core::model::{Hasher, Sha256};

/// Raised when the meaning of a record changes.
const FORMAT: u32 = 8;

/// Raised when builds are read in another way.
const BUILDS: u32 = 3;

/// How long a listing is believed without asking: the `max-age` of the public index.
pub(super) const LIFETIME: u64 = 600;

/// The folder, and the time that ages are counted from.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Seconds since 1970.
    now: u64,
    trust: Trust,
}

/// How far a listing in the cache is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// At any age: there is no network to ask.
    Always,
    WhileFresh,
    /// The index is asked again, once in a run.
    Never,
}

/// Another number in each run.
static RUN: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

/// A listing with what is needed to ask for it again.
#[derive(Serialize, Deserialize)]
pub(super) struct ListingRecord {
    pub fetched: u64,
    pub lifetime: u64,
    pub validator: Option<String>,
    /// `None`: the index has no such package.
    pub listing: Option<Listing>,
}

/// The headers of one METADATA.
#[derive(Serialize, Deserialize)]
pub(super) struct MetadataRecord {
    pub size: Option<u64>,
    pub headers: String,
}

impl Cache {
    pub fn new(folder: &Path, now: u64, trust: Trust) -> Self {
        Self { folder: folder.to_owned(), now, trust }
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The record of a listing and whether it is still fresh. `key` is what [`listing_key`] made.
    pub(super) fn listing(&self, key: &Sha256) -> Option<(ListingRecord, bool)> {
        let (run, record): (u64, ListingRecord) = read(&self.path("listings", key))?;
        let fresh = match self.trust {
            Trust::Always => true,
            // Of a page that was fetched in the future, a clock was wrong.
            Trust::WhileFresh => self.now.checked_sub(record.fetched).is_some_and(|age| age < record.lifetime),
            Trust::Never => run == *RUN,
        };
        Some((record, fresh))
    }

    pub(super) fn keep_listing(&self, key: &Sha256, record: &ListingRecord) {
        write(&self.path("listings", key), &(*RUN, record));
    }

    /// What was read of the wheel's METADATA. Where the index is to be asked again, nothing: it was not compared with
    /// the wheel.
    pub(super) fn metadata(&self, wheel: &Sha256) -> Option<MetadataRecord> {
        let (run, record): (u64, MetadataRecord) = read(&self.path("metadata", wheel))?;
        (self.trust != Trust::Never || run == *RUN).then_some(record)
    }

    pub(super) fn keep_metadata(&self, wheel: &Sha256, record: &MetadataRecord) {
        write(&self.path("metadata", wheel), &(*RUN, record));
    }

    /// What the wheel puts on disk.
    pub(super) fn files(&self, wheel: &Sha256) -> Option<Files> {
        read(&self.path("files", wheel))
    }

    /// What all paths of the wheel begin with.
    pub(super) fn roots(&self, wheel: &Sha256) -> Option<Vec<String>> {
        read(&self.path("roots-2", wheel))
    }

    pub(super) fn keep_roots(&self, wheel: &Sha256, roots: &[String]) {
        write(&self.path("roots-2", wheel), &roots);
    }

    pub(super) fn keep_files(&self, wheel: &Sha256, files: &Files) {
        write(&self.path("files", wheel), files);
    }

    /// What the wheel was built for; a thorough reading does for a quick one.
    pub(super) fn build(&self, wheel: &Sha256, reading: &Sha256, thorough: bool) -> Option<WheelBuild> {
        let kept = |thorough: bool| read(&self.path(&builds_folder(thorough), &build_key(wheel, reading)));
        kept(true).or_else(|| if thorough { None } else { kept(false) })
    }

    pub(super) fn keep_build(&self, wheel: &Sha256, reading: &Sha256, thorough: bool, build: &WheelBuild) {
        write(&self.path(&builds_folder(thorough), &build_key(wheel, reading)), build);
    }

    /// What the wheel is linked against; what was read to the end does for every limit. An installed distribution goes
    /// by the digest of its RECORD.
    pub fn linking(&self, wheel: &Sha256, limit: u64) -> Option<Linking> {
        let (read_to, linking): (u64, Linking) = read(&self.path(LINKING, wheel))?;
        (read_to >= limit || linking.unread.is_empty()).then_some(linking)
    }

    pub fn keep_linking(&self, wheel: &Sha256, limit: u64, linking: &Linking) {
        write(&self.path(LINKING, wheel), &(limit, linking));
    }

    /// A folder for what is needed for a while.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn path(&self, kind: &str, key: &Sha256) -> PathBuf {
        let name = key.to_string();
        self.folder.join(format!("{kind}-v{FORMAT}")).join(&name[..2]).join(name)
    }
}

/// A build depends on the wheel and on how it is read.
fn build_key(wheel: &Sha256, reading: &Sha256) -> Sha256 {
    Sha256::of(format!("{wheel} {reading}").as_bytes())
}

fn builds_folder(thorough: bool) -> String {
    format!("builds-{BUILDS}{}", if thorough { "-thorough" } else { "" })
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = files::read_bytes(path, LARGEST).ok()?;
    let (record, sealed) = bytes.split_last_chunk::<32>()?;
    if *sealed == seal(path, record) { postcard::from_bytes(record).ok() } else { None }
}

/// What ends a record: a digest of it and of what it is a record of. Zeros that a power cut has left, a flipped bit,
/// and the record of something else are no record.
fn seal(path: &Path, record: &[u8]) -> [u8; 32] {
    let mut hasher = Hasher::default();
    // The kind, two digits, the key.
    for part in path.components().rev().take(3) {
        hasher.update(part.as_os_str().as_encoded_bytes());
    }
    hasher.update(record);
    *hasher.finish().as_bytes()
}

/// What is linked is kept here; the number changes with what is read.
const LINKING: &str = "linking-5";

/// The largest record; that of a page of ten thousand files has 4 MB.
const LARGEST: u64 = 256 << 20;

/// A cache that cannot be written is no reason to stop.
fn write(path: &Path, record: &(impl Serialize + ?Sized)) {
    if let Ok(mut bytes) = postcard::to_stdvec(record) {
        bytes.extend(seal(path, &bytes));
        let _ = files::write_whole_fast(path, &bytes);
    }
}

/// The key of a listing: index address, package, and everything it was filtered by.
pub(super) fn listing_key(page: &str, target: &str) -> Sha256 {
    Sha256::of(format!("{FORMAT}\n{page}\n{target}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Cache, ListingRecord, MetadataRecord, Trust, listing_key, write};
    use crate::core::host::files::write_whole_fast;
    use crate::core::model::Sha256;

    #[test]
    fn what_is_damaged_or_of_another_is_no_record() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path(), 0, Trust::WhileFresh);
        let (one, other) = (Sha256::of(b"one"), Sha256::of(b"other"));
        let keep = |key: &Sha256| {
            cache.keep_metadata(key, &MetadataRecord { size: Some(7), headers: key.to_string() });
            cache.path("metadata", key)
        };
        let (path, path_of_other) = (keep(&one), keep(&other));
        assert_eq!(cache.metadata(&one).map(|record| record.headers), Some(one.to_string()));
        let whole = std::fs::read(&path).expect("a record");
        let mut flipped = whole.clone();
        flipped[3] ^= 1;
        let zeros = vec![0; whole.len()];
        for bytes in
            [&flipped, &zeros, &whole[1..].to_vec(), &Vec::new(), &std::fs::read(&path_of_other).expect("a record")]
        {
            write_whole_fast(&path, bytes).expect("a write");
            assert!(cache.metadata(&one).is_none(), "{bytes:?}");
        }
        // Nor is what was not compared with the wheel, where the index is to be asked again.
        write_whole_fast(&path, &whole).expect("a write");
        assert!(cache.metadata(&one).is_some());
        let anew = Cache::new(folder.path(), 0, Trust::Never);
        assert!(anew.metadata(&one).is_some(), "of this run");
        write(&path, &(7_u64, MetadataRecord { size: None, headers: String::new() }));
        assert!(cache.metadata(&one).is_some() && anew.metadata(&one).is_none(), "of another run");
    }

    #[test]
    fn a_page_of_the_future_is_asked_for_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = listing_key("https://index.test/simple/demo/", "any");
        let record = ListingRecord { fetched: 1_000, lifetime: 600, validator: None, listing: None };
        Cache::new(folder.path(), 1_000, Trust::WhileFresh).keep_listing(&key, &record);
        for (now, fresh) in [(1_000, true), (1_599, true), (1_600, false), (999, false), (0, false)] {
            let cache = Cache::new(folder.path(), now, Trust::WhileFresh);
            assert_eq!(cache.listing(&key).map(|(_, fresh)| fresh), Some(fresh), "{now}");
        }
    }
}
