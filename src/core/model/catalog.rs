//! What an index offers for one target, and the one small trait through which the solver asks for it.

use std::sync::Arc;

use pep440_rs::Version;
use pep508_rs::{ExtraName, PackageName};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::core::diag::Failure;
use crate::core::model::Sha256;
use crate::core::model::build::WheelBuild;
use crate::core::model::contents::Files;
use crate::core::model::linking::Linking;
use crate::core::model::metadata::Metadata;
use crate::core::model::stated_digest::Stated;
use crate::core::model::version::VersionRange;

/// One wheel, the best of its version for the target; or a source distribution, where the profile lets it be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub version: Version,
    pub file: String,
    /// Where it is; parsed only of what is chosen, for a listing has hundreds.
    pub address: String,
    /// `None` where the index gives none.
    pub sha256: Option<Sha256>,
    /// Another digest, where the index gives that alone.
    pub stated: Option<Stated>,
    /// Bytes, where the index says so.
    pub size: Option<u64>,
    /// The reason, or an empty text, where its authors withdrew it.
    pub yanked: Option<String>,
    pub sidecar: Sidecar,
    /// Name of the folder of wheels it lies in; `None` where it is the index's.
    pub folder: Option<String>,
}

/// Core metadata beside a file, as its index advertises it (PEP 658, PEP 714).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sidecar {
    #[default]
    Absent,
    There,
    /// With its digest.
    Hashed(Sha256),
}

impl Candidate {
    /// Where it is.
    pub fn url(&self) -> Result<Url, Failure> {
        Url::parse(&self.address).map_err(|error| {
            Failure::world(format!("`{}` has no valid address", self.file))
                .because(&error)
                .help("run the command again with --refresh")
        })
    }

    /// Tells it from every other file: its digest, or for want of one its address.
    pub fn identity(&self) -> Sha256 {
        self.sha256.unwrap_or_else(|| Sha256::of(self.address.as_bytes()))
    }

    /// Whether it has to be built before it can be installed.
    pub fn is_source(&self) -> bool {
        !self.file.ends_with(".whl")
    }
}

/// Why a version that exists has no candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rejection {
    /// `Requires-Python` of its files.
    Python(String),
    /// Only wheels with other tags; these are their Python tags and platforms.
    Tags(Vec<String>),
    /// Nothing but source.
    NoWheel,
    /// Uploaded after the profile's `as-of`.
    TooNew,
    /// The profile has an `as-of`, and the index gives no upload date.
    Undated,
    /// The page leads to files of this machine, out of encryption, or from the internet to a private address.
    Astray,
    /// The page names its file twice, with different digests.
    Twice,
}

/// `3.9`, `3.10` of `cp39-manylinux…`, `cp310-win_amd64`, in order, each once.
pub fn pythons_of(tags: &[String]) -> Vec<String> {
    let mut minors: Vec<u32> = tags
        .iter()
        .filter(|tag| tag.contains("linux") || tag.ends_with("-any"))
        .filter_map(|tag| tag.strip_prefix("cp3")?.split('-').next()?.parse().ok())
        .collect();
    minors.sort_unstable();
    minors.dedup();
    minors.into_iter().map(|minor| format!("3.{minor}")).collect()
}

/// What an index has of one package, for one target. Newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Name of the index: `default`, or that of an `[[index]]`.
    pub index: String,
    pub candidates: Vec<Candidate>,
    pub rejected: Vec<(Version, Rejection)>,
    /// Wheel variants that were passed over.
    pub variants: usize,
    /// Wheels that were passed over because their names can't be parsed.
    pub skipped: usize,
    /// Releases that only a folder has, of a name that an index has too: the newest, and the folder's name.
    #[serde(skip)]
    pub of_folder_alone: Option<(Version, String)>,
}

/// When pre-releases and yanked files may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub prereleases: PrereleaseRule,
    /// The profile pins the version exactly.
    pub yanked: bool,
}

/// How pre-releases rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrereleaseRule {
    /// Never.
    Refused,
    /// After every stable version in range.
    Last,
    /// As any other.
    Equal,
}

impl Listing {
    /// Whether the index has a file of this version, usable or not.
    pub fn has(&self, version: &Version) -> bool {
        self.get(version).is_some() || self.rejected.iter().any(|(other, _)| other == version)
    }

