//! How long a repository's releases, evidence and index count, and how many releases stand beside each other.

use serde::Deserialize;

use crate::golden::calendar::Days;

/// The table `[policy]` of an index, with what holds where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Policy {
    /// Current releases that a framework may have.
    pub per_framework: usize,
    /// Evidence may be this old.
    pub review: Days,
    /// After publishing.
    pub deprecate: Days,
    pub expire: Days,
    /// How long an index is fresh.
    pub fresh: Days,
}

impl Default for Policy {
    fn default() -> Self {
        Self { per_framework: 2, review: Days(90), deprecate: Days(120), expire: Days(180), fresh: Days(30) }
    }
}
