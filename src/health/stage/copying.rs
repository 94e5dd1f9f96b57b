//! One file, brought whole: written beside its place, continued where a run was cut off, renamed at the end.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::writers::Writers;
use crate::core::log::Progress;
use crate::core::model::Hasher;
use crate::health::stage::Staging;
use crate::health::stage::journal::{Journal, Line};
use crate::health::stage::listing::{Entry, modified};
use crate::health::stage::not_copied::NotCopied;
use crate::health::stage::parts::Parts;

/// One read.
const BLOCK: usize = 1 << 20;

/// A mount that fails is asked again.
const TRIES: u32 = 3;

/// Brings `entry`, and tries again where the source does not answer.
pub(super) fn copy(
    (staging, parts): (&Staging, &Parts),
    entry: &Entry,
    journal: &Journal,
    progress: &dyn Progress,
) -> Result<(), NotCopied> {
    let mut tries = 0;
    loop {
        tries += 1;
        match once((staging, parts), entry, journal, progress) {
            Err(NotCopied::Reading(error)) if tries < TRIES && error.kind() != ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(200) * 4_u32.pow(tries - 1));
            }
            other => return other,
        }
    }
}

/// The source, as it was listed.
fn opened(staging: &Staging, entry: &Entry) -> Result<File, NotCopied> {
    let from = files::open(&entry.source).map_err(NotCopied::Reading)?;
    if !entry.is(from.metadata()) {
        return Err(NotCopied::Changed);
    }
    // A checkpoint that is half written looks like a whole one.
    match staging.durable.then(Writers::now).and_then(|writers| writers.of(&entry.source)) {
        Some(pid) => Err(NotCopied::Busy(pid)),
        None => Ok(from),
    }
}

fn once(
    (staging, parts): (&Staging, &Parts),
    entry: &Entry,
    journal: &Journal,
    progress: &dyn Progress,
) -> Result<(), NotCopied> {
    let place = staging.to.join(&entry.path);
    let name = parts.name(entry);
    let part = parts.path(&name);
    make_folder(&staging.to, &place)?;
    let mut from = opened(staging, entry)?;
    let mut file = parts.go_on(&name).map_err(NotCopied::Writing)?;
    let mut digest = Hasher::default();
    let mut buffer = vec![0; BLOCK];
    let mut have = 0;
    loop {
        let count = file.read(&mut buffer).map_err(NotCopied::Writing)?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
        have += count as u64;
    }
    if have > entry.size {
        file.set_len(0).and_then(|()| file.rewind()).map_err(NotCopied::Writing)?;
        (digest, have) = (Hasher::default(), 0);
    }
    from.seek(SeekFrom::Start(have)).map_err(NotCopied::Reading)?;
    let has_holes = from.metadata().is_ok_and(|data| data.blocks() * 512 < data.len());
    loop {
        let count = from.read(&mut buffer).map_err(NotCopied::Reading)?;
        // More than there was: it grows while it is read.
        if count == 0 || have + count as u64 > entry.size {
            have += count as u64;
            break;
        }
        // A hole stays one: of a file that is mostly nothing the rest would fill the disk.
        if has_holes && buffer[..count].iter().all(|byte| *byte == 0) {
            file.seek_relative(i64::try_from(count).unwrap_or_default()).map_err(NotCopied::Writing)?;
        } else {
            file.write_all(&buffer[..count]).map_err(NotCopied::Writing)?;
        }
        digest.update(&buffer[..count]);
        have += count as u64;
        progress.bytes(&entry.path, count as u64);
    }
    if have != entry.size || !entry.is(from.metadata()) {
        let _ = std::fs::remove_file(&part);
        return Err(NotCopied::Changed);
    }
    file.set_len(entry.size).map_err(NotCopied::Writing)?;
    dress(entry, &file);
    let stored = file.metadata().map(|data| modified(&data)).map_err(NotCopied::Writing)?;
    let sha256 = Some(digest.finish());
    let (path, size, modified) = (entry.path.clone(), entry.size, entry.modified);
    let line = Line { path, size, modified, stored, from: journal.from(), sha256, of: None, announced: false };
    // A file of somebody's may have got this name meanwhile.
    let is_taken = || !staging.overwrite && journal.is_foreign(&entry.path, &place);
    journal.name(&line, || settle(staging, file, (&part, &place), &is_taken)).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => NotCopied::Taken,
        _ => NotCopied::Writing(error),
    })
}

