//! What becomes of a switch: it is undone, from the journal alone, or it is settled.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::boot::files::{WrittenFile, strangers_in};
use crate::boot::install::bases::drop_abandoned;
use crate::boot::install::changed_since::changed_by_others;
use crate::boot::install::renames::inode_of;
use crate::boot::install::staged::{STAGED, Staged};
use crate::boot::install::staging::drop_folders;
use crate::boot::install::switch_journal::{JournalEntry, add_settled, read};
use crate::boot::machine::Layout;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::kept_copies::{free, move_file};
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;
use crate::core::model::PackageName;
use crate::core::model::wheel_names::metadata_of;

/// What was undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Whether there was something.
    pub any: bool,
    /// Places that somebody else has changed since, which stay as they are.
    pub changed_since: Vec<PathBuf>,
    /// Files that somebody has added or changed among what is undone, and where they are kept.
    pub kept: Vec<(PathBuf, PathBuf)>,
    /// Packages that another tool has changed since. What was switched stays then: that tool relied on it.
    pub by_others: BTreeSet<PackageName>,
}

/// Brings back what was before the switch with this journal, and removes what was staged; of one that was committed,
/// only what is old is removed. What killed runs have staged in `layout` goes as well. It may be killed and run again
/// at any moment. Files that others have put among it since are moved to the folder `aside`.
pub fn undo(journal: &Path, layout: &Layout, aside: &Path) -> Result<Undone, Failure> {
    let mut undone = Undone::default();
    if let Some(entries) = read(journal)? {
        if entries.last() != Some(&JournalEntry::Settled) {
            let folders: Vec<&PathBuf> = entries.iter().flat_map(folders_of).collect();
            undone.by_others = changed_by_others(&entries, &folders, layout);
            let begun = entries.iter().rposition(|entry| matches!(entry, JournalEntry::Done { .. }));
            let begun = begun.map_or(0, |done| done + 1);
            // What is neither old nor new can't stay.
            let back = match &entries[begun..] {
                _ if undone.by_others.is_empty() => &entries[..],
                half if changed_by_others(half, &folders, layout).is_empty() => half,
                _ => &[],
            };
            let mut is_refused = false;
            for entry in back.iter().rev() {
                if !std::mem::replace(&mut is_refused, *entry == JournalEntry::Refused) {
                    undone.any |= undo_one(entry, &folders, &mut undone.changed_since)?;
                }
            }
            if let Some(mut staged) = Staged::read(&journal.with_file_name(STAGED)) {
                if !undone.by_others.is_empty() {
                    let done = entries.iter().filter(|entry| matches!(entry, JournalEntry::Done { .. })).count();
                    let begun = staged.order().nth(done).filter(|_| !back.is_empty()).cloned();
                    staged.packages.retain(|package| Some(&package.name) == begun.as_ref());
                }
                undone.kept = keep_added(&staged, aside)?;
            }
        }
        remove(&entries);
        files::remove_if_there(journal)?;
    }
    drop_abandoned(layout);
    Ok(undone)
}

/// Makes the switch with this journal last: what is new stays from here on. Where there is no journal, nothing was
/// switched.
pub fn commit(journal: &Path) -> Result<(), Failure> {
    if journal.look_at_entry().is_ok() { add_settled(journal) } else { Ok(()) }
}

/// Removes what is old after a switch that was committed.
pub fn clean_up(journal: &Path) -> Result<(), Failure> {
    remove(&read(journal)?.unwrap_or_default());
    files::remove_if_there(journal)
}

/// Files that others have put into metadata that the switch with this journal has moved aside: where each is now, and
/// its path in site-packages.
pub fn strangers(journal: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    let mut folders: BTreeMap<PathBuf, String> = BTreeMap::new();
    let entries = read(journal)?.unwrap_or_default();
    let staged: Vec<&PathBuf> = entries.iter().flat_map(folders_of).collect();
    for entry in &entries {
        let JournalEntry::Move { from, to, .. } = entry else { continue };
        // What has come is no metadata that goes.
        if !staged.iter().any(|folder| to.starts_with(folder)) {
            continue;
        }
        let metadata = |place: &Path| {
            let name = place.file_name().and_then(|name| name.to_str());
            name.filter(|name| metadata_of(name).is_some()).map(str::to_owned)
        };
        // A folder that was taken apart has come file by file.
        let parts = from.parent().and_then(metadata).zip(to.parent().map(Path::to_owned));
        folders.extend(metadata(from).map(|name| (to.clone(), name)));
        folders.extend(parts.map(|(name, to)| (to, name)));
    }
    Ok(folders.iter().flat_map(|(place, name)| strangers_in(place, name)).collect())
}

