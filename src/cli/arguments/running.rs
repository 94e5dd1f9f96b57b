//! Options of `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::{
    ApplyOptions, IndexOptions, InstallerName, MachineOptions, PROFILE, PlanOptions, Restarter, profile_path,
};

#[derive(Debug, Args)]
pub struct RunOptions {
    /// A Python file, or a command, with its arguments; options of colab-boot stand before it
    #[arg(value_name = "FILE.py|COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,

    /// The profile
    #[arg(long, value_name = "FILE", default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

impl RunOptions {
    /// How the environment becomes what the lock says, if it is not.
    pub fn to_apply(&self) -> ApplyOptions {
        let plan = PlanOptions {
            profile: self.profile.clone(),
            lock: self.lock.clone(),
            locked: false,
            script: None,
            machine: self.machine.clone(),
            index: self.index.clone(),
        };
        let (wheelhouse, installer) = (None, InstallerName::ColabBoot);
        ApplyOptions { plan, wheelhouse, restart: Restarter::External, no_restart: false, installer }
    }
}
