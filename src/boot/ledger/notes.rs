//! What is remembered of an environment besides who installed what: variables that colab-boot has set there, and
//! changes of other tools that come back. Losing it costs a better message.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::core::model::{PackageName, Version};

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Notes {
    /// Every value that the environment file has given each variable.
    pub variables: BTreeMap<String, BTreeSet<String>>,
    /// Packages that another tool has changed after colab-boot had installed them, with the version that it put there
    /// (`None`: it was removed) and how often.
    pub changes: BTreeMap<PackageName, Recurring>,
    /// Files of packages that Python's start rewrites.
    pub rewritten: BTreeMap<PathBuf, PackageName>,
}

/// A change that may come back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recurring {
    pub version: Option<Version>,
    pub times: u32,
}

impl Notes {
    /// With the values of `variables`, which the environment file sets now.
    #[must_use]
    pub fn with_variables(mut self, variables: &BTreeMap<String, String>) -> Self {
        for (name, value) in variables {
            self.variables.entry(name.clone()).or_default().insert(value.clone());
        }
        self
    }

    /// With `changes` that were seen now: the package, and the version that was found.
    #[must_use]
    pub fn with_changes(mut self, changes: &[(PackageName, Option<Version>)]) -> Self {
        for (name, version) in changes {
            let times = 1 + self.times(name, version.as_ref());
            self.changes.insert(name.clone(), Recurring { version: version.clone(), times });
        }
        self
    }

    /// With files that Python's start was seen to rewrite now; of packages that were `installed` none is known from
    /// before.
    #[must_use]
    pub fn with_rewritten(mut self, files: &BTreeMap<PathBuf, PackageName>, installed: &[PackageName]) -> Self {
        self.rewritten.retain(|_, name| !installed.contains(name));
        self.rewritten.extend(files.iter().map(|(place, name)| (place.clone(), name.clone())));
        self
    }

    /// How often this very change was seen before.
    pub fn times(&self, name: &PackageName, version: Option<&Version>) -> u32 {
        self.changes.get(name).filter(|known| known.version.as_ref() == version).map_or(0, |known| known.times)
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;

    #[test]
    fn the_same_change_is_counted_and_another_one_begins_anew() {
        let name: crate::core::model::PackageName = "humanize".parse().expect("a name");
        let old = Some("4.9".parse().expect("a version"));
        let once = Notes::default().with_changes(&[(name.clone(), old.clone())]);
        let twice = once.with_changes(&[(name.clone(), old.clone())]);
        assert_eq!(twice.times(&name, old.as_ref()), 2);
        assert_eq!(twice.times(&name, None), 0);
        assert_eq!(twice.with_changes(&[(name.clone(), None)]).times(&name, None), 1);
    }
}
