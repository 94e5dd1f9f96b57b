//! One file, brought whole: written beside its place, continued where a run was cut off, renamed at the end.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result as FmtResult};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::host::files;
use crate::host::mounts::Look;
use crate::index::Progress;
use crate::model::{Hasher, Sha256};
use crate::staging::journal::{Journal, Line};
use crate::staging::listing::{Entry, modified};
use crate::staging::{PART, Staging, part_name};

/// One read.
const BLOCK: usize = 1 << 20;

/// A mount that fails is asked again.
const TRIES: u32 = 3;

/// What stands in the way of a file.
pub(super) const TAKEN: &str = "another file has its name, which was not brought from here or was changed since";

/// Why there is none.
#[derive(Debug)]
pub(super) enum NotCopied {
    /// The source is another one than was listed.
    Changed,
    /// A file that is not ours has its name, or that of its folder.
    Taken,
    /// A folder has its name.
    Folder,
    Reading(std::io::Error),
    Writing(std::io::Error),
}

impl NotCopied {
    /// Whether the next file will meet the same.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Writing(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem))
    }
}

impl Display for NotCopied {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::Changed => f.write_str("it changed while it was read"),
            Self::Taken => f.write_str(TAKEN),
            Self::Folder => f.write_str("a folder has its name, and folders are not taken away"),
            Self::Reading(error) => write!(f, "could not be read: {error}"),
            Self::Writing(error) => write!(f, "could not be written: {error}"),
        }
    }
}

fn part(to: &Path, entry: &Entry, boot: &str) -> PathBuf {
    let place = to.join(&entry.path);
    place.parent().unwrap_or(to).join(part_name(entry, boot))
}

/// Bytes of `entry` that a run has brought which was cut off.
pub(super) fn begun(to: &Path, entry: &Entry, boot: &str) -> u64 {
    part(to, entry, boot).look_at_entry().map_or(0, |data| data.len())
}

/// Brings `entry`, and tries again where the source does not answer.
pub(super) fn copy(
    staging: &Staging,
    entry: &Entry,
    journal: &Journal,
    progress: &dyn Progress,
) -> Result<(), NotCopied> {
    let mut tries = 0;
    loop {
        tries += 1;
        match once(staging, entry, journal, progress) {
            Err(NotCopied::Reading(error)) if tries < TRIES && error.kind() != ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(200) * 4_u32.pow(tries - 1));
            }
            other => return other,
        }
    }
}

fn once(staging: &Staging, entry: &Entry, journal: &Journal, progress: &dyn Progress) -> Result<(), NotCopied> {
    let place = staging.to.join(&entry.path);
    let part = part(&staging.to, entry, &staging.boot);
    let folder = place.parent().unwrap_or(&staging.to);
    make_folder(&place, folder)?;
    let mut from = files::open(&entry.source).map_err(NotCopied::Reading)?;
    let is_same =
        |file: &File| file.metadata().is_ok_and(|data| data.len() == entry.size && modified(&data) == entry.modified);
    if !is_same(&from) {
        return Err(NotCopied::Changed);
    }
    let mut options = OpenOptions::new();
    let mut file =
        options.read(true).write(true).create(true).truncate(false).open(&part).map_err(NotCopied::Writing)?;
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
        progress.bytes(count as u64);
    }
    if have != entry.size || !is_same(&from) {
        let _ = std::fs::remove_file(&part);
        return Err(NotCopied::Changed);
    }
    file.set_len(entry.size).map_err(NotCopied::Writing)?;
    dress(entry, &file);
    let stored = file.metadata().map(|data| modified(&data)).map_err(NotCopied::Writing)?;
    let sha256 = Some(digest.finish());
    let (path, size, modified) = (entry.path.clone(), entry.size, entry.modified);
    // Before the name: what stands there is known, whenever a run is cut off.
    journal.add(&Line { path, size, modified, stored, from: journal.from(), sha256, of: None });
    settle(staging, &file, &part, &place).map_err(NotCopied::Writing)
}

/// What was a file and is a folder now: the file makes room where it was brought from here, or the user has said so. Once, before all copies: two of
/// them would be in each other's way. What stays is named with each file below it.
pub(super) fn make_room(staging: &Staging, entries: &[&Entry], journal: &Journal) {
    let above = entries.iter().flat_map(|entry| entry.path.match_indices('/').map(|(at, _)| &entry.path[..at]));
    for name in above.collect::<BTreeSet<&str>>() {
        let place = staging.to.join(name);
        let is_file = place.look_at_entry().is_ok_and(|data| data.is_file());
        if is_file && (staging.overwrite || !journal.is_foreign(name, &place)) {
            let _ = std::fs::remove_file(&place);
        }
    }
}

/// Makes the `folder` of `place`, unless something stands in the way.
fn make_folder(place: &Path, folder: &Path) -> Result<(), NotCopied> {
    if place.is_folder_there() {
        return Err(NotCopied::Folder);
    }
    std::fs::create_dir_all(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => NotCopied::Taken,
        _ => NotCopied::Writing(error),
    })
}

/// Mode and time of the source. File systems without them are as good.
fn dress(entry: &Entry, file: &File) {
    let _ = file.set_permissions(Permissions::from_mode(entry.mode | 0o600));
    let since = Duration::from_nanos(u64::try_from(entry.modified).unwrap_or_default());
    let _ = file.set_modified(SystemTime::UNIX_EPOCH + since);
}

/// Gives the file its name.
pub(super) fn settle(staging: &Staging, file: &File, part: &Path, place: &Path) -> std::io::Result<()> {
    if staging.durable {
        file.sync_all()?;
    }
    std::fs::rename(part, place)?;
    if staging.durable {
        // A mount that knows no such call has done what it can.
        let _ = place.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
    }
    Ok(())
}

/// The digest of a file that is there.
pub(super) fn digest(path: &Path) -> std::io::Result<Sha256> {
    Ok(Sha256::of_reader(&mut files::open(path)?)?.0)
}

/// Removes what earlier runs began of files that have changed since, or that are whole now.
pub(super) fn sweep(to: &Path, entries: &[Entry], boot: &str) {
    let mut folders: Vec<PathBuf> =
        entries.iter().filter_map(|entry| Some(to.join(&entry.path).parent()?.to_owned())).collect();
    folders.push(to.to_owned());
    folders.sort();
    folders.dedup();
    let current: BTreeSet<PathBuf> = entries.iter().map(|entry| part(to, entry, boot)).collect();
    for folder in folders {
        for name in files::names_if_any(&folder).iter().filter(|name| name.starts_with(PART)) {
            let path = folder.join(name);
            if !current.contains(&path) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}
