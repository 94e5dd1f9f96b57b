//! A file that is wanted from an index or a folder, and what makes it the one that is locked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;

use crate::boot::index::arrival::Arrival;
use crate::core::diag::Failure;
use crate::core::host::destination::must_be_as_seen;
use crate::core::host::files;
use crate::core::host::stamps::Stamp;
use crate::core::log::Progress;
use crate::core::model::Sha256;

/// One wheel to have.
#[derive(Clone, Debug)]
pub struct Download {
    pub file: String,
    pub url: Url,
    pub sha256: Sha256,
    /// Bytes; 0 where the size is unknown.
    pub size: u64,
    /// It has to be in the folder afterwards.
    pub kept: bool,
}

/// A download, and those who wait for it.
pub(super) struct WantedFile {
    pub(super) download: Download,
    pub(super) arrival: Arc<Arrival>,
    pub(super) progress: Arc<dyn Progress>,
}

impl WantedFile {
    /// Where it is until it is whole.
    pub(super) fn part(&self) -> PathBuf {
        self.arrival.path().with_file_name(format!("{}.part", self.download.file))
    }

    /// What has arrived at `part` gets its name if its digest is what it should be, and what was `seen` there has not
    /// been changed.
    pub(super) fn settle(&self, part: &Path, seen: Stamp, digest: Option<Sha256>) -> Result<(), Failure> {
        let Self { download, arrival, progress } = self;
        let target = arrival.path();
        if digest != Some(download.sha256) {
            files::remove_if_there(part)?;
            return Err(not_locked(Path::new(&download.file), download.sha256, digest));
        }
        must_be_as_seen(target, seen)?;
        std::fs::rename(part, target).map_err(|error| {
            Failure::world(format!("could not rename the file to `{}`", target.display())).because(&error)
        })?;
        progress.finished();
        arrival.ends_as_file()
    }
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

pub(super) fn digest_of(path: &Path) -> Result<Option<(Sha256, u64)>, Failure> {
    match files::open(path) {
        Ok(mut file) => Sha256::of_reader(&mut file)
            .map(Some)
            .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::world(format!("could not read `{}`", path.display())).because(&error)),
    }
}
