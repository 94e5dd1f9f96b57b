//! What a verb is asked for, without the command line.

use std::path::PathBuf;

use crate::boot::index::IndexSettings;
use crate::boot::machine::MachineRequest;
use crate::core::model::PackageName;

/// The machine that is meant, and where packages come from.
#[derive(Debug)]
pub struct Request {
    pub machine: MachineRequest,
    pub index: IndexSettings,
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
