//! The command line of `cache` and `completions`.

use clap::{Args, Subcommand};
use clap_complete::Shell;

#[derive(Debug, Subcommand)]
pub enum CacheVerb {
    /// Print the folder of the cache
    Dir,
    /// Print how much disk space the cache takes
    Size,
    /// Remove unpacked wheels that no environment uses, and downloads that were not finished
    Prune,
    /// Remove everything in the cache; environments keep their files
    Clean,
}

#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: Shell,
}
