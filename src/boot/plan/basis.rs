//! All that a plan is decided from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::boot::ledger::{Ledger, Notes};
use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::machine::Machine;
use crate::boot::marker::Touched;
use crate::boot::notebook::Loaded;
use crate::boot::profile::{CudaWish, Profile};
use crate::core::matrix::{Matrix, Overlay};
use crate::core::model::PackageName;

/// What a profile wants of a machine besides packages.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Name and version, for people.
    pub title: String,
    /// Variables for the kernel and its children.
    pub environment: BTreeMap<String, String>,
    pub apt_snapshot: Option<String>,
    pub breakage_is_error: bool,
    /// What colab-boot has installed and the lock no longer has is removed.
    pub prune: bool,
    /// A file of no package in the place of a wheel's is moved aside; else it is an error.
    pub keeps_aside: bool,
    /// Which CUDA its frameworks are to use; `None` for a restore.
    pub cuda: Option<CudaWish>,
    /// What helps where a change of one package breaks another.
    pub help_for_breakage: &'static str,
}

impl Wish {
    /// What `profile` wants, with the variables that it means for a target
    /// ([`variables_for`](crate::boot::plan::variables_for)).
    pub fn of(profile: &Profile, environment: BTreeMap<String, String>) -> Self {
        Self {
            title: profile.title(),
            environment,
            apt_snapshot: profile.apt_snapshot.clone(),
            breakage_is_error: profile.policy.breakage_is_error,
            prune: profile.policy.prune,
            keeps_aside: profile.policy.keeps_aside,
            cuda: Some(profile.target.cuda),
            help_for_breakage: "add the package to the profile so that both are solved together, or set `breakage = \"warn\"` in `[policy]`",
        }
    }
}

/// All that a plan is decided from.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    pub wish: &'a Wish,
    pub target: &'a LockedTarget,
    pub machine: &'a Machine,
    pub matrix: &'a Matrix,
    pub prune: bool,
    /// No index was asked.
    pub offline: bool,
    /// The target is from a lock that was there, not from a solve just now.
    pub from_lock: bool,
    pub ledger: &'a Ledger,
    pub notes: &'a Notes,
    /// What an apply that did not end was to change.
    pub doubted: &'a [PackageName],
    /// Wheels of what was there before colab-boot came and is wanted back.
    pub before: &'a BTreeMap<PackageName, LockedPackage>,
    /// Distributions whose files are known to be broken, to be installed again though their version is right.
    /// Each with the reason.
    pub broken: &'a BTreeMap<PackageName, String>,
    /// Those of them of which the kernel does not hold what is repaired.
    pub silent: &'a BTreeSet<PackageName>,
    /// What installed distributions ask for beside their METADATA, where their files were read because no row knows
    /// their release.
    pub linked: &'a BTreeMap<PackageName, Vec<Overlay>>,
    /// For each distribution that may be removed, the others that have a file at one of its places.
    pub sharing: &'a BTreeMap<PackageName, BTreeSet<PackageName>>,
    /// The line of the environment file that is there.
    pub environment_file: Option<&'a str>,
    /// What was changed since the machine started.
    pub history: &'a [Touched],
    /// What the kernel has loaded, where there is one.
    pub loaded: &'a Loaded,
    /// Modules of installed distributions that change, by what they have installed.
    pub modules: &'a BTreeMap<PackageName, BTreeSet<String>>,
    /// The folders that modules are installed to.
    pub folders: &'a [PathBuf],
}
