//! A wheel on disk, and what it says of itself.

use std::io::Error as IoError;
use std::path::Path;
use std::sync::OnceLock;

use crate::boot::index::{WheelSource, failure_in};
use crate::boot::store::WheelTexts;
use crate::core::diag::Failure;
use crate::core::inspect::{Archive, Entry, parse_record};
use crate::core::model::contents::Files;
use crate::core::model::metadata::headers;

/// The largest RECORD that is read; those of the largest wheels have 3 MB.
const RECORD_LIMIT: u64 = 64 << 20;

/// The largest of the other files of a dist-info folder that is read.
const TEXT_LIMIT: u64 = 16 << 20;

/// The directory and the dist-info of a wheel.
pub struct Downloaded {
    /// Where it is read from.
    pub source: WheelSource,
    pub files: Files,
    pub record: String,
    pub metadata: String,
    /// WHEEL, with its tags.
    pub wheel: String,
    /// Empty where there are none.
    pub entry_points: String,
    entries: OnceLock<Vec<Entry>>,
}

impl Downloaded {
    /// Whether its modules go where those of every platform lie.
    pub fn is_pure(&self) -> bool {
        headers(&self.wheel)
            .iter()
            .any(|(name, value)| name.eq_ignore_ascii_case("Root-Is-Purelib") && value.eq_ignore_ascii_case("true"))
    }

    /// Reads the wheel in `source`; of a download, out of turn. Fails where it is none, and where a file that every
    /// wheel has is missing.
    pub fn open(source: &WheelSource) -> Result<Self, Failure> {
        if let WheelSource::Stored(stored) = source {
            let WheelTexts { record, metadata, wheel, entry_points } = stored.texts().clone();
            let files = stored.files().clone();
            let entries = OnceLock::new();
            return Ok(Self { source: source.clone(), files, record, metadata, wheel, entry_points, entries });
        }
        let path: &Path = source.path();
        let failed = |what: &str, why: &IoError| {
            failure_in(why).unwrap_or_else(|| {
                let message = format!("{what} of `{}` can't be read", path.display());
                Failure::answer(message).because(why).help("the wheel is invalid; choose another release")
            })
        };
        let mut archive = source.open().and_then(Archive::open).map_err(|error| failed("the directory", &error))?;
        let files = archive.files().clone();
        let mut text = |name: &str, limit: u64| {
            let member = files.dist_info(name);
            member.map(|member| archive.text(member, limit).map_err(|error| failed(name, &error))).transpose()
        };
        let missing = |name: &str| {
            Failure::answer(format!("`{}` has no {name}", path.display()))
                .help("the wheel is invalid; choose another release")
        };
        Ok(Self {
            source: source.clone(),
            record: text("RECORD", RECORD_LIMIT)?.ok_or_else(|| missing("RECORD"))?,
            metadata: text("METADATA", TEXT_LIMIT)?.ok_or_else(|| missing("METADATA"))?,
            wheel: text("WHEEL", TEXT_LIMIT)?.ok_or_else(|| missing("WHEEL"))?,
            entry_points: text("entry_points.txt", TEXT_LIMIT)?.unwrap_or_default(),
            files,
            entries: OnceLock::new(),
        })
    }

    /// What RECORD lists.
    pub fn entries(&self) -> &[Entry] {
        self.entries.get_or_init(|| parse_record(&self.record))
    }

    /// The texts that [`open`](Self::open) reads.
    pub fn texts(&self) -> WheelTexts {
        let Self { record, metadata, wheel, entry_points, .. } = self;
        let [record, metadata, wheel, entry_points] = [record, metadata, wheel, entry_points].map(Clone::clone);
        WheelTexts { record, metadata, wheel, entry_points }
    }

    /// The text of the member at `path`, `most` bytes at most; `None` where it can't be read.
    pub fn text_of(&self, path: &str, most: u64) -> Option<String> {
        if let WheelSource::Stored(stored) = &self.source {
            let member = self.files.members.iter().position(|member| member.path == path)?;
            return String::from_utf8(stored.read_member(member, most).ok()?).ok();
        }
        let mut archive = self.source.open().and_then(Archive::open).ok()?;
        let member = archive.files().get(path)?.clone();
        archive.text(&member, most).ok()
    }
}
