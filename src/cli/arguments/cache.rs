//! The command line of `cache`, `completions`, `man`, `schema` and `self`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
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

#[derive(Debug, Args)]
pub struct ManOptions {
    /// The folder, such as `~/.local/share/man/man1`
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct SchemaOptions {
    /// Of what
    pub document: Document,
}

/// A file that this program reads.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Document {
    Profile,
    Lock,
}

#[derive(Debug, Subcommand)]
pub enum SelfVerb {
    /// Print the version of colab-boot and of its CUDA matrix
    Version,
}
