//! The `.pth` files of packages that change: Python reads them when it starts, so a kernel that runs has those of
//! before.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::Wheels;
use crate::boot::machine::record_in;
use crate::boot::marker::{Given, Touched};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::inspect::parse_record;
use crate::core::model::contents::installed_path;
use crate::core::model::{PackageName, Sha256};

/// Path files by name, with their digests.
type PathFiles = BTreeSet<(String, Option<Sha256>)>;

impl Work<'_> {
    /// Marks the entries of packages of which a path file comes, goes or changes.
    pub(super) fn add_starts(&self, touched: &mut [Touched], wheels: &Wheels) -> Result<(), Failure> {
        let mut old: BTreeMap<PackageName, PathFiles> = BTreeMap::new();
        let mut given: BTreeMap<PackageName, Vec<Option<Given>>> = BTreeMap::new();
        for (change, site, info) in self.infos(|_| true)? {
            let record = record_in(&info)?.unwrap_or_default();
            let own = modules_of(&record);
            for (name, _) in path_files(&record) {
                // What is there counts, not what was installed.
                let text = files::read_optional(&site.join(&name)).ok().flatten();
                given
                    .entry(change.name.clone())
                    .or_default()
                    .push(text.as_deref().and_then(|text| Given::of(text, &own)));
                old.entry(change.name.clone())
                    .or_default()
                    .insert((name, text.map(|text| Sha256::of(text.as_bytes()))));
            }
        }
        let editable = self.planned.editable();
        for one in touched {
            let Some(name) = &one.name else { continue };
            if editable.contains_key(name) {
                // It is built later, and Python finds it by a path file.
                one.starts = !old.contains_key(name);
                continue;
            }
            let new = wheels.get(name).map(|wheel| path_files(&wheel.record)).unwrap_or_default();
            let old = old.get(name).cloned().unwrap_or_default();
            let going = given.remove(name).unwrap_or_default();
            match going.into_iter().collect::<Option<Vec<Given>>>() {
                // Nothing comes in the place of what goes.
                Some(going) if new.is_empty() => {
                    one.given.folders.extend(going.iter().flat_map(|given| given.folders.clone()));
                    one.given.modules.extend(going.into_iter().flat_map(|given| given.modules));
                }
                _ => one.starts = old != new,
            }
        }
        Ok(())
    }
}

/// The modules that a RECORD lists in site-packages itself, those of one file.
fn modules_of(record: &str) -> BTreeSet<String> {
    let entries = parse_record(record).into_iter();
    entries
        .filter_map(|entry| entry.path.strip_suffix(".py").filter(|stem| !stem.contains('/')).map(str::to_owned))
        .collect()
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
