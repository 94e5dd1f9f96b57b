//! What is wrong with an environment that somebody else made. Pure: from the versions in it, what is known of them, and the machine.
//!
//! `listing` reads the files that name versions; `judge` finds what the matrix and NVIDIA's rules have against them.

mod judge;
mod listing;
mod locks;

use std::sync::Arc;

use crate::matrix::{Build, Hardware};
use crate::model::files::Files;
use crate::model::{PackageName, Version};

pub use judge::judge;
pub use listing::{Listed, Named, read_requirements};
pub use locks::{LockKind, kind_of, read_lock_file};

/// What is to be judged.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub held: Vec<Held>,
    pub hardware: Hardware,
    /// Debian packages with their versions.
    pub debian: Vec<(String, String)>,
    /// Whether a folder of `cuda-compat` is on the library path.
    pub compat_in_use: bool,
}

/// One distribution in it.
#[derive(Clone, Debug)]
pub struct Held {
    pub name: PackageName,
    pub version: Version,
    /// By a row of the matrix, or read from its wheel.
    pub build: Option<Build>,
    /// Why `build` is not known, though it may be one for GPUs.
    pub doubt: Option<String>,
    /// What it puts on disk, where that is known.
    pub files: Option<Arc<Files>>,
    /// The folder it is in, for an environment on disk.
    pub folder: Option<String>,
}

#[cfg(test)]
mod tests;
