//! What `audit` judges.

use std::path::{Path, PathBuf};

use crate::boot::machine::MachineRequest;
use crate::boot::session::Session;
use crate::cli::arguments::AuditOptions;
use crate::core::diag::Failure;
use crate::core::host::mounts::Look;

/// What is audited.
pub(super) enum Target {
    /// This machine, a record of one, or another interpreter of it.
    Machine(String),
    Runtime(String),
    File(PathBuf),
}

impl Target {
    pub(super) fn of(options: &AuditOptions, session: &Session<'_>) -> Result<Self, Failure> {
        let Some(text) = &options.target else {
            let runtime = options.machine.runtime.clone();
            let record = options.machine.machine.as_ref().or(options.machine.python.as_ref());
            let place = record.map_or_else(|| "this machine".to_owned(), |path| path.display().to_string());
            return Ok(runtime.map_or(Self::Machine(place), Self::Runtime));
        };
        if text == "-" {
            return Ok(Self::File(PathBuf::from("/dev/stdin")));
        }
        if !Path::new(text).is_missing() {
            return Ok(Self::File(PathBuf::from(text)));
        }
        if session.runtimes()?.has(text) {
            return Ok(Self::Runtime(text.clone()));
        }
        Err(Failure::input(format!("`{text}` is neither a file nor a notebook image"))
            .help("give a requirements.txt, pylock.toml, uv.lock, the output of `pip freeze`, or an image such as `colab-2026.07`"))
    }

    pub(super) const fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Machine(place) => place.clone(),
            Self::Runtime(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// A file is judged for the machine that the options mean, an image for itself.
    pub(super) fn machine(&self, options: &AuditOptions) -> MachineRequest {
        let mut machine = options.machine.request();
        if let Self::Runtime(name) = self {
            machine.runtime = Some(name.clone());
        }
        machine
    }
}
