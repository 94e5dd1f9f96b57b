//! Files that no package owns and a wheel takes the place of: moved aside before the install, and back when the package
//! has gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::apply::installer_leftovers::{strangers, sweep};
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::{InTheWay, What};
use crate::boot::files::Claims;
use crate::boot::ledger::Aside;
use crate::core::diag::Failure;
use crate::core::host::digests::{digest, has_digest};
use crate::core::host::files;
use crate::core::host::kept_copies::{copy, free, move_file, names};
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;
use crate::core::model::PackageName;

impl Work<'_> {
    /// What the ledger says of files aside once this apply has begun, with what is `in_the_way` now. Where a file had
    /// the wheel's content and its package changes, a copy is made; nothing is moved yet.
    pub(super) fn aside(&self, in_the_way: &[InTheWay]) -> Result<BTreeMap<PathBuf, Aside>, Failure> {
        let mut aside = self.planned.seen.ledger.aside.clone();
        for one in in_the_way {
            // An earlier file of that place stays where it is kept, and the new one gets a place of its own.
            if let Some(earlier) = aside.get(&one.place).filter(|entry| is_kept(entry)) {
                if one.what != What::File {
                    continue;
                }
                let kept = earlier.kept.display();
                self.session
                    .say(&format!("`{}` exists again; the earlier file stays in `{kept}`", one.place.display()));
            }
            let sha256 = match one.what {
                What::Same(sha256) => Some(sha256),
                What::File | What::Folder => None,
            };
            let kept = self.state.aside_folder().join("files").join(one.place.strip_prefix("/").unwrap_or(&one.place));
            aside.insert(one.place.clone(), Aside { package: one.name.clone(), sha256, kept: free(kept) });
        }
        let changed: BTreeSet<&PackageName> =
            self.planned.decision.plan.changes.iter().map(|change| &change.name).collect();
        for (place, one) in aside.iter().filter(|(_, one)| changed.contains(&one.package) && !is_kept(one)) {
            if one.sha256.is_some_and(|sha256| has_digest(place, sha256)) {
                copy(place, &one.kept)?;
            }
        }
        Ok(aside)
    }

    /// Moves what is `in_the_way` to where `aside` says.
    pub(super) fn move_aside(&self, in_the_way: &[InTheWay], aside: &BTreeMap<PathBuf, Aside>) -> Result<(), Failure> {
        for one in in_the_way.iter().filter(|one| one.what == What::File) {
            let Some(entry) = aside.get(&one.place) else { continue };
            move_file(&one.place, &entry.kept)?;
            self.session.say(&format!("moved `{}` aside to `{}`", one.place.display(), entry.kept.display()));
        }
        Ok(())
    }

    /// Moves aside what killed installers have left, none of which is a package.
    pub(super) fn clear_leftovers(&self) -> Result<(), Failure> {
        for swept in sweep(self.layout)? {
            self.session.say(&format!("moved aside: `{swept}`, left by an interrupted installer"));
        }
        Ok(())
    }

    /// Keeps what was edited in packages that are about to change.
    pub(super) fn keep_edits(&self) -> Result<(), Failure> {
        for edited in &self.planned.edited {
            for edit in &edited.files {
                let kept = self.kept_edit(&edited.name, &edited.version, &edit.path);
                // An apply that failed may have kept it before.
                if !has_copy(&edit.place, &kept) {
                    let kept = free(kept);
                    copy(&edit.place, &kept)?;
                    self.session.say(&format!("kept your edited `{}` as `{}`", edit.path, kept.display()));
                }
            }
        }
        Ok(())
    }

    /// Keeps what others have put into folders of metadata that are about to be deleted.
    pub(super) fn keep_strangers(&self) -> Result<(), Failure> {
        for (file, path) in strangers(self.layout) {
            self.keep_stranger(&file, &path)?;
        }
        Ok(())
    }

    /// Keeps `file`, which somebody has put at `path` into a folder of metadata.
    pub(super) fn keep_stranger(&self, file: &Path, path: &Path) -> Result<(), Failure> {
        let kept = free(self.state.aside_folder().join(path));
        move_file(file, &kept)?;
        self.session.say_kept(path, &kept);
        Ok(())
    }

    /// Moves back what no package is in the place of any more, and forgets it. Something new in its place stays.
    pub(super) fn bring_back_aside(&self, aside: &mut BTreeMap<PathBuf, Aside>) -> Result<(), Failure> {
        if aside.is_empty() {
            return Ok(());
        }
        let claims = Claims::of(self.layout, &|_| true)?;
        let free: Vec<PathBuf> =
            aside.keys().filter(|place| !claims.has(place) && !claims.has_below(place)).cloned().collect();
        for place in free {
            if let Some(lost) = aside.get(&place).filter(|entry| !is_kept(entry)) {
                // Nothing is lost where an apply ended before it moved the file.
                if place.look_at_entry().is_ok() {
                    aside.remove(&place);
                    continue;
                }
                let (place, kept) = (place.display(), lost.kept.display());
                self.session.say(&format!("`{place}` was moved to `{kept}`, which no longer exists"));
                continue;
            }
            let Some(entry) = aside.remove(&place) else { continue };
            let kept = entry.kept.display();
            remove_empty(&place);
            if let Some(new) = blocking(&place) {
                self.session.say(&format!("`{}` exists again; the earlier file stays in `{kept}`", new.display()));
            } else {
                move_file(&entry.kept, &place)?;
                self.session.say(&format!("moved back: `{}`", place.display()));
            }
        }
        Ok(())
    }
}

/// What is in the place of a file, or of one of the folders that it needs.
fn blocking(place: &Path) -> Option<&Path> {
    let there = place.ancestors().find(|path| path.look_at_entry().is_ok())?;
    (there == place || !there.is_folder_there()).then_some(there)
}

/// What keeps a file from being written over the one at `place`: a folder there, or a file where it needs a folder.
pub(super) fn obstacle(place: &Path) -> Option<&Path> {
    blocking(place).filter(|there| *there != place || there.is_folder_there())
}

/// Removes a folder in which there is no file.
fn remove_empty(folder: &Path) {
    let mut files = Vec::new();
    if folder.look_at_entry().is_ok_and(|data| data.is_dir()) {
        files_below(folder, true, &|_| false, &mut files);
        // A file that came in this moment stays: what holds it can't be removed one by one.
        if files.is_empty() {
            remove_folders(folder);
        }
    }
}

/// Removes `folder` and those below it, as far as they are empty.
fn remove_folders(folder: &Path) {
    for name in files::names_if_any(folder) {
        remove_folders(&folder.join(name));
    }
    let _ = std::fs::remove_dir(folder);
}

/// Whether the file is where the ledger says.
pub(super) fn is_kept(aside: &Aside) -> bool {
    aside.kept.look_at_entry().is_ok()
}

/// Whether `kept`, or a name like it that [`free`] has given, is a copy of `file`; not where that is a link.
fn has_copy(file: &Path, kept: &Path) -> bool {
    let is_file = |path: &Path| path.look_at_entry().is_ok_and(|data| data.is_file());
    let Some((sha256, _)) = digest(file).ok().filter(|_| is_file(file)) else { return false };
    let mut copies = names(kept).take_while(|path| path.look_at_entry().is_ok());
    copies.any(|path| is_file(&path) && has_digest(&path, sha256))
}
