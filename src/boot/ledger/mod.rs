//! The ledger: who put each distribution of an environment there. What is not in it came with the image or by another
//! tool.
//!
//! An entry is written before the first change of an apply and says what the distribution becomes and what was there
//! before the first apply. It counts only while that very version is installed: any other version was put there by
//! another tool, whatever the ledger says. Pure; the file is read and written by the commands.

mod notes;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::core::model::{PackageName, Sha256, Version};

pub use notes::{Notes, Recurring};

/// The format of the record.
pub const SCHEMA: u32 = 1;

/// The record of one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ledger {
    pub schema: u32,
    /// The interpreter, for people.
    pub python: PathBuf,
    /// Which environment this is of. Another one may come to lie in the same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// What colab-boot has put there.
    pub distributions: BTreeMap<PackageName, Entry>,
    /// What it has taken away: `before` of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<PackageName, Before>,
    /// Files of no package that a wheel has taken the place of, by that place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aside: BTreeMap<PathBuf, Aside>,
    /// Files that a package of ours has in common with others, by their place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<PathBuf, CommonFile>,
    /// The environment file was written for this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Debian packages that it has had installed; they are never removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debian: Vec<String>,
}

/// A distribution that colab-boot has put there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Entry {
    /// Name and version of the profile.
    pub profile: String,
    pub lock: Sha256,
    pub version: Version,
    /// The file's digest.
    pub sha256: Option<Sha256>,
    /// What its build saw of the environment, where it was built from source: it is built again when that changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub built_with: BTreeMap<PackageName, Version>,
    /// A digest of its files, by its RECORD, where it was built from source: no wheel of an index says what they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Sha256>,
    /// What it takes the place of, while an apply is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Version>,
    /// What was there before the first apply; `None` where nothing was.
    pub before: Option<Before>,
    /// Its metadata was deleted, and files of it are still there. Observed, not written down.
    #[serde(skip)]
    pub lacks_metadata: bool,
}

impl Entry {
    /// Whether it has the version that was there before.
    pub fn is_as_before(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.version == self.version)
    }
}

/// A file of no package, while a package has one in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Aside {
    /// The package whose wheel has a file of that name.
    pub package: PackageName,
    /// Where the wheel's file is the same: it is copied when the wheel's goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// Where it lies once it was moved or copied.
    pub kept: PathBuf,
}

/// A file of several packages, one of which was installed over it or removed with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CommonFile {
    /// Where a copy from before lies.
    pub kept: PathBuf,
    /// What the last apply has left in the place; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Sha256>,
    /// An apply that changes it has begun, and not ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_way: bool,
}

/// A distribution that was there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Before {
    pub version: Version,
    /// Whom its `INSTALLER` names.
    #[serde(default)]
    pub installer: String,
    /// Its requirements, as it records them.
    #[serde(default)]
    pub requires: Vec<String>,
    /// It was installed from an address.
    #[serde(default)]
    pub direct: bool,
    /// A digest of its files, by its RECORD; `None` where it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Sha256>,
    /// Its edited files, as RECORD names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
}

/// What an apply does to one distribution.
#[derive(Clone, Debug)]
pub struct Step {
    pub name: PackageName,
    /// What is there now.
    pub present: Option<Before>,
    /// What will be; `None` for a removal.
    pub becomes: Option<(Version, Option<Sha256>)>,
}

