//! What a verification on a real machine found, to be put beside a release: which GPU, driver and image, what was
//! tried, of which lock. No host, no folder, no name of a user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::model::{PackageName, Sha256};
use crate::golden::calendar::Day;
use crate::golden::entry::{Evidence, Release};

/// The format that this program writes and reads.
pub const SCHEMA: u64 = 1;

/// The file that `verify --record` writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Record {
    pub schema: u64,
    pub profile: PackageName,
    pub version: semver::Version,
    /// Of the lock.
    pub lock: Sha256,
    /// The target of the lock.
    pub target: String,
    /// The day, 2026-11-22.
    pub on: String,
    /// The notebook image, or the operating system.
    pub image: String,
    pub python: String,
    pub driver: Option<String>,
    pub gpus: Vec<RecordedGpu>,
    /// By framework.
    pub smoke: BTreeMap<PackageName, RecordedTest>,
    /// Codes of what was found wrong or worth a warning.
    pub findings: Vec<String>,
    /// No finding was an error.
    pub ok: bool,
    /// The colab-boot that verified.
    pub tool: String,
}

/// A GPU of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedGpu {
    pub name: String,
    pub capability: String,
}

/// A smoke test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedTest {
    pub ok: bool,
    pub version: Option<String>,
}

impl Record {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if record.schema == SCHEMA {
            return Ok(record);
        }
        Err(format!("it has format {}, this colab-boot reads {SCHEMA}", record.schema))
    }

    /// As a file has it.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{text}\n")
    }

    /// The row of an index, for `release` on `today`, of the record that was read from `text`; the reason where it
    /// speaks for another one, or against it.
    pub fn row(&self, text: &str, release: &Release, today: Day) -> Result<Evidence, String> {
        let is_of_it = self.profile == release.name && self.version == release.version;
        if !is_of_it || release.file("lock").is_none_or(|file| file.sha256 != self.lock) {
            return Err(format!("it is for {}@{} with a different lock", self.profile, self.version));
        }
        if !self.ok {
            return Err(format!("that verification failed: {}", self.findings.join(", ")));
        }
        let on = self.on.parse().map(Day).map_err(|_| format!("`{}` is not a date", self.on))?;
        if on > today {
            return Err(format!("its date {on} is in the future"));
        }
        let gpu = self.gpus.first().map_or_else(|| "none".to_owned(), |gpu| gpu.capability.clone());
        // Two records of one day stand side by side.
        let name = |count: usize| match count {
            0 => format!("verified-{gpu}-{on}.json"),
            count => format!("verified-{gpu}-{on}-{}.json", count + 1),
        };
        let digest = Sha256::of(text.as_bytes());
        let file = (0..32)
            .map(name)
            .find(|name| release.files.iter().all(|file| file.name != *name || file.sha256 == digest))
            .unwrap_or_default();
        Ok(Evidence { gpu, runtime: self.image.clone(), on, file, by: None })
    }
}
