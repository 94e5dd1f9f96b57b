//! What has been brought, a line for each file; a line is added when its file is whole, so that a killed run has no wrong one.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::diag::Failure;
use crate::host::files;
use crate::model::Sha256;
use crate::staging::listing::Entry;

/// The journal of a destination.
pub(super) struct Journal {
    lines: BTreeMap<String, Line>,
    file: Mutex<File>,
}

/// A file that is whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub path: String,
    pub size: u64,
    /// Of the source: nanoseconds since 1970.
    pub modified: i128,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// What a tar file was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Sha256>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    source: String,
}

impl Line {
    pub(super) fn of(entry: &Entry, sha256: Sha256) -> Self {
        Self { path: entry.path.clone(), size: entry.size, modified: entry.modified, sha256: Some(sha256), of: None }
    }
}

impl Journal {
    /// Reads the journal at `path`, or begins one. That of another source is begun anew. A last line that a kill cut off is left out.
    pub(super) fn open(path: &Path, source: &str) -> Result<Self, Failure> {
        let failed = |error| Failure::world(format!("could not write `{}`", path.display())).because(&error);
        let text = if path.exists() { files::read_bytes(path, 1 << 30).map_err(failed)? } else { Vec::new() };
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, rest) = text.split_once('\n').unwrap_or_default();
        let is_ours = serde_json::from_str::<Head>(head).is_ok_and(|head| head.version == 1 && head.source == source);
        let mut lines = BTreeMap::new();
        if is_ours {
            for line in rest.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
                lines.insert(line.path.clone(), line);
            }
        }
        let mut whole = serde_json::to_string(&Head { version: 1, source: source.to_owned() }).unwrap_or_default();
        whole.push('\n');
        for line in lines.values() {
            whole.push_str(&serde_json::to_string(line).unwrap_or_default());
            whole.push('\n');
        }
        files::write_whole_fast(path, whole.as_bytes()).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { lines, file: Mutex::new(file) })
    }

    pub(super) fn line(&self, path: &str) -> Option<&Line> {
        self.lines.get(path)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.values()
    }

    /// Adds a line. One that can't be written costs the next run a copy, and no more.
    pub(super) fn add(&self, line: &Line) {
        let mut text = serde_json::to_string(line).unwrap_or_default();
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = file.write_all(text.as_bytes());
    }
}
