//! The options of `matrix`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::index::IndexOptions;
use crate::model::PackageName;

#[derive(Debug, Subcommand)]
pub enum MatrixVerb {
    /// Show what wheels were built for (CUDA, GPU architectures), read from the wheels without downloading them
    Inspect(InspectOptions),
    /// Show how each release runs on a GPU and driver, or why it does not
    Show(ShowOptions),
    /// Add rows for releases that have none, read from their wheels
    Refresh(RefreshOptions),
    /// Compare the rows with the wheels that they were read from
    Check(CheckOptions),
    /// Add rows about the libraries that wheels are linked against
    Linking(LinkingOptions),
    /// Update the hints that make `lock` faster: dependencies and METADATA of frameworks
    Hints(HintsOptions),
}

#[derive(Debug, Args)]
pub struct HintsOptions {
    /// The `matrix` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub into: PathBuf,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct LinkingOptions {
    /// The `matrix` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub into: PathBuf,

    /// Use only this package, listed in `matrix/watch.toml` or not; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    /// Read the wheels of known rows again, too
    #[arg(long, conflicts_with = "symbols")]
    pub again: bool,

    /// Update the symbols of torch's minor releases instead
    #[arg(long, conflicts_with = "package")]
    pub symbols: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// Use this GPU, by name (`T4`) or compute capability (`8.9`); may be repeated [default: those of Colab]
    #[arg(long, value_name = "GPU", value_delimiter = ',')]
    pub gpu: Vec<String>,

    /// Use this NVIDIA driver version; without one, only the GPU code of the wheels is checked
    #[arg(long, value_name = "VERSION")]
    pub driver: Option<String>,

    /// Use only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    /// Show every release, not only the newest patch of each minor release
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct RefreshOptions {
    /// The `matrix` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub into: PathBuf,

    /// Write only the new rows, to a separate file for --matrix
    #[arg(long, value_name = "FILE", conflicts_with = "into")]
    pub overlay: Option<PathBuf>,

    /// Use only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    /// Read the wheels of known rows again, too
    #[arg(long, conflicts_with = "check")]
    pub again: bool,

    /// Fail if a release has no row; write nothing
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Use only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct InspectOptions {
    /// `torch==2.15.0`, the path of a wheel, or its URL
    #[arg(required = true, value_name = "SPEC")]
    pub specs: Vec<String>,

    /// Read fat binaries even if a text file lists the architectures (shows the PTX ISA, too)
    #[arg(long)]
    pub thorough: bool,

    #[command(flatten)]
    pub wheel: WheelOptions,

    #[command(flatten)]
    pub index: IndexOptions,
}

/// Which wheel of a version is meant.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Target")]
pub struct WheelOptions {
    /// The Python version of the wheels [default: this machine's]
    #[arg(long, value_name = "VERSION")]
    pub python: Option<String>,

    /// The platform of the wheels, such as `manylinux_2_35_x86_64` [default: this machine's]
    #[arg(long, value_name = "TAG")]
    pub platform: Option<String>,
}
