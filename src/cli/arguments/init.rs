//! Options of `init`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::{IndexOptions, PROFILE};

#[derive(Debug, Args)]
pub struct InitOptions {
    /// The file to write; `-` prints it. A starter profile that nobody has edited is replaced
    #[arg(default_value = PROFILE)]
    pub path: PathBuf,

    /// Take over what these ask for, and show the plan: a requirements.txt, pyproject.toml, environment.yml, pixi.toml,
    /// pylock.toml, uv.lock, a notebook, a script with inline metadata, `-` for stdin, or the folder of a virtual
    /// environment
    #[arg(long, value_name = "FILE|FOLDER|-", num_args = 1..)]
    pub from: Vec<PathBuf>,

    /// The Python to plan for; without --from, take over what is installed there
    #[arg(long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,

    /// Plan for a notebook image, such as `colab-2026.07`
    #[arg(long, value_name = "NAME|FILE", env = "COLAB_BOOT_RUNTIME")]
    pub runtime: Option<String>,

    #[command(flatten)]
    pub index: IndexOptions,
}
