//! Releases that were seen as withdrawn. A repository that goes away takes nothing back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::core::diag::{Code, Failure, Finding};
use crate::core::host::{Paths, files};
use crate::golden::catalogue::Catalogue;
use crate::golden::entry::Status;
use crate::golden::pin::Pin;

/// By the digests of their locks, whatever repository said so.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Withdrawn(BTreeMap<String, String>);

fn record(paths: &Paths) -> PathBuf {
    paths.state.join("golden").join("withdrawn.json")
}

fn read(paths: &Paths) -> Result<Withdrawn, Failure> {
    let path = record(paths);
    let Some(text) = files::read_optional(&path)? else { return Ok(Withdrawn::default()) };
    serde_json::from_str(&text).map_err(|error| {
        Failure::answer(format!("`{}`, which records withdrawn releases, is damaged", path.display()))
            .because(&error)
            .help("remove it, then run the command again where the repository can be reached")
    })
}

/// Keeps what `catalogue`, which was believed, says. A state that can't be written costs the memory of it.
pub(super) fn remember_withdrawn(paths: &Paths, catalogue: &Catalogue) {
    let known = read(paths).unwrap_or_default();
    let mut now = known.0.clone();
    for release in &catalogue.releases {
        let Some(lock) = release.file("lock") else { continue };
        let digest = lock.sha256.to_string();
        match release.status {
            Status::Yanked => now.insert(digest, release.because.clone().unwrap_or_default()),
            _ => now.remove(&digest),
        };
    }
    if now != known.0
        && let Ok(text) = serde_json::to_string(&Withdrawn(now))
    {
        let _ = files::write_whole(&record(paths), text.as_bytes());
    }
}

/// What is known of the release that `pin` means, where its repository can't be asked.
pub fn withdrawn(paths: &Paths, pin: &Pin, allowed: bool) -> Result<Option<Finding>, Failure> {
    let Some(because) = read(paths)?.0.remove(&pin.sha256.to_string()) else { return Ok(None) };
    let message = format!("{}@{} was withdrawn: {because}", pin.name, pin.version);
    let new = if allowed { Finding::warning } else { Finding::error };
    Ok(Some(new(Code::GoldenYanked, message).with_note("its repository reported this when it was last reached")))
}
