//! The folders of an environment that packages have files in, and where beside them new files are kept until they are
//! switched: a rename needs the same file system.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::boot::machine::{Layout, STAGE_PREFIX};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;

/// The folders that `layout` installs to, the innermost first.
pub(super) fn bases(layout: &Layout) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        layout.folders().into_iter().chain([&layout.scripts, &layout.data]).map(ToOwned::to_owned).collect();
    all.sort_by_key(|base| std::cmp::Reverse(base.components().count()));
    all.dedup();
    all
}

/// The number of the innermost of `bases` that `place` lies in, and the way from there.
pub(super) fn split<'a>(place: &'a Path, bases: &[PathBuf]) -> Option<(usize, &'a Path)> {
    bases.iter().enumerate().find_map(|(at, base)| Some((at, place.strip_prefix(base).ok()?)))
}

/// An empty folder in these, until the first file is switched.
const UNTOUCHED: &str = "untouched";

/// To be called between the first entry of a journal that names `folders` and the first rename.
pub(super) fn touch(folders: &[PathBuf]) -> Result<(), Failure> {
    for folder in folders.iter().map(|folder| folder.join(UNTOUCHED)).filter(|folder| folder.is_folder_there()) {
        std::fs::remove_dir(&folder).map_err(|error| {
            Failure::world(format!("could not remove the folder `{}`", folder.display())).because(&error)
        })?;
    }
    Ok(())
}

/// The folder for what goes, in the ones that hold what comes.
pub(super) const ASIDE: &str = "aside";

/// Removes a folder of a stage, which nothing needs. The mark goes last: if the removal fails or is killed, the next
/// run removes the rest.
pub(super) fn drop_folder(folder: &Path) {
    let mark = folder.join(UNTOUCHED);
    if std::fs::create_dir(&mark).is_err() && !mark.is_folder_there() {
        let _ = std::fs::remove_dir_all(folder);
        return;
    }
    let names = files::names_if_any(folder).into_iter().filter(|name| name != UNTOUCHED);
    let removed: Vec<_> = names.map(|name| std::fs::remove_dir_all(folder.join(name))).collect();
    let is_empty = removed.iter().all(Result::is_ok);
    if is_empty && std::fs::remove_dir(&mark).and_then(|()| std::fs::remove_dir(folder)).is_err() {
        let _ = std::fs::create_dir(mark);
    }
}

/// The folders that stage folders of `layout` are created in: the innermost base on each file system.
pub fn stage_places(layout: &Layout) -> Vec<PathBuf> {
    let mut devices = BTreeSet::new();
    bases(layout).into_iter().filter(|base| devices.insert(device_of(base))).collect()
}

/// Removes what runs that were killed have staged in `layout`, which the caller holds. One that was killed once its
/// switch had begun is left: only its own journal undoes that.
pub(super) fn drop_abandoned(layout: &Layout) {
    for base in bases(layout) {
        let names = files::names_if_any(&base).into_iter().filter(|name| name.starts_with(STAGE_PREFIX));
        for folder in names.map(|name| base.join(name)) {
            let names = files::names_if_any(&folder);
            let is_untouched = names.is_empty() || names.iter().any(|name| name == UNTOUCHED);
            if is_untouched {
                drop_folder(&folder);
            }
        }
    }
}

/// The folders beside an environment, one on each file system that it lies on.
#[derive(Debug)]
pub(super) struct StageFolders {
    bases: Vec<PathBuf>,
    /// For each base, the folder on its file system.
    folders: Vec<PathBuf>,
}

impl StageFolders {
    /// Creates them.
    pub(super) fn create(layout: &Layout) -> Result<Self, Failure> {
        let bases = bases(layout);
        let mut of_device: BTreeMap<u64, PathBuf> = BTreeMap::new();
        let mut folders = Vec::new();
        for base in &bases {
            let device = device_of(base);
            if let Some(folder) = of_device.get(&device) {
                folders.push(folder.clone());
                continue;
            }
            files::create_folder(base)?;
            let folder = tempfile::Builder::new()
                .prefix(STAGE_PREFIX)
                .tempdir_in(base)
                .map_err(|error| {
                    Failure::world(format!("could not create a folder in `{}`", base.display()))
                        .because(&error)
                        .help(files::way_to_write(error.kind()))
                })?
                .keep();
            files::create_folder(&folder.join(UNTOUCHED))?;
            // A disk that is full once all is staged keeps nothing from being switched.
            files::create_folder(&folder.join(ASIDE))?;
            of_device.insert(device, folder.clone());
            folders.push(folder);
        }
        Ok(Self { bases, folders })
    }

    pub(super) fn bases(&self) -> &[PathBuf] {
        &self.bases
    }

    /// For each base, the folder beside it.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }
}

/// The file system of `path`, or of the nearest folder above it that exists.
fn device_of(path: &Path) -> u64 {
    path.ancestors().find_map(|folder| folder.look().ok()).map_or(0, |data| data.dev())
}