/// Moves to `aside` what is among the `staged` files and is none of them: somebody has added it while they were in
/// their places, or has changed it. Returns its path in the environment, and where it is now.
fn keep_added(staged: &Staged, aside: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    let written: HashSet<(u64, u64, i64)> =
        staged.packages.iter().flat_map(|package| &package.files).map(WrittenFile::look).collect();
    let mut kept = Vec::new();
    for (tree, _) in staged.packages.iter().flat_map(|package| &package.trees) {
        let mut files = Vec::new();
        files_below(tree, true, &|_| false, &mut files);
        for file in files {
            let is_compiled = file.parent().is_some_and(|folder| folder.ends_with("__pycache__"));
            let is_written = || file.look_at_entry().is_ok_and(|data| written.contains(&WrittenFile::look_of(&data)));
            if is_compiled || is_written() {
                continue;
            }
            let Ok(path) = file.strip_prefix(tree) else { continue };
            let to = free(aside.join(path));
            move_file(&file, &to)?;
            kept.push((path.to_owned(), to));
        }
    }
    Ok(kept)
}

/// Removes the folders of a switch.
fn remove(entries: &[JournalEntry]) {
    for entry in entries {
        drop_folders(folders_of(entry));
    }
}

/// The folders that a switch keeps everything in, which nothing else writes to.
fn folders_of(entry: &JournalEntry) -> &[PathBuf] {
    if let JournalEntry::Begin { folders } = entry { folders } else { &[] }
}

/// Undoes one entry, where it has happened. `true` where it had.
fn undo_one(entry: &JournalEntry, folders: &[&PathBuf], changed_since: &mut Vec<PathBuf>) -> Result<bool, Failure> {
    match entry {
        JournalEntry::Move { from, to, inode } => {
            // A file of a layer below, of overlayfs, may get another inode when it is moved.
            let is_ours = || folders.iter().any(|folder| to.starts_with(folder)) && to.look_at_entry().is_ok();
            if inode_of(to) != Ok(*inode) && !is_ours() {
                // It has not happened, or is undone, or what has come was replaced.
                if inode_of(from) != Ok(*inode) {
                    changed_since.push(to.clone());
                }
                return Ok(false);
            }
            if from.look_at_entry().is_ok() {
                changed_since.push(from.clone());
                return Ok(false);
            }
            from.parent().map_or(Ok(()), files::create_folder)?;
            rustix::fs::rename(to, from).map_err(|error| cannot(to, from, error))?;
            Ok(true)
        }
        JournalEntry::Exchange { from, to, inode } => {
            // One file that has two names may be both.
            if inode_of(from) == Ok(*inode) {
                return Ok(false);
            }
            if inode_of(to) != Ok(*inode) || from.look_at_entry().is_err() {
                if inode_of(from) != Ok(*inode) {
                    changed_since.push(to.clone());
                }
                return Ok(false);
            }
            renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE).map_err(|error| cannot(to, from, error))?;
            Ok(true)
        }
        JournalEntry::Remove { folder, mode } => match std::fs::DirBuilder::new().mode(*mode).create(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(Failure::world(format!("could not create `{}`", folder.display())).because(&error))
            }
            created => {
                // Whatever the umask is.
                let mode = std::fs::Permissions::from_mode(mode & 0o7777);
                Ok(created.and_then(|()| std::fs::set_permissions(folder, mode)).is_ok())
            }
        },
        JournalEntry::Begin { .. } | JournalEntry::Refused | JournalEntry::Done { .. } | JournalEntry::Settled => {
            Ok(false)
        }
    }
}

fn cannot(from: &Path, to: &Path, error: Errno) -> Failure {
    Failure::world(format!("could not move `{}` back to `{}`", from.display(), to.display())).because(&error)
}
