//! One file in one stream, resumed where a part is there.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use futures::StreamExt;
use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};
use rustix::fs::{Mode, OFlags};

use crate::boot::index::client::Http;
use crate::boot::index::exchange::ByteSpan;
use crate::boot::index::folder::path_of;
use crate::boot::index::headers::{part as part_of, text_of};
use crate::boot::index::retry::{Miss, Retries, refused};
use crate::boot::index::wanted_file::{Download, WantedFile, digest_of};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::log::Progress;
use crate::core::model::Sha256;
use crate::core::model::digest::Hasher;

/// The largest file whose size neither lock nor page names. The largest wheel known has 4 GB.
const UNKNOWN: u64 = 16 << 30;

/// What is said where a download breaks off.
pub(super) const KEPT: &str = "the download is kept; run the command again to continue";

/// What has arrived of a file.
struct PartFile {
    path: PathBuf,
    /// Of all that is there, if all of it has come by here.
    hasher: Option<Hasher>,
}

impl PartFile {
    const fn new(path: PathBuf) -> Self {
        Self { path, hasher: None }
    }

    /// Bytes.
    fn len(&self) -> u64 {
        self.path.look().map_or(0, |data| data.len())
    }

    /// Of what is there; `None` where nothing is.
    fn digest(&mut self) -> Result<Option<Sha256>, Failure> {
        match self.hasher.take() {
            Some(hasher) => Ok(Some(hasher.finish())),
            None => Ok(digest_of(&self.path)?.map(|(digest, _)| digest)),
        }
    }
}

/// Brings the file in one stream, or from the folder that has it.
pub(super) async fn bring_whole(wanted: &WantedFile, http: &Http) -> Result<(), Failure> {
    let WantedFile { download, progress, arrival } = wanted;
    let target = arrival.path();
    let seen = Stamp::of(target);
    if let Some((digest, size)) = digest_of(target)?
        && digest == download.sha256
    {
        progress.bytes(&download.file, size);
        progress.finished();
        return arrival.ends_as_file();
    }
    if let Some(path) = path_of(&download.url) {
        // Not under the name of a part: those are written to, and this may be the user's own file.
        let copied = target.with_file_name(format!("{}.copied", download.file));
        let size = copy(&path, &copied).map_err(|error| {
            Failure::world(format!("could not copy `{}` to `{}`", path.display(), copied.display())).because(&error)
        })?;
        progress.bytes(&download.file, size);
        let digest = digest_of(&copied)?.map(|(digest, _)| digest);
        return wanted.settle(&copied, seen, digest);
    }
    let mut part = PartFile::new(wanted.part());
    let resumed = part.len() > 0;
    bring(http, download, &mut part, &**progress).await?;
    let mut digest = part.digest()?;
    if resumed && digest != Some(download.sha256) {
        // The part was of another file, or torn.
        files::remove_if_there(&part.path)?;
        bring(http, download, &mut part, &**progress).await?;
        digest = part.digest()?;
    }
    wanted.settle(&part.path, seen, digest)
}

/// Copies the file at `from` to `to`; returns its size in bytes. No second name: what is written to one would be in the
/// other, which is the user's.
fn copy(from: &Path, to: &Path) -> std::io::Result<u64> {
    if to.look_at_entry().is_ok() {
        std::fs::remove_file(to)?;
    }
    std::fs::copy(from.real()?, to)
}

/// Brings the rest of `part`, in as many tries as it is worth.
async fn bring(http: &Http, download: &Download, part: &mut PartFile, progress: &dyn Progress) -> Result<(), Failure> {
    let (start, mut retries) = (part.len(), Retries::new());
    let mut is_first = true;
    while let Err(miss) = receive(http, download, part, progress, is_first).await? {
        is_first = false;
        retries.came(part.len().saturating_sub(start));
        retries.after(&download.url, miss, http.left()).await.map_err(|failure| match part.len() {
            0 => files::remove_if_there(&part.path).err().unwrap_or(failure),
            _ => failure.help(KEPT),
        })?;
    }
    Ok(())
}

