//! The command line of `runtime` and `forecast`: notebook images.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::arguments::IndexOptions;
use crate::core::model::day::Date;

#[derive(Debug, Subcommand)]
pub enum RuntimeVerb {
    /// List the notebook images that `--runtime` takes, with the age of their package lists
    List,
    /// Describe a notebook image, so that `--runtime NAME` plans for it
    ///
    /// Two sources are read: a machine recorded by `colab-boot fingerprint --json=FILE` in a notebook on that image, or
    /// a checkout of Colab's public package lists (the repository googlecolab/backend-info). What the packages require
    /// is looked up on the index where the source does not say it.
    Import(RuntimeImportOptions),
}

#[derive(Debug, Args)]
pub struct RuntimeImportOptions {
    /// A file written by `fingerprint --json=FILE`, or the folder of a checkout of Colab's backend-info
    #[arg(value_name = "FILE|FOLDER")]
    pub source: PathBuf,

    /// Give the image this name; one that ends in a year and a month, such as `colab-2026.10`, is taken for an image
    /// that the service keeps as it is [default: the name of the file, or `colab-latest`]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The day of the package list [default: that of the commit that is checked out, or of the file]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    pub as_of: Option<Date>,

    /// Write to this folder, for `--runtime FOLDER/NAME.toml` [default: a folder of colab-boot in your configuration]
    #[arg(long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct ForecastOptions {
    /// Profiles; the lock beside each is used if it fits
    #[arg(required_unless_present = "repo")]
    pub profiles: Vec<PathBuf>,

    /// Use all current releases of the golden repository in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "profiles")]
    pub repo: Option<PathBuf>,

    /// A notebook image; may be repeated [default: the two newest with a GPU, or
    /// without one for a lock without CUDA]
    #[arg(long, value_name = "NAME")]
    pub runtime: Vec<String>,

    /// A machine recorded by `fingerprint --json=FILE`, such as a notebook of today; may be repeated
    #[arg(long, value_name = "FILE")]
    pub machine: Vec<PathBuf>,

    /// Use all images that are known
    #[arg(long, conflicts_with_all = ["runtime", "machine"])]
    pub all: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

/// A day of the calendar.
fn day(text: &str) -> Result<Date, String> {
    let is_date = text.len() == "2026-11-27".len();
    text.parse().ok().filter(|_| is_date).ok_or_else(|| "write the day as YYYY-MM-DD".to_owned())
}
