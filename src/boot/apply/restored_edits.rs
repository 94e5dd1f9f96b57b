//! After a restore: edits of the earlier packages come back, and a package that came back with other files is named.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::boot::apply::moved_aside::obstacle;
use crate::boot::apply::one_apply::Work;
use crate::boot::files::{contents_of, lexical, version_of};
use crate::boot::ledger::Before;
use crate::boot::machine::{find_info, record_in};
use crate::core::diag::{Code, Failure, Finding, Subject, listed};
use crate::core::host::kept_copies::{move_file, replace_with};
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;
use crate::core::model::{PackageName, Version};

impl Work<'_> {
    /// Brings back the edits of packages from before the first apply that are there again. A finding for each that is
    /// not as it was then.
    pub(super) fn as_before(&self) -> Result<Vec<Finding>, Failure> {
        let ledger = &self.planned.seen.ledger;
        let replaced = ledger.distributions.iter().filter_map(|(name, entry)| Some((name, entry.before.as_ref()?)));
        let mut findings = Vec::new();
        for (name, before) in replaced.chain(&ledger.removed).filter(|(name, before)| self.is_back(name, before)) {
            for site in self.layout.folders() {
                let info = find_info(site, name)?.filter(|info| version_of(info).as_ref() == Some(&before.version));
                let Some(info) = info else { continue };
                findings.extend(self.compare(name, before, (site, &info))?);
                self.return_strangers(&info)?;
            }
        }
        Ok(findings)
    }

    /// Whether what was there of a package comes back for good: with a restore, or with a profile that has dropped it.
    fn is_back(&self, name: &PackageName, before: &Before) -> bool {
        let mut changes = self.planned.decision.plan.changes.iter();
        self.planned.goal.is_restore()
            || self.planned.target.package(name).is_none()
                && changes.any(|change| change.name == *name && change.to.as_ref() == Some(&before.version))
    }

    /// Moves back what others had put into the metadata `info`, where its place is free.
    fn return_strangers(&self, info: &Path) -> Result<(), Failure> {
        let Some(kept) = info.file_name().map(|name| self.state.aside_folder().join(name)) else { return Ok(()) };
        let mut all = Vec::new();
        files_below(&kept, true, &|_| false, &mut all);
        for file in all {
            let place = file.strip_prefix(&kept).map(|path| info.join(path)).unwrap_or_default();
            if place.look_at_entry().is_err() && obstacle(&place).is_none() {
                move_file(&file, &place)?;
                self.session.changed.store(true, Ordering::Relaxed);
                self.session.say(&format!("moved back: `{}`", place.display()));
            }
        }
        Ok(())
    }

    fn compare(
        &self,
        name: &PackageName,
        before: &Before,
        (site, info): (&Path, &Path),
    ) -> Result<Option<Finding>, Failure> {
        let mut lost = Vec::new();
        for path in &before.edited {
            let (kept, place) = (self.kept_edit(name, &before.version, path), lexical(path, site));
            if let Some(other) = obstacle(&place).filter(|_| kept.look_at_entry().is_ok()) {
                let (other, kept) = (other.display(), kept.display());
                self.session.say(&format!("`{other}` blocks the restore of your edited file, which stays in `{kept}`"));
                lost.push(path.clone());
            } else if kept.look_at_entry().is_ok() {
                replace_with(&kept, &place)?;
                self.session.changed.store(true, Ordering::Relaxed);
                self.session.say(&format!("put back your edited `{}`", place.display()));
            } else {
                lost.push(path.clone());
            }
        }
        let record = record_in(info)?.unwrap_or_default();
        let differs = before.contents.is_some_and(|contents| contents != contents_of(&record));
        if lost.is_empty() && !differs {
            return Ok(None);
        }
        let (title, lost) = (format!("{name} {}", before.version), listed(&lost));
        let message = if differs {
            format!("{title} was reinstalled with different files")
        } else {
            format!("{title} was reinstalled without your edits: {lost}")
        };
        let finding = Finding::warning(Code::RestoreDiffers, message).about(Subject::release(name, &before.version));
        Ok(Some(finding.with_help("if you need the earlier files, install the package from its earlier source")))
    }

    /// Where an apply keeps an edited file of a package.
    pub(super) fn kept_edit(&self, name: &PackageName, version: &Version, path: &str) -> PathBuf {
        // One that leads out of site-packages, as a script's does, stays in the folder.
        let path: PathBuf = Path::new(path).components().filter(|part| *part != Component::ParentDir).collect();
        self.state.edits_folder(name, version).join(path)
    }
}
