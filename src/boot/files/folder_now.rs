//! A folder with files of a distribution, as it looks now beside how it looked when all in it was right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::boot::files::hashed::HashedFolder;
use crate::core::host::files::names_if_any;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::{Folder, Stamp};

/// A folder now.
pub(super) struct FolderNow {
    pub folder: PathBuf,
    pub own: Stamp,
    pub cache: Stamp,
    /// Something came or went in it since it was listed.
    pub moved: bool,
    pub cache_moved: bool,
    /// The names of files of the distribution, each with its stamp where that is as it was.
    pub files: Vec<(String, Option<Stamp>)>,
}

impl FolderNow {
    /// Whether a folder lies beside a module of its name: it comes first once it has an `__init__`, of which the stamp
    /// of this folder says nothing. Looked for where something came or went.
    pub(super) fn may_hide(&self) -> bool {
        let stems: BTreeSet<&str> = self.files.iter().filter_map(|(name, _)| name.split('.').next()).collect();
        self.moved
            && names_if_any(&self.folder)
                .iter()
                .any(|name| stems.contains(name.as_str()) && self.folder.join(name).is_folder_there())
    }
}

/// A folder that is gone has no stamps.
pub(super) fn stamps_of(folder: &Path) -> (Stamp, Stamp) {
    Folder::open(folder).map_or((Stamp::UNKNOWN, Stamp::UNKNOWN), |open| (open.own(), open.stamp("__pycache__")))
}

/// What it looks like now.
pub(super) fn see(place: &HashedFolder) -> FolderNow {
    let open = Folder::open(&place.folder).ok();
    let stamp = |name: &str| open.as_ref().map_or(Stamp::UNKNOWN, |open| open.stamp(name));
    let own = open.as_ref().map_or(Stamp::UNKNOWN, Folder::own);
    let cache = stamp("__pycache__");
    let file = |(name, known): &(String, Stamp)| {
        let is_same = *known != Stamp::UNKNOWN && stamp(name) == *known;
        (name.clone(), is_same.then_some(*known))
    };
    FolderNow {
        folder: place.folder.clone(),
        own,
        cache,
        moved: own != place.own || own == Stamp::UNKNOWN,
        cache_moved: cache != place.cache,
        files: place.files.iter().map(file).collect(),
    }
}
