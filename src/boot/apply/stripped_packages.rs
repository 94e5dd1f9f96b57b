//! What goes with packages whose lists are wrong, or gone with their metadata.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::boot::apply::forbidden_targets::scripts;
use crate::boot::apply::one_apply::Work;
use crate::boot::files::{Claims, Corrections, KnownFiles, corrections, placed};
use crate::boot::plan::Change;
use crate::core::diag::Failure;
use crate::core::host::digests::digest;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::model::wheel_names::metadata_of;
use crate::core::model::{PackageName, Sha256};

/// The files of packages that have no metadata any more, each with what proves that it is the package's.
#[derive(Debug, Default)]
pub(super) struct StrippedFiles(BTreeMap<PackageName, HashMap<PathBuf, Vec<Proof>>>);

#[derive(Debug)]
enum Proof {
    Bytes(Sha256),
    /// As it looked when it was compared.
    Look(Stamp),
}

impl StrippedFiles {
    /// Whether what lies at `file` is of one of them.
    pub(super) fn has(&self, file: &Path) -> bool {
        self.0.values().filter_map(|files| files.get(file)).flatten().any(|proof| match proof {
            Proof::Bytes(sha256) => digest(file).is_ok_and(|(own, _)| own == *sha256),
            Proof::Look(stamp) => *stamp == Stamp::of(file),
        })
    }

    pub(super) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.values().flat_map(HashMap::keys)
    }
}

impl Work<'_> {
    /// Those of the packages that this apply changes; no file of the user's that was there before.
    pub(super) fn stripped_files(&self) -> Result<StrippedFiles, Failure> {
        let ledger = &self.planned.seen.ledger;
        let mut all = StrippedFiles::default();
        // Without an identity there is no ledger, or that of an environment which lay here before.
        if ledger.identity.is_none() {
            return Ok(all);
        }
        let changes = self.planned.decision.plan.changes.iter();
        let changed = changes.filter_map(|change| ledger.distributions.get_key_value(&change.name));
        for (name, entry) in changed.filter(|(_, entry)| entry.lacks_metadata) {
            let files = all.0.entry(name.clone()).or_default();
            let record = entry.sha256.map_or(Ok(None), |wheel| self.state.record(&wheel))?.unwrap_or_default();
            for (place, sha256) in placed(&record, self.layout) {
                files.entry(place).or_default().extend(sha256.map(Proof::Bytes));
            }
            for (place, stamp) in self.planned.files.looks_of(name) {
                files.entry(place).or_default().push(Proof::Look(stamp));
            }
            // One of the user's had the wheel's content.
            files.retain(|place, _| ledger.aside.get(place).is_none_or(|aside| aside.sha256.is_none()));
        }
        Ok(all)
    }

    /// All dist-info folders of the packages that change: another tool may have left two of one.
    fn lists(&self) -> Result<Vec<(&Change, PathBuf)>, Failure> {
        let mut found = Vec::new();
        for site in self.layout.folders() {
            for entry in files::names_in(site)? {
                let name = metadata_of(&entry).filter(|_| entry.ends_with(".dist-info"));
                let changes = self.planned.decision.plan.changes.iter();
                let change = name.and_then(|name| changes.into_iter().find(|change| change.name == name));
                found.extend(change.map(|change| (change, site.join(entry))));
            }
        }
        Ok(found)
    }

    /// What the lists of the packages that go have wrong.
    pub(super) fn corrections(&self) -> Result<BTreeMap<PackageName, Corrections>, Failure> {
        let mut all: BTreeMap<PackageName, Corrections> = BTreeMap::new();
        for (change, info) in self.lists()? {
            let Some(version) = &change.from else { continue };
            let digest = self.planned.seen.ledger.wheel(&change.name, version);
            let wheel = digest.map_or(Ok(None), |digest| self.state.record(&digest))?;
            let text = files::read_optional(&info.join("entry_points.txt"))?.unwrap_or_default();
            let scripts: Vec<String> = scripts(&text).map(|(name, _)| name.to_owned()).collect();
            let found = corrections(&info, &KnownFiles { wheel, scripts, layout: self.layout })?;
            for place in found.strange.iter().filter(|place| place.look_at_entry().is_ok()) {
                let (name, place) = (&change.name, place.display());
                self.session.say(&format!("`{place}` stays: {name} lists it, but does not own it"));
            }
            let known = all.entry(change.name.clone()).or_default();
            known.left_out.extend(found.left_out);
            known.strange.extend(found.strange);
        }
        let stripped = self.stripped_files()?;
        let claims = if stripped.0.is_empty() { None } else { Some(Claims::of(self.layout, &|_| true)?) };
        for (name, files) in &stripped.0 {
            let there = files.keys().filter(|file| file.look_at_entry().is_ok_and(|data| data.is_file()));
            let own =
                there.filter(|file| claims.as_ref().is_some_and(|claims| !claims.has(file)) && stripped.has(file));
            all.entry(name.clone()).or_default().left_out.extend(own.cloned());
        }
        all.retain(|_, found| *found != Corrections::default());
        Ok(all)
    }
}
