//! Files of a lock that lie on this machine.

use std::path::PathBuf;

use url::Url;

use crate::boot::index::Download;
use crate::boot::lock::{LockedPackage, LockedWheel};
use crate::boot::profile::Profile;
use crate::core::host::mounts::Look;

/// Folders of wheels: those that the settings name, and those of the profile.
pub(super) struct Folders<'a> {
    pub(super) named: Vec<Url>,
    pub(super) profile: Option<&'a Profile>,
    /// There is no index to ask: a wheelhouse holds the wheels of every index.
    pub(super) offline: bool,
}

impl Folders<'_> {
    /// The file of `package`, if it is here: in the folder that alone serves it, else in one that serves all.
    pub(super) fn find(&self, package: &LockedPackage) -> Option<Download> {
        let url = Url::from_file_path(self.path(package)?).ok()?;
        download(package.wheel()?, url)
    }

    /// The file of this machine that the profile names, or that was made of what it names.
    fn given(&self, package: &LockedPackage) -> Option<PathBuf> {
        let mut wanted = self.profile?.wanted.iter().filter(|one| one.name == package.name);
        wanted.find_map(|one| one.direct.as_ref()?.url.to_file_path().ok())
    }

    /// Where that file lies.
    pub(super) fn path(&self, package: &LockedPackage) -> Option<PathBuf> {
        let wheel = package.wheel()?;
        if let Some(path) = self.given(package).filter(|path| path.ends_with(&wheel.file)) {
            return Some(path).filter(|path| path.is_file_there());
        }
        let own = self.profile.and_then(|profile| profile.index_of(&package.name));
        let indexes = self
            .profile
            .into_iter()
            .flat_map(|profile| &profile.indexes)
            .filter(|index| own.map_or(index.packages.is_empty(), |own| index.name == own));
        let folders = indexes.map(|index| &index.url).filter(|url| url.scheme() == "file");
        let named = self.named.iter().filter(|_| self.offline || own.is_none());
        let mut paths = folders.chain(named).filter_map(|url| Some(url.to_file_path().ok()?.join(&wheel.file)));
        paths.find(|path| path.is_file_there())
    }
}

/// What to fetch for a locked file; one without a digest is refused with the plan.
pub(super) fn download(wheel: &LockedWheel, url: Url) -> Option<Download> {
    let (file, size) = (wheel.file.clone(), wheel.size.unwrap_or_default());
    Some(Download { file, url, sha256: wheel.sha256?, size, kept: wheel.is_source() })
}
