//! What files looked like when they were last read and found right, so that the next look needs no more than their size
//! and ctime.
//!
//! What makes an entry void: another size or ctime; another RECORD, of the installation or of the wheel. A file that
//! was changed so shortly before it was read that a later change could have the same ctime has no entry.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::boot::files::expected::version_of;
use crate::core::host::stamps::Stamp;
use crate::core::model::{PackageName, Sha256, Version};

/// So many earlier looks of files are remembered of one distribution.
const FORMER: usize = 20_000;

/// Of one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashed {
    pub distributions: BTreeMap<PackageName, HashedDistribution>,
    /// What ran when Python started, when imports were last seen to find what is locked.
    startup: StartUp,
    /// The distributions whose imports that was.
    judged: BTreeMap<PackageName, Version>,
}

/// Files that run whenever Python starts, with what they looked like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartUp {
    /// Those that Python looks for by name, such as `sitecustomize.py` and `*.pth`.
    pub named: BTreeMap<PathBuf, Stamp>,
    /// Those that these import.
    pub imported: BTreeMap<PathBuf, Stamp>,
}

impl StartUp {
    /// Of both kinds, those that `earlier` does not have as they are; all where there is no difference.
    pub fn since(&self, earlier: &Self) -> Vec<&Path> {
        let new: Vec<&Path> = self
            .named
            .iter()
            .chain(&self.imported)
            .filter(|(path, stamp)| earlier.named.get(*path).or_else(|| earlier.imported.get(*path)) != Some(stamp))
            .map(|(path, _)| path.as_path())
            .collect();
        if new.is_empty() { self.named.keys().map(PathBuf::as_path).collect() } else { new }
    }
}

/// The files of one distribution, all of which were right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedDistribution {
    /// Its dist-info folder.
    pub info: PathBuf,
    pub source: [Stamp; 2],
    /// Its files were compared with the RECORD of its wheel, not with its own.
    pub of_wheel: bool,
    pub places: Vec<HashedFolder>,
    /// The wheel that it was installed from, where that is known.
    pub wheel: Option<Sha256>,
    /// Its code and data, whichever list of files they were compared with.
    pub contents: Sha256,
    /// What its files looked like in earlier installations of the same contents.
    pub former: Vec<(PathBuf, Stamp)>,
    /// Other contents were seen in its place before: a kernel may have loaded them.
    pub follows_another: bool,
}

/// A folder with files of the distribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedFolder {
    pub folder: PathBuf,
    /// When no file in it came first that is not the distribution's.
    pub own: Stamp,
    /// Of its `__pycache__`, when no unchecked code lay in it.
    pub cache: Stamp,
    /// By name.
    pub files: Vec<(String, Stamp)>,
}

impl Hashed {
    /// Of distributions that are not trusted, or not wanted any more, what is known of the past alone: a kernel may
    /// hold it.
    #[must_use]
    pub fn trusting(mut self, is_trusted: &dyn Fn(&PackageName) -> bool) -> Self {
        self.distributions = self
            .distributions
            .into_iter()
            .map(|(name, one)| {
                let one = if is_trusted(&name) { one } else { one.distrusted() };
                (name, one)
            })
            .collect();
        self
    }

    /// What ran when Python last started, as it looks now, with the files that have the `named` ones' names today.
    pub fn startup_now(&self, named: BTreeMap<PathBuf, Stamp>) -> StartUp {
        let imported = if named.is_empty() { BTreeMap::new() } else { looks(self.startup.imported.keys()) };
        StartUp { named, imported }
    }

    /// What ran when Python last started.
    pub const fn startup(&self) -> &StartUp {
        &self.startup
    }

    /// Whether imports of `distributions` were seen to find them with these `startup` files.
    pub fn has_judged(&self, startup: &StartUp, distributions: &BTreeMap<PackageName, Version>) -> bool {
        self.startup == *startup
            && (startup.named.is_empty()
                || distributions.iter().all(|(name, version)| self.judged.get(name) == Some(version)))
    }

    /// Imports of `distributions` have found them with these `startup` files.
    pub fn keep_judged(&mut self, startup: StartUp, distributions: BTreeMap<PackageName, Version>) {
        if self.startup != startup {
            self.judged.clear();
        }
        self.startup = startup;
        self.judged.extend(distributions);
    }

    /// With what was read since.
    #[must_use]
    pub fn with(mut self, new: BTreeMap<PackageName, HashedDistribution>) -> Self {
        for (name, one) in new {
            let one = match self.distributions.remove(&name) {
                Some(old) => one.after(old),
                None => one,
            };
            self.distributions.insert(name, one);
        }
        self
    }
}

/// What each of `files` looks like.
pub fn looks<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> BTreeMap<PathBuf, Stamp> {
    files.into_iter().map(|path| (path.clone(), Stamp::of(path))).collect()
}

impl HashedDistribution {
    /// With what is remembered of `old`, an earlier installation of the same contents, or an earlier look at this one.
    fn after(mut self, old: Self) -> Self {
        let is_same = self.info == old.info && self.contents == old.contents;
        self.follows_another = old.follows_another || !is_same;
        if is_same {
            let here: HashSet<(PathBuf, Stamp)> = self.files().collect();
            let gone = old.files().filter(|one| one.1 != Stamp::UNKNOWN && !here.contains(one));
            let gone: Vec<(PathBuf, Stamp)> = gone.collect();
            self.former = old.former;
            self.remember(gone);
        }
        self
    }

    /// What is known of the past alone: all that is there now has to be read.
    fn distrusted(mut self) -> Self {
        let here: Vec<(PathBuf, Stamp)> = self.files().filter(|one| one.1 != Stamp::UNKNOWN).collect();
        self.remember(here);
        self.places.clear();
        self.source = [Stamp::UNKNOWN; 2];
        self
    }

    fn remember(&mut self, gone: Vec<(PathBuf, Stamp)>) {
        self.former.extend(gone);
        self.former.drain(..self.former.len().saturating_sub(FORMER));
    }

    /// Its files, and what they looked like.
    pub fn files(&self) -> impl Iterator<Item = (PathBuf, Stamp)> {
        self.places.iter().flat_map(|place| {
            place.files.iter().map(|(name, stamp)| (place.folder.join(name), *stamp)).collect::<Vec<_>>()
        })
    }

    /// Whether it is `version`.
    fn is_of(&self, version: &Version) -> bool {
        version_of(&self.info).as_ref() == Some(version)
    }

    /// Its files, where it is `version` from the wheel `sha256`.
    pub fn files_of(&self, version: &Version, sha256: Sha256) -> Option<Vec<PathBuf>> {
        let is_it = self.is_of(version) && self.wheel == Some(sha256) && !self.places.is_empty();
        is_it.then(|| self.files().map(|(file, _)| file).collect())
    }

    /// Whether it is, or follows, another version than `version`.
    pub fn had_other_than(&self, version: &Version) -> bool {
        self.follows_another || !self.is_of(version)
    }

    /// Its files with all that they have looked like when they were right.
    pub fn looks(&self) -> impl Iterator<Item = (PathBuf, Stamp)> {
        self.files().chain(self.former.iter().cloned()).filter(|(_, stamp)| *stamp != Stamp::UNKNOWN)
    }
}
