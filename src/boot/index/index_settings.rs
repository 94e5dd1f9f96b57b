//! Where packages come from, and what is asked for them at most.

use std::path::PathBuf;
use std::time::Duration;

use crate::boot::index::Limits;

/// How long a solve may take where nothing else is set.
pub const SOLVE_LIMIT: Duration = Duration::from_mins(10);

/// Where packages come from.
#[derive(Clone, Debug)]
pub struct IndexSettings {
    /// The default package index; `None` for the one that pip uses.
    pub index_url: Option<String>,
    /// Folders of wheels that are searched beside the index.
    pub find_links: Vec<PathBuf>,
    /// Only the folders count: they are a wheelhouse.
    pub folders_only: bool,
    /// Only the cache and the folders are used.
    pub offline: bool,
    /// Listings and METADATA are requested again, however fresh those in the cache are.
    pub refresh: bool,
    /// Hosts that may be asked without encryption.
    pub allow_insecure_host: Vec<String>,
    pub limits: Limits,
    pub solve_limit: Duration,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            index_url: None,
            find_links: Vec::new(),
            folders_only: false,
            offline: false,
            refresh: false,
            allow_insecure_host: Vec::new(),
            limits: Limits::DEFAULT,
            solve_limit: SOLVE_LIMIT,
        }
    }
}
