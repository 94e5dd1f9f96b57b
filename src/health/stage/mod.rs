//! Data brought to a disk of this machine, and checkpoints brought back: what is there already stays, what a killed run
//! began is gone on with, and a file stands under its name only when it is whole.

mod copying;
mod journal;
mod listing;
mod not_copied;
mod parts;
mod shards;
mod unpacking;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::core::diag::Failure;
use crate::core::host::digests::{digest, has_digest};
use crate::core::host::files;
use crate::core::host::locks;
use crate::core::log::Progress;

use crate::core::host::mounts::{Look, must_be_there};
use copying::copy;
use journal::Journal;
use listing::{Entry, Listing, list};
use not_copied::NotCopied;
use parts::Parts;

/// What is to be done.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "as the user's options")]
pub struct Staging {
    pub from: PathBuf,
    /// A folder.
    pub to: PathBuf,
    /// Files at the same time.
    pub jobs: usize,
    /// Each file is on the disk before it has its name; the newest comes last.
    pub durable: bool,
    /// Tar files of so many bytes instead of files.
    pub shards: Option<u64>,
    /// The source is an archive, and what is in it is wanted.
    pub unpack: bool,
    /// What is there is read again and held against what was written.
    pub verify: bool,
    /// Files of others, and what was changed since, may be replaced.
    pub overwrite: bool,
    /// Of this boot of the machine.
    pub boot: String,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Staged {
    pub files: u64,
    pub bytes: u64,
    /// Files that were there already.
    pub there: u64,
    /// Links and devices, which are left out.
    pub skipped: Vec<String>,
    /// What could not be brought, and why.
    pub failed: Vec<(String, NotCopied)>,
    /// Files that were compared.
    pub verified: u64,
    /// Tar files that hold it.
    pub shards: u64,
    /// Bytes that a run had brought which was cut off.
    pub continued: u64,
}

impl Staged {
    /// Whether the source had nothing at all.
    pub const fn is_nothing(&self) -> bool {
        let done = self.files + self.there + self.shards;
        done == 0 && self.skipped.is_empty() && self.failed.is_empty()
    }
}

/// The file in the destination that says what is there.
const JOURNAL: &str = ".colab-boot-stage.jsonl";

/// The folder in the destination for what is not whole yet.
const PARTS: &str = ".colab-boot-parts";

/// What is left free beside the files.
const MARGIN: u64 = 64 << 20;

/// Brings the files. `environment` finds the tools that unpack; `progress` makes a sink for so many bytes. Fails where
/// nothing can be brought at all.
pub fn stage(
    staging: &Staging,
    environment: &BTreeMap<String, String>,
    progress: &dyn Fn(u64) -> std::sync::Arc<dyn Progress>,
) -> Result<Staged, Failure> {
    must_be_apart(staging)?;
    files::create_folder(&staging.to)?;
    let _alone = locks::lock_folder(&staging.to, Duration::ZERO, &|| ())?;
    let parts = Parts::open(&staging.to, &staging.boot)?;
    let source = staging.from.display().to_string();
    let journal = Journal::open(&staging.to.join(JOURNAL), &source)?;
    if staging.unpack {
        return unpacking::unpack((staging, &parts), &journal, environment, progress);
    }
    let listing = list(&staging.from)?;
    let mut staged = match staging.shards {
        Some(limit) => shards::pack((staging, &parts), &listing, &journal, limit, progress)?,
        None => copy_all((staging, &parts), &listing, &journal, progress)?,
    };
    staged.skipped = listing.skipped;
    staged.failed.extend(listing.failed);
    Ok(staged)
}

/// Neither of the two lies in the other: what is written would be read.
fn must_be_apart(staging: &Staging) -> Result<(), Failure> {
    let Staging { from, to, .. } = staging;
    must_be_there(from, "there is no file or folder")?;
    let real =
        from.real().map_err(|error| Failure::world(format!("could not read `{}`", from.display())).because(&error))?;
    if to.is_there() && !to.is_folder_there() {
        return Err(Failure::input(format!("`{}` is a file, but must be a folder", to.display())));
    }
    let existing = to.ancestors().find(|one| one.is_there()).unwrap_or(Path::new("/"));
    let rest = to.strip_prefix(existing).unwrap_or(Path::new(""));
    let target = existing.real().unwrap_or_else(|_| existing.to_owned()).join(rest);
    let nested = real.is_folder_there() && (target.starts_with(&real) || real.starts_with(&target));
    // A file is brought to another folder than its own.
    let same = !real.is_folder_there() && !staging.unpack && real.parent() == Some(target.as_path());
    if nested || same {
        let message = format!("one of `{}` and `{}` contains the other", from.display(), to.display());
        return Err(Failure::input(message).help("choose a folder outside of the source"));
    }
    Ok(())
}

/// An error where the disk does not hold `bytes` and `count` more files.
fn must_hold(folder: &Path, bytes: u64, count: u64) -> Result<(), Failure> {
    let Ok(volume) = files::volume(folder) else { return Ok(()) };
    let shown = crate::core::diag::bytes;
    if bytes > 0 && bytes.saturating_add(MARGIN) > volume.free {
        let message = format!(
            "`{}` has {} free, but {} are needed (with a reserve of {})",
            folder.display(),
            shown(volume.free),
            shown(bytes.saturating_add(MARGIN)),
            shown(MARGIN)
        );
        return Err(Failure::world(message).help("free some space, or copy a part of the data; nothing was written"));
    }
    if volume.inodes > 0 && count > volume.inodes_free {
        let message =
            format!("`{}` has room for {} more files, but {count} are needed", folder.display(), volume.inodes_free);
        return Err(Failure::world(message).help("pack them with --shards; nothing was written"));
    }
    Ok(())
}

fn copy_all(
    (staging, parts): (&Staging, &Parts),
    listing: &Listing,
    journal: &Journal,
    progress: &dyn Fn(u64) -> std::sync::Arc<dyn Progress>,
) -> Result<Staged, Failure> {
    let mut staged = Staged::default();
    let (there, mut missing): (Vec<&Entry>, Vec<&Entry>) =
        listing.entries.iter().partition(|entry| is_there(entry, &staging.to, journal));
    staged.there = there.len() as u64;
    for entry in there.iter().filter(|entry| journal.line(&entry.path).is_some()) {
        copying::keep_mode(entry, &staging.to.join(&entry.path));
    }
    let spoilt = if staging.verify { verified(&there, staging, &mut staged) } else { Vec::new() };
    let bad: BTreeSet<String> = spoilt.iter().map(|entry| entry.path.clone()).collect();
    missing.extend(spoilt);
    copying::make_folders(&staging.to, &listing.folders);
    if staging.durable {
        // A run that is cut off has brought whole older ones.
        missing.sort_by_key(|entry| entry.modified);
    }
    staged.continued = missing.iter().map(|entry| parts.begun(&parts.name(entry)).min(entry.size)).sum();
    let bytes = missing.iter().map(|entry| entry.size).sum::<u64>() - staged.continued;
    must_hold(&staging.to, bytes, missing.len() as u64)?;
    copying::make_room(staging, &missing, journal);
    let sink = progress(bytes);
    let (next, stop, done) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(Staged::default()));
    let work = || {
        while let Some(entry) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let copied = bring((staging, parts), entry, journal, sink.as_ref(), bad.contains(&entry.path));
            let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match copied {
                Ok(()) => {
                    done.files += 1;
                    done.bytes += entry.size;
                    sink.finished();
                }
                Err(error) => {
                    stop.fetch_or(error.is_final(), Ordering::Relaxed);
                    done.failed.push((entry.path.clone(), error));
                }
            }
        }
    };
    // In order where the order counts.
    let jobs = if staging.durable { 1 } else { staging.jobs.clamp(1, missing.len().max(1)) };
    std::thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    staged.files = done.files;
    staged.bytes = done.bytes;
    staged.failed = done.failed;
    parts.sweep(&listing.entries.iter().map(|entry| parts.name(entry)).collect());
    Ok(staged)
}

