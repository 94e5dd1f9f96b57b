//! Options of `init`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::PROFILE;

#[derive(Debug, Args)]
pub struct InitOptions {
    /// The file to write; `-` prints it
    #[arg(default_value = PROFILE)]
    pub path: PathBuf,

    /// Take over what these ask for: a requirements.txt, pyproject.toml, environment.yml, pylock.toml, uv.lock, a
    /// notebook, a script with inline metadata, `-` for stdin, or the folder of a virtual environment
    #[arg(long, value_name = "FILE|FOLDER|-", num_args = 1..)]
    pub from: Vec<PathBuf>,
}
