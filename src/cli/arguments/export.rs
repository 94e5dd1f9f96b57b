//! The command line of `export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::arguments::golden_upkeep::BinaryOptions;
use crate::cli::arguments::{PROFILE, profile_path};

#[derive(Debug, Subcommand)]
pub enum ExportVerb {
    /// Write `NAME.ipynb` and `NAME.py`, which install colab-boot, apply the profile and restart the kernel once
    Notebook(NotebookOptions),
}

#[derive(Debug, Args)]
pub struct NotebookOptions {
    /// The profile; its lock must be up to date
    #[arg(default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// The folder to write to
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,

    /// Check that the files are up to date; write nothing
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub binary: BinaryOptions,
}
