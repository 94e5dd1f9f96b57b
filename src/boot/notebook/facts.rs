//! What a kernel says of itself: a JSON document that the cell writes, or a plain list of module names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a kernel has loaded and how it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// By dotted name: top-level modules, and below namespace packages the first with a file.
    pub modules: BTreeMap<String, Module>,
    /// The names of all loaded modules with a file outside the standard library.
    pub names: BTreeSet<String>,
    /// Modules whose file is not known to be the one that they were loaded from; `None` where the kernel did not
    /// compare.
    pub changed: Option<Vec<ChangedModule>>,
    /// Values of the variables that were asked for; `None` for one that is not set.
    pub environment: BTreeMap<String, Option<String>>,
    /// Whether `torch.cuda`, `jax` and `tensorflow` have initialised their devices, where that is known.
    pub initialised: BTreeMap<String, bool>,
    /// `sys.path`.
    pub path: Vec<PathBuf>,
    /// When the kernel said so, in the unit of [`Kernel::start_time`](crate::boot::machine::Kernel::start_time).
    pub at: Option<u64>,
    /// How workers are started, where that was chosen: `fork`, `spawn`, `forkserver`.
    pub start_method: Option<String>,
    /// Whether the order of sets differs from one interpreter to the next.
    pub hash_randomization: Option<bool>,
    /// Why its cell could not ask whether the release was withdrawn.
    pub release: Option<String>,
    /// What torch's allocator says, where CUDA is initialised.
    pub torch_memory: Option<TorchMemory>,
}

/// A loaded module whose file may have changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedModule {
    pub name: String,
    pub file: PathBuf,
    /// `st_ctime` in nanoseconds and size of the file that it was loaded from, where the kernel knows it.
    pub loaded: Option<(i64, u64)>,
    /// Those of the file that lies there now.
    pub now: Option<(i64, u64)>,
    /// What a comparison of the code in memory with that of the file says.
    pub code: CodeMatch,
    /// What differs, or why that is not known.
    pub why: String,
}

/// What a comparison of code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeMatch {
    Same,
    Differs,
    Unknown,
}

/// The memory of the current GPU as torch sees it, in bytes (`torch.cuda.memory_stats`, `mem_get_info`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TorchMemory {
    pub free: u64,
    pub total: u64,
    pub reserved: u64,
    pub allocated: u64,
    /// Reserved, free, and in pieces.
    pub split: u64,
    /// How often the cache was given back to satisfy a request.
    pub retries: u64,
    /// How often a request failed.
    pub failed: u64,
}

/// A loaded module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Unknown in a plain list.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Its `__version__`.
    #[serde(default)]
    pub version: Option<String>,
}

/// Reads the facts: a JSON object with `modules`, or a list of names, as JSON or as words. The error says what is
/// wrong; a kernel that has loaded nothing is none.
pub fn read_facts(text: &str) -> Result<Facts, String> {
    let text_of = |error: serde_json::Error| error.to_string();
    let facts = match text.trim_start().chars().next() {
        Some('{') => serde_json::from_str(text).map_err(text_of)?,
        Some('[') => of_names(serde_json::from_str::<Vec<String>>(text).map_err(text_of)?),
        _ => of_names(text.split_whitespace().map(str::to_owned).collect()),
    };
    if facts.modules.is_empty() {
        return Err("it names no module".to_owned());
    }
    Ok(facts)
}

fn of_names(names: Vec<String>) -> Facts {
    let modules = names.into_iter().map(|name| (name, Module::default()));
    Facts { modules: modules.collect(), ..Facts::default() }
}

#[cfg(test)]
mod tests {
    use super::read_facts;

    #[test]
    fn facts_are_json_or_a_list_of_names() {
        let facts = read_facts(
            r#"{"schema": 1, "pid": 7, "modules": {"numpy": {"file": "/site/numpy/__init__.py", "version": "2.1"}},
                "environment": {"A": "1", "B": null}, "initialised": {"jax": true}, "path": ["", "/site"]}"#,
        )
        .expect("facts");
        assert_eq!(facts.modules["numpy"].version.as_deref(), Some("2.1"));
        assert_eq!(facts.environment["B"], None);
        assert!(facts.initialised["jax"]);
        let listed = read_facts("numpy\nos\n").expect("a list");
        assert_eq!(listed.modules.len(), 2);
        assert_eq!(listed.modules["numpy"].file, None);
        assert_eq!(read_facts("[\"numpy\"]").expect("a list").modules.len(), 1);
        for nothing in ["{", "{}", "", "\n", "[]", "[1]"] {
            assert!(read_facts(nothing).is_err(), "{nothing:?}");
        }
    }
}
