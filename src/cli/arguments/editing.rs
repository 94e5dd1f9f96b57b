//! Options of `add`, `remove` and `upgrade`, which edit a profile and lock it, and of `lock`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::{IndexOptions, MachineOptions, PROFILE, profile_path};
use crate::core::model::PackageName;

#[derive(Debug, Args)]
pub struct AddPackagesOptions {
    /// What to add, as pip takes it: `rich`, `torch==2.11.*`, `"uvicorn[standard]>=0.30"`, `../lib`,
    /// `git+https://HOST/PATH@REVISION`
    #[arg(value_name = "PACKAGE", required = true)]
    pub packages: Vec<String>,

    /// Install the project in a folder so that edits of its code count at once
    #[arg(short, long)]
    pub editable: bool,

    #[command(flatten)]
    pub edited: EditedOptions,
}

#[derive(Debug, Args)]
pub struct RemovePackagesOptions {
    /// What to remove from the profile
    #[arg(value_name = "PACKAGE", required = true)]
    pub packages: Vec<PackageName>,

    #[command(flatten)]
    pub edited: EditedOptions,
}

#[derive(Debug, Args)]
pub struct UpgradeOptions {
    /// Upgrade these, and others only as far as needed [default: all packages]
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<PackageName>,

    #[command(flatten)]
    pub edited: EditedOptions,
}

/// The profile that is edited, and what its lock is for.
#[derive(Debug, Args)]
pub struct EditedOptions {
    /// The profile
    #[arg(long, value_name = "FILE", default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock to write [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

impl EditedOptions {
    /// How `lock` locks the profile.
    pub fn to_lock(&self) -> LockOptions {
        LockOptions {
            profile: self.profile.clone(),
            lock: self.lock.clone(),
            upgrade: false,
            upgrade_package: Vec::new(),
            check: false,
            machine: self.machine.clone(),
            index: self.index.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct LockOptions {
    /// The profile
    #[arg(default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock to write [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Update all packages, ignoring the versions in the lock
    #[arg(long)]
    pub upgrade: bool,

    /// Update this package, and others only as far as needed; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "upgrade")]
    pub upgrade_package: Vec<PackageName>,

    /// Check that the lock is up to date; write nothing
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}
