//! The `.pth` files of packages that change: Python reads them when it starts, so a kernel that runs has those of
//! before.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::apply::work::Work;
use crate::boot::files::Downloaded;
use crate::boot::marker::Touched;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::inspect::parse_record;
use crate::core::model::contents::installed_path;
use crate::core::model::{PackageName, Sha256};

/// Path files by name, with their digests.
type PathFiles = BTreeSet<(String, Option<Sha256>)>;

impl Work<'_> {
    /// Marks the entries of packages of which a path file comes, goes or changes.
    pub(super) fn add_starts(
        &self,
        touched: &mut [Touched],
        wheels: &BTreeMap<PackageName, Downloaded>,
    ) -> Result<(), Failure> {
        let mut old: BTreeMap<PackageName, PathFiles> = BTreeMap::new();
        for (change, site, info) in self.infos(|_| true)? {
            let record = files::read_optional(&info.join("RECORD"))?.unwrap_or_default();
            // What is there counts, not what was installed.
            let now = |(name, _): (String, Option<Sha256>)| {
                let text = files::read_optional(&site.join(&name)).ok().flatten();
                (name, text.map(|text| Sha256::of(text.as_bytes())))
            };
            old.entry(change.name.clone()).or_default().extend(path_files(&record).into_iter().map(now));
        }
        for one in touched {
            let Some(name) = &one.name else { continue };
            let new = wheels.get(name).map(|wheel| path_files(&wheel.record)).unwrap_or_default();
            one.starts = old.get(name).cloned().unwrap_or_default() != new;
        }
        Ok(())
    }
}

/// Those that a RECORD lists in site-packages itself.
fn path_files(record: &str) -> PathFiles {
    let entries = parse_record(record).into_iter();
    let named = entries.filter_map(|entry| Some((installed_path(&entry.path)?, entry.sha256)));
    named.filter(|(path, _)| path.ends_with(".pth") && !path.contains('/')).collect()
}

#[cfg(test)]
mod tests {
    use super::path_files;

    #[test]
    fn only_files_of_the_folder_itself_count() {
        let record = "a.pth,,\nb/c.pth,,\nd-1.0.data/purelib/e.pth,,\nf.py,,\n";
        let found: Vec<String> = path_files(record).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, ["a.pth", "e.pth"]);
    }
}
