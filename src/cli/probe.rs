//! The command line of `probe` and `stage`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};

use crate::cli::MachineOptions;
use crate::cli::doctor::bytes;
use crate::matrix::{Amount, Unit};

#[derive(Debug, Subcommand)]
pub enum ProbeVerb {
    /// The largest block of memory that a GPU gives, copies, matrix products; held against the card's data sheet
    Gpu(GpuProbeOptions),
    /// How fast folders are, and how many samples a second that makes; a mount is read, a disk is written to as well
    Storage(StorageProbeOptions),
    /// How many workers of a data loader are worth it here, and whether shared memory holds their batches
    Loader(LoaderProbeOptions),
    /// Whether several GPUs can work together: peer access, an all-reduce through NCCL
    Nccl(NcclProbeOptions),
}

#[derive(Debug, Args)]
pub struct GpuProbeOptions {
    /// The number of the GPU, as CUDA counts
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub device: u64,

    /// How long it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s")]
    pub seconds: f64,

    /// Go on although somebody works on the GPU: their next allocation may fail meanwhile
    #[arg(long)]
    pub while_busy: bool,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct StorageProbeOptions {
    /// Folders; by default this one, that of temporary files, and what is mounted from elsewhere
    pub paths: Vec<PathBuf>,

    /// Write nothing: read the files that are there
    #[arg(long)]
    pub read_only: bool,

    /// Bytes of one sample of the data
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "150kB")]
    pub sample_bytes: f64,

    /// How many workers read at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub workers: u64,

    /// Samples a second that the work needs
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub need: Option<f64>,

    /// How long each folder may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "6s")]
    pub seconds: f64,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct LoaderProbeOptions {
    /// How many workers the loader will have
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub workers: Option<u64>,

    /// How large a batch is
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "16MB")]
    pub batch_bytes: f64,

    /// How long it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "6s")]
    pub seconds: f64,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
pub struct NcclProbeOptions {
    /// How long it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "60s")]
    pub seconds: f64,

    #[command(flatten)]
    pub machine: MachineOptions,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct StageOptions {
    /// What is brought: a folder, or a file
    #[arg(value_name = "SRC")]
    pub from: PathBuf,

    /// The folder that it is brought to
    #[arg(value_name = "DST")]
    pub to: PathBuf,

    /// For checkpoints, to what outlives the machine: each is on the disk before it has its name, the newest comes last
    #[arg(long)]
    pub back: bool,

    /// Pack small files into tar files of this size, such as `256MB`; files of one sample stay together
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["back", "unpack"])]
    pub shards: Option<f64>,

    /// SRC is an archive, tar or zip: bring what is in it (`tar` or `unzip` unpacks it)
    #[arg(long, conflicts_with = "back")]
    pub unpack: bool,

    /// Read what is there again, and bring what is not as it was written
    #[arg(long)]
    pub verify: bool,

    /// Replace files of others that have the same names, and what was changed since it was brought
    #[arg(long)]
    pub overwrite: bool,

    /// How many files at the same time
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
