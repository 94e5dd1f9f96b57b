//! Many small files as a few tar files, in the order of their names: what a loader reads in one go. Files of one
//! sample, `0001.jpg` and `0001.cls`, stay together.

use std::collections::BTreeSet;
use std::fs::File;
use std::fs::Permissions;
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::core::diag::Failure;
use crate::core::host::digests::has_digest;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::log::Progress;
use crate::core::model::{Hasher, Sha256};
use crate::health::stage::journal::{Journal, Line};
use crate::health::stage::listing::{Entry, Listing, modified};
use crate::health::stage::not_copied::NotCopied;
use crate::health::stage::parts::Parts;
use crate::health::stage::{PARTS, Staged, Staging, must_hold};

/// A tar header, and what its content is padded to.
const BLOCK: u64 = 512;

/// A tar file to be.
struct Shard<'e> {
    name: String,
    entries: &'e [Entry],
    /// Of names, sizes and times.
    of: Sha256,
}

impl Shard<'_> {
    fn size(&self) -> u64 {
        self.entries.iter().map(padded).sum::<u64>() + 2 * BLOCK
    }

    /// What the journal calls it while it waits.
    fn waiting(&self) -> String {
        format!("{PARTS}/{}", self.name)
    }

    /// The journal's line of the tar file that waits, where it is whole.
    fn waits(&self, parts: &Parts, journal: &Journal) -> Option<Line> {
        let line = journal.line(&self.waiting()).filter(|line| line.of == Some(self.of))?;
        parts.path(&self.name).look_at_entry().is_ok_and(|data| line.stands(&data)).then(|| line.clone())
    }
}

fn padded(entry: &Entry) -> u64 {
    BLOCK + entry.size.next_multiple_of(BLOCK)
}

/// What a file is called up to its first dot: files of one sample.
fn sample(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    path[name..].find('.').filter(|dot| *dot > 0).map_or(path, |dot| &path[..name + dot])
}

fn split(entries: &[Entry], limit: u64) -> Vec<Shard<'_>> {
    let mut shards = Vec::new();
    let (mut from, mut size) = (0, 0);
    let mut at = 0;
    while at < entries.len() {
        let same = sample(&entries[at].path);
        let end = at + entries[at..].iter().take_while(|one| sample(&one.path) == same).count();
        let more: u64 = entries[at..end].iter().map(padded).sum();
        if at > from && size + more > limit {
            shards.push(&entries[from..at]);
            (from, size) = (at, 0);
        }
        size += more;
        at = end;
    }
    if from < entries.len() {
        shards.push(&entries[from..]);
    }
    shards
        .into_iter()
        .enumerate()
        .map(|(number, entries)| {
            let mut digest = Hasher::default();
            for entry in entries {
                let Entry { path, size, modified, mode, .. } = entry;
                digest.update(format!("{path}\0{size}\0{modified}\0{mode}\0").as_bytes());
            }
            Shard { name: format!("shard-{number:06}.tar"), entries, of: digest.finish() }
        })
        .collect()
}

/// An error where not all of the source was seen, or nothing of what was packed before is there any more: tar files
/// that are whole would go.
fn must_be_listed(staging: &Staging, listing: &Listing, journal: &Journal) -> Result<(), Failure> {
    let from = staging.from.display();
    let help = "the existing tar files were kept; check that the source is mounted and readable";
    if let Some((path, why)) = listing.unseen.first() {
        let message = format!("not all of `{from}` could be listed: `{path}`: {why}");
        return Err(Failure::world(message).help(help));
    }
    if listing.entries.is_empty() && journal.lines().next().is_some() {
        return Err(Failure::world(format!("`{from}` is empty, but files were packed from it before")).help(help));
    }
    Ok(())
}

