//! Options of `verify` and `audit`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::{IndexOptions, MachineOptions, PROFILE, profile_path};

#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// The profile
    #[arg(default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// Run longer tests, too: number formats, gradients, copies, a collective
    #[arg(long)]
    pub thorough: bool,

    /// Check determinism: train twice with each framework from the profile's seed, and compare the results
    #[arg(long)]
    pub deterministic: bool,

    /// Write a verification record to publish with a golden release: GPU, driver, image, smoke tests; no host
    /// name, no paths
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct AuditOptions {
    /// A requirements.txt, the output of `pip freeze`, a pyproject.toml, environment.yml, notebook,
    /// pylock.toml, uv.lock or
    /// colab-boot lock, `-` for standard input, or a notebook image such as `colab-2026.07` [default:
    /// the packages of this machine's Python]
    pub target: Option<String>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}
