//! (profile, target, matrix, catalog) → one coherent set of wheels, or the reasons why there is none.
//!
//! `PubGrub` with the machine inside: the driver, the CUDA major and each GPU stand in the same problem as packages
//! with one version, so that a conflict is explained in their terms. Pure but for the [`Catalog`] it asks.

mod hardware;
mod held_back;
mod collision;
mod edges;
mod explain;
mod wheels_read;
mod linked;
mod matrix_edges;
mod package;
mod admission;
mod provider;
mod time_limit;
mod release;
mod remaining_causes;
mod search;
mod caveat;
mod solve;

use std::collections::BTreeMap;

use crate::boot::profile::{CudaWish, Profile};
use crate::core::matrix::{Hardware, Matrix, Overlay};
use crate::core::model::catalog::{Candidate, Catalog};
use crate::core::model::contents::Clash;
use crate::core::model::stated_digest::DigestKind;
use crate::core::model::{ExtraName, PackageName, PythonFacts, Requirement, Sha256, Version};

pub use caveat::{caveats, collision_finding, compiled_on_use, never_imported, yanked};
pub use explain::{Asker, Conflict, Elsewhere, Hindrance, Newer, Unsolved, Why, explain, why};
pub use linked::{BUDGET, WHEEL, is_linked_against, is_within, is_worth_reading};
pub use remaining_causes::{Cause, Rest, resolve_rest};
pub use solve::resolve;
pub use wheels_read::Learned;

/// What to solve for.
#[derive(Clone, Debug)]
pub struct Target {
    /// `this-machine`, or a runtime's full name.
    pub name: String,
    pub python: PythonFacts,
    pub hardware: Hardware,
    /// How the driver is known, for explanations: `nvidia-smi`, `--driver`, `runtime colab-2026.07-gpu`.
    pub driver_origin: String,
    pub cuda: CudaWish,
    pub runtime: Option<String>,
    /// What the target already has, where the profile prefers that.
    pub installed: BTreeMap<PackageName, Present>,
    /// What of that asks for more than its METADATA says.
    pub linked: BTreeMap<PackageName, Vec<Overlay>>,
}

/// A distribution that the target already has.
#[derive(Clone, Debug)]
pub struct Present {
    pub version: Version,
    /// `None` where a description records no requirements.
    pub requires: Option<Vec<Requirement>>,
    /// The kernel runs on it: no other version may be chosen.
    pub protected: bool,
    /// It was installed from an address: a wheel of an index with the same version may be another file.
    pub direct: bool,
}

/// All that a solve depends on. Same question, same answer.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub profile: &'a Profile,
    pub target: &'a Target,
    pub matrix: &'a Matrix,
    pub catalog: &'a dyn Catalog,
    /// Versions to take where they fit: those of an earlier lock.
    pub preferred: &'a BTreeMap<PackageName, Version>,
    /// Whether the time for it is over; what a solve says does not depend on it, but for that it gave up.
    pub is_over: &'a dyn Fn() -> bool,
    /// What wheels were found to be linked against; it grows, and is the same for each wheel at any time.
    pub learned: &'a Learned,
}

/// A solved set, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    pub picks: Vec<Pick>,
    /// What was noticed on the way: yanked pins, pre-releases, variants passed over.
    pub caveats: Vec<Caveat>,
}

/// One chosen distribution.
#[derive(Clone, Debug)]
pub struct Pick {
    pub name: PackageName,
    pub version: Version,
    pub source: PickSource,
    /// Names of what needs it; empty for what the profile asks for.
    pub needed_by: Vec<PackageName>,
    pub in_profile: bool,
    /// The target has this version already.
    pub present: bool,
}

/// Where a chosen distribution comes from.
#[derive(Clone, Debug)]
pub enum PickSource {
    /// The target has it, and no index has a wheel of this version with a digest.
    ImageOnly,
    /// A wheel of the index called `index`.
    Wheel {
        candidate: Box<Candidate>,
        index: String,
        sha256: Option<Sha256>,
        size: Option<u64>,
        /// The digest of the METADATA that was solved with; `None` where it was not looked at.
        metadata: Option<String>,
    },
}

/// A release that looks for a CUDA library which nothing carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfound {
    pub name: PackageName,
    pub version: Version,
    /// `libcublas.so.12` and others.
    pub absent: Vec<String>,
    /// `nvidia-cublas-cu12`, which has the first.
    pub carrier: String,
    /// What helps, where an extra brings all of them.
    pub bringer: Option<String>,
    pub without: String,
    /// The CUDA majors of the libraries that are there.
    pub here: Vec<u32>,
}

/// A release that is far behind the newest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    pub name: PackageName,
    pub version: Version,
    pub newest: Version,
    /// Distributions that ask for an older one.
    pub by: Vec<PackageName>,
    /// The earlier lock has this version.
    pub locked: bool,
    /// The profile names any version, and no newer major version can be had.
    pub is_fallback: bool,
}

/// Something worth telling about a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caveat {
    Yanked {
        name: PackageName,
        version: Version,
        reason: String,
    },
    Prerelease {
        name: PackageName,
        version: Version,
    },
    /// The driver compiles its kernels for these GPUs.
    PtxOnly {
        name: PackageName,
        version: Version,
        gpus: Vec<String>,
    },
    /// The matrix has no row for it, and its wheel could not be read.
    BuildUnknown {
        name: PackageName,
        version: Version,
        why: String,
    },
    /// Installed together they would overwrite each other's files.
    FilesCollide {
        first: PackageName,
        second: PackageName,
        clash: Clash,
    },
    /// Wheels whose zip directory could not be read.
    FilesUnchecked {
        count: usize,
    },
    /// Somebody asks for an extra that the release does not have.
    ExtraUnknown {
        name: PackageName,
        version: Version,
        extra: ExtraName,
        known: String,
    },
    /// A major version or more behind the newest release for this Python.
    HeldBack(Vec<HeldBack>),
    /// It looks for a CUDA library when it runs, which nothing carries.
    CudaUnfound(Unfound),
    /// What its libraries ask for is not known, or not wholly.
    LinkingUnread {
        name: PackageName,
        version: Version,
        why: String,
    },
    VariantsSkipped {
        count: usize,
    },
    /// Releases that were passed over because their requirements can't be parsed, and one such line.
    Unreadable {
        name: PackageName,
        count: usize,
        line: String,
    },
    /// Wheels that were passed over because their names can't be parsed.
    NamesUnreadable {
        count: usize,
    },
    /// It will be built from source.
    FromSource {
        name: PackageName,
        version: Version,
    },
    /// A folder and an index have releases of this name that the other lacks; it was taken from `index`.
    TwoSources {
        name: PackageName,
        version: Version,
        index: String,
        /// What only the folder has, and the folder's name.
        alone: (Version, String),
    },
    /// The index gives a digest for it that can be forged, and no other.
    Weak {
        name: PackageName,
        version: Version,
        kind: DigestKind,
    },
    /// The index gives no digest for it, and it could not be read to take one.
    Unhashed {
        name: PackageName,
        version: Version,
        why: String,
    },
}
