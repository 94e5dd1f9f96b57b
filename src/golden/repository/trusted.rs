//! What this user knows of a repository: the keys of those who may sign, pinned by hand, and the newest index that was
//! seen.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::core::diag::Failure;
use crate::core::host::{Paths, files};
use crate::core::model::{PackageName, Sha256};
use crate::golden::index_trust::{Trust, Vouched};
use crate::golden::repository::SIGNERS_FILE;
use crate::golden::signers::Signers;

/// The newest index of a repository, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    seq: u64,
    sha256: Sha256,
}

fn folder(paths: &Paths, name: &PackageName) -> PathBuf {
    paths.config.join("golden").join(name.as_ref())
}

/// Kept for a name and a set of keys: where these change, numbers begin anew, so that a stolen key's high number is no
/// end of a repository.
fn record(paths: &Paths, name: &PackageName, signers: &Signers) -> PathBuf {
    let keys: Vec<String> = signers.fingerprints().into_iter().collect();
    let keys = Sha256::of(keys.join("\n").as_bytes()).short();
    paths.state.join("golden").join(format!("{name}-{keys}.json"))
}

/// The file that remembers the newest index of the repository `name` that was seen, of the keys that are pinned.
pub(super) fn record_of(paths: &Paths, name: &PackageName) -> Result<PathBuf, Failure> {
    Ok(record(paths, name, &trust_of(paths, name)?.signers))
}

/// What is known of the repository called `name`; an empty trust where nothing is.
pub fn trust_of(paths: &Paths, name: &PackageName) -> Result<Trust, Failure> {
    let folder = folder(paths, name);
    files::must_be_ours(&folder, "COLAB_BOOT_CONFIG_DIR", true)?;
    let path = folder.join(SIGNERS_FILE);
    let signers = files::read_optional(&path)?
        .map(|text| {
            Signers::parse(&text)
                .map_err(|why| Failure::input(format!("`{}` can't be read", path.display())).cause(why))
        })
        .transpose()?;
    let Some(signers) = signers else {
        return Ok(Trust { name: Some(name.clone()), ..Trust::default() });
    };
    let place = folder.join("threshold");
    let threshold = files::read_optional(&place)?.unwrap_or_default().trim().parse().ok().filter(|count| *count > 0);
    // Fewer than was decided must never do.
    let threshold = threshold.ok_or_else(|| {
        Failure::input(format!("`{}` does not state how many signatures are required", place.display()))
            .help("`colab-boot golden trust` pins the keys and their number again")
    })?;
    let seen = seen_of(paths, name, &signers)?;
    Ok(Trust { name: Some(name.clone()), signers, threshold, min_seq: 0, seen })
}

/// What the repository at `place`, as [`Repository::name`](crate::golden::repository::Repository::name) gives it, is
/// known to call itself: it can't get rid of those who have to sign it by another name.
pub fn name_at(paths: &Paths, place: &str) -> Option<PackageName> {
    let names = files::names_if_any(&paths.config.join("golden"));
    names.into_iter().filter_map(|name| name.parse().ok()).find(|name| {
        let at = files::read_optional(&folder(paths, name).join("at")).ok().flatten().unwrap_or_default();
        at.lines().any(|line| line == place)
    })
}

/// Fails where the pinned repository `name` is not known to be at `place`: another one with the same name would take
/// its pins over.
pub fn must_be_known(paths: &Paths, name: &PackageName, place: &str) -> Result<(), Failure> {
    if name_at(paths, place).as_ref() == Some(name) {
        return Ok(());
    }
    let folder = folder(paths, name);
    Err(Failure::answer(format!("another repository named `{name}` is pinned, with other keys")).help(format!(
        "to replace it, remove `{}` first; otherwise ask the maintainers of the new one to rename it",
        folder.display()
    )))
}

/// Pins who may sign the repository `name` at `place`: the text of `allowed_signers`, and how many of them have to.
pub fn write_trust(
    paths: &Paths,
    (name, place): (&PackageName, &str),
    signers: &str,
    threshold: usize,
) -> Result<PathBuf, Failure> {
    let folder = folder(paths, name);
    files::create_private_folder(&folder)?;
    let known = files::read_optional(&folder.join("at"))?.unwrap_or_default();
    if !known.lines().any(|line| line == place) {
        files::write_whole(&folder.join("at"), format!("{known}{place}\n").as_bytes())?;
    }
    files::write_whole(&folder.join("threshold"), format!("{threshold}\n").as_bytes())?;
    files::write_whole(&folder.join(SIGNERS_FILE), signers.as_bytes())?;
    Ok(folder)
}

/// Pins the list that the pinned signers of the repository `name` have signed. If it can't be written, the change is
/// followed again the next time.
pub(super) fn pin_anew(paths: &Paths, name: &PackageName, list: &str, threshold: usize) {
    let folder = folder(paths, name);
    if files::read_optional(&folder.join(SIGNERS_FILE)).ok().flatten().is_none() {
        return;
    }
    let keys = || files::write_whole(&folder.join(SIGNERS_FILE), list.as_bytes());
    let count = || files::write_whole(&folder.join("threshold"), format!("{threshold}\n").as_bytes());
    // If the second one fails, no fewer of the old keys are enough.
    let fewer = trust_of(paths, name).is_ok_and(|known| known.threshold > threshold);
    let _ = if fewer { keys().and_then(|()| count()) } else { count().and_then(|()| keys()) };
}

/// The number and the digest of the newest index of the repository `name` that was seen of these `signers`.
pub(super) fn seen_of(paths: &Paths, name: &PackageName, signers: &Signers) -> Result<Option<(u64, Sha256)>, Failure> {
    Ok(remembered(paths, name, signers)?.map(|one| (one.seq, one.sha256)))
}

/// The newest index that was seen. A damaged record is an error: without it, an older index would pass.
fn remembered(paths: &Paths, name: &PackageName, signers: &Signers) -> Result<Option<Remembered>, Failure> {
    let path = record(paths, name, signers);
    let Some(text) = files::read_optional(&path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::answer(format!(
            "`{}`, which records the newest index of {name} that was seen, is damaged",
            path.display()
        ))
        .because(&error)
        .help("remove it if you know that the repository serves its newest index, then run the command again")
    })
}

/// Keeps the number of an index that was believed. A state that can't be written costs the memory of it, and nothing
/// else.
pub fn remember(paths: &Paths, trust: &Trust, vouched: &Vouched) {
    let one = Remembered { seq: vouched.catalogue.seq, sha256: vouched.digest };
    if let Ok(text) = serde_json::to_string(&one) {
        let path = record(paths, &vouched.catalogue.name, &trust.signers);
        let _ = files::write_whole_fast(&path, text.as_bytes());
    }
}

/// Forgets the numbers of indexes that other keys have signed.
pub fn forget_others(paths: &Paths, name: &PackageName, signers: &Signers) -> Result<(), Failure> {
    let kept = record(paths, name, signers);
    let folder = paths.state.join("golden");
    let start = format!("{name}-");
    for file in files::names_if_any(&folder).into_iter().filter(|file| file.starts_with(&start)) {
        let path = folder.join(file);
        if path != kept {
            files::remove_if_there(&path)?;
        }
    }
    Ok(())
}
