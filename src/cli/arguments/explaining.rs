//! Options of `explain` and `tree`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::{IndexOptions, MachineOptions, PROFILE, profile_path};
use crate::core::model::PackageName;

#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// A code such as `driver-too-old`, a package of a lock, the text of an error, or `-` to read it from stdin
    /// [default: `codes`, all of them]
    #[arg(value_name = "CODE|PACKAGE|TEXT", allow_hyphen_values = true)]
    pub topic: Option<String>,

    /// The profile whose lock contains the package [default: the only profile with a lock in this folder]
    pub profile: Option<PathBuf>,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct TreeOptions {
    /// The profile
    #[arg(default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// The target of the lock to show [default: the first]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,

    /// Show what needs this package, instead of what each package needs
    #[arg(long, value_name = "PACKAGE")]
    pub invert: Option<PackageName>,
}
