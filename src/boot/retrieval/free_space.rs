//! Whether a disk has room for what is about to be written.

use std::path::Path;

use crate::core::diag::{Code, Failure, Finding, Kind, bytes};
use crate::core::host::files;

/// What stays free on a disk that we write to: a tenth of what is written, within these bounds.
const LEAST_MARGIN: u64 = 16 << 20;
const MARGIN: u64 = 256 << 20;

/// Fails where the file system of `path` has less than `needed` bytes free, and the reserve. `what` names them,
/// with its verb.
pub fn enough_space(path: &Path, needed: u64, what: &str) -> Result<(), Failure> {
    let margin = (needed / 10).clamp(LEAST_MARGIN, MARGIN);
    let with_margin = needed.saturating_add(margin);
    let Some(free) = files::free_bytes(path).filter(|free| needed > 0 && *free < with_margin) else {
        return Ok(());
    };
    let message = format!(
        "{what} {} (with a reserve of {}), but `{}` has {} free",
        bytes(with_margin),
        bytes(margin),
        path.display(),
        bytes(free)
    );
    let finding = Finding::error(Code::DiskFull, message)
        .with_help("free some space and run the command again; nothing was changed");
    Err(Failure::from_findings(Kind::World, vec![finding]))
}
