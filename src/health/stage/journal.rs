//! What has been brought, a line for each file; a line is added when its file is whole, so that a killed run has no
//! wrong one.

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::Sha256;
use crate::health::stage::listing::modified;

/// The journal of a destination.
pub(super) struct Journal {
    lines: BTreeMap<String, Line>,
    /// Of files that were about to get their names when a run was cut off: whether they have, nothing says.
    announced: BTreeMap<String, Line>,
    from: String,
    file: Mutex<File>,
}

/// A file that is whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub path: String,
    pub size: u64,
    /// Of the source: nanoseconds since 1970.
    pub modified: i128,
    /// Of what stands there: a later change changes this as well.
    pub stored: i128,
    /// The source that it came from, in short.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// What a tar file was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Sha256>,
    /// Written before the file has its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub announced: bool,
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
}

/// `O_NOFOLLOW`: what was a link a moment ago has been replaced by a file.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// Of this form.
const VERSION: u32 = 1;

/// Some file systems keep whole seconds, or every other one, once a file is read from the disk again.
const SECOND: i128 = 1_000_000_000;

impl Line {
    /// Whether what stands there is what was brought.
    pub(super) fn stands(&self, data: &Metadata) -> bool {
        let now = modified(data);
        let is_coarse = now % SECOND == 0 && (now - self.stored).abs() <= 2 * SECOND;
        data.is_file() && data.len() == self.size && (now == self.stored || is_coarse)
    }
}

impl Journal {
    /// Reads the journal at `path`, or begins one. A last line that a kill cut off is left out.
    pub(super) fn open(path: &Path, source: &str) -> Result<Self, Failure> {
        let failed = |error| Failure::world(format!("could not write `{}`", path.display())).because(&error);
        let text = if path.is_there() { files::read_bytes(path, 1 << 30).map_err(failed)? } else { Vec::new() };
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, rest) = text.split_once('\n').unwrap_or_default();
        let newer = serde_json::from_str::<Head>(head).is_ok_and(|head| head.version > VERSION);
        if newer {
            return Err(Failure::input(format!("`{}` was written by a newer colab-boot", path.display())));
        }
        let (mut lines, mut announced) = (BTreeMap::new(), BTreeMap::new());
        for line in rest.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            announced.remove(&line.path);
            let kind = if line.announced { &mut announced } else { &mut lines };
            kind.insert(line.path.clone(), line);
        }
        let mut whole = serde_json::to_string(&Head { version: VERSION }).unwrap_or_default();
        whole.push('\n');
        for line in lines.values().chain(announced.values()) {
            whole.push_str(&serde_json::to_string(line).unwrap_or_default());
            whole.push('\n');
        }
        files::write_whole_fast(path, whole.as_bytes()).map_err(failed)?;
        let file = OpenOptions::new().append(true).custom_flags(NOFOLLOW).open(path).map_err(failed)?;
        Ok(Self { lines, announced, from: Sha256::of(source.as_bytes()).short(), file: Mutex::new(file) })
    }

    /// The source of this run, in short.
    pub(super) fn from(&self) -> String {
        self.from.clone()
    }

    /// Whether the file at `place`, called `path`, is somebody else's: not brought by an earlier run from this source,
    /// or changed since.
    pub(super) fn is_foreign(&self, path: &str, place: &Path) -> bool {
        let Ok(data) = place.look_at_entry() else { return false };
        let known = [self.lines.get(path), self.announced.get(path)];
        !known.into_iter().flatten().any(|line| line.from == self.from && line.stands(&data))
    }

    pub(super) fn line(&self, path: &str) -> Option<&Line> {
        self.lines.get(path)
    }

    /// Those of this source.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.values().filter(|line| line.from == self.from)
    }

    /// Says what is about to get its name, has it done by `settle`, and says that it has: however a run is cut off, the
    /// next one knows whose the file is, and never takes the one of before for it.
    pub(super) fn name(&self, line: &Line, settle: impl FnOnce() -> std::io::Result<()>) -> std::io::Result<()> {
        self.add(&Line { announced: true, ..line.clone() })?;
        settle()?;
        self.add(line)
    }

    /// Adds a line.
    pub(super) fn add(&self, line: &Line) -> std::io::Result<()> {
        let mut text = serde_json::to_string(line).unwrap_or_default();
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(text.as_bytes())
    }
}