/// Copies `entry`, unless a file that is not ours has its name; one that was brought and found spoilt is ours.
fn bring(
    (staging, parts): (&Staging, &Parts),
    entry: &Entry,
    journal: &Journal,
    progress: &dyn Progress,
    spoilt: bool,
) -> Result<(), NotCopied> {
    let is_ours = spoilt && journal.line(&entry.path).is_some();
    if !staging.overwrite && !is_ours && journal.is_foreign(&entry.path, &staging.to.join(&entry.path)) {
        return Err(NotCopied::Taken);
    }
    copy((staging, parts), entry, journal, progress)
}

/// Whether a whole copy of `entry` stands there: of its size and time, or as the journal says.
fn is_there(entry: &Entry, to: &Path, journal: &Journal) -> bool {
    let place = to.join(&entry.path);
    let Ok(data) = place.look_at_entry() else { return false };
    if !data.is_file() || data.len() != entry.size {
        return false;
    }
    let has_time = listing::modified(&data) == entry.modified;
    match journal.line(&entry.path) {
        Some(line) if line.from == journal.from() => {
            has_time || (line.size == entry.size && line.modified == entry.modified) && line.stands(&data)
        }
        // From another source: a file of the same size and time may be another one.
        Some(_) => has_time && is_copy(entry, &place),
        None => has_time,
    }
}

/// Whether the file at `place` has the bytes of `entry`.
fn is_copy(entry: &Entry, place: &Path) -> bool {
    digest(&entry.source).is_ok_and(|(source, _)| has_digest(place, source))
}

/// Those of `there` whose bytes are not those of the source.
fn verified<'e>(there: &[&'e Entry], staging: &Staging, staged: &mut Staged) -> Vec<&'e Entry> {
    let mut bad = Vec::new();
    for entry in there {
        staged.verified += 1;
        if !is_copy(entry, &staging.to.join(&entry.path)) {
            staged.there -= 1;
            bad.push(*entry);
        }
    }
    bad
}
