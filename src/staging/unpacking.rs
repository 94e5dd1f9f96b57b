//! An archive, unpacked as it is read: tar, tar.gz, zip. Names that lead out of the folder are refused; links and devices are left out.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use crate::diag::Failure;
use crate::host::digests::digest;
use crate::host::files;
use crate::host::mounts::Look;
use crate::index::Progress;
use crate::model::{Hasher, Sha256};
use crate::staging::copying::TAKEN;
use crate::staging::journal::{Journal, Line};
use crate::staging::listing::modified;
use crate::staging::parts::Parts;
use crate::staging::{PARTS, Staged, Staging, must_hold};

/// The member that is being written.
const MEMBER: &str = "member";

/// What comes out of an archive.
struct Member {
    name: String,
    size: u64,
}

/// Unpacks the archive that the source is.
pub(super) fn unpack(
    (staging, parts): (&Staging, &Parts),
    journal: &Journal,
    progress: &dyn Fn(u64) -> Arc<dyn Progress>,
) -> Result<Staged, Failure> {
    let from = &staging.from;
    let failed = |error| Failure::world(format!("could not read `{}`", from.display())).because(&error);
    let file = files::open(from).map_err(failed)?;
    let data = file.metadata().map_err(failed)?;
    let name = from.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    // Members of another archive of the same name are none of this one's.
    let key = format!("{}\0{}", data.len(), modified(&data));
    let mut work = Work {
        staging,
        parts,
        journal,
        of: Sha256::of(key.as_bytes()),
        staged: Staged::default(),
        sink: progress(data.len()),
    };
    if data.is_dir() {
        return Err(Failure::input(format!("`{}` is a folder, and --unpack wants an archive", from.display())));
    }
    if name.ends_with(".zip") {
        work.zip(file)?;
    } else if name.ends_with(".tar") {
        must_hold(&staging.to, data.len().saturating_sub(work.there()), 0)?;
        work.tar(Counted { inner: BufReader::with_capacity(1 << 20, file), sink: work.sink.clone() })?;
    } else if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
        must_hold(&staging.to, data.len().saturating_sub(work.there()), 0)?;
        let counted = Counted { inner: file, sink: work.sink.clone() };
        work.tar(MultiGzDecoder::new(BufReader::with_capacity(1 << 20, counted)))?;
    } else {
        let failure = Failure::input(format!("`{}` is no archive that is known here", from.display()));
        return Err(failure.help("tar, tar.gz, tgz and zip are unpacked; without --unpack the file is copied"));
    }
    parts.sweep(&BTreeSet::new());
    Ok(work.staged)
}

/// A reader that tells how far it is.
struct Counted<R> {
    inner: R,
    sink: Arc<dyn Progress>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.sink.bytes(count as u64);
        Ok(count)
    }
}

/// An archive on its way.
struct Work<'a> {
    staging: &'a Staging,
    parts: &'a Parts,
    journal: &'a Journal,
    of: Sha256,
    staged: Staged,
    sink: Arc<dyn Progress>,
}

