//! The files of a source.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::core::diag::Failure;
use crate::core::host::mounts::Look;
use crate::health::stage::PARTS;
use crate::health::stage::not_copied::NotCopied;

/// A file, by its path below the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub path: String,
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i128,
    pub mode: u32,
    /// Which file it is: device, inode, and when anything of it was changed, in nanoseconds since 1970.
    pub device: u64,
    pub inode: u64,
    pub changed: i128,
    /// Where it is read.
    pub source: std::path::PathBuf,
}

impl Entry {
    /// Whether a file is still the one that was listed, untouched: who writes in it can set the one time back, and not
    /// the other.
    pub(super) fn is(&self, data: std::io::Result<Metadata>) -> bool {
        data.is_ok_and(|data| {
            data.len() == self.size && modified(&data) == self.modified && changed(&data) == self.changed
        })
    }
}

/// What a source holds.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By path.
    pub entries: Vec<Entry>,
    /// With their modes; what lies in one comes before it.
    pub folders: Vec<(String, u32)>,
    pub skipped: Vec<String>,
    pub failed: Vec<(String, NotCopied)>,
    /// Those of `failed` that may be, or hold, files of the source: what is known of it is not all.
    pub unseen: Vec<(String, String)>,
}

/// When a file was changed, in nanoseconds since 1970.
pub(super) fn modified(data: &Metadata) -> i128 {
    i128::from(data.mtime()) * 1_000_000_000 + i128::from(data.mtime_nsec())
}

/// When anything of a file was changed, in nanoseconds since 1970.
pub(super) fn changed(data: &Metadata) -> i128 {
    i128::from(data.ctime()) * 1_000_000_000 + i128::from(data.ctime_nsec())
}

/// All files of `source`, or the one that it is. Links are not followed, but for the source itself.
pub(super) fn list(source: &Path) -> Result<Listing, Failure> {
    let failed = |error| Failure::world(format!("could not read `{}`", source.display())).because(&error);
    let data = source.look().map_err(failed)?;
    let mut listing = Listing::default();
    if data.is_dir() {
        std::fs::read_dir(source).map_err(failed)?;
        walk(source, "", &mut listing);
    } else if data.is_file() {
        let name = source.file_name().and_then(|name| name.to_str());
        let name =
            name.ok_or_else(|| Failure::input(format!("the name of `{}` is not valid UTF-8", source.display())))?;
        listing.entries.push(entry(name.to_owned(), &data, source));
    } else {
        return Err(Failure::input(format!("`{}` is a pipe or a device, not a file", source.display())));
    }
    for (path, why) in &listing.unseen {
        let path = if path.is_empty() { source.display().to_string() } else { path.clone() };
        listing.failed.push((path, NotCopied::Unread(why.clone())));
    }
    listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

fn entry(path: String, data: &Metadata, source: &Path) -> Entry {
    Entry {
        path,
        size: data.len(),
        modified: modified(data),
        mode: data.mode() & 0o777,
        device: data.dev(),
        inode: data.ino(),
        changed: changed(data),
        source: source.to_owned(),
    }
}

fn walk(folder: &Path, below: &str, listing: &mut Listing) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return listing.unseen.push((below.to_owned(), error.to_string())),
    };
    for one in entries {
        let one = match one {
            Ok(one) => one,
            Err(error) => return listing.unseen.push((below.to_owned(), error.to_string())),
        };
        let name = one.file_name();
        let shown = format!("{below}{}", name.to_string_lossy());
        let plain = name.to_string_lossy();
        if [PARTS, super::JOURNAL].contains(&plain.as_ref()) {
            // At the top it may be that of a destination, which is a source now; or a user's.
            listing.skipped.push(shown);
            continue;
        }
        if name.to_str().is_none() {
            listing.failed.push((shown, NotCopied::NotUtf8));
            continue;
        }
        match one.path().look_at_entry() {
            Ok(data) if data.is_dir() => {
                walk(&one.path(), &format!("{shown}/"), listing);
                listing.folders.push((shown, data.mode() & 0o777));
            }
            Ok(data) if data.is_file() => listing.entries.push(entry(shown, &data, &one.path())),
            Ok(_) => listing.skipped.push(shown),
            Err(error) => listing.unseen.push((shown, error.to_string())),
        }
    }
}