    /// The versions that it has files of: the usable ones, then the others.
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        let usable = self.candidates.iter().map(|candidate| &candidate.version);
        usable.chain(self.rejected.iter().map(|(version, _)| version))
    }

    /// The version to try first in `range`: the newest stable one, else by the rules of `admission` a pre-release.
    pub fn choose(&self, range: &VersionRange, admission: Admission) -> Option<&Candidate> {
        let mut all = self
            .candidates
            .iter()
            .filter(|candidate| range.contains(&candidate.version) && (candidate.yanked.is_none() || admission.yanked));
        let first = all
            .clone()
            .find(|candidate| !candidate.version.any_prerelease() || admission.prereleases == PrereleaseRule::Equal);
        if admission.prereleases == PrereleaseRule::Refused { first } else { first.or_else(|| all.next()) }
    }

    /// The same, of the index called `index`: a cache may have it from a time when that had another name.
    #[must_use]
    pub fn called(mut self, index: &str) -> Self {
        index.clone_into(&mut self.index);
        self
    }

    /// This and what `other` has; of one version the other's file is taken, but no source in place of a wheel.
    #[must_use]
    pub fn joined(mut self, mut other: Self) -> Self {
        other.candidates.retain(|one| !one.is_source() || self.get(&one.version).is_none_or(Candidate::is_source));
        let new = |version: &Version| other.get(version).is_some();
        self.candidates.retain(|candidate| !new(&candidate.version));
        self.rejected.retain(|(version, _)| !new(version));
        if self.index.is_empty() {
            self.index = other.index;
        }
        self.candidates.extend(other.candidates);
        self.candidates.sort_by(|a, b| b.version.cmp(&a.version));
        let known: Vec<Version> = self.rejected.iter().map(|(version, _)| version.clone()).collect();
        self.rejected.extend(other.rejected.into_iter().filter(|(version, _)| {
            !known.contains(version) && !self.candidates.iter().any(|candidate| candidate.version == *version)
        }));
        self.rejected.sort_by(|a, b| b.0.cmp(&a.0));
        (self.variants, self.skipped) = (self.variants + other.variants, self.skipped + other.skipped);
        self
    }

    /// The candidate of exactly this version.
    pub fn get(&self, version: &Version) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.version == *version)
    }
}

/// Where the solver gets its facts. Implemented by the network client and by the offline cache.
pub trait Catalog {
    /// Everything the responsible index has of `package`; `None` where it does not exist there.
    fn listing(&self, package: &PackageName) -> Result<Option<Arc<Listing>>, Failure>;

    /// The metadata of one wheel.
    fn metadata(&self, candidate: &Candidate) -> Result<Arc<Metadata>, Failure>;

    /// Digest and size of a file for which the index gives none: it is read whole.
    fn digest(&self, candidate: &Candidate) -> Result<(Sha256, u64), Failure>;

    /// What the wheel was built for, read from the wheel itself; `None` where that is not known and can't be asked.
    fn build(&self, candidate: &Candidate) -> Result<Option<Arc<WheelBuild>>, Failure>;

    /// What each of the wheels is linked against, as far as so many packed bytes of it tell that; `None` for one that
    /// could not be read.
    fn linking(&self, wheels: &[(Candidate, u64)]) -> Vec<Option<Linking>>;

    /// Bytes of a file of which its page does not say so, where they can be known.
    fn size(&self, candidate: &Candidate) -> Result<Option<u64>, Failure>;

    /// What all paths of a wheel begin with, where that is known without asking.
    fn roots(&self, candidate: &Candidate) -> Option<Vec<String>>;

    /// What each of the wheels puts on disk; `None` for one that could not be looked into.
    fn files(&self, candidates: &[Candidate]) -> Vec<Option<Arc<Files>>>;

    /// Says what will be asked for soon, so that it can be fetched ahead. Changes no answer.
    fn expect(&self, wishes: Vec<Wish>);

    /// The same for the listing of one package, and nothing of what it needs.
    fn expect_listing(&self, package: &PackageName);

    /// The same for the metadata of certain wheels.
    fn expect_metadata(&self, candidates: &[Candidate]);
}

/// Something the solver will want: a package, the versions in question, an extra.
#[derive(Clone, Debug)]
pub struct Wish {
    pub package: PackageName,
    pub range: VersionRange,
    pub extra: Option<ExtraName>,
}
