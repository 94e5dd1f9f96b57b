//! Files behind a link that leads out of the environment: installers write over what lies there, and remove none of
//! it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::machine::Layout;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::host::mounts::Look;
use crate::core::model::PackageName;

/// An error for each link among `folders`, in which `name` has files, and those above them that leads out of the
/// environment.
pub fn behind_links(name: &PackageName, folders: &BTreeSet<PathBuf>, layout: &Layout) -> Vec<Finding> {
    let found = links_out(layout, folders).into_iter().map(|(link, to)| {
        let (link, to) = (link.display(), to.display());
        let message = format!("files of {name} are behind the link `{link}`, which points outside the environment");
        Finding::error(Code::WheelOverwrites, message)
            .about(Subject::package(name))
            .with_note(format!("the link points to `{to}`: files there would be overwritten or left behind"))
            .with_help("nothing was changed; replace the link with the folder itself, then run the command again")
    });
    found.collect()
}

/// Links among `folders` and those above them that lead out of the environment, with where they lead.
fn links_out(layout: &Layout, folders: &BTreeSet<PathBuf>) -> Vec<(PathBuf, PathBuf)> {
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
