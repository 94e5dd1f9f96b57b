//! Which repository is meant, and which signatures are trusted.

/// A repository and who may sign it.
#[derive(Clone, Debug)]
pub struct SourceRequest {
    /// A folder or an address; by default the pinned one, this folder, or `golden-cells`.
    pub repo: Option<String>,
    /// Public keys that are trusted in place of the pinned ones.
    pub trusted_key: Vec<String>,
    /// How many of them have to sign.
    pub threshold: usize,
    /// An index with a lower number is refused.
    pub min_seq: u64,
    /// Whether an index is used that expired more than 30 days ago.
    pub allow_stale: bool,
}

impl Default for SourceRequest {
    fn default() -> Self {
        Self { repo: None, trusted_key: Vec::new(), threshold: 1, min_seq: 0, allow_stale: false }
    }
}
