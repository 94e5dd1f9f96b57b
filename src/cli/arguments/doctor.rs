//! The command line of `doctor`, `record` and `scrub`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::MachineOptions;
use crate::core::matrix::{Amount, Unit};
use crate::health::doctor::Outputs;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct DoctorOptions {
    /// Groups (`memory`, `storage`) or checks (`shm-small`) to run [default: all]
    #[arg(value_name = "GROUP|CHECK")]
    pub only: Vec<String>,

    /// Show why a kernel died
    #[arg(long, conflicts_with_all = ["only", "list", "log"])]
    pub after_crash: bool,

    /// Select the kernel by a part of its connection file's name (with --after-crash)
    #[arg(long, value_name = "NAME", requires = "after_crash")]
    pub kernel: Option<String>,

    /// Explain the errors in a log (`-` reads standard input); run no checks
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["only", "list", "junit", "sarif", "bundle"])]
    pub log: Option<PathBuf>,

    /// List the checks; run none
    #[arg(long)]
    pub list: bool,

    /// Show passed checks, too
    #[arg(long)]
    pub all: bool,

    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,

    /// Check that credentials stay valid this long: `8h`, `30min`
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub long: Option<f64>,

    /// Check the limits for this many data loader workers
    #[arg(long, value_name = "N")]
    pub workers: Option<u64>,

    /// Check shared memory for batches of this size: `600MB`
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "workers")]
    pub batch_bytes: Option<f64>,

    /// Check the storage of this data; may be repeated
    #[arg(long, value_name = "PATH")]
    pub data: Vec<PathBuf>,

    /// Check that the GPU supports this number format: fp16, bf16, tf32, int8, fp8, fp4
    #[arg(long, value_name = "FORMAT", value_parser = ["fp16", "bf16", "tf32", "int8", "fp8", "fp4"])]
    pub precision: Option<String>,

    /// Use the `[doctor]` section of this profile: limits, checks to skip, and checks of your own
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    /// Run the checks of installed packages, each in its own process
    #[arg(long)]
    pub plugins: bool,

    /// Write the results as JUnit XML, for CI
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write the findings as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Write everything that a bug report needs to one file, without secrets, paths or names
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,
}

impl DoctorOptions {
    /// The files to write besides.
    pub fn outputs(&self) -> Outputs {
        let junit = self.junit.clone();
        Outputs { junit, sarif: self.sarif.clone(), bundle: self.bundle.clone(), strict: self.strict }
    }
}

#[derive(Debug, Args)]
pub struct RecordOptions {
    /// Start a background process and print the file for the kernel's `faulthandler`; otherwise this process
    /// watches the kernel
    #[arg(long)]
    pub start: bool,

    /// The process ID of the notebook's kernel [default: an ancestor of this process]
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub kernel_pid: Option<u32>,
}

#[derive(Debug, Args)]
pub struct ScrubOptions {
    /// Notebooks, other text files, or folders
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,

    /// Replace each secret with `REMOVED-…`
    #[arg(long)]
    pub write: bool,

    /// Ignore the secrets in this baseline, a file of digests
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Add the secrets found to the baseline [default: `.colab-boot-scrub.json`]
    #[arg(long, conflicts_with = "write")]
    pub update_baseline: bool,

    /// Write the findings as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

/// A time with its unit: of a bare number nobody knows whether hours or seconds are meant.
fn time(text: &str) -> Result<f64, String> {
    Amount::of(text, Unit::Seconds).map(|amount| amount.0)
}

/// Bytes with their unit, or without one.
pub(super) fn bytes(text: &str) -> Result<f64, String> {
    let amount = Amount::of(text, Unit::Number).or_else(|_| Amount::of(text, Unit::Bytes));
    amount.map(|amount| amount.0)
}
