//! Files that a distribution which changes has in common with another one: installers overwrite and delete them
//! without a word. What was there is copied before, and comes back with the last change that is undone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::apply::moved_aside::obstacle;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::TouchedFiles;
use crate::boot::apply::unowned_files::AllWritten;
use crate::boot::files::{Owners, listed_place, owners_of};
use crate::boot::ledger::{CommonFile, Ledger};
use crate::boot::machine::record_in;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::digests::{digest, has_digest};
use crate::core::host::files;
use crate::core::host::kept_copies::{copy, free, replace_with};
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::{PackageName, Sha256};

/// The folder of copies of what is ours. One that is not made yet must not have the name of another one.
const OWN: &str = "shared-own";

/// The shared files of an apply, by their place.
pub(super) struct CommonFiles {
    pub known: BTreeMap<PathBuf, CommonFile>,
    /// Copies of what earlier applies have put there: it may go with one package of ours while another one stays.
    own: BTreeMap<PathBuf, PathBuf>,
}

impl CommonFiles {
    /// Those that `ledger` knows.
    pub(super) fn of(ledger: &Ledger) -> Self {
        Self { known: ledger.shared.clone(), own: BTreeMap::new() }
    }

    /// Makes the copies that are not there yet.
    pub(super) fn copy(&self) -> Result<(), Failure> {
        let known = self.known.iter().map(|(place, one)| (place, &one.kept));
        let new = known.chain(&self.own).filter(|(_, kept)| kept.look_at_entry().is_err());
        new.filter(|(place, _)| place.look_at_entry().is_ok()).try_for_each(|(place, kept)| copy(place, kept))
    }
}

impl Work<'_> {
    /// Shared files once this apply has begun: with those that it is about to overwrite or delete. Nothing is copied
    /// yet.
    pub(super) fn shared(&self, touched: &TouchedFiles) -> Result<CommonFiles, Failure> {
        let mut shared = CommonFiles::of(&self.planned.seen.ledger);
        self.remove_own();
        for (place, known) in shared.known.iter_mut().filter(|(place, _)| touched.contains_key(*place)) {
            known.under_way = is_as_left(known, place);
        }
        for (place, owners) in owners_of(&|place| touched.contains_key(place), self.layout)? {
            let packages: BTreeSet<&PackageName> = owners.keys().chain(&touched[&place]).collect();
            if packages.len() < 2 || place.look_at_entry().is_err() || place.is_folder_there() {
                continue;
            }
            let is_ours = shared.known.get(&place).map_or_else(|| self.is_ours(&place, &owners), |one| one.under_way);
            if is_ours {
                let copy = self.copy_of(&place, OWN);
                shared.own.insert(place, copy);
            } else {
                // What was there before, or what others have put there since.
                let kept = free(self.copy_of(&place, "shared"));
                shared.known.insert(place, CommonFile { kept, left: None, under_way: true });
            }
        }
        Ok(shared)
    }

    /// The files that installed packages lose or get anew by this apply, with those whose wheels write there.
    pub(super) fn touched_files(&self, written: &AllWritten<'_>) -> Result<TouchedFiles, Failure> {
        let mut touched = TouchedFiles::new();
        for (_, site, info) in self.infos(|change| change.from.is_some())? {
            let record = record_in(&info)?.unwrap_or_default();
            let entries = parse_record(&record).into_iter().filter(|entry| !entry.path.contains("__pycache__/"));
            let places = entries.filter_map(|entry| listed_place(&entry.path, site, self.layout));
            touched.extend(places.map(|place| (place, BTreeSet::new())));
        }
        for (name, files) in written {
            for one in files {
                touched.entry(one.place.clone()).or_default().insert((*name).clone());
            }
        }
        Ok(touched)
    }

    /// Where a copy of the file at `place` is kept, in a folder of this name.
    fn copy_of(&self, place: &Path, folder: &str) -> PathBuf {
        self.state.aside_folder().join(folder).join(place.strip_prefix("/").unwrap_or(place))
    }

    /// Removes the copies of what is ours, which only an apply that is under way needs.
    fn remove_own(&self) {
        let _ = std::fs::remove_dir_all(self.state.aside_folder().join(OWN));
    }

    /// Whether what `place` has came with packages that colab-boot has installed. What others list as well, or what it
    /// has reinstalled, is there as it was before.
    fn is_ours(&self, place: &Path, owners: &Owners) -> bool {
        let ledger = &self.planned.seen.ledger;
        let is_there = |sha256: &Option<Sha256>| sha256.is_some_and(|sha256| has_digest(place, sha256));
        let mut owners = owners.iter().filter(|(_, sha256)| is_there(sha256)).peekable();
        let is_listed = owners.peek().is_some();
        is_listed && owners.all(|(name, _)| ledger.distributions.get(name).is_some_and(|entry| !entry.is_as_before()))
    }

    /// Puts back what a package has taken along that others list, once the ledger is `after`, and what ours have
    /// replaced where none of them has it any more. A finding for each file of which only ours is left.
    pub(super) fn return_shared(&self, shared: &mut CommonFiles, after: &Ledger) -> Result<Vec<Finding>, Failure> {
        let mut findings = Vec::new();
        // Without a change, only what has gone or is to be undone matters: the lists of all packages are read for it.
        let is_restore = self.planned.goal.is_restore();
        let is_asked =
            |(place, one): &(&PathBuf, &CommonFile)| one.under_way || is_restore || place.look_at_entry().is_err();
        let known = shared.known.iter().filter(is_asked).map(|(place, _)| place);
        let places: BTreeSet<PathBuf> = known.chain(shared.own.keys()).cloned().collect();
        if places.is_empty() {
            return Ok(findings);
        }
        let owners = owners_of(&|place| places.contains(place), self.layout)?;
        for (place, own) in std::mem::take(&mut shared.own) {
            if let Some(owners) = owners.get(&place).filter(|_| place.look_at_entry().is_err()) {
                replace_with(&own, &place)?;
                let is_known = shared.known.contains_key(&place);
                let others = owners.keys().filter(|name| !is_known && !after.distributions.contains_key(*name));
                findings.extend(others.map(|name| overwritten(name, &place)));
            }
        }
        self.remove_own();
        for (place, one) in &mut shared.known {
            findings.extend(owners.get(place).map(|owners| settle(one, place, owners, after)).transpose()?.flatten());
            // What was not changed here may be what the user has put there since.
            if one.under_way {
                (one.left, one.under_way) = (digest(place).ok().map(|(sha256, _)| sha256), false);
            }
        }
        if after.has_no_packages() {
            let all = std::mem::take(&mut shared.known);
            all.values().try_for_each(|one| files::remove_if_there(&one.kept))?;
        }
        Ok(findings)
    }
}