/// One try. The outer error is ours (the disk), the inner one the network's, after which another try may go on. `first`
/// counts what is there already as progress.
async fn receive(
    http: &Http,
    download: &Download,
    part: &mut PartFile,
    progress: &dyn Progress,
    first: bool,
) -> Result<Result<(), Miss>, Failure> {
    let path = part.path.clone();
    let disk = |error: std::io::Error| not_written(&path, &error);
    let mut file = open_part(&path).map_err(disk)?;
    let here = file.seek(SeekFrom::End(0)).map_err(disk)?;
    let rest = (here > 0).then_some(ByteSpan::From(here));
    let response = match http.open(&download.url, rest).await {
        Ok(response) => response,
        Err(miss) => return Ok(Err(miss)),
    };
    let status = response.status();
    if status == StatusCode::RANGE_NOT_SATISFIABLE {
        // The part is as long as the file, or longer: begin anew.
        file.set_len(0).map_err(disk)?;
        return Ok(Err(Miss { again: true, ..Miss::lasting("the server has fewer bytes than the partial download") }));
    }
    if !status.is_success() {
        return Ok(Err(refused(&response)));
    }
    let range = text_of(response.headers(), CONTENT_RANGE.as_str()).and_then(|range| part_of(&range));
    if here > 0 && status == StatusCode::PARTIAL_CONTENT && range.is_none_or(|(start, _)| start != here) {
        file.set_len(0).map_err(disk)?;
        return Ok(Err(Miss { again: true, ..Miss::lasting("the server sent a different range than requested") }));
    }
    let rest = status == StatusCode::PARTIAL_CONTENT;
    let before = if rest { here } else { 0 };
    if !rest || here == 0 {
        file.set_len(0).map_err(disk)?;
        file.seek(SeekFrom::Start(0)).map_err(disk)?;
        part.hasher = Some(Hasher::default());
    } else if first {
        progress.bytes(&download.file, here);
    }
    let most = if download.size > 0 { download.size } else { UNKNOWN };
    let (mut room, hasher) = (most.saturating_sub(before), &mut part.hasher);
    let mut take = |bytes: &[u8]| {
        let Some(left) = room.checked_sub(bytes.len() as u64) else { return Ok(Err(too_long())) };
        room = left;
        file.write_all(bytes)?;
        if let Some(hasher) = hasher {
            hasher.update(bytes);
        }
        progress.bytes(&download.file, bytes.len() as u64);
        Ok(Ok(()))
    };
    let poured = pour(response, http, &mut take).await.map_err(disk)?;
    if matches!(&poured, Err(miss) if !miss.again) {
        files::remove_if_there(&path)?;
    }
    let whole = file.metadata().map_err(disk)?.len();
    if poured.is_ok() && whole < download.size {
        // A reply that is whole by its own length and too short is a proxy's page, or a file of another time.
        file.set_len(0).map_err(disk)?;
        let why = format!("the server stopped after {whole} of {} bytes", download.size);
        return Ok(Err(Miss { again: true, ..Miss::lasting(why) }));
    }
    Ok(poured)
}

/// That the server sends more than there should be.
pub(super) fn too_long() -> Miss {
    Miss {
        help: Some("nothing was kept; report the mismatch to the operator of the index"),
        ..Miss::lasting("the download is larger than the locked size")
    }
}

pub(super) fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    Failure::world(format!("could not write `{}`", path.display()))
        .because(error)
        .help("free some disk space, or move the cache with COLAB_BOOT_CACHE_DIR")
}

/// Opens what has arrived of a file, to go on writing. A link or a file of another user that lies there is removed
/// first: in a folder that others may write to, it could lead anywhere.
pub(super) fn open_part(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let own = rustix::process::geteuid().as_raw();
    let opened = rustix::fs::open(path, flags, Mode::empty())
        .ok()
        .map(File::from)
        .filter(|file| file.metadata().is_ok_and(|data| data.is_file() && data.nlink() == 1 && data.uid() == own));
    if let Some(file) = opened {
        return Ok(file);
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    Ok(File::from(rustix::fs::open(path, flags | OFlags::CREATE | OFlags::EXCL, mode)?))
}

/// What came of some bytes: the outer error is the disk's, the inner one ends the reply.
type PouredBytes = std::io::Result<Result<(), Miss>>;

/// Gives the body of a reply to `take` as it arrives. The outer error is the disk's, the inner one the network's.
pub(super) async fn pour(
    response: Response,
    http: &Http,
    take: &mut (dyn FnMut(&[u8]) -> PouredBytes + Send),
) -> std::io::Result<Result<(), Miss>> {
    let mut body = response.bytes_stream();
    let mut pace = http.pace();
    while let Some(chunk) = body.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return Ok(Err(Miss::passing(error))),
        };
        if let Err(miss) = take(&chunk)? {
            return Ok(Err(miss));
        }
        if let Err(miss) = http.count(chunk.len(), &mut pace) {
            return Ok(Err(miss));
        }
    }
    Ok(Ok(()))
}
