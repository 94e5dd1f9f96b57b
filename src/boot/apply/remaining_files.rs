//! What stays in the folders of packages that an apply removes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::boot::apply::one_apply::Work;
use crate::boot::files::{Claims, place};
use crate::boot::machine::record_in;
use crate::boot::plan::Change;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;

impl Work<'_> {
    /// An error for each package that was to be removed and is still there: `pip uninstall` takes the copy that it
    /// finds first.
    pub(super) fn still_there(&self) -> Result<Vec<Finding>, Failure> {
        let there = self.infos(|change| change.package.is_none())?;
        // A folder without metadata is no package: it holds files of the user's.
        let is_package = |(_, _, info): &(&Change, &PathBuf, PathBuf)| info.join("METADATA").is_file_there();
        Ok(there
            .into_iter()
            .filter(is_package)
            .map(|(change, _, info)| {
                let message = format!("{} was not removed: `{}` is still there", change.name, info.display());
                let finding = Finding::error(Code::VerifyFiles, message).about(Subject::package(&change.name));
                finding.with_help(
                    "another copy of it comes first on `sys.path`: remove that copy, then run the command again",
                )
            })
            .collect())
    }

    /// The folders in site-packages in which packages that are about to go have files, and the files of those without
    /// metadata, which no installer removes; of nested ones the outermost.
    pub(super) fn places_that_go(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut places: BTreeSet<PathBuf> = self.stripped_files()?.places().cloned().collect();
        let mut folders: BTreeSet<PathBuf> =
            places.iter().filter_map(|place| place.parent()).map(ToOwned::to_owned).collect();
        for (_, site, info) in self.infos(|change| change.package.is_none())? {
            let record = record_in(&info)?.unwrap_or_default();
            let places = parse_record(&record).into_iter().filter_map(|one| place(&one.path, site, self.layout));
            folders.extend(places.filter_map(|(place, _)| place.parent().map(ToOwned::to_owned)));
        }
        let sites = self.layout.folders();
        places.extend(folders.into_iter().filter(|one| sites.iter().any(|site| one != *site && one.starts_with(site))));
        let mut outermost: Vec<PathBuf> = Vec::new();
        // A folder comes before those in it.
        for place in places {
            if outermost.last().is_none_or(|last| !place.starts_with(last)) {
                outermost.push(place);
            }
        }
        Ok(outermost)
    }

    /// A note where files of no package are left at `places`; links, pipes and devices count.
    pub(super) fn left_in(&self, places: &[PathBuf]) -> Result<Option<Finding>, Failure> {
        let mut there = Vec::new();
        for place in places {
            if place.is_folder_there() {
                entries_below(place, &mut there);
            } else if place.look_at_entry().is_ok() {
                there.push(place.clone());
            }
        }
        there.sort();
        if there.is_empty() {
            return Ok(None);
        }
        let claims = Claims::of(self.layout, &|_| true)?;
        there.retain(|file| !claims.has(file));
        let Some((first, others)) = there.split_first() else { return Ok(None) };
        let message = format!("`{}` stays: no package owns it", first.display());
        let others = others.iter().map(PathBuf::as_path);
        Ok(Some(Finding::note(Code::FilesLeft, message).with_others(others)))
    }
}

/// Everything below `folder` that is no folder, but for what Python has compiled.
fn entries_below(folder: &Path, all: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        match path.look_at_entry() {
            Ok(data) if data.is_dir() && path.ends_with("__pycache__") => {}
            Ok(data) if data.is_dir() => entries_below(&path, all),
            _ => all.push(path),
        }
    }
}
