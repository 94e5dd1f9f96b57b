//! The command line of `doctor`, `record` and `scrub`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::MachineOptions;
use crate::doctor::Outputs;
use crate::matrix::{Amount, Unit};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct DoctorOptions {
    /// Groups (`memory`, `storage`) or checks (`shm-small`) to ask; without one, all
    #[arg(value_name = "GROUP|CHECK")]
    pub only: Vec<String>,

    /// A kernel has died: say what ended it
    #[arg(long, conflicts_with_all = ["only", "list", "log"])]
    pub after_crash: bool,

    /// With --after-crash: show the kernel of this notebook, by a part of the name of its connection file
    #[arg(long, value_name = "NAME", requires = "after_crash")]
    pub kernel: Option<String>,

    /// Explain the errors of a log, `-` for standard input, and look at nothing else
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["only", "list", "html", "junit", "sarif", "bundle"])]
    pub log: Option<PathBuf>,

    /// Name the checks, and ask none
    #[arg(long)]
    pub list: bool,

    /// Show what is well, too
    #[arg(long)]
    pub all: bool,

    /// Fail for warnings as for errors
    #[arg(long)]
    pub strict: bool,

    /// How long the work will take: `8h`, `30min`; credentials must last as long
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub long: Option<f64>,

    /// How many workers a data loader will have
    #[arg(long, value_name = "N")]
    pub workers: Option<u64>,

    /// How large a batch is: `600MB`
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "workers")]
    pub batch_bytes: Option<f64>,

    /// Where the data lies; may be repeated
    #[arg(long, value_name = "PATH")]
    pub data: Vec<PathBuf>,

    /// The number format that is wanted: fp16, bf16, tf32, int8, fp8, fp4
    #[arg(long, value_name = "FORMAT", value_parser = ["fp16", "bf16", "tf32", "int8", "fp8", "fp4"])]
    pub precision: Option<String>,

    /// A profile: its `[doctor]` moves limits, leaves checks out, and brings checks of the team's own
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    /// Run the checks that installed packages bring, each in a process of its own
    #[arg(long)]
    pub plugins: bool,

    /// Write the checks as HTML, for a notebook's cell
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the checks as JUnit XML, for CI
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write what was found as SARIF, for a forge
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Write all that a bug report wants into one file, without secrets, folders and names of anybody
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineOptions,
}

impl DoctorOptions {
    /// The files to write besides.
    pub fn outputs(&self) -> Outputs {
        let (html, junit) = (self.html.clone(), self.junit.clone());
        Outputs { html, junit, sarif: self.sarif.clone(), bundle: self.bundle.clone(), strict: self.strict }
    }
}

#[derive(Debug, Args)]
pub struct RecordOptions {
    /// Start a process that goes on by itself, and print the file for the kernel's `faulthandler`; without it this process watches
    #[arg(long)]
    pub start: bool,

    /// The process of the notebook's kernel; by default an ancestor of this one
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(2..))]
    pub kernel_pid: Option<u32>,
}

#[derive(Debug, Args)]
pub struct ScrubOptions {
    /// Notebooks, other texts, folders of them
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,

    /// Put `REMOVED-…` in the place of each secret, and change nothing else
    #[arg(long)]
    pub write: bool,

    /// Secrets that are accepted: a file of digests
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Accept what is found: write it into the baseline, `.colab-boot-scrub.json` without one
    #[arg(long, conflicts_with = "write")]
    pub update_baseline: bool,

    /// Write what was found as SARIF, for a forge
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
