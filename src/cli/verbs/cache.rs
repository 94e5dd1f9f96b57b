//! `cache`: what can be downloaded again, and how to get its disk space back.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use serde::Serialize;
use serde_json::json;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::CacheVerb;
use crate::core::diag::{Failure, bytes, counted};
use crate::core::host::files;
use crate::core::host::locks::is_locked;
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;

/// The folder of downloads, each in a folder with a lock beside it.
const DOWNLOADS: &str = "wheels";

#[derive(Serialize)]
struct CacheReport {
    /// Unpacked wheels that were removed.
    wheels: usize,
    /// Bytes on disk.
    freed: u64,
}

pub(super) fn run(verb: &CacheVerb, session: &Session<'_>) -> Result<Report, Failure> {
    let cache = &session.paths.cache;
    match verb {
        CacheVerb::Dir => {
            Ok(Report::new(json!({ "folder": cache.display().to_string() }), format!("{}\n", cache.display())))
        }
        CacheVerb::Size => {
            let size = size_of(cache);
            Ok(Report::new(json!({ "bytes": size }), format!("{}\n", bytes(size))))
        }
        CacheVerb::Prune => prune(false, session),
        CacheVerb::Clean => prune(true, session),
    }
}

fn prune(all: bool, session: &Session<'_>) -> Result<Report, Failure> {
    let cache = &session.paths.cache;
    must_be_writable(cache)?;
    let pruned = session.store()?.prune(all);
    let mut report = CacheReport { wheels: pruned.wheels, freed: pruned.freed };
    for name in files::names_if_any(&cache.join(DOWNLOADS)) {
        let folder = cache.join(DOWNLOADS).join(&name);
        let lock = folder.with_extension("lock");
        if lock != folder && lock.is_file_there() && !is_locked(&lock) {
            report.freed += remove(&folder);
        }
    }
    if all {
        // Somebody may keep other things in the folder.
        let others = files::names_if_any(cache).into_iter().filter(|name| is_ours(name));
        report.freed += others.map(|name| remove(&cache.join(name))).sum::<u64>();
    }
    let text = match report {
        CacheReport { wheels: 0, freed: 0 } => "nothing to remove\n".to_owned(),
        CacheReport { wheels: 0, freed } => format!("removed cached listings and downloads; {} freed\n", bytes(freed)),
        CacheReport { wheels, freed } => {
            format!("removed {}; {} freed\n", counted(wheels, "unpacked wheel"), bytes(freed))
        }
    };
    Ok(Report::new(&report, text))
}

/// Fails where nothing can be removed from the folder.
fn must_be_writable(cache: &Path) -> Result<(), Failure> {
    match access(cache, Access::WRITE_OK | Access::EXEC_OK) {
        Err(error) if error != Errno::NOENT => {
            let message = format!("nothing can be removed from `{}`", cache.display());
            let help = "run the command as the user that owns this folder, where it can be written";
            Err(Failure::world(message).because(&error).help(help))
        }
        _ => Ok(()),
    }
}

/// Whether colab-boot has made what has this name in the cache: listings and notes of what wheels hold, in folders such
/// as `listings-v8`; answers of interpreters; overlays; the clock.
fn is_ours(name: &str) -> bool {
    let is_versioned = name.rsplit_once("-v").is_some_and(|(kind, version)| {
        ["listings", "metadata", "builds", "linking", "roots", "files", "contents"]
            .iter()
            .any(|one| kind.starts_with(one))
            && version.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_versioned || ["python", "sources", "overlays", "projects", "git", "built-wheels", "clock.json"].contains(&name)
}

/// The bytes of a file, or of those in a folder; one that has several names counts once.
fn size_of(place: &Path) -> u64 {
    let mut all = vec![place.to_owned()];
    if place.is_folder_there() {
        all.clear();
        files_below(place, true, &|_| false, &mut all);
    }
    let mut seen = HashSet::new();
    let looked = all.iter().filter_map(|file| file.look_at_entry().ok());
    looked.filter(|data| data.nlink() == 1 || seen.insert((data.dev(), data.ino()))).map(|data| data.len()).sum()
}

/// Removes a file or folder. Returns the bytes that it had.
fn remove(place: &Path) -> u64 {
    let size = size_of(place);
    let removed = if place.is_folder_there() { std::fs::remove_dir_all(place) } else { std::fs::remove_file(place) };
    if removed.is_ok() { size } else { 0 }
}