/// Whose a distribution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand<'a> {
    /// The image's, or that of somebody whom colab-boot has never met.
    Other,
    /// colab-boot's: it put this version there.
    Ours(&'a Entry),
    /// colab-boot put another version there, and somebody has changed it since.
    Changed(&'a Entry),
}

impl Ledger {
    /// Whose `installed` of `name` is; `None` for a distribution that is not there.
    pub fn hand(&self, name: &PackageName, installed: Option<&Version>) -> Hand<'_> {
        match self.distributions.get(name) {
            None => Hand::Other,
            Some(entry) if installed == Some(&entry.version) || installed.is_none() && entry.lacks_metadata => {
                Hand::Ours(entry)
            }
            Some(entry) if installed == entry.before.as_ref().map(|before| &before.version) => Hand::Other,
            // An apply was killed, or failed: the version of before is there still, or is gone and nothing has come.
            Some(entry) if entry.from.is_some() && (installed.is_none() || installed == entry.from.as_ref()) => {
                Hand::Ours(entry)
            }
            Some(entry) => Hand::Changed(entry),
        }
    }

    /// The wheel that colab-boot has installed `version` of `name` from, where that is known.
    pub fn wheel(&self, name: &PackageName, version: &Version) -> Option<Sha256> {
        self.distributions.get(name).filter(|entry| entry.version == *version).and_then(|entry| entry.sha256)
    }

    /// What was installed before colab-boot came: `installed` as it would be without it. What another tool has put in
    /// place of ours counts as that hand's.
    pub fn original<'a>(&'a self, name: &PackageName, installed: Option<&Version>) -> Original<'a> {
        match self.hand(name, installed) {
            Hand::Ours(entry) => entry.before.as_ref().map_or(Original::Absent, Original::Was),
            Hand::Other | Hand::Changed(_) => Original::AsIs,
        }
    }

    /// The ledger while `steps` of an apply of `lock` for `profile` are under way: nothing is forgotten yet.
    #[must_use]
    pub fn during(&self, steps: &[Step], profile: &str, lock: Sha256) -> Self {
        let after = self.after(steps, profile, lock);
        let mut during = Self { environment: self.environment.clone(), ..after };
        for Step { name, present, becomes } in steps {
            if let Some(known) = self.distributions.get(name).filter(|_| !during.distributions.contains_key(name)) {
                let mut entry = known.clone();
                if let Some((version, sha256)) = becomes {
                    (entry.version, entry.sha256) = (version.clone(), *sha256);
                }
                during.distributions.insert(name.clone(), entry);
            }
            if let Some(entry) = during.distributions.get_mut(name).filter(|_| becomes.is_some()) {
                entry.from = present.as_ref().map(|present| present.version.clone());
            }
        }
        during
    }

    /// The ledger after `steps` of an apply of `lock` for `profile`.
    #[must_use]
    pub fn after(&self, steps: &[Step], profile: &str, lock: Sha256) -> Self {
        let mut ledger = Self { schema: SCHEMA, ..self.clone() };
        for Step { name, present, becomes } in steps {
            let known = ledger.distributions.remove(name);
            let taken = ledger.removed.remove(name);
            // What was there before the first of our changes; a later hand's version is not it.
            let before = match known {
                Some(entry) => entry.before,
                None => taken.or_else(|| present.clone()),
            };
            let Some((version, sha256)) = becomes else {
                before.map(|before| ledger.removed.insert(name.clone(), before));
                continue;
            };
            let from = present.as_ref().map(|present| present.version.clone());
            // What was there before is back: no change of another tool.
            let is_back = before.as_ref().is_some_and(|before| before.version == *version && !before.direct);
            if is_back && from.as_ref() != Some(version) {
                continue;
            }
            let (profile, version) = (profile.to_owned(), version.clone());
            let entry = Entry {
                profile,
                lock,
                version,
                sha256: *sha256,
                built_with: BTreeMap::new(),
                contents: None,
                from: None,
                before,
                lacks_metadata: false,
            };
            ledger.distributions.insert(name.clone(), entry);
        }
        ledger
    }

    /// Without what has the version that was there before: other bytes of it are no reason to do anything.
    #[must_use]
    pub fn restored(mut self) -> Self {
        self.distributions.retain(|_, entry| !entry.is_as_before());
        self
    }

    /// With those that have the version from before again because the profile asks for it: what was edited in them is
    /// still kept, as `earlier` knows.
    #[must_use]
    pub fn with_edits_of(mut self, earlier: &Self, is_wanted: &dyn Fn(&PackageName) -> bool) -> Self {
        let with_edits = earlier.distributions.iter().filter_map(|(name, entry)| {
            let before = entry.before.as_ref().filter(|before| !before.edited.is_empty())?;
            Some((name.clone(), Entry { version: before.version.clone(), sha256: None, from: None, ..entry.clone() }))
        });
        for (name, entry) in with_edits.filter(|(name, _)| is_wanted(name)) {
            self.distributions.entry(name).or_insert(entry);
        }
        self
    }

    /// Whether no package is other than it was before.
    pub fn has_no_packages(&self) -> bool {
        self.distributions.is_empty() && self.removed.is_empty()
    }

    /// Whether there is nothing to restore.
    pub fn is_empty(&self) -> bool {
        self.has_no_packages() && self.aside.is_empty() && self.shared.is_empty() && self.environment.is_none()
    }
}

/// What was in the place of a distribution before colab-boot came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original<'a> {
    /// What is there now.
    AsIs,
    Was(&'a Before),
    Absent,
}

