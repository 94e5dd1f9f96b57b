//! Wheels to a folder: in parallel, resumed where a part is there, checked against the lock's digest before they get
//! their name.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};
use rustix::fs::{Mode, OFlags};
use url::Url;

use crate::boot::index::Client;
use crate::boot::index::client::Http;
use crate::boot::index::folder::path_of;
use crate::boot::index::headers::{part as part_of, text_of};
use crate::boot::index::retry::{Miss, Retries, refused};
use crate::core::diag::Failure;
use crate::core::host::destination::must_be_as_seen;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::log::Progress;
use crate::core::model::Sha256;
use crate::core::model::digest::Hasher;

const PARALLEL: usize = 8;

/// After so many bytes more, the tries are counted anew.
const WORTHWHILE: u64 = 1 << 20;

/// The largest file whose size neither lock nor page names. The largest wheel known has 4 GB.
const UNKNOWN: u64 = 16 << 30;

/// One wheel to have.
#[derive(Clone, Debug)]
pub struct Download {
    pub file: String,
    pub url: Url,
    pub sha256: Sha256,
    /// Bytes; 0 where the size is unknown.
    pub size: u64,
}

/// Brings all of `downloads` into `folder`. What is there and has the right digest is not fetched again.
pub fn fetch_all(
    client: &Client,
    downloads: &[Download],
    folder: &Path,
    progress: &Arc<dyn Progress>,
) -> Result<(), Failure> {
    files::create_private_folder(folder)?;
    let runtime = client.runtime()?;
    // Each on its own thread of the runtime: digests are computed side by side.
    let mut downloads = downloads.to_vec();
    // What is begun last should not take longest.
    downloads.sort_by_key(|download| Reverse(download.size));
    let work = stream::iter(downloads).map(|download| {
        let http = client.http.clone();
        let folder = folder.to_owned();
        let progress = Arc::clone(progress);
        runtime.spawn(async move { fetch(&http, &download, &folder, &*progress).await })
    });
    let outcomes: Vec<_> = runtime.block_on(work.buffer_unordered(PARALLEL).collect());
    outcomes
        .into_iter()
        .try_for_each(|outcome| outcome.map_err(|error| Failure::bug("a download ended early").because(&error))?)
}

/// Copies the file at `from` to `to`; returns its size in bytes. No second name: what is written to one would be in the
/// other, which is the user's.
fn copy(from: &Path, to: &Path) -> std::io::Result<u64> {
    if to.look_at_entry().is_ok() {
        std::fs::remove_file(to)?;
    }
    std::fs::copy(from.real()?, to)
}

async fn fetch(http: &Http, download: &Download, folder: &Path, progress: &dyn Progress) -> Result<(), Failure> {
    let target = folder.join(&download.file);
    let seen = Stamp::of(&target);
    if let Some((digest, size)) = digest_of(&target)?
        && digest == download.sha256
    {
        progress.bytes(size);
        progress.finished(&download.file);
        return Ok(());
    }
    if let Some(path) = path_of(&download.url) {
        // Not under the name of a part: those are written to, and this may be the user's own file.
        let copied = folder.join(format!("{}.copied", download.file));
        let size = copy(&path, &copied).map_err(|error| {
            Failure::world(format!("could not copy `{}` to `{}`", path.display(), copied.display())).because(&error)
        })?;
        progress.bytes(size);
        let digest = digest_of(&copied)?.map(|(digest, _)| digest);
        return settle(download, &copied, (&target, seen), digest, progress);
    }
    let mut part = Arrived { path: folder.join(format!("{}.part", download.file)), hasher: None };
    let resumed = part.len() > 0;
    bring(http, download, &mut part, progress).await?;
    let mut digest = part.digest()?;
    if resumed && digest != Some(download.sha256) {
        // The part was of another file, or torn.
        files::remove_if_there(&part.path)?;
        bring(http, download, &mut part, progress).await?;
        digest = part.digest()?;
    }
    settle(download, &part.path, (&target, seen), digest, progress)
}

/// What has arrived of a file.
struct Arrived {
    path: PathBuf,
    /// Of all that is there, if all of it has come by here.
    hasher: Option<Hasher>,
}

