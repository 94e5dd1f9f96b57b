//! Options of `init`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::arguments::{IndexOptions, PROFILE};

#[derive(Debug, Args)]
pub struct InitOptions {
    /// The file to write [default: profile.toml]; `-` prints it. An unedited starter profile is replaced
    #[arg(value_name = "PATH")]
    given: Option<PathBuf>,

    /// Take over what these ask for, and show the plan: a requirements.txt, pyproject.toml, environment.yml, pixi.toml,
    /// pylock.toml, uv.lock, a notebook, a script with inline metadata, `-` for stdin, or the folder of a virtual
    /// environment
    #[arg(long = "from", value_name = "FILE|FOLDER|-", num_args = 1..)]
    named: Vec<PathBuf>,

    /// Write a notebook whose first cell is a form for Colab, instead of a profile [default path: notebook.ipynb]
    #[arg(long, conflicts_with_all = ["named", "python"])]
    pub notebook: bool,

    /// The Python to plan for; without --from, take over what is installed there
    #[arg(long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,

    /// Write a profile for a notebook image, such as `colab-2026.07`, and plan for it
    #[arg(long, value_name = "NAME|FILE", env = "COLAB_BOOT_RUNTIME")]
    pub runtime: Option<String>,

    #[command(flatten)]
    pub index: IndexOptions,
}

impl InitOptions {
    /// Of several files behind `--from`, the last is the profile to write if it is called like one and no other is
    /// named: `init --from requirements.txt llm.toml`.
    fn last_is_path(&self) -> bool {
        let name = self.named.last().and_then(|last| last.file_name()).unwrap_or_default().to_string_lossy();
        let is_of_other_tool = name.starts_with("pylock") || ["pyproject.toml", "pixi.toml"].contains(&&*name);
        self.given.is_none() && self.named.len() > 1 && name.ends_with(".toml") && !is_of_other_tool
    }

    /// The file to write.
    pub fn path(&self) -> &Path {
        let named = self.named.last().filter(|_| self.last_is_path());
        let default = Path::new(if self.notebook { "notebook.ipynb" } else { PROFILE });
        self.given.as_ref().or(named).map_or(default, PathBuf::as_path)
    }

    /// What is taken over.
    pub fn from(&self) -> &[PathBuf] {
        &self.named[..self.named.len() - usize::from(self.last_is_path())]
    }
}
