//! The options of `matrix`.

use clap::{Args, Subcommand};

use crate::boot::reading::WheelRequest;
use crate::cli::arguments::package_sources::IndexOptions;
use crate::core::model::PackageName;

#[derive(Debug, Subcommand)]
pub enum MatrixVerb {
    /// Show what wheels were built for (CUDA, GPU architectures), read from the wheels without downloading them
    Inspect(InspectOptions),
    /// Show how each release runs on a GPU and driver, or why it does not
    Show(ShowOptions),
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

impl WheelOptions {
    pub fn request(&self) -> WheelRequest {
        WheelRequest { python: self.python.clone(), platform: self.platform.clone() }
    }
}
