//! After a restore: edits of the earlier packages come back, and a package that came back with other files is named.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::boot::apply::moved_aside::obstacle;
use crate::boot::apply::one_apply::Work;
use crate::boot::files::{lexical, version_of};
use crate::boot::ledger::Before;
use crate::boot::machine::{find_info, record_in};
use crate::core::diag::{Code, Failure, Finding, Subject, listed};
use crate::core::host::kept_copies::{move_file, replace_with};
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;
use crate::core::inspect::parse_record;
use crate::core::model::{PackageName, Sha256, Version};

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

/// A digest of what the wheel brought, by a RECORD: without what installers write themselves.
pub(super) fn contents_of(record: &str) -> Sha256 {
    let entries = parse_record(record).into_iter().filter(|entry| !is_installers(&entry.path));
    let mut lines: Vec<String> =
        entries.filter_map(|entry| Some(format!("{} {}\n", entry.path, entry.sha256?))).collect();
    lines.sort();
    Sha256::of(lines.concat().as_bytes())
}

fn is_installers(path: &str) -> bool {
    let is_metadata = ["INSTALLER", "REQUESTED", "direct_url.json", "RECORD", "uv_cache.json", "uv_build.json"];
    let is_one = path.rsplit_once(".dist-info/").is_some_and(|(_, file)| is_metadata.contains(&file));
    is_one || path.ends_with(".pyc") || path.starts_with("../")
}

#[cfg(test)]
mod tests {
    use super::contents_of;

    #[test]
    fn what_installers_write_does_not_count() {
        let digest = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
        let by_pip = format!(
            "../../../bin/a,sha256={digest},200\na.py,sha256={digest},0\n\
             a-1.dist-info/INSTALLER,sha256={digest},4\na-1.dist-info/RECORD,,\n"
        );
        let by_uv = format!("a.py,sha256={digest},0\n__pycache__/a.cpython-312.pyc,,\n");
        assert_eq!(contents_of(&by_pip), contents_of(&by_uv));
        assert_ne!(contents_of(&by_uv), contents_of(&by_uv.replace("a.py", "b.py")));
    }
}
