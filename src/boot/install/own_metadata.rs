//! The metadata that an installer writes
//! (<https://packaging.python.org/specifications/recording-installed-packages/>).

use std::path::Path;

use crate::boot::files::{WrittenFile, relative};
use crate::core::diag::Failure;

/// A RECORD in `info`, a folder of `site`, that lists `files` and itself.
pub(super) fn record(files: &[WrittenFile], info: &str, site: &Path) -> Result<Vec<u8>, Failure> {
    let mut lines: Vec<[String; 3]> = files
        .iter()
        .map(|file| [relative(&file.place, site), format!("sha256={}", file.sha256.to_record()), file.size.to_string()])
        .collect();
    lines.push([format!("{info}/RECORD"), String::new(), String::new()]);
    lines.sort();
    let broken = |error: &dyn std::fmt::Display| Failure::bug(format!("a RECORD could not be written: {error}"));
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    for line in &lines {
        writer.write_record(line).map_err(|error| broken(&error))?;
    }
    writer.into_inner().map_err(|error| broken(&error))
}