/// What was a file and is a folder now: the file makes room where it was brought from here, or the user has said so.
/// Once, before all copies: two of them would be in each other's way. What stays is named with each file below it.
pub(super) fn make_room(staging: &Staging, entries: &[&Entry], journal: &Journal) {
    let above = entries.iter().flat_map(|entry| entry.path.match_indices('/').map(|(at, _)| &entry.path[..at]));
    for name in above.collect::<BTreeSet<&str>>() {
        let place = staging.to.join(name);
        let is_file = place.look_at_entry().is_ok_and(|data| data.is_file()) && !is_behind_link(&staging.to, &place);
        if is_file && (staging.overwrite || !journal.is_foreign(name, &place)) {
            let _ = std::fs::remove_file(&place);
        }
    }
}

/// Gives the file at `place`, which was brought before, the mode of its source.
pub(super) fn keep_mode(entry: &Entry, place: &Path) {
    let Ok(data) = place.look_at_entry() else { return };
    if data.is_file() && data.mode() & 0o777 != mode_of(entry) {
        let _ = std::fs::set_permissions(place, Permissions::from_mode(mode_of(entry)));
    }
}

/// The mode of a copy of `entry`, which its owner can read.
const fn mode_of(entry: &Entry) -> u32 {
    entry.mode | 0o400
}

/// Makes the folder of `place` below `to`, unless something stands in the way: what lies behind a link there is not the
/// destination's.
pub(super) fn make_folder(to: &Path, place: &Path) -> Result<(), NotCopied> {
    if place.look_at_entry().is_ok_and(|data| data.is_dir()) {
        return Err(NotCopied::Folder);
    }
    if is_behind_link(to, place) {
        return Err(NotCopied::Link);
    }
    std::fs::create_dir_all(place.parent().unwrap_or(to)).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => NotCopied::Taken,
        _ => NotCopied::Writing(error),
    })
}

/// Makes the folders of a source, with its modes where they are new. One that can't be made is named with its files.
pub(super) fn make_folders(to: &Path, folders: &[(String, u32)]) {
    for (folder, mode) in folders.iter().rev() {
        let place = to.join(folder);
        let is_new = place.look_at_entry().is_err();
        if is_new && make_folder(to, &place.join("file")).is_ok() {
            let _ = std::fs::set_permissions(&place, Permissions::from_mode(mode | 0o700));
        }
    }
}

/// Whether a folder of `place` below `to` is a link: what lies there is not the destination's.
fn is_behind_link(to: &Path, place: &Path) -> bool {
    let folders = place.ancestors().skip(1).take_while(|above| *above != to);
    folders.into_iter().any(|above| above.look_at_entry().is_ok_and(|data| data.is_symlink()))
}

/// Mode and time of the source. File systems without them are as good.
fn dress(entry: &Entry, file: &File) {
    let _ = file.set_permissions(Permissions::from_mode(mode_of(entry)));
    let since = Duration::from_nanos(u64::try_from(entry.modified).unwrap_or_default());
    let _ = file.set_modified(SystemTime::UNIX_EPOCH + since);
}

/// Closes the file and gives it its name, unless that `is_taken`. Servers that write or upload at the end say at the
/// close that they could not.
fn settle(
    staging: &Staging,
    file: File,
    (part, place): (&Path, &Path),
    is_taken: &dyn Fn() -> bool,
) -> std::io::Result<()> {
    if staging.durable {
        file.sync_all()?;
    }
    if let Err(error) = nix::unistd::close(file) {
        let _ = std::fs::remove_file(part);
        return Err(error.into());
    }
    if is_taken() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(part, place)?;
    if staging.durable {
        // A mount that knows no such call has done what it can.
        let _ = place.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
    }
    Ok(())
}
