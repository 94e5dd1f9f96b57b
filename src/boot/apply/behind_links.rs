//! Files behind a link that leads out of the environment: installers write over what lies there, and remove none of
//! it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::unowned_files::AllWritten;
use crate::boot::files::lexical;
use crate::boot::machine::{Layout, record_in};
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::PackageName;

impl Work<'_> {
    /// An error for each package that has, or would have, files behind such a link.
    pub(super) fn behind_links(&self, written: &AllWritten<'_>) -> Result<Vec<Finding>, Failure> {
        let mut folders: BTreeMap<&PackageName, HashSet<PathBuf>> = BTreeMap::new();
        for (name, files) in written {
            let new: HashSet<&Path> = files.iter().filter_map(|one| one.place.parent()).collect();
            folders.entry(name).or_default().extend(new.into_iter().map(ToOwned::to_owned));
        }
        for (change, site, info) in self.infos(|change| change.from.is_some())? {
            let record = record_in(&info)?.unwrap_or_default();
            let old = parse_record(&record).into_iter().filter(|one| !one.path.contains("__pycache__/"));
            let old = old.filter_map(|one| lexical(&one.path, site).parent().map(ToOwned::to_owned));
            folders.entry(&change.name).or_default().extend(old);
        }
        let mut findings = Vec::new();
        for (name, folders) in &folders {
            for (link, to) in links_out(self.layout, folders) {
                let (link, to) = (link.display(), to.display());
                let message =
                    format!("files of {name} are behind the link `{link}`, which points outside the environment");
                findings.push(
                    Finding::error(Code::WheelOverwrites, message)
                        .about(Subject::package(name))
                        .with_note(format!(
                            "the link points to `{to}`: files there would be overwritten or left behind"
                        ))
                        .with_help(
                            "nothing was changed; replace the link with the folder itself, then run the command again",
                        ),
                );
            }
        }
        Ok(findings)
    }
}

/// Links among `folders` and those above them that lead out of the environment, with where they lead.
fn links_out(layout: &Layout, folders: &HashSet<PathBuf>) -> Vec<(PathBuf, PathBuf)> {
    let mut own = layout.folders();
    own.extend([&layout.scripts, &layout.data]);
    let mut all: HashSet<&Path> = HashSet::new();
    for folder in folders {
        let bases = own.iter().filter(|base| folder.starts_with(base));
        // The innermost.
        if let Some(base) = bases.max_by_key(|base| base.components().count()) {
            // With a folder, those above it are known.
            all.extend(folder.ancestors().take_while(|one| one != base && !all.contains(one)).collect::<Vec<_>>());
        }
    }
    let mut folders: Vec<&Path> = all.into_iter().collect();
    folders.sort_unstable();
    let real: Vec<PathBuf> = own.iter().filter_map(|base| base.real().ok()).collect();
    let links = folders.into_iter().filter(|folder| folder.look_at_entry().is_ok_and(|data| data.is_symlink()));
    let led = links.filter_map(|link| Some((link.to_owned(), link.real().ok()?)));
    led.filter(|(_, to)| !real.iter().any(|base| to.starts_with(base))).collect()
}
