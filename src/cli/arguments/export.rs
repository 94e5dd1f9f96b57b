//! The command line of `export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::arguments::golden_upkeep::BinaryOptions;
use crate::cli::arguments::{IndexOptions, PROFILE, profile_path};

#[derive(Debug, Subcommand)]
pub enum ExportVerb {
    /// Write `NAME.ipynb` and `NAME.py`, which install colab-boot, apply the profile and restart the kernel once
    Notebook(NotebookOptions),
    /// Write a requirements.txt with digests, for pip and uv
    Requirements(ListExportOptions),
    /// Write constraints for pip and uv: the versions of the lock, or those of a notebook image
    Constraints(ConstraintsOptions),
    /// Write a pylock.toml (PEP 751)
    Pylock(PylockOptions),
    /// Write a Dockerfile and its requirements.txt
    Dockerfile(ContainerOptions),
    /// Write .devcontainer/: devcontainer.json, Dockerfile and requirements.txt
    Devcontainer(ContainerOptions),
    /// Write the inline metadata (PEP 723) of a script that runs with the locked versions
    Script(ListExportOptions),
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

/// What is exported.
#[derive(Debug, Args)]
pub struct ExportedOptions {
    /// The profile; its lock must be up to date
    #[arg(default_value = PROFILE, value_parser = profile_path())]
    pub profile: PathBuf,

    /// The lock [default: beside the profile]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,

    /// The target of the lock [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,

    /// Check that the files are up to date; write nothing
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct ListExportOptions {
    #[command(flatten)]
    pub exported: ExportedOptions,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ConstraintsOptions {
    #[command(flatten)]
    pub list: ListExportOptions,

    /// Write the versions of this notebook image instead, such as `colab-2026.07`
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["profile", "lock", "target"])]
    pub runtime: Option<String>,
}

#[derive(Debug, Args)]
pub struct PylockOptions {
    #[command(flatten)]
    pub list: ListExportOptions,

    /// Write the paths of the wheels in this folder, which `fetch` has filled, instead of their addresses
    #[arg(long, value_name = "FOLDER")]
    pub wheelhouse: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ContainerOptions {
    #[command(flatten)]
    pub exported: ExportedOptions,

    /// The folder to write to
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,

    /// The image to begin with [default: Debian's `python` image for the Python of the lock]
    #[arg(long, value_name = "IMAGE")]
    pub base: Option<String>,
}

impl ExportVerb {
    /// What is exported; nothing for a notebook.
    pub const fn exported(&self) -> Option<&ExportedOptions> {
        match self {
            Self::Notebook(_) => None,
            Self::Requirements(options) | Self::Script(options) => Some(&options.exported),
            Self::Constraints(options) => Some(&options.list.exported),
            Self::Pylock(options) => Some(&options.list.exported),
            Self::Dockerfile(options) | Self::Devcontainer(options) => Some(&options.exported),
        }
    }

    /// The file that is written, where one is named.
    pub const fn output(&self) -> Option<&PathBuf> {
        match self {
            Self::Requirements(options) | Self::Script(options) => options.output.as_ref(),
            Self::Constraints(options) => options.list.output.as_ref(),
            Self::Pylock(options) => options.list.output.as_ref(),
            Self::Notebook(_) | Self::Dockerfile(_) | Self::Devcontainer(_) => None,
        }
    }
}
