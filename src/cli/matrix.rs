//! The options of `matrix`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::index::IndexOptions;
use crate::model::PackageName;

#[derive(Debug, Subcommand)]
pub enum MatrixVerb {
    /// Read what wheels were built for from the wheels themselves, without downloading them
    Inspect(InspectOptions),
    /// Show which releases run how on a GPU and driver, and why the others do not
    Show(ShowOptions),
    /// Read the wheels of releases that have no row yet, and write their rows
    Refresh(RefreshOptions),
    /// Hold the rows against the wheels that they were made from
    Check(CheckOptions),
    /// Read what wheels are linked against, and write the rows
    Linking(LinkingOptions),
    /// Gather what saves `lock` from waiting: which packages come along, where METADATA lies, that of the frameworks
    Hints(HintsOptions),
}

#[derive(Debug, Args)]
pub struct HintsOptions {
    /// The folder `matrix` of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub into: PathBuf,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct LinkingOptions {
    /// The folder `matrix` of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub into: PathBuf,

    /// Only this package, listed in `matrix/watch.toml` or not; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    /// Read the wheels of known rows anew, too
    #[arg(long, conflicts_with = "symbols")]
    pub again: bool,

    /// Read instead which minor release of torch has which symbols
    #[arg(long, conflicts_with = "package")]
    pub symbols: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// A GPU by name (`T4`) or compute capability (`8.9`); may be repeated; by default those of Colab
    #[arg(long, value_name = "GPU", value_delimiter = ',')]
    pub gpu: Vec<String>,

    /// The NVIDIA driver version; without one only the code in the wheels is judged
    #[arg(long, value_name = "VERSION")]
    pub driver: Option<String>,

    /// Only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    /// Every release, not only the newest patch of each minor
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct RefreshOptions {
    /// The folder `matrix` of a checkout
    #[arg(long, value_name = "FOLDER", default_value = "matrix")]
    pub into: PathBuf,

    /// Write to a file of its own, for --matrix, only what the matrix does not have
    #[arg(long, value_name = "FILE", conflicts_with = "into")]
    pub overlay: Option<PathBuf>,

    /// Only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    /// Read the wheels of known rows anew, too
    #[arg(long, conflicts_with = "check")]
    pub again: bool,

    /// Write nothing; fail if a release has no row
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub package: Vec<PackageName>,

    #[command(flatten)]
    pub index: IndexOptions,
}

#[derive(Debug, Args)]
pub struct InspectOptions {
    /// `torch==2.15.0`, the path of a wheel, or its address
    #[arg(required = true, value_name = "SPEC")]
    pub specs: Vec<String>,

    /// Read fat binaries even where a text file names the architectures: they tell the PTX ISA
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
    /// The Python version that wheels must fit; by default this machine's
    #[arg(long, value_name = "VERSION")]
    pub python: Option<String>,

    /// The platform they must fit, such as `manylinux_2_35_x86_64`; by default this machine's
    #[arg(long, value_name = "TAG")]
    pub platform: Option<String>,
}
