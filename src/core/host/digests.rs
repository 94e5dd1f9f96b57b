//! What a file holds, in short.

use std::io::Result as IoResult;
use std::path::Path;

use crate::core::host::files;
use crate::core::model::Sha256;

/// Digest and length of the file at `path`, which is read whole.
pub fn digest(path: &Path) -> IoResult<(Sha256, u64)> {
    Sha256::of_reader(&mut files::open(path)?)
}

/// Whether the file at `path` can be read and has this digest.
pub fn has_digest(path: &Path, sha256: Sha256) -> bool {
    digest(path).is_ok_and(|(own, _)| own == sha256)
}
