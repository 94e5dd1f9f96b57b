//! What is there. `observe` collects raw texts into a value that is a bug report, a fixture and a `--machine` file at
//! once; `judge` decides from it, purely; a bundled runtime description or a flag can stand in for any fact.

mod conditions;
mod debian;
mod kernel_process;
mod python_search;
mod judge;
mod looker;
mod anonymous;
mod observe;
mod origin;
mod overrides;
mod python;
mod raw;
mod request;
mod runtime;
mod runtimes;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::core::matrix::{Hardware, Host};
use crate::core::model::{PackageName, PythonFacts, Requirement, Version};

pub use anonymous::{Neutral, neutral_text};
pub use conditions::Conditions;
pub use debian::Debian;
pub use judge::judge;
pub use kernel_process::{is_kernel_command, kernel_identity, parent_of};
pub use looker::Looker;
pub use observe::{SMI_LIMIT, find_info, installed_modules, observe, observe_interpreter, owned_elsewhere, record_in};
pub use origin::PythonOrigin;
pub use overrides::{Overrides, apply_overrides, assumed_driver, resolve_gpus};
pub use python::{is_silent, observe_python};
pub use raw::{Observed, RawDistribution, RawPython, Said};
pub use request::MachineRequest;
pub use runtime::{Runtime, is_kept, is_of_cuda};
pub use runtimes::Runtimes;

/// A machine, observed, described or overridden.
#[derive(Clone, Debug)]
pub struct Machine {
    pub python: Option<Python>,
    pub hardware: Hardware,
    pub os: String,
    /// The kind of notebook host, or none.
    pub host: &'static Host,
    pub is_root: bool,
    pub has_apt: bool,
    pub installed: BTreeMap<PackageName, Installed>,
    /// Debian packages with their versions.
    pub debian: Debian,
    pub kernel: Option<Kernel>,
    pub boot_id: String,
    /// `colab-2026.07-gpu` where the machine is a bundled description.
    pub runtime: Option<String>,
    /// Requirements that the image itself states, such as google-colab's pins.
    pub pins: Vec<Requirement>,
    /// Which probe, flag or file each fact came from.
    pub origins: BTreeMap<&'static str, String>,
}

/// The Python of a machine.
#[derive(Clone, Debug)]
pub struct Python {
    /// `None` for a described runtime.
    pub path: Option<PathBuf>,
    pub facts: PythonFacts,
    pub layout: Option<Layout>,
    /// How it was found.
    pub origin: PythonOrigin,
    /// It is a virtual environment's, or conda's.
    pub is_virtual: bool,
    /// `None` for a described runtime, and for a record of before.
    pub home: Option<Home>,
}

impl Python {
    /// `Python 3.12.1 of /content/.venv/bin/python (VIRTUAL_ENV)`, for people.
    pub fn describe(&self) -> String {
        let version = format!("Python {}", self.facts.version);
        self.path.as_ref().map_or_else(
            || version.clone(),
            |path| format!("{version} of {} ({})", path.display(), self.origin.as_str()),
        )
    }
}

/// Where an interpreter finds its own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// `sys.prefix`.
    pub prefix: PathBuf,
    /// The folder of the standard library.
    pub stdlib: PathBuf,
    /// `sys.path`.
    pub search: Vec<PathBuf>,
    /// What kernels have before site-packages on their path: the folders of PYTHONPATH and the user's own
    /// site-packages.
    pub before_site: Vec<PathBuf>,
}

/// How the names of folders begin, in those of [`Layout`], that hold what is not in its place yet, or not any more:
/// `.colab-boot-staged-4Yzfqm/0/1/numpy/core.so` for a file of the first package, in the second of the folders.
pub const STAGE_PREFIX: &str = ".colab-boot-staged-";

/// Where an installer puts things (`sysconfig` paths).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Layout {
    pub purelib: PathBuf,
    pub platlib: PathBuf,
    pub scripts: PathBuf,
    /// The prefix, for `.data/data`.
    pub data: PathBuf,
    /// PEP 668 marker: an installer needs a flag to go on.
    pub externally_managed: bool,
}

impl Layout {
    /// The folders that modules are installed to: one, or two where the platform's lie apart.
    pub fn folders(&self) -> Vec<&PathBuf> {
        let mut folders = vec![&self.purelib, &self.platlib];
        folders.dedup();
        folders
    }

    /// An environment in `folder`, with its modules in `lib`.
    #[cfg(test)]
    pub fn of_tests(folder: &std::path::Path) -> Self {
        let (purelib, scripts) = (folder.join("lib"), folder.join("bin"));
        Self { platlib: purelib.clone(), purelib, scripts, data: folder.to_owned(), externally_managed: false }
    }
}

/// An installed distribution.
#[derive(Clone, Debug)]
pub struct Installed {
    pub version: Version,
    /// `None` where a description records no requirements.
    pub requires: Option<Recorded>,
    /// Installed from an address: present, but no index has it by name.
    pub direct: bool,
    /// The folder with its dist-info.
    pub location: Option<PathBuf>,
    /// Whom its INSTALLER names; empty where it does not say.
    pub installer: String,
}

/// The requirements that an installed distribution records, read when somebody asks: an image has thousands of them.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    lines: Vec<String>,
    parsed: OnceCell<Vec<Requirement>>,
}

impl Recorded {
    /// From the values of `Requires-Dist`.
    pub fn new(lines: Vec<String>) -> Self {
        Self { lines, parsed: OnceCell::new() }
    }

    /// As they are recorded.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Those that can be understood.
    pub fn get(&self) -> &[Requirement] {
        self.parsed.get_or_init(|| self.lines.iter().filter_map(|line| Requirement::parse(line).ok()).collect())
    }
}

/// A running notebook kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kernel {
    pub pid: u32,
    /// Field 22 of `/proc/<pid>/stat`: with the boot id it tells two kernels of one pid apart.
    pub start_time: u64,
}

#[cfg(test)]
mod tests;