impl Arrived {
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

/// Brings the rest of `part`, in as many tries as it is worth.
async fn bring(http: &Http, download: &Download, part: &mut Arrived, progress: &dyn Progress) -> Result<(), Failure> {
    let mut retries = Retries::new();
    let mut before = None;
    while let Err(miss) = receive(http, download, part, progress, before.is_none()).await? {
        let here = part.len();
        // What goes on is worth going on with, however often the connection breaks.
        if before.is_some_and(|before| here >= before + WORTHWHILE) {
            retries = Retries::new();
        }
        before = Some(here);
        retries.after(&download.url, miss, http.left()).await.map_err(|failure| match part.len() {
            0 => files::remove_if_there(&part.path).err().unwrap_or(failure),
            _ => failure.help("the download is kept; run the command again to continue"),
        })?;
    }
    Ok(())
}

/// What has arrived gets its name if its digest is what it should be, and what was `seen` there has not been changed.
fn settle(
    download: &Download,
    part: &Path,
    (target, seen): (&Path, Stamp),
    digest: Option<Sha256>,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    if digest != Some(download.sha256) {
        files::remove_if_there(part)?;
        return Err(not_locked(Path::new(&download.file), download.sha256, digest));
    }
    must_be_as_seen(target, seen)?;
    std::fs::rename(part, target).map_err(|error| {
        Failure::world(format!("could not rename the file to `{}`", target.display())).because(&error)
    })?;
    progress.finished(&download.file);
    Ok(())
}

/// That the wheel at `path` has another digest than the lock says.
pub fn not_locked(path: &Path, expected: Sha256, got: Option<Sha256>) -> Failure {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let got = got.map(|digest| digest.to_string()).unwrap_or_default();
    Failure::answer(format!("`{file}` is not the locked file"))
        .cause(format!("expected sha256 {expected}, got {got}"))
        .help(
            "nothing was installed; replace a damaged copy; if the file was changed at its source, \
             run `colab-boot lock --refresh` and review the new lock",
        )
}

fn digest_of(path: &Path) -> Result<Option<(Sha256, u64)>, Failure> {
    match files::open(path) {
        Ok(mut file) => Sha256::of_reader(&mut file)
            .map(Some)
            .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::world(format!("could not read `{}`", path.display())).because(&error)),
    }
}

/// One try. The outer error is ours (the disk), the inner one the network's, after which another try may go on. `first`
/// counts what is there already as progress.
async fn receive(
    http: &Http,
    download: &Download,
    part: &mut Arrived,
    progress: &dyn Progress,
    first: bool,
) -> Result<Result<(), Miss>, Failure> {
    let path = part.path.clone();
    let disk = |error: std::io::Error| {
        Failure::world(format!("could not write `{}`", path.display()))
            .because(&error)
            .help("free some disk space, or move the cache with COLAB_BOOT_CACHE_DIR")
    };
    let mut file = open_part(&path).map_err(disk)?;
    let here = file.seek(SeekFrom::End(0)).map_err(disk)?;
    let response = match http.open(&download.url, here).await {
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
        progress.bytes(here);
    }
    let most = if download.size > 0 { download.size } else { UNKNOWN };
    let mut into = Sink { file: &mut file, hasher: &mut part.hasher, room: most.saturating_sub(before) };
    let poured = pour(response, &mut into, http, progress).await.map_err(disk)?;
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
    if poured.is_ok() {
        // A slow disk is no reason to let the other downloads wait.
        tokio::task::block_in_place(|| file.sync_all()).map_err(disk)?;
    }
    Ok(poured)
}

/// Where a reply goes, and how many bytes of it at most.
struct Sink<'a> {
    file: &'a mut File,
    hasher: &'a mut Option<Hasher>,
    room: u64,
}

/// Opens what has arrived of a file, to go on writing. A link or a file of another user that lies there is removed
/// first: in a folder that others may write to, it could lead anywhere.
fn open_part(path: &Path) -> std::io::Result<File> {
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

/// Writes a reply to a file as it arrives. The outer error is the disk's, the inner one the network's.
async fn pour(
    response: Response,
    into: &mut Sink<'_>,
    http: &Http,
    progress: &dyn Progress,
) -> std::io::Result<Result<(), Miss>> {
    let mut body = response.bytes_stream();
    let mut pace = http.pace();
    while let Some(chunk) = body.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return Ok(Err(Miss::passing(error))),
        };
        let count = chunk.len() as u64;
        let Some(room) = into.room.checked_sub(count) else {
            let miss = Miss::lasting("the download is larger than the locked size");
            return Ok(Err(Miss {
                help: Some("nothing was kept; report the mismatch to the operator of the index"),
                ..miss
            }));
        };
        into.room = room;
        into.file.write_all(&chunk)?;
        if let Some(hasher) = into.hasher {
            hasher.update(&chunk);
        }
        progress.bytes(count);
        if let Err(miss) = http.count(chunk.len(), &mut pace) {
            return Ok(Err(miss));
        }
    }
    Ok(Ok(()))
}
