//! What installs wheels, and what the install script calls for it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::boot::apply::Installer;

/// What installs wheels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InstallerName {
    ColabBoot,
    Uv,
    Pip,
}

impl From<InstallerName> for Installer {
    fn from(name: InstallerName) -> Self {
        match name {
            InstallerName::ColabBoot => Self::Own,
            InstallerName::Uv => Self::Uv,
            InstallerName::Pip => Self::Pip,
        }
    }
}

/// What the install script of an apply calls.
#[derive(Debug, Args)]
pub struct InstallWheelsOptions {
    /// Requirements with `===` and a digest each, as the script has them
    pub requirements: Vec<PathBuf>,

    /// The folder with wheels that the script has built
    #[arg(long, value_name = "FOLDER")]
    pub built: Option<PathBuf>,

    /// A package that is removed
    #[arg(long, value_name = "NAME")]
    pub remove: Vec<String>,
}
