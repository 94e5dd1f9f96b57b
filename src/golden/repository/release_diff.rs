//! A release that a user means, and how the locks of two differ.

use crate::boot::lock::{Lock, differences, read_lock};
use crate::core::diag::Failure;
use crate::golden::calendar::Day;
use crate::golden::entry::{Release, Standing};
use crate::golden::repository::pin_holder::Read;

/// The release that `title` means, or what there is.
pub fn find_release<'a>(found: &'a Read, title: &str, today: Day) -> Result<&'a Release, Failure> {
    let catalogue = &found.vouched.catalogue;
    catalogue.find(title, today).ok_or_else(|| {
        let can_be_added = |one: &&Release| matches!(one.standing(today), Standing::Current | Standing::Deprecated);
        let known: Vec<String> = catalogue.releases.iter().filter(can_be_added).map(Release::title).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        Failure::answer(format!("`{}` has no current release `{title}`", found.repository.name()))
            .help(format!("it has {known}; name an older release with its version"))
    })
}

/// How the locks of two releases differ, line by line.
pub fn between(found: &Read, old: &Release, new: &Release) -> Result<Vec<String>, Failure> {
    let mut lines = between_locks(&lock_of(found, old)?, &lock_of(found, new)?);
    if lines.is_empty() {
        lines.push("the same packages".to_owned());
    }
    Ok(lines)
}

/// The same of locks that were read; of two releases the profile and the matrix differ by nature.
pub(super) fn between_locks(old: &Lock, new: &Lock) -> Vec<String> {
    let mut lines = differences(old, new);
    lines.retain(|line| {
        !line.starts_with("it was made with matrix") && line != "the profile was edited after it was locked"
    });
    lines
}

fn lock_of(found: &Read, release: &Release) -> Result<Lock, Failure> {
    let file = release.file("lock").ok_or_else(|| Failure::answer(format!("{} has no lock", release.title())))?;
    let bytes = found.repository.file(release, file)?;
    read_lock(&String::from_utf8_lossy(&bytes))
        .map_err(|_| Failure::answer(format!("the lock of {} can't be read by this colab-boot", release.title())))
}