/// An error where a name is taken by a file that was not packed from here.
fn must_be_free(shards: &[Shard<'_>], staging: &Staging, journal: &Journal) -> Result<(), Failure> {
    let Some(shard) = shards
        .iter()
        .find(|shard| journal.is_foreign(&shard.name, &staging.to.join(&shard.name)))
        .filter(|_| !staging.overwrite)
    else {
        return Ok(());
    };
    let message =
        format!("`{}` exists and differs from what was packed from here", staging.to.join(&shard.name).display());
    Err(Failure::input(message).help("use another folder for the tar files, or replace them with --overwrite"))
}

/// Writes the tar files that are not there as they should be, beside those of before; once all are whole they take
/// their names, and those that are none any more go. Where a file can't be packed, the tar files of before stay.
pub(super) fn pack(
    (staging, parts): (&Staging, &Parts),
    listing: &Listing,
    journal: &Journal,
    limit: u64,
    progress: &dyn Fn(u64) -> std::sync::Arc<dyn Progress>,
) -> Result<Staged, Failure> {
    must_be_listed(staging, listing, journal)?;
    let shards = split(&listing.entries, limit.max(BLOCK));
    must_be_free(&shards, staging, journal)?;
    let mut staged = Staged { shards: shards.len() as u64, ..Staged::default() };
    let (there, missing): (Vec<&Shard<'_>>, Vec<&Shard<'_>>) =
        shards.iter().partition(|shard| is_there(shard, staging, journal, &mut staged.verified));
    staged.there = there.iter().map(|shard| shard.entries.len() as u64).sum();
    let to_write: Vec<&&Shard<'_>> = missing.iter().filter(|shard| shard.waits(parts, journal).is_none()).collect();
    must_hold(&staging.to, to_write.iter().map(|shard| shard.size()).sum(), to_write.len() as u64)?;
    let sink = progress(to_write.iter().flat_map(|shard| shard.entries).map(|entry| entry.size).sum());
    let failed = |shard: &Shard<'_>, error: &std::io::Error| {
        Failure::world(format!("could not pack `{}`", staging.to.join(&shard.name).display()))
            .because(error)
            .help("the tar files before it are complete, and are renamed when all are complete; run the same command to continue")
    };
    let mut whole = Vec::new();
    for shard in missing {
        let line = shard.waits(parts, journal).map_or_else(
            || write(shard, parts, journal, sink.as_ref(), &mut staged.failed).map_err(|error| failed(shard, &error)),
            Ok,
        )?;
        whole.push((shard, line));
        sink.finished();
    }
    if !staged.failed.is_empty() {
        staged.shards = there.len() as u64;
        return Ok(staged);
    }
    // Packing takes long: somebody may have written one of these names meanwhile.
    must_be_free(&shards, staging, journal)?;
    for (shard, line) in whole {
        let (part, place) = (parts.path(&shard.name), staging.to.join(&shard.name));
        journal
            .name(&Line { path: shard.name.clone(), ..line }, || std::fs::rename(part, place))
            .map_err(|error| failed(shard, &error))?;
        staged.files += shard.entries.len() as u64;
        staged.bytes += shard.size();
    }
    parts.sweep(&BTreeSet::new());
    let current: BTreeSet<&str> = shards.iter().map(|shard| shard.name.as_str()).collect();
    let is_shard = |name: &str| name.starts_with("shard-") && name.ends_with(".tar") && !name.contains('/');
    // A plain copy of a tar file is none that was made here.
    let made = journal.lines().filter(|line| line.of.is_some());
    for line in made.filter(|line| is_shard(&line.path) && !current.contains(line.path.as_str())) {
        let place = staging.to.join(&line.path);
        if place.look_at_entry().is_ok_and(|data| line.stands(&data)) {
            files::remove_if_there(&place)?;
        }
    }
    Ok(staged)
}

fn is_there(shard: &Shard<'_>, staging: &Staging, journal: &Journal, verified: &mut u64) -> bool {
    let path = staging.to.join(&shard.name);
    let Some(line) = journal.line(&shard.name).filter(|line| line.of == Some(shard.of)) else { return false };
    if !path.look_at_entry().is_ok_and(|data| line.stands(&data)) {
        return false;
    }
    if staging.verify {
        *verified += 1;
    }
    !staging.verify || line.sha256.is_some_and(|known| has_digest(&path, known) && of_source(shard) == Some(known))
}

/// The digest of the tar file as the source would give it now; `None` where a file of it can't be read.
fn of_source(shard: &Shard<'_>) -> Option<Sha256> {
    let mut failed = Vec::new();
    let packed = packed(shard, Hashing::new(std::io::sink()), &|_| (), &mut failed).ok()?;
    failed.is_empty().then(|| packed.digest.finish())
}

