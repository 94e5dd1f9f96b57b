//! The command line of `cache`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum CacheVerb {
    /// Remove unpacked wheels that no environment uses, and downloads that were not finished
    Prune(PruneOptions),
}

#[derive(Debug, Args)]
pub struct PruneOptions {
    /// Remove everything in the cache; environments keep their files
    #[arg(long)]
    pub all: bool,
}
