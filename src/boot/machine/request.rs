//! Which machine is meant, and what is given instead of observed.

use std::path::PathBuf;

/// Which machine is meant: by default this one.
#[derive(Clone, Debug, Default)]
pub struct MachineRequest {
    /// A bundled notebook image.
    pub runtime: Option<String>,
    /// The file of a machine that `fingerprint` recorded.
    pub record: Option<PathBuf>,
    /// The version of the NVIDIA driver, or `none`.
    pub driver: Option<String>,
    /// By name or compute capability.
    pub gpus: Vec<String>,
    /// An executable, a folder of an environment, a version or a command.
    pub python: Option<PathBuf>,
    /// A Python of the system may be changed.
    pub system: bool,
    /// The kernel's process.
    pub kernel_pid: Option<u32>,
    /// A file with the kernel's facts.
    pub kernel_modules: Option<PathBuf>,
    /// No kernel counts, even where one runs.
    pub no_kernel: bool,
}

impl MachineRequest {
    /// The bundled notebook image `name`.
    pub fn runtime(name: &str) -> Self {
        Self { runtime: Some(name.to_owned()), ..Self::default() }
    }
}
