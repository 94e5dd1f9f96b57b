//! RECORD of a wheel on disk.

use std::path::Path;

use crate::diag::Failure;
use crate::host::files;
use crate::inspect::Archive;

/// The largest RECORD that is read; those of the largest wheels have 3 MB.
const RECORD_LIMIT: u64 = 64 << 20;

/// The RECORD of a wheel on disk.
pub fn record_of_wheel(wheel: &Path) -> Result<String, Failure> {
    let failed = |why: &dyn std::error::Error| {
        Failure::world(format!("could not read RECORD of `{}`", wheel.display())).because(why)
    };
    let mut archive = files::open(wheel).and_then(Archive::open).map_err(|error| failed(&error))?;
    let record = archive.files().dist_info("RECORD").cloned().ok_or_else(|| {
        Failure::answer(format!("`{}` has no RECORD", wheel.display()))
            .help("it is no valid wheel; choose another release")
    })?;
    archive.text(&record, RECORD_LIMIT).map_err(|error| failed(&error))
}

/// How many bytes a wheel unpacks to.
pub fn unpacked_bytes(wheel: &Path) -> Option<u64> {
    let archive = files::open(wheel).and_then(Archive::open).ok()?;
    Some(archive.files().unpacked())
}