impl Work<'_> {
    fn tar(&mut self, reader: impl Read) -> Result<(), Failure> {
        let from = self.staging.from.display().to_string();
        let broken = |error: std::io::Error| {
            Failure::world(format!("`{from}` is no whole tar file"))
                .because(&error)
                .help("what came before is there; bring the archive again")
        };
        let zeros = Rc::new(Cell::new(0));
        let mut archive = tar::Archive::new(Ending { inner: reader, zeros: zeros.clone() });
        for entry in archive.entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let Ok(name) = String::from_utf8(entry.path_bytes().into_owned()) else {
                let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                self.staged.failed.push((name, "its name is no text".to_owned()));
                continue;
            };
            match entry.header().entry_type() {
                tar::EntryType::Directory => self.folder(&name),
                tar::EntryType::Link => self.link(&name, entry.link_name_bytes().as_deref())?,
                tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => {
                    let member = Member { name, size: entry.size() };
                    self.member(&member, &mut entry)?;
                }
                _ => self.staged.skipped.push(name),
            }
        }
        // Two empty blocks end a tar file; of one that was cut off between two members nothing else tells.
        if zeros.get() < 512 {
            let failure = Failure::world(format!("`{from}` is cut off: what ends a tar file is missing"));
            return Err(failure.help("what came before is there; bring the archive again"));
        }
        Ok(())
    }

    fn folder(&self, name: &str) {
        if let Some(path) = inside(name) {
            let _ = std::fs::create_dir_all(self.staging.to.join(path));
        }
    }

    /// A second name for a member that came before: a copy of it.
    fn link(&mut self, name: &str, target: Option<&[u8]>) -> Result<(), Failure> {
        let target = target.and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(inside);
        let target = target
            .map(|path| self.staging.to.join(path))
            .filter(|path| path.look_at_entry().is_ok_and(|data| data.is_file()));
        match target.and_then(|path| File::open(path).ok()) {
            Some(mut file) => {
                let size = file.metadata().map_or(0, |data| data.len());
                self.member(&Member { name: name.to_owned(), size }, &mut file)
            }
            None => {
                self.staged.failed.push((name.to_owned(), "what it is a second name of is not there".to_owned()));
                Ok(())
            }
        }
    }

    fn zip(&mut self, file: File) -> Result<(), Failure> {
        let from = self.staging.from.display().to_string();
        let broken = |error: zip::result::ZipError| {
            let failure = Failure::world(format!("`{from}` can't be unpacked")).because(&error);
            failure.help("one with a password is unpacked by `unzip`; one that was cut off has to be brought again")
        };
        let mut archive = zip::ZipArchive::new(BufReader::with_capacity(1 << 16, file)).map_err(broken)?;
        let all: Option<u64> = archive.decompressed_size().and_then(|size| u64::try_from(size).ok());
        must_hold(&self.staging.to, all.unwrap_or_default().saturating_sub(self.there()), archive.len() as u64)?;
        for number in 0..archive.len() {
            let mut entry = archive.by_index(number).map_err(broken)?;
            let member = Member { name: entry.name().map_err(broken)?.into_owned(), size: entry.size() };
            self.sink.bytes(entry.compressed_size());
            if entry.is_dir() {
                self.folder(&member.name);
                continue;
            }
            if entry.is_symlink() {
                self.staged.skipped.push(member.name);
                continue;
            }
            self.member(&member, &mut entry)?;
        }
        Ok(())
    }

    fn member(&mut self, member: &Member, content: &mut impl Read) -> Result<(), Failure> {
        let Some(path) = inside(&member.name) else {
            self.staged.failed.push((member.name.clone(), "its name leads out of the folder".to_owned()));
            return Ok(());
        };
        let place = self.staging.to.join(&path);
        let is_whole = |line: &&Line| line.of == Some(self.of) && line.size == member.size;
        let line = self.journal.line(&member.name).filter(is_whole);
        if let Some(line) = line
            && place.look_at_entry().is_ok_and(|data| line.stands(&data))
        {
            let right = !self.staging.verify || digest(&place).ok().map(|(own, _)| own) == line.sha256;
            self.staged.verified += u64::from(self.staging.verify);
            if right {
                self.staged.there += 1;
                return Ok(());
            }
        } else if !self.staging.overwrite && self.journal.is_foreign(&member.name, &place) {
            self.staged.failed.push((member.name.clone(), TAKEN.to_owned()));
            return Ok(());
        }
        match self.write(member, &place, content) {
            Ok(size) if size == member.size => {
                self.staged.files += 1;
                self.staged.bytes += size;
                Ok(())
            }
            Ok(size) => {
                let why = format!("{size} bytes came, and {} were announced", member.size);
                self.staged.failed.push((member.name.clone(), why));
                Ok(())
            }
            Err(error) => Err(Failure::world(format!("could not unpack `{}`", member.name))
                .because(&error)
                .help("what came before is there; the same command goes on after it")),
        }
    }

    /// The bytes that came; a member gets its name only when it is whole.
    fn write(&self, member: &Member, place: &Path, content: &mut impl Read) -> std::io::Result<u64> {
        let part = self.parts.path(MEMBER);
        let mut file = self.parts.begin(MEMBER)?;
        let (mut digest, mut size, mut buffer) = (Hasher::default(), 0, vec![0; 1 << 18]);
        loop {
            let count = content.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            file.write_all(&buffer[..count])?;
            digest.update(&buffer[..count]);
            size += count as u64;
        }
        if size != member.size {
            return Ok(size);
        }
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let stored = modified(&file.metadata()?);
        let (path, from, sha256) = (member.name.clone(), self.journal.from(), Some(digest.finish()));
        self.journal.add(&Line { path, size, modified: 0, stored, from, sha256, of: Some(self.of) });
        std::fs::rename(&part, place)?;
        Ok(size)
    }

    /// Bytes of this archive that stand there.
    fn there(&self) -> u64 {
        let own = self.journal.lines().filter(|line| line.of == Some(self.of));
        own.filter(|line| self.staging.to.join(&line.path).is_there()).map(|line| line.size).sum()
    }
}

/// A reader that counts the zeros it has ended with so far.
struct Ending<R> {
    inner: R,
    zeros: Rc<Cell<u64>>,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let tail = buffer[..count].iter().rev().take_while(|byte| **byte == 0).count();
        let before = if tail == count { self.zeros.get() } else { 0 };
        self.zeros.set(before + tail as u64);
        Ok(count)
    }
}

/// A member's path below the folder; `None` for one that is not, or that is one of our own files.
fn inside(name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::RootDir | Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    let ours = path.to_str().is_some_and(|path| path == super::JOURNAL || path.starts_with(PARTS));
    (path.file_name().is_some() && !ours && !name.contains('\0')).then_some(path)
}
