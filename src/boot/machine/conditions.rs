//! What a machine has besides drivers and packages: figures and names that two machines, or two days, can be compared
//! by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Taken for a fingerprint, and only there. Bytes where nothing else is said; `None` where it could not be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Conditions {
    /// The release of the operating system's kernel.
    pub linux: Option<String>,
    pub cpus: Option<u64>,
    /// CPUs that a control group allows.
    pub quota: Option<f64>,
    /// The limit that counts.
    pub memory: Option<u64>,
    pub shared_memory: Option<u64>,
    pub disk: Option<u64>,
    pub disk_free: Option<u64>,
    /// As nvidia-smi writes it, of each GPU.
    pub gpu_memory: Vec<String>,
    /// Names of variables that frameworks, CUDA and Python read; no values.
    pub variables: Vec<String>,
    /// How many mounts there are of each kind of file system.
    pub mounts: BTreeMap<String, u64>,
}
