//! What a kernel has loaded, and which of it a change touches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::notebook::{Facts, Module};
use crate::core::diag::counted;
use crate::core::model::PackageName;

/// What is known of a kernel's memory.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pub modules: Modules,
    /// Libraries of packages that are mapped and were deleted or replaced since.
    pub replaced: Vec<PathBuf>,
    /// Files below site-packages, and below `lib` of the environment, that are mapped and still there.
    pub mapped: BTreeSet<PathBuf>,
    /// Distributions with a mapped file outside of site-packages, as `lib/libtbb.so.12` is.
    pub mapped_outside: BTreeSet<PackageName>,
    /// Distributions of which the kernel holds other code than is installed, or may do so.
    pub stale: Vec<Stale>,
    /// The variables that it was started with: a server hands its own down, and again after a restart.
    pub handed: BTreeMap<String, String>,
    /// When the kernel said so, in the unit of [`Kernel::start_time`](crate::boot::machine::Kernel::start_time).
    pub at: u64,
}

/// The modules of a kernel.
#[derive(Clone, Debug)]
pub enum Modules {
    /// The kernel has said which.
    Reported(Box<Facts>),
    /// The kernel has not; a fresh one on this kind of host has loaded these distributions.
    Preloaded(BTreeSet<PackageName>),
    /// The kernel has not: it may have loaded anything.
    Unknown,
}

impl Default for Modules {
    fn default() -> Self {
        Self::Reported(Box::default())
    }
}

/// A distribution whose code in memory is not known to be the installed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    pub name: PackageName,
    /// One of its modules, and how many more.
    pub module: String,
    pub more: usize,
    /// The code differs; otherwise it could not be compared.
    pub is_certain: bool,
    /// What differs, or why it could not be compared.
    pub why: String,
}

impl std::fmt::Display for Stale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, module, more, is_certain, why } = self;
        let more = match more {
            0 => String::new(),
            more => format!(" and {}", counted(more, "more module")),
        };
        if *is_certain {
            write!(f, "{name}: `{module}`{more} in memory differs from the installed code ({why})")
        } else {
            write!(f, "{name}: `{module}`{more} changed on disk after the kernel loaded it ({why})")
        }
    }
}

/// What a change does to a distribution, as far as a kernel is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub name: &'a PackageName,
    /// Modules of the old version and of the new one, by dotted name.
    pub modules: &'a BTreeSet<String>,
    /// A version of it was installed before.
    pub existed: bool,
    /// The folders that its files lie in.
    pub folders: &'a [PathBuf],
}

impl Loaded {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        modules: Modules::Unknown,
        replaced: Vec::new(),
        mapped: BTreeSet::new(),
        mapped_outside: BTreeSet::new(),
        stale: Vec::new(),
        handed: BTreeMap::new(),
        at: 0,
    };

    /// Whether the kernel has compared what it has loaded with what is installed: no earlier change has to be looked up
    /// then.
    pub fn was_compared(&self) -> bool {
        matches!(&self.modules, Modules::Reported(facts) if facts.changed.is_some())
    }

    /// Whether the kernel holds code that `subject` is about. What was not there before can only be loaded where it lay
    /// about without metadata, which shows in the file of the module.
    pub fn holds(&self, subject: Subject<'_>) -> bool {
        if subject.existed && self.mapped_outside.contains(subject.name) {
            return true;
        }
        match &self.modules {
            Modules::Reported(facts) => subject
                .modules
                .iter()
                .any(|module| is_held(facts, module, subject) || self.maps(module, subject.folders)),
            Modules::Preloaded(names) => subject.existed && names.contains(subject.name),
            Modules::Unknown => subject.existed,
        }
    }

    /// Whether nothing speaks for it that the kernel holds code that `subject` is about: it has not said what it has
    /// loaded, and no library of it is mapped.
    pub fn is_assumed(&self, subject: Subject<'_>) -> bool {
        let maps = |module: &String| self.maps(module, subject.folders);
        matches!(self.modules, Modules::Unknown)
            && !self.mapped_outside.contains(subject.name)
            && !subject.modules.iter().any(maps)
    }

    /// Whether a library of `module` is mapped, be it by a module of another name (`ctypes`).
    fn maps(&self, module: &str, folders: &[PathBuf]) -> bool {
        let path = module.replace('.', "/");
        folders.iter().any(|folder| {
            let place = folder.join(&path);
            self.mapped.iter().any(|file| file.starts_with(&place) || is_found_in(folder, module, file))
        })
    }

    /// Modules that were loaded from elsewhere than `folder`, though a distribution installed there has them: by name,
    /// with their file. A restart would load them from there again, for what comes first on the path is found first.
    pub fn shadowing(&self, modules: &BTreeSet<String>, folder: &Path) -> BTreeMap<String, PathBuf> {
        let Modules::Reported(facts) = &self.modules else {
            return BTreeMap::new();
        };
        modules
            .iter()
            .filter_map(|module| {
                let file = facts.modules.get(module)?.file.as_ref()?;
                (!file.starts_with(folder) && comes_first(facts, module, file, folder))
                    .then(|| (module.clone(), file.clone()))
            })
            .collect()
    }

    /// The value of `variable` in the kernel; `None` where it was not asked for.
    pub fn variable(&self, variable: &str) -> Option<&Option<String>> {
        match &self.modules {
            Modules::Reported(facts) => facts.environment.get(variable),
            _ => None,
        }
    }
}

