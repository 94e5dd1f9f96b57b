//! The command line of `fingerprint` and `diff`, and facts about the machine that are given instead of seen.

use std::path::PathBuf;

use clap::Args;

use crate::boot::machine::MachineRequest;

#[derive(Debug, Args)]
pub struct DiffMachinesOptions {
    /// A file written by `fingerprint --json=FILE`, or a notebook image such as `colab-2026.04`
    pub a: String,

    /// The other machine [default: this one]
    pub b: Option<String>,

    /// Fail if a difference can break an environment
    #[arg(long)]
    pub strict: bool,

    /// The Python interpreter of this machine
    #[arg(long, value_name = "PYTHON", env = "COLAB_BOOT_PYTHON")]
    pub python: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct FingerprintOptions {
    #[command(flatten)]
    pub machine: MachineOptions,
}

/// Facts about the machine that are given instead of seen.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Plan for a notebook image: a name that `runtime list` shows, such as `colab-2026.07` (its GPU image) or
    /// `colab-2026.07-cpu`
    #[arg(long, value_name = "NAME|FILE", env = "COLAB_BOOT_RUNTIME", conflicts_with = "machine")]
    pub runtime: Option<String>,

    /// Use a machine recorded by `fingerprint --json=FILE`
    #[arg(long, value_name = "FILE", env = "COLAB_BOOT_MACHINE")]
    pub machine: Option<PathBuf>,

    /// Use this NVIDIA driver version, or `none`
    #[arg(long, value_name = "VERSION", env = "COLAB_BOOT_DRIVER")]
    pub driver: Option<String>,

    /// Use this GPU, by name (`T4`) or compute capability (`8.9`); may be repeated
    #[arg(long, value_name = "GPU", env = "COLAB_BOOT_GPU", value_delimiter = ',')]
    pub gpu: Vec<String>,

    /// The Python to install for: an executable, the folder of a virtual environment, a version (`3.12`) or a command
    /// [default: the kernel's, the active environment's, or that of a `.venv` in this folder or above]
    #[arg(long, value_name = "PYTHON", env = "COLAB_BOOT_PYTHON")]
    pub python: Option<PathBuf>,

    /// Allow changes to a Python that belongs to the system
    #[arg(long, env = "COLAB_BOOT_SYSTEM", value_parser = clap::builder::FalseyValueParser::new())]
    pub system: bool,

    /// The process ID of the notebook's kernel [default: an ancestor of this process]
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub kernel_pid: Option<u32>,

    /// A file with the loaded modules and settings of the kernel, as cells write it; or a list of module names
    #[arg(long, value_name = "FILE")]
    pub kernel_modules: Option<PathBuf>,
}

impl MachineOptions {
    /// What they mean.
    pub fn request(&self) -> MachineRequest {
        MachineRequest {
            runtime: self.runtime.clone(),
            record: self.machine.clone(),
            driver: self.driver.clone(),
            gpus: self.gpu.clone(),
            python: self.python.clone(),
            system: self.system,
            kernel_pid: self.kernel_pid,
            kernel_modules: self.kernel_modules.clone(),
            no_kernel: false,
        }
    }
}