/// Makes the file at `place` as it was before where none of its `owners` is ours. A finding where that can't be.
fn settle(one: &CommonFile, place: &Path, owners: &Owners, after: &Ledger) -> Result<Option<Finding>, Failure> {
    let is_missing = place.look_at_entry().is_err();
    let is_ours = owners.keys().any(|name| after.distributions.contains_key(name));
    let is_due = is_missing || !is_ours && is_as_left(one, place);
    if obstacle(place).is_some() || !is_due {
        return Ok(None);
    }
    if one.kept.look_at_entry().is_ok() {
        return put_copy(&one.kept, place).map(|()| None);
    }
    let lost = if is_missing { missing } else { overwritten };
    Ok(owners.keys().next().map(|name| lost(name, place)))
}

fn overwritten(name: &PackageName, place: &Path) -> Finding {
    to_reinstall(name, format!("`{}` of {name} has the content of a package that was removed", place.display()))
}

fn missing(name: &PackageName, place: &Path) -> Finding {
    to_reinstall(name, format!("`{}` of {name} is missing, and so is its kept copy", place.display()))
}

fn to_reinstall(name: &PackageName, message: String) -> Finding {
    let finding = Finding::warning(Code::FilesCollide, message).about(Subject::package(name));
    finding.with_help(format!("reinstall it: `pip install --force-reinstall --no-deps {name}`"))
}

/// Whether `place` has what the last apply has left there, or what one that is under way has made of it.
fn is_as_left(one: &CommonFile, place: &Path) -> bool {
    let is_left = match one.left {
        Some(left) => has_digest(place, left),
        None => place.look_at_entry().is_err(),
    };
    one.under_way || is_left
}

/// Makes the file at `place` a copy of `kept`.
fn put_copy(kept: &Path, place: &Path) -> Result<(), Failure> {
    files::create_folder(place.parent().unwrap_or(place))?;
    files::remove_if_there(place)?;
    copy(kept, place)
}
