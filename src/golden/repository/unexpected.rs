//! What changed in an index since a maintainer signed it here: a person who can write to the folder changes what the
//! next signature vouches for.

use std::path::{Path, PathBuf};

use crate::core::host::mounts::Look;
use crate::core::host::{Paths, files};
use crate::core::model::Sha256;
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::Status;

fn place(folder: &Path, paths: &Paths) -> PathBuf {
    let folder = folder.real().unwrap_or_else(|_| folder.to_owned());
    let digest = Sha256::of(folder.as_os_str().as_encoded_bytes()).short();
    paths.state.join("golden").join(format!("signed.{digest}.toml"))
}

/// Keeps the index that was signed here. A state that can't be written costs the comparison, and nothing else.
pub(super) fn remember_signed(folder: &Path, text: &str, paths: &Paths) {
    let _ = files::write_whole_fast(&place(folder, paths), text.as_bytes());
}

/// The index of the repository `now` that was signed here last.
pub(super) fn signed_here(folder: &Path, now: &Catalogue, paths: &Paths) -> Option<Catalogue> {
    let before = files::read_optional(&place(folder, paths)).ok().flatten();
    before.and_then(|text| Catalogue::parse(&text).ok()).filter(|before| before.name == now.name)
}

/// What no release and no renewal changes, and is another `now` than `before`.
pub(super) fn unexpected(before: &Catalogue, now: &Catalogue) -> Vec<String> {
    let mut changes = Vec::new();
    let [old, new] = [before, now].map(|one| one.signers.as_ref().map(|row| (row.threshold, row.sha256)));
    if let (Some((old, _)), Some((new, _))) = (old, new)
        && old != new
    {
        changes.push(format!("the threshold changed from {old} to {new}"));
    }
    if old.map(|(_, list)| list) != new.map(|(_, list)| list) {
        changes.push("the list of signers changed".to_owned());
    }
    for release in &before.releases {
        let title = release.title();
        let found = now.releases.iter().find(|one| (&one.name, &one.version) == (&release.name, &release.version));
        let Some(found) = found else {
            changes.push(format!("{title} is gone"));
            continue;
        };
        if release.status == Status::Yanked && found.status != Status::Yanked {
            changes.push(format!("{title} is no longer withdrawn"));
        }
        if release.files.iter().any(|file| !found.files.contains(file)) {
            changes.push(format!("{title} has other files"));
        }
    }
    changes
}
