//! The command line of upkeep.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use colab_boot::cli::arguments::IndexOptions;
use colab_boot::core::model::PackageName;

/// Maintain the rows of `matrix/`, read from the wheels of an index
#[derive(Debug, Parser)]
#[command(name = "upkeep")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,

    /// Use the rows of this file as well
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) matrix: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Add rows for releases that have none
    Refresh(RefreshOptions),
    /// Compare the rows with the wheels that they were read from
    Check(CheckOptions),
    /// Add rows about the libraries that wheels are linked against
    Linking(LinkingOptions),
    /// Update the hints that make `lock` faster: dependencies and METADATA of frameworks
    Hints(HintsOptions),
    /// Read what the packages of the notebook images require
    Images(ImagesOptions),
}

impl Verb {
    pub(crate) fn index(&self) -> &IndexOptions {
        match self {
            Self::Refresh(options) => &options.index,
            Self::Check(options) => &options.index,
            Self::Linking(options) => &options.index,
            Self::Hints(options) => &options.index,
            Self::Images(options) => &options.index,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RefreshOptions {
    /// The `matrix` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub(crate) into: PathBuf,

    /// Write only the new rows, to a separate file for `colab-boot --matrix`
    #[arg(long, value_name = "FILE", conflicts_with = "into")]
    pub(crate) overlay: Option<PathBuf>,

    /// Use only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) package: Vec<PackageName>,

    /// Read the wheels of known rows again, too
    #[arg(long, conflicts_with = "check")]
    pub(crate) again: bool,

    /// Fail if a release has no row; write nothing
    #[arg(long)]
    pub(crate) check: bool,

    #[command(flatten)]
    pub(crate) index: IndexOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Use only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) package: Vec<PackageName>,

    #[command(flatten)]
    pub(crate) index: IndexOptions,
}

#[derive(Debug, Args)]
pub(crate) struct LinkingOptions {
    /// The `matrix` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub(crate) into: PathBuf,

    /// Use only this package, listed in `matrix/watch.toml` or not; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) package: Vec<PackageName>,

    /// Read the wheels of known rows again, too
    #[arg(long, conflicts_with = "symbols")]
    pub(crate) again: bool,

    /// Update the symbols of torch's minor releases instead
    #[arg(long, conflicts_with = "package")]
    pub(crate) symbols: bool,

    #[command(flatten)]
    pub(crate) index: IndexOptions,
}

#[derive(Debug, Args)]
pub(crate) struct HintsOptions {
    /// The `matrix` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) index: IndexOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ImagesOptions {
    /// The `runtimes` folder of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "runtimes")]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) index: IndexOptions,
}