/// Whether `name` is `module`, or that of a module below it.
pub fn is_in_module(name: &str, module: &str) -> bool {
    name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether `facts` has `module` or something below it, from where a change of `subject` counts.
fn is_held(facts: &Facts, module: &str, subject: Subject<'_>) -> bool {
    let path = module.replace('.', "/");
    // A folder of a package may be on the path itself: its modules have other names then.
    let lies_in = |held: &Module| {
        let file = held.file.as_ref();
        file.is_some_and(|file| subject.folders.iter().any(|folder| file.starts_with(folder.join(&path))))
    };
    let named = facts.modules.iter().filter(|(name, held)| is_in_module(name, module) || lies_in(held));
    named.map(|(name, held)| (name, &held.file)).any(|(name, file)| match file {
        None => subject.existed,
        // A module of the user's own that comes first on the path stays what it is.
        Some(file) => {
            let installed = subject.folders.iter().any(|folder| file.starts_with(folder));
            installed || !subject.folders.iter().all(|folder| comes_first(facts, name, file, folder))
        }
    })
}

/// Whether `import` finds the module's `file` by a path entry that stands before `folder`.
fn comes_first(facts: &Facts, module: &str, file: &Path, folder: &Path) -> bool {
    let own = facts.path.iter().position(|entry| entry == folder).unwrap_or(facts.path.len());
    facts.path.iter().take(own).any(|entry| is_found_in(entry, module, file))
}

/// Whether `file` is `entry/module.py`, `entry/module.cpython-312.so` or `entry/module/__init__.py`.
fn is_found_in(entry: &Path, module: &str, file: &Path) -> bool {
    let place = entry.join(module.replace('.', "/"));
    let is_module = file.parent() == place.parent()
        && file.file_name().is_some_and(|name| {
            let own = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.to_string_lossy().starts_with(&format!("{own}."))
        });
    is_module || file.parent() == Some(&place)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::{Loaded, Modules, Subject};
    use crate::boot::notebook::read_facts;

    fn reported(text: &str) -> Loaded {
        Loaded { modules: Modules::Reported(Box::new(read_facts(text).expect("facts"))), ..Loaded::default() }
    }

    fn holds(loaded: &Loaded, module: &str, existed: bool) -> bool {
        let (modules, folders) = (BTreeSet::from([module.to_owned()]), [PathBuf::from("/venv/site-packages")]);
        let name = "demo".parse().expect("a name");
        loaded.holds(Subject { name: &name, modules: &modules, existed, folders: &folders })
    }

    #[test]
    fn loaded_code_is_found_by_module_and_file() {
        let from = |file: &str| {
            reported(&format!(
                r#"{{"modules": {{"demo": {{"file": "{file}"}}}}, "path": ["/content", "/usr/lib/python3.12", "/venv/site-packages", "/home/me/src"]}}"#
            ))
        };
        for (file, held, why) in [
            ("/venv/site-packages/demo/__init__.py", true, "installed"),
            ("/home/me/src/demo.py", true, "editable, behind site-packages"),
            ("/elsewhere/demo.py", true, "by a finder"),
            ("/content/checkout/demo.py", true, "a checkout below the working directory"),
            ("/content/demo.py", false, "the user's own, before site-packages"),
        ] {
            assert_eq!(holds(&from(file), "demo", false), held, "{why}");
        }
        assert!(!holds(&from("/venv/site-packages/demo/__init__.py"), "other", true));
        let namespace = reported(
            r#"{"modules": {"google.protobuf": {"file": "/venv/site-packages/google/protobuf/__init__.py"}}}"#,
        );
        assert!(holds(&namespace, "google.protobuf", true) && holds(&namespace, "google", true));
        assert!(!holds(&namespace, "google.cloud", true));
        let list = reported("demo\n");
        assert!(holds(&list, "demo", true) && !holds(&list, "demo", false), "no file is known");
        let unknown = Loaded { modules: Modules::Unknown, ..Loaded::default() };
        assert!(holds(&unknown, "demo", true) && !holds(&unknown, "demo", false));
    }

    #[test]
    fn an_older_copy_that_comes_first_is_seen() {
        let loaded = reported(
            r#"{"modules": {"demo": {"file": "/home/me/.local/lib/demo.py"}}, "path": ["/home/me/.local/lib", "/venv/site-packages"]}"#,
        );
        let modules = BTreeSet::from(["demo".to_owned()]);
        assert_eq!(loaded.shadowing(&modules, &PathBuf::from("/venv/site-packages")).len(), 1);
        assert!(loaded.shadowing(&modules, &PathBuf::from("/home/me/.local/lib")).is_empty());
    }
}
