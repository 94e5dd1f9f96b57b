//! `golden diff`: how two releases differ.

use serde::Serialize;

use crate::boot::lock::{Lock, differences, read_lock};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::DiffOptions;
use crate::cli::verbs::golden::show::find;
use crate::cli::verbs::golden::{pins_here, read_believed, today, with_findings};
use crate::core::diag::Failure;
use crate::golden::entry::Release;
use crate::golden::repository::{Read, TO_READ};

#[derive(Serialize)]
struct ReleaseDiffReport {
    old: String,
    new: String,
    differences: Vec<String>,
}

pub(super) fn run(options: &DiffOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let found = read_believed(&options.source.to_look(), &pins_here(), TO_READ, session)?;
    let today = today(session);
    let (old, new) = (find(&found, &options.old, today)?, find(&found, &options.new, today)?);
    let differences = between(&found, old, new)?;
    let lines: String = differences.iter().map(|line| format!("  {line}\n")).collect();
    let text = format!("{} -> {}\n{lines}", old.title(), new.title());
    let report = ReleaseDiffReport { old: old.title(), new: new.title(), differences };
    Ok(with_findings(Report::new(report, text), &found.vouched, Vec::new()))
}

/// How the locks of two releases differ, line by line.
pub(super) fn between(found: &Read, old: &Release, new: &Release) -> Result<Vec<String>, Failure> {
    let mut lines = differences(&lock_of(found, old)?, &lock_of(found, new)?);
    // Of two releases the profile and the matrix differ by nature.
    lines.retain(|line| !line.starts_with("it was made with matrix") && line != "the profile has changed since");
    if lines.is_empty() {
        lines.push("the same packages".to_owned());
    }
    Ok(lines)
}

fn lock_of(found: &Read, release: &Release) -> Result<Lock, Failure> {
    let file = release.file("lock").ok_or_else(|| Failure::answer(format!("{} has no lock", release.title())))?;
    let bytes = found.repository.file(release, file)?;
    read_lock(&String::from_utf8_lossy(&bytes))
        .map_err(|_| Failure::answer(format!("the lock of {} can't be read by this colab-boot", release.title())))
}
