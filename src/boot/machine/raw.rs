//! The observed machine: raw texts with their sources. Only an allow-list of facts is collected, so that it can be
//! shared.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::boot::machine::{Conditions, Debian, Home, Layout, PythonOrigin};

/// What one source said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Said {
    /// A path or a command line.
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// Why there is no text; absent where the source simply does not exist.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// It gave no answer in time.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub timed_out: bool,
}

/// Everything that was seen, before any of it is believed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Observed {
    /// Format of this record.
    pub schema: u32,
    /// Sources of the driver version, best first.
    pub driver: Vec<Said>,
    /// `name, compute_cap` of each GPU, as CSV.
    pub gpus: Vec<Said>,
    /// The folders on `LD_LIBRARY_PATH`.
    pub library_path: Vec<String>,
    pub os_release: String,
    /// Values of the few variables that tell hosts apart.
    pub environment: BTreeMap<String, String>,
    /// Which of the files that tell hosts apart exist.
    pub markers: Vec<String>,
    pub is_root: bool,
    pub has_apt: bool,
    pub boot_id: String,
    /// Installed Debian packages with their versions.
    pub debian: Debian,
    pub python: Option<RawPython>,
    pub python_errors: Vec<Said>,
    pub distributions: Vec<RawDistribution>,
    pub kernel: Option<RawKernel>,
    /// What is there and could not be read: nothing may be concluded from its absence here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Said>,
    /// In a fingerprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
}

impl Observed {
    /// Whether a folder of a `cuda-compat` package is on the library path: installed alone, they do nothing.
    pub fn compat_in_use(&self) -> bool {
        self.library_path.iter().any(|folder| folder.contains("/compat"))
    }
}

/// What the interpreter says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RawPython {
    pub path: PathBuf,
    pub version: String,
    pub implementation: String,
    pub architecture: String,
    /// `glibc 2.35`, `musl 1.2`.
    pub libc: String,
    pub free_threaded: bool,
    pub layout: Layout,
    /// `sys.prefix`; empty in records of before.
    #[serde(default)]
    pub prefix: PathBuf,
    /// The folder of the standard library; empty in records of before.
    #[serde(default)]
    pub stdlib: PathBuf,
    /// `sys.path` without the empty entry.
    pub search: Vec<PathBuf>,
    /// It is a virtual environment's, or conda's.
    #[serde(default, rename = "virtual")]
    pub is_virtual: bool,
    /// How it was found.
    #[serde(default)]
    pub origin: PythonOrigin,
    /// Folders that come before site-packages where Python is not started with `-I`.
    #[serde(default)]
    pub before_site: Vec<PathBuf>,
}

impl RawPython {
    /// Where it finds its own files, if it said so.
    pub fn home(&self) -> Option<Home> {
        let has_home = !self.prefix.as_os_str().is_empty();
        let (prefix, stdlib, search) = (self.prefix.clone(), self.stdlib.clone(), self.search.clone());
        has_home.then_some(Home { prefix, stdlib, search, before_site: self.before_site.clone() })
    }
}

/// One dist-info folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RawDistribution {
    pub name: String,
    pub version: String,
    pub folder: PathBuf,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub installer: String,
    /// Has a `direct_url.json`; the address itself is left out, it may carry a token.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub direct: bool,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub requires: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub requires_python: String,
}

/// A kernel process, as /proc shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RawKernel {
    pub pid: u32,
    /// The line of `/proc/<pid>/stat`.
    pub stat: String,
}
