//! What looking at a machine needs to know.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::host::Paths;

/// What observing needs to know.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub paths: &'a Paths,
    pub environment: &'a BTreeMap<String, String>,
    /// Seconds since 1970.
    pub now: u64,
    /// The process of the notebook's kernel.
    pub kernel: Option<u32>,
    pub place: &'a Place,
}

/// Folders that matter to this user.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Where the notebook is.
    pub here: PathBuf,
    /// Where packages are.
    pub packages: Option<PathBuf>,
    pub stdlib: Option<PathBuf>,
    /// Where the data is.
    pub data: Vec<PathBuf>,
}