#[cfg(test)]
mod tests {
    use super::{Before, Hand, Ledger, Original, Step};
    use crate::core::model::{PackageName, Sha256, Version};

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    fn was(text: &str) -> Before {
        Before {
            version: version(text),
            installer: "pip".into(),
            requires: vec!["x>=1".into()],
            direct: false,
            contents: None,
            edited: Vec::new(),
        }
    }

    fn step(present: Option<&str>, becomes: Option<&str>) -> Vec<Step> {
        let becomes = becomes.map(|text| (version(text), None));
        vec![Step { name: name(), present: present.map(was), becomes }]
    }

    fn name() -> PackageName {
        "numpy".parse().expect("a name")
    }

    fn apply(ledger: &Ledger, present: Option<&str>, becomes: Option<&str>) -> Ledger {
        ledger.after(&step(present, becomes), "p 1.0.0", Sha256::of(b"lock"))
    }

    #[test]
    fn the_ledger_keeps_what_was_there_before_the_first_apply() {
        let empty = Ledger::default();
        let one = apply(&empty, Some("1.0"), Some("2.0"));
        assert!(matches!(one.hand(&name(), Some(&version("2.0"))), Hand::Ours(_)));
        assert_eq!(one.original(&name(), Some(&version("2.0"))), Original::Was(&was("1.0")));
        // Another profile, and then another tool, and then we again.
        let two = apply(&one, Some("2.0"), Some("3.0"));
        assert_eq!(two.original(&name(), Some(&version("3.0"))), Original::Was(&was("1.0")));
        assert!(matches!(two.hand(&name(), Some(&version("2.5"))), Hand::Changed(_)));
        assert_eq!(two.original(&name(), Some(&version("2.5"))), Original::AsIs);
        let three = apply(&two, Some("2.5"), Some("3.0"));
        assert_eq!(three.original(&name(), Some(&version("3.0"))), Original::Was(&was("1.0")));
        // Back to what it was: nothing of ours is left.
        assert!(apply(&three, Some("3.0"), Some("1.0")).is_empty());
        // Under way, what is gone is gone by our hand; afterwards, by another one.
        let during = empty.during(&step(Some("1.0"), Some("2.0")), "p 1.0.0", Sha256::of(b"lock"));
        assert_eq!(during.original(&name(), None), Original::Was(&was("1.0")));
        assert_eq!(one.original(&name(), None), Original::AsIs);
    }

    #[test]
    fn an_apply_that_was_killed_before_the_change_has_changed_nothing() {
        let begun = apply(&Ledger::default(), Some("1.0"), Some("2.0"));
        assert_eq!(begun.hand(&name(), Some(&version("1.0"))), Hand::Other);
        // Ours, and under way to another version: killed before and after the switch, by an apply and by a restoration.
        let ours = apply(&Ledger::default(), Some("1.0"), Some("2.0"));
        for (becomes, installed) in [(Some("3.0"), "2.0"), (Some("3.0"), "3.0"), (Some("1.0"), "2.0"), (None, "2.0")] {
            let during = ours.during(&step(Some("2.0"), becomes), "p 1.0.0", Sha256::of(b"lock"));
            let original = during.original(&name(), Some(&version(installed)));
            assert_eq!(original, Original::Was(&was("1.0")), "{becomes:?} {installed}");
        }
        let new = apply(&Ledger::default(), None, Some("2.0"));
        assert_eq!(new.hand(&name(), None), Hand::Other);
        assert_eq!(new.original(&name(), Some(&version("2.0"))), Original::Absent);
    }

    #[test]
    fn removed_distributions_stay_in_the_ledger() {
        let gone = apply(&Ledger::default(), Some("1.0"), None);
        assert_eq!(gone.removed[&name()], was("1.0"));
        let other = apply(&gone, None, Some("2.0"));
        assert_eq!(other.original(&name(), Some(&version("2.0"))), Original::Was(&was("1.0")));
        assert!(apply(&gone, None, Some("1.0")).is_empty());
        // What we brought and take away again leaves nothing.
        let brought = apply(&Ledger::default(), None, Some("2.0"));
        assert!(apply(&brought, Some("2.0"), None).is_empty());
    }

    #[test]
    fn a_ledger_is_read_as_it_was_written() {
        let ledger = apply(&Ledger::default(), Some("1.0"), Some("2.0"));
        let text = serde_json::to_string(&ledger).expect("JSON");
        assert_eq!(serde_json::from_str::<Ledger>(&text).expect("a ledger"), ledger);
    }
}
