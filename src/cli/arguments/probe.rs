//! The command line of `probe` and `stage`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};

use crate::cli::arguments::MachineOptions;
use crate::cli::arguments::doctor::bytes;
use crate::core::matrix::{Amount, Unit};

#[derive(Debug, Subcommand)]
pub enum ProbeVerb {
    /// Measure GPU memory, copies and matrix products, compared with the data sheet
    Gpu(GpuProbeOptions),
    /// Measure the speed of folders, in bytes and samples per second
    Storage(StorageProbeOptions),
    /// Measure how many data loader workers help, and whether shared memory is large enough
    Loader(LoaderProbeOptions),
    /// Measure several GPUs together: peer access and an all-reduce with NCCL
    Nccl(NcclProbeOptions),
}

#[derive(Debug, Args)]
pub struct GpuProbeOptions {
    /// The CUDA index of the GPU
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub device: u64,

    /// Limit the time
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s")]
    pub seconds: f64,

    /// Continue even if the GPU is in use; allocations of other processes may fail
    #[arg(long)]
    pub while_busy: bool,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct StorageProbeOptions {
    /// Folders [default: this one, that of temporary files, and network mounts]
    pub paths: Vec<PathBuf>,

    /// Read existing files only; write nothing
    #[arg(long)]
    pub read_only: bool,

    /// The size of one sample
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "150kB")]
    pub sample_bytes: f64,

    /// The number of workers that read concurrently
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub workers: u64,

    /// The samples per second that the training needs
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub need: Option<f64>,

    /// Limit the time per folder
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "6s")]
    pub seconds: f64,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct LoaderProbeOptions {
    /// The number of workers of the data loader
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub workers: Option<u64>,

    /// The size of a batch
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "16MB")]
    pub batch_bytes: f64,

    /// Limit the time
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "6s")]
    pub seconds: f64,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct NcclProbeOptions {
    /// Limit the time
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "60s")]
    pub seconds: f64,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct StageOptions {
    /// The folder or file to copy
    #[arg(value_name = "SRC")]
    pub from: PathBuf,

    /// The folder to copy to
    #[arg(value_name = "DST")]
    pub to: PathBuf,

    /// Copy checkpoints to persistent storage: each file is synced before it is renamed, the newest comes last
    #[arg(long)]
    pub back: bool,

    /// Pack small files into tar files of this size, such as `256MB`; files of one sample stay together
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["back", "unpack"])]
    pub shards: Option<f64>,

    /// Unpack the archive SRC (tar or zip) into the folder, with `tar` or `unzip`
    #[arg(long, conflicts_with = "back")]
    pub unpack: bool,

    /// Verify the copies by reading them again, and repair what differs
    #[arg(long)]
    pub verify: bool,

    /// Replace files that `stage` did not write, and files that changed since
    #[arg(long)]
    pub overwrite: bool,

    /// The number of files to copy concurrently
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64).map(usize::from))]
    pub jobs: usize,
}

/// A time that a probe may take.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = Amount::of(text, Unit::Number).or_else(|_| Amount::of(text, Unit::Seconds))?.0;
    if (0.5..=600.0).contains(&seconds) { Ok(seconds) } else { Err("between 0.5 s and 10 min".to_owned()) }
}

/// A rate that a work may need.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "write a number, such as `1200`".to_owned())?;
    if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err("more than 0".to_owned()) }
}
