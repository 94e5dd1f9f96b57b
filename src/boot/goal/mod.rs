//! What a verb is asked for, without the command line.

mod lock_or_solve;
mod effects;
mod listed;
mod into_lock;
mod relock;
mod notebook_solve;
mod file_solve;

use std::path::PathBuf;

use crate::boot::index::IndexSettings;
use crate::boot::lock::Lock;
use crate::boot::machine::MachineRequest;
use crate::boot::profile::Profile;
use crate::core::model::{PackageName, Sha256};

pub use effects::Effects;
pub use file_solve::{Together, maybe_elsewhere};
pub use into_lock::{missing_lock, must_be_of, stale_lock};
pub use listed::{findings_of, read_listed, read_listed_text};
pub use lock_or_solve::{Answer, answer};
pub use relock::Made;

/// The machine that is meant, and where packages come from.
#[derive(Debug)]
pub struct Request {
    pub machine: MachineRequest,
    pub index: IndexSettings,
}

/// What is to become of an environment.
#[derive(Debug)]
pub enum Goal {
    /// What this profile wants, with the lock that says how.
    Profile { profile: Box<Profile>, lock: Box<Lock> },
    /// What was there before the first apply.
    Restore,
}

impl Goal {
    pub const fn is_restore(&self) -> bool {
        matches!(self, Self::Restore)
    }

    pub fn profile(&self) -> Option<&Profile> {
        match self {
            Self::Profile { profile, .. } => Some(profile),
            Self::Restore => None,
        }
    }

    pub fn lock(&self) -> Option<&Lock> {
        match self {
            Self::Profile { lock, .. } => Some(lock),
            Self::Restore => None,
        }
    }

    /// What markers, ledgers and scripts name it by.
    pub fn digest(&self) -> Sha256 {
        self.lock().map_or_else(|| Sha256::of(b"restore"), Lock::digest)
    }
}

/// The profile that is planned.
#[derive(Debug)]
pub struct ProfileRequest {
    pub profile: PathBuf,
    /// By default beside the profile.
    pub lock: Option<PathBuf>,
    /// A lock that is missing or stale is an error.
    pub locked: bool,
}

/// Which versions of an earlier lock may change.
#[derive(Debug, Default)]
pub struct Upgrade {
    pub all: bool,
    pub packages: Vec<PackageName>,
}

impl Upgrade {
    /// Whether the version of `name` may change though the earlier one still fits.
    pub fn has(&self, name: &PackageName) -> bool {
        self.all || self.packages.contains(name)
    }
}
