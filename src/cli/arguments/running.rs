//! Options of `run`.

use std::ffi::OsString;

use clap::Args;

use crate::cli::arguments::{ApplyOptions, EditedOptions, InstallerName, PlanOptions, Restarter};

#[derive(Debug, Args)]
pub struct RunOptions {
    /// A Python file, or a command, with its arguments; options of colab-boot stand before it
    #[arg(value_name = "FILE.py|COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub edited: EditedOptions,
}

impl RunOptions {
    /// How the environment becomes what the lock says, if it is not.
    pub fn to_apply(&self) -> ApplyOptions {
        let plan = PlanOptions {
            profile: self.edited.profile.clone(),
            lock: self.edited.lock.clone(),
            locked: false,
            script: None,
            machine: self.edited.machine.clone(),
            index: self.edited.index.clone(),
        };
        let (wheelhouse, installer) = (None, InstallerName::ColabBoot);
        ApplyOptions { plan, wheelhouse, restart: Restarter::External, no_restart: false, installer }
    }
}
