//! How an interpreter was found.

use serde::{Deserialize, Serialize};

/// How an interpreter was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PythonOrigin {
    /// By `--python`.
    #[default]
    Named,
    /// The notebook kernel runs on it.
    Kernel,
    /// `VIRTUAL_ENV`.
    VirtualEnv,
    /// `CONDA_PREFIX`.
    Conda,
    /// A folder `.venv` here or above.
    DotVenv,
    /// The first on `PATH`.
    Path,
}

impl PythonOrigin {
    /// For people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Named => "--python",
            Self::Kernel => "the kernel's",
            Self::VirtualEnv => "VIRTUAL_ENV",
            Self::Conda => "CONDA_PREFIX",
            Self::DotVenv => ".venv",
            Self::Path => "the first on PATH",
        }
    }
}
