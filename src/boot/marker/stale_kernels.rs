//! Which kernels must restart: by what they have loaded of what was changed, and whether they are older than the
//! change.

use std::collections::BTreeSet;
use std::path::{Component, PathBuf};

use serde::{Deserialize, Serialize};

use crate::boot::machine::Kernel;
use crate::boot::notebook::{Loaded, Modules, Subject};
use crate::core::model::PackageName;

/// What applies have changed since this machine started: one entry a distribution, and one for the environment file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Touched {
    /// `None` for the environment file.
    pub name: Option<PackageName>,
    /// What happens to it, for people: `goes from 2.2.6 to 2.3.1`.
    pub what: String,
    /// Its modules, those of the old version and of the new one.
    pub modules: BTreeSet<String>,
    /// A version of it was installed before.
    pub existed: bool,
    /// A `.pth` file of it comes or changes: Python reads those when it starts, and at no other time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts: bool,
    /// What a `.pth` file that goes has given to each Python that it was read by.
    #[serde(default, skip_serializing_if = "Given::is_nothing")]
    pub given: Given,
    /// When the change was over, in the unit of [`Kernel::start_time`]; `None` while it may still be under way: if the
    /// apply was killed, its installer may go on.
    pub ended: Option<u64>,
    /// Of records of before: nothing depends on it.
    #[serde(default, skip_serializing)]
    pub clean: Vec<Kernel>,
}

/// What a Python has from `.pth` files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Given {
    /// On its `sys.path`.
    pub folders: BTreeSet<PathBuf>,
    /// Imported.
    pub modules: BTreeSet<String>,
}

impl Given {
    /// What the lines of `text`, a `.pth` file of a package that has `own` modules, give (`site.addpackage`); `None`
    /// where a kernel does not show it.
    pub fn of(text: &str, own: &BTreeSet<String>) -> Option<Self> {
        let mut given = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(code) = line.strip_prefix("import ").or_else(|| line.strip_prefix("import\t")) {
                let module = code.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
                given.modules.insert(own.get(module)?.clone());
            } else {
                let folder = PathBuf::from(line);
                let is_plain =
                    !folder.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir));
                given.folders.insert(Some(folder).filter(|folder| folder.is_absolute() && is_plain)?);
            }
        }
        Some(given)
    }

    fn is_nothing(&self) -> bool {
        self.folders.is_empty() && self.modules.is_empty()
    }

    /// Whether a kernel that has `loaded` has any of it; one that tells nothing may have.
    fn is_in(&self, loaded: &Loaded) -> bool {
        match &loaded.modules {
            Modules::Reported(facts) => {
                facts.path.iter().any(|folder| self.folders.contains(folder))
                    || self.modules.iter().any(|name| facts.modules.contains_key(name) || facts.names.contains(name))
            }
            _ => !self.is_nothing(),
        }
    }
}

impl Touched {
    /// Whether `loaded` holds code that this change is about.
    pub(super) fn is_held(&self, loaded: &Loaded, folders: &[PathBuf]) -> bool {
        match &self.name {
            Some(name) => loaded.holds(Subject { name, modules: &self.modules, existed: self.existed, folders }),
            // Of a kernel that tells its variables, those decide.
            None => !matches!(loaded.modules, Modules::Reported(_)),
        }
    }

    /// Whether a Python that starts has read what was changed.
    pub(super) fn is_read_at_start(&self) -> bool {
        self.starts || !self.given.is_nothing()
    }

    /// Why `kernel` must restart for this change, if it must.
    fn because(&self, kernel: &Kernel, loaded: &Loaded, folders: &[PathBuf]) -> Option<String> {
        let is_older = self.ended.is_none_or(|ended| kernel.start_time < ended);
        // A kernel that has compared its code with the files since says itself what is stale.
        let is_judged =
            self.name.is_some() && loaded.was_compared() && self.ended.is_some_and(|ended| ended < loaded.at);
        let has_started_without = is_older && (self.starts || self.given.is_in(loaded));
        let is_stale = is_older && !is_judged && self.is_held(loaded, folders);
        (is_stale || has_started_without).then(|| match &self.name {
            Some(name) if !is_stale && !self.existed => {
                format!("{name} brings a `.pth` file, which Python reads at startup")
            }
            Some(name) if !is_stale => {
                format!("{name} has a `.pth` file, which Python reads at startup, and {}", self.what)
            }
            Some(name) => {
                let subject = Subject { name, modules: &self.modules, existed: self.existed, folders };
                let holds = if loaded.is_assumed(subject) { MAY_BE_LOADED } else { IS_LOADED };
                format!("{name}{holds}{}", self.what)
            }
            None => self.what.clone(),
        })
    }
}

/// Between the name of a package that a kernel holds and what has become of it.
const IS_LOADED: &str = " is loaded and ";

/// The same of a kernel that does not say what it holds.
const MAY_BE_LOADED: &str = " may be loaded and ";

/// The package that the kernel holds, by this `reason` to restart it.
pub(super) fn held_package(reason: &str) -> Option<&str> {
    reason.split_once(IS_LOADED).or_else(|| reason.split_once(MAY_BE_LOADED)).map(|(name, _)| name)
}

/// Whether nothing but a change since the kernel started speaks for this `reason`.
pub fn is_assumption(reason: &str) -> bool {
    reason.contains(MAY_BE_LOADED)
}

/// Why `kernel`, which has `loaded`, must restart for what is in `touched`; nothing where it need not. `folders` are
/// those that modules are installed to.
pub fn because<'a>(
    touched: impl IntoIterator<Item = &'a Touched>,
    kernel: &Kernel,
    loaded: &Loaded,
    folders: &[PathBuf],
) -> Vec<String> {
    touched.into_iter().filter_map(|one| one.because(kernel, loaded, folders)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Given;

    #[test]
    fn what_a_path_file_gives_is_known_or_not() {
        let own = BTreeSet::from(["__editable___demo_1_finder".to_owned()]);
        for (text, known) in [
            ("import __editable___demo_1_finder; __editable___demo_1_finder.install()\n", true),
            ("/home/me/demo\n# a comment\n\n", true),
            ("../demo\n", false),
            ("/home/me/../demo\n", false),
            ("import os; os.environ['A'] = 'b'\n", false),
            ("import sys, demo\n", false),
        ] {
            assert_eq!(Given::of(text, &own).is_some(), known, "{text}");
        }
    }
}