/// Writes the tar file where it waits for the others. A file that can't be read, or changes meanwhile, is left out and
/// named.
fn write(
    shard: &Shard<'_>,
    parts: &Parts,
    journal: &Journal,
    progress: &dyn Progress,
    failed: &mut Vec<(String, NotCopied)>,
) -> std::io::Result<Line> {
    let failures = failed.len();
    let hashing = Hashing::new(parts.begin(&shard.name)?);
    let Hashing { to: file, digest, size } =
        packed(shard, hashing, &|bytes| progress.bytes(&shard.name, bytes), failed)?;
    let (path, from, stored) = (shard.waiting(), journal.from(), modified(&file.metadata()?));
    // Those who may read all of its files may read it.
    let others = shard.entries.iter().fold(0o044, |bits, entry| bits & entry.mode);
    file.set_permissions(Permissions::from_mode(0o600 | others))?;
    nix::unistd::close(file)?;
    // One that lacks a file is made again.
    let of = (failed.len() == failures).then_some(shard.of);
    let line = Line { path, size, modified: 0, stored, from, sha256: Some(digest.finish()), of, announced: false };
    journal.add(&line)?;
    Ok(line)
}

/// Packs the files of `shard` into `hashing`, and names in `failed` those that can't be.
fn packed<W: Write>(
    shard: &Shard<'_>,
    hashing: Hashing<W>,
    progress: &dyn Fn(u64),
    failed: &mut Vec<(String, NotCopied)>,
) -> std::io::Result<Hashing<W>> {
    let mut archive = tar::Builder::new(BufWriter::with_capacity(1 << 20, hashing));
    archive.mode(tar::HeaderMode::Deterministic);
    for entry in shard.entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(entry.size);
        header.set_mode(entry.mode);
        header.set_mtime(u64::try_from(entry.modified / 1_000_000_000).unwrap_or_default());
        let name = Path::new(&entry.path);
        // A large one is not kept in memory; what goes wrong with it ends the tar file.
        if entry.size > SMALL {
            match opened(entry) {
                Ok(whole) => {
                    archive.append_data(&mut header, name, whole)?;
                    progress(entry.size);
                    still(entry)?;
                }
                Err(why) => failed.push((entry.path.clone(), NotCopied::Unread(why))),
            }
            continue;
        }
        match content(entry) {
            Ok(bytes) => {
                archive.append_data(&mut header, name, bytes.as_slice())?;
                progress(entry.size);
            }
            Err(why) => failed.push((entry.path.clone(), NotCopied::Unread(why))),
        }
    }
    archive.into_inner()?.into_inner().map_err(std::io::IntoInnerError::into_error)
}

/// A large file, if it is what was listed.
fn opened(entry: &Entry) -> Result<Whole, String> {
    let file = files::open(&entry.source).map_err(|error| format!("could not be read: {error}"))?;
    if entry.is(file.metadata()) { Ok(Whole { file, left: entry.size }) } else { Err(CHANGED.to_owned()) }
}

/// An error where a file that was packed is another one by now: what came of it is torn.
fn still(entry: &Entry) -> std::io::Result<()> {
    if entry.is(entry.source.look()) {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("`{}` changed while being read", entry.path)))
    }
}

const CHANGED: &str = "it changed while being read";

/// Files up to this size are read before they are written.
const SMALL: u64 = 64 << 20;

/// Where bytes go, with their digest.
struct Hashing<W> {
    to: W,
    digest: Hasher,
    size: u64,
}

impl<W> Hashing<W> {
    fn new(to: W) -> Self {
        Self { to, digest: Hasher::default(), size: 0 }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.digest.update(&bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// A file of which as many bytes come as its header says, or an error.
struct Whole {
    file: File,
    left: u64,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.read(&mut buffer[..most])?;
        self.left -= count as u64;
        if count == 0 && most > 0 {
            Err(std::io::Error::other("it became shorter while it was read"))
        } else {
            Ok(count)
        }
    }
}

fn content(entry: &Entry) -> Result<Vec<u8>, String> {
    let bytes = files::read_bytes(&entry.source, entry.size.saturating_add(1))
        .map_err(|error| format!("could not be read: {error}"))?;
    let same = bytes.len() as u64 == entry.size && entry.is(entry.source.look());
    if same { Ok(bytes) } else { Err(CHANGED.to_owned()) }
}
