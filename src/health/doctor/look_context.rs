//! What looking at a machine needs to know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::boot::machine::{Machine, Observed};
use crate::boot::session::Session;
use crate::core::diag::Failure;
use crate::core::host::mounts::{Look, reach};
use crate::core::host::{Paths, files};

/// What observing needs to know.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub paths: &'a Paths,
    pub environment: &'a BTreeMap<String, String>,
    /// Seconds since 1970.
    pub now: u64,
    /// The process of the notebook's kernel.
    pub kernel: Option<u32>,
    pub place: &'a Place,
    /// A part of the name of the connection file of the notebook whose kernels are meant.
    pub notebook: Option<&'a str>,
    /// `nvidia-smi` was asked already, and gave no answer in time.
    pub smi_hangs: bool,
}

impl<'a> Sight<'a> {
    /// Of this moment in a run.
    pub fn now(session: &'a Session<'_>, kernel: Option<u32>, place: &'a Place) -> Self {
        Self {
            paths: &session.paths,
            environment: session.environment,
            now: session.time(),
            kernel,
            place,
            notebook: None,
            smi_hangs: false,
        }
    }
}

/// Whether `nvidia-smi` gave no answer when the machine was observed.
pub fn smi_hangs(observed: Option<&Observed>) -> bool {
    observed.is_some_and(|observed| observed.driver.iter().chain(&observed.gpus).any(|said| said.timed_out))
}

/// Folders that matter to this user.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Where the notebook is.
    pub here: PathBuf,
    /// Where packages are.
    pub packages: Option<PathBuf>,
    pub stdlib: Option<PathBuf>,
    /// The interpreter itself.
    pub python: Option<PathBuf>,
    /// Where the data is.
    pub data: Vec<PathBuf>,
}

impl Place {
    /// The folder that we are in, those of the machine's Python, and where the data is.
    pub fn of<'p>(machine: &Machine, data: impl Iterator<Item = &'p PathBuf>) -> Result<Self, Failure> {
        let python = machine.python.as_ref();
        Ok(Self {
            here: files::absolute(Path::new("."))?,
            packages: python.and_then(|python| python.layout.as_ref()).map(|layout| layout.purelib.clone()),
            stdlib: python.and_then(|python| python.home.as_ref()).map(|home| home.stdlib.clone()),
            python: python.and_then(|python| python.path.clone()),
            data: data.map(|path| files::absolute(path)).collect::<Result<_, _>>()?,
        })
    }
}

/// Why nothing can be read of the data at `path`, where something is there.
pub fn unread(path: &Path) -> Option<String> {
    let shown = path.display();
    if let Err(error) = reach(path) {
        return Some(format!("{shown}: {error}"));
    }
    let data = path.look().ok()?;
    match data.is_dir() {
        true => files::names_in(path).err().map(|failure| failure.to_string()),
        false if data.is_file() => files::open(path).err().map(|error| format!("{shown}: {error}")),
        false => Some(format!("{shown} is neither a folder nor a file")),
    }
}
