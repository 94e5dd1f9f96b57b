//! Whether another tool has changed packages since an interrupted switch: `pip install` and `pip uninstall` make what a
//! journal says of them untrue.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::install::renames::inode_of;
use crate::boot::install::switch_journal::JournalEntry;
use crate::boot::machine::Layout;
use crate::core::host::files;
use crate::core::model::PackageName;
use crate::core::model::wheel_names::metadata_of;

/// Those of the packages that `entries` switch whose metadata is neither what the switch has brought nor what was there
/// before it. `folders` hold what is staged.
pub(super) fn changed_by_others(
    entries: &[JournalEntry],
    folders: &[&PathBuf],
    layout: &Layout,
) -> BTreeSet<PackageName> {
    let is_staged = |place: &Path| folders.iter().any(|folder| place.starts_with(folder));
    let name_of = |place: &Path| metadata_of(place.file_name()?.to_str()?).filter(|_| !is_staged(place));
    let mut changed = BTreeSet::new();
    let mut names = BTreeSet::new();
    // Metadata as the switch knows it, by its place; `None` where it was taken apart.
    let mut known: BTreeMap<PathBuf, Vec<Option<u64>>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entries.get(at + 1) == Some(&JournalEntry::Refused) {
            continue;
        }
        let (JournalEntry::Move { from, to, inode } | JournalEntry::Exchange { from, to, inode }) = entry else {
            continue;
        };
        if let Some(name) = name_of(to) {
            let has_come = inode_of(from) != Ok(*inode);
            if has_come && inode_of(to) != Ok(*inode) {
                changed.insert(name.clone());
            }
            names.insert(name);
            known.entry(to.clone()).or_default().push(Some(*inode));
        }
        let part_of = from.parent().filter(|folder| name_of(folder).is_some());
        if let Some(name) = name_of(from) {
            // Of a layer below, of overlayfs, it may have another inode where it was moved to.
            let is_there = inode_of(from) == Ok(*inode) || inode_of(to).is_ok();
            if !is_there {
                changed.insert(name.clone());
            }
            names.insert(name);
            known.entry(from.clone()).or_default().push(Some(*inode));
        } else if let Some(folder) = part_of {
            names.extend(name_of(folder));
            known.entry(folder.to_owned()).or_default().push(None);
        }
    }
    for site in layout.folders() {
        for place in files::names_if_any(site).iter().map(|name| site.join(name)) {
            let Some(name) = name_of(&place).filter(|name| names.contains(name)) else { continue };
            let inode = inode_of(&place).ok();
            let is_known = known.get(&place).is_some_and(|all| all.iter().any(|one| one.is_none() || *one == inode));
            if !is_known {
                changed.insert(name);
            }
        }
    }
    changed
}
