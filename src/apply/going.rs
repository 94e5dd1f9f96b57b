//! What installers are about to remove is written down before they do: one that is killed half way leaves files that no list names any more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::apply::work::Work;
use crate::diag::Failure;
use crate::host::digests::digest;
use crate::host::files;
use crate::host::mounts::Look;
use crate::inspect::parse_record;
use crate::installed::{Claims, listed_place};
use crate::machine::find_info;
use crate::model::Sha256;

impl Work<'_> {
    /// Writes down the RECORDs of what this apply removes or replaces.
    pub(super) fn keep_going(&self) -> Result<(), Failure> {
        let mut going = Vec::new();
        for change in &self.planned.decision.plan.changes {
            for site in self.layout.folders() {
                let Some(info) = find_info(site, &change.name)? else { continue };
                let Some(record) = files::read_optional(&info.join("RECORD"))? else { continue };
                going.push((site.to_owned(), record));
            }
        }
        self.state.keep_going(&going)
    }

    /// The files of what an apply that did not end was removing, with the digests that their packages gave for them.
    pub(super) fn were_going(&self) -> HashMap<PathBuf, Vec<Sha256>> {
        let mut files: HashMap<PathBuf, Vec<Sha256>> = HashMap::new();
        // Without an identity there is no ledger, or that of an environment which lay here before.
        let going = if self.planned.seen.ledger.identity.is_some() { self.state.going() } else { Vec::new() };
        for (site, record) in going {
            for one in parse_record(&record) {
                if let Some((place, sha256)) = listed_place(&one.path, &site, self.layout).zip(one.sha256) {
                    files.entry(place).or_default().push(sha256);
                }
            }
        }
        files
    }

    /// Deletes what an earlier, killed run was removing: files with the bytes that their package gave them, and that belong to no package now.
    pub(super) fn finish_removals(&self) -> Result<(), Failure> {
        let mut files = self.were_going();
        files.retain(|file, _| file.look_at_entry().is_ok_and(|data| data.is_file()));
        if !files.is_empty() {
            let claims = Claims::of(self.layout, &|_| true)?;
            files
                .retain(|file, digests| !claims.has(file) && digest(file).is_ok_and(|(own, _)| digests.contains(&own)));
        }
        for file in files.keys() {
            files::remove_if_there(file)?;
            let is_inside =
                |folder: &&Path| self.layout.folders().iter().any(|site| folder.starts_with(site) && folder != site);
            for folder in file.ancestors().skip(1).take_while(is_inside) {
                let _ = std::fs::remove_dir_all(folder.join("__pycache__"));
                // One in which something is left stays.
                if std::fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
        Ok(())
    }
}
