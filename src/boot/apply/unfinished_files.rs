//! What installers are about to remove and to write is written down before they do: one that is killed half way leaves
//! files that no list names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::apply::forbidden_targets::scripts;
use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::Wheels;
use crate::boot::apply::proof_of_owner::{all_are, is_generated};
use crate::boot::files::{Claims, listed_place, place, placed};
use crate::boot::machine::record_in;
use crate::boot::state::OnTheWay;
use crate::core::diag::Failure;
use crate::core::host::digests::digest;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::parse_record;
use crate::core::model::Sha256;

/// What an apply that did not end was removing or writing.
#[derive(Debug, Default)]
pub(super) struct WasOnTheWay {
    files: HashMap<PathBuf, Vec<Occupant>>,
    /// When it was noted.
    since: i64,
}

/// What may lie in one place.
#[derive(Debug)]
pub(super) enum Occupant {
    /// A package's file.
    Bytes(Sha256),
    /// A new file of so many bytes, or the part of it that was written.
    New(u64),
    /// What an installer makes for an entry point of this module.
    Script(String),
    /// A package's file, as it looked when it was compared.
    Look(Stamp),
}

impl WasOnTheWay {
    /// Whether what lies at `file` is from there.
    pub(super) fn has(&self, file: &Path) -> bool {
        let Some(ways) = self.files.get(file) else { return false };
        ways.iter().any(|way| match way {
            Occupant::Bytes(sha256) => digest(file).is_ok_and(|(own, _)| own == *sha256),
            Occupant::New(size) => {
                let stamp = Stamp::of(file);
                stamp.changed >= self.since && stamp.size < *size
            }
            Occupant::Script(module) => {
                let text = files::read_optional(file).ok().flatten().unwrap_or_default();
                is_generated(&text, module)
            }
            Occupant::Look(stamp) => *stamp == Stamp::of(file),
        })
    }

    fn digests(&self) -> HashSet<Sha256> {
        let all = self.files.values().flatten();
        all.filter_map(|way| if let Occupant::Bytes(sha256) = way { Some(*sha256) } else { None }).collect()
    }
}

impl Work<'_> {
    /// Writes down what this apply removes, replaces and writes: the RECORDs of installed packages and of `wheels`.
    pub(super) fn keep_on_the_way(&self, wheels: &Wheels) -> Result<(), Failure> {
        let mut all = Vec::new();
        for (_, site, info) in self.infos(|_| true)? {
            let Some(record) = record_in(&info)? else { continue };
            all.push(OnTheWay { site: site.clone(), record, is_new: false, scripts: BTreeMap::new() });
        }
        for wheel in wheels.values() {
            let site = if wheel.is_pure() { &self.layout.purelib } else { &self.layout.platlib };
            let scripts =
                scripts(&wheel.entry_points).map(|(name, module)| (name.to_owned(), module.to_owned())).collect();
            all.push(OnTheWay { site: site.clone(), record: wheel.record.clone(), is_new: true, scripts });
        }
        self.state.keep_on_the_way(&all)
    }

    /// What an apply that did not end was removing or writing, and what packages without metadata have left that this
    /// one changes; no file of the user's that was there before it.
    pub(super) fn was_on_the_way(&self) -> Result<WasOnTheWay, Failure> {
        let ledger = &self.planned.seen.ledger;
        // Without an identity there is no ledger, or that of an environment which lay here before.
        if ledger.identity.is_none() {
            return Ok(WasOnTheWay::default());
        }
        let (all, since) = self.state.on_the_way();
        let mut files: HashMap<PathBuf, Vec<Occupant>> = HashMap::new();
        for one in all {
            for entry in parse_record(&one.record) {
                let own = if one.is_new { place(&entry.path, &one.site, self.layout) } else { None };
                let own = own.map(|(place, _)| place).or_else(|| listed_place(&entry.path, &one.site, self.layout));
                if let Some((place, sha256)) = own.zip(entry.sha256) {
                    let ways = files.entry(place).or_default();
                    ways.push(Occupant::Bytes(sha256));
                    ways.extend(one.is_new.then_some(Occupant::New(entry.size)));
                }
            }
            for (name, module) in one.scripts {
                files.entry(self.layout.scripts.join(name)).or_default().push(Occupant::Script(module));
            }
        }
        for (place, ways) in self.without_metadata()? {
            files.entry(place).or_default().extend(ways);
        }
        // One of the user's had the wheel's content.
        files.retain(|place, _| ledger.aside.get(place).is_none_or(|aside| aside.sha256.is_none()));
        Ok(WasOnTheWay { files, since })
    }

    /// The places of the packages that this apply changes and that have no metadata any more: no installer knows them.
    pub(super) fn without_metadata(&self) -> Result<HashMap<PathBuf, Vec<Occupant>>, Failure> {
        let mut files: HashMap<PathBuf, Vec<Occupant>> = HashMap::new();
        let entries = &self.planned.seen.ledger.distributions;
        let changed = self.planned.decision.plan.changes.iter().filter_map(|one| entries.get_key_value(&one.name));
        for (name, entry) in changed.filter(|(_, entry)| entry.lacks_metadata) {
            let record = entry.sha256.map_or(Ok(None), |wheel| self.state.record(&wheel))?.unwrap_or_default();
            for (place, sha256) in placed(&record, self.layout) {
                files.entry(place).or_default().extend(sha256.map(Occupant::Bytes));
            }
            for (place, stamp) in self.planned.files.looks_of(name) {
                files.entry(place).or_default().push(Occupant::Look(stamp));
            }
        }
        Ok(files)
    }

    /// Deletes what an earlier run that was killed has left and no package owns: files that it was removing or writing,
    /// and folders in which pip keeps what it removes.
    pub(super) fn finish(&self, was: &WasOnTheWay) -> Result<(), Failure> {
        let mut left: Vec<&PathBuf> =
            was.files.keys().filter(|file| file.look_at_entry().is_ok_and(|data| data.is_file())).collect();
        if !left.is_empty() {
            let claims = Claims::of(self.layout, &|_| true)?;
            left.retain(|file| !claims.has(file) && was.has(file));
        }
        for file in left {
            files::remove_if_there(file)?;
        }
        let sites = self.layout.folders();
        let above = was.files.keys().flat_map(|file| {
            file.ancestors()
                .skip(1)
                .take_while(|folder| sites.iter().any(|site| folder.starts_with(site) && folder != site))
        });
        let folders: BTreeSet<&Path> = above.filter(|folder| folder.is_folder_there()).collect();
        let digests = was.digests();
        // Those within others first.
        for folder in folders.into_iter().rev() {
            for stash in files::names_if_any(folder).iter().filter(|name| name.starts_with('~')) {
                let stash = folder.join(stash);
                let is_packages = |file: &Path| digest(file).is_ok_and(|(own, _)| digests.contains(&own));
                if stash.is_folder_there() && std::fs::remove_dir(&stash).is_err() && all_are(&stash, &is_packages) {
                    let _ = std::fs::remove_dir_all(&stash);
                }
            }
            let names = files::names_if_any(folder);
            if names
                .iter()
                .all(|name| name == "__pycache__" && folder.join(name).look_at_entry().is_ok_and(|data| data.is_dir()))
            {
                let _ = std::fs::remove_dir_all(folder.join("__pycache__"));
                let _ = std::fs::remove_dir(folder);
            }
        }
        Ok(())
    }
}
