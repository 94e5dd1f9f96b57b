//! A private folder in the destination, in which `stage` writes each file before it renames it to its place. The rename
//! replaces a link or a hard link in that place, and does not follow it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::health::stage::PARTS;
use crate::health::stage::listing::Entry;

/// How the names of folders begin into which archives are unpacked.
const FRESH: &str = "unpacked-";

/// Of one destination.
pub(super) struct Parts {
    folder: PathBuf,
    /// Of this boot of the machine: what was half written before a crash is not trusted.
    boot: String,
}

impl Parts {
    /// Makes the folder in `to`, or takes the one of before. Fails where that is a link, no folder, or somebody else's.
    pub(super) fn open(to: &Path, boot: &str) -> Result<Self, Failure> {
        let folder = to.join(PARTS);
        files::create_private_folder(&folder)?;
        let refused = |why: &str| {
            let message = format!("incomplete copies can't be stored safely in `{}`: {why}", folder.display());
            Failure::world(message).help("inspect and remove it, or choose another destination")
        };
        let data = folder.look_at_entry().map_err(|error| refused("it can't be read").because(&error))?;
        if !data.is_dir() {
            return Err(refused("it is a link or a file"));
        }
        if data.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused("it belongs to another user"));
        }
        // A file system that keeps no modes lets in whom its mount lets in.
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        Ok(Self { folder, boot: boot.to_owned() })
    }

    /// The name of what is written for `entry`: another file of the same name, size and time has another.
    pub(super) fn name(&self, entry: &Entry) -> String {
        let Entry { path, size, modified, changed, device, inode, .. } = entry;
        let key = format!("{path}\0{size}\0{modified}\0{changed}\0{device}\0{inode}\0{}", self.boot);
        Sha256::of(key.as_bytes()).to_string()[..24].to_owned()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Bytes that a run has written which was cut off.
    pub(super) fn begun(&self, name: &str) -> u64 {
        self.own(name).map_or(0, |file| file.metadata().map_or(0, |data| data.len()))
    }

    /// Opens what a run has begun, to go on with it, or begins it.
    pub(super) fn go_on(&self, name: &str) -> std::io::Result<File> {
        self.own(name).map_or_else(|| self.begin(name), Ok)
    }

    /// Begins it, whatever is there.
    pub(super) fn begin(&self, name: &str) -> std::io::Result<File> {
        match std::fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(self.path(name))
    }

    /// An empty folder, which goes with the value; those that killed runs have left go now.
    pub(super) fn fresh(&self) -> Result<Fresh, Failure> {
        for name in files::names_if_any(&self.folder).iter().filter(|name| name.starts_with(FRESH)) {
            drop(Fresh(self.path(name)));
        }
        tempfile::Builder::new()
            .prefix(FRESH)
            .tempdir_in(&self.folder)
            .map(|folder| Fresh(folder.keep()))
            .map_err(|error| Failure::world(format!("could not write to `{}`", self.folder.display())).because(&error))
    }

    /// What is there, if it is a file of ours that has no second name.
    fn own(&self, name: &str) -> Option<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(self.path(name)).ok()?;
        let data = file.metadata().ok()?;
        let is_own = data.is_file() && data.nlink() == 1 && data.uid() == rustix::process::geteuid().as_raw();
        is_own.then_some(file)
    }

    /// Removes what earlier runs began of files that have changed since, or that are whole now.
    pub(super) fn sweep(&self, current: &BTreeSet<String>) {
        for name in files::names_if_any(&self.folder).iter().filter(|name| !current.contains(*name)) {
            let _ = std::fs::remove_file(self.path(name));
        }
    }
}

/// A folder into which an archive is unpacked.
pub(super) struct Fresh(PathBuf);

impl Fresh {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Lets us into the folders in it, and lets us take files out of them, whatever the archive says.
    pub(super) fn open_up(&self) {
        let mut open = vec![self.0.clone()];
        while let Some(folder) = open.pop() {
            let mode = folder.look_at_entry().map_or(0, |data| data.mode() & 0o777);
            let _ = std::fs::set_permissions(&folder, Permissions::from_mode(mode | 0o700));
            let inside = files::names_if_any(&folder).into_iter().map(|name| folder.join(name));
            open.extend(inside.filter(|path| path.look_at_entry().is_ok_and(|data| data.is_dir())));
        }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.open_up();
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Parts {
    /// The folder goes where nothing is left in it.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.folder);
    }
}
