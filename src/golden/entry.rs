//! One release in an index: its files, what it was made for, and what it is on a day.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::core::model::{CudaVersion, DriverVersion, PackageName, Sha256, Version};
use crate::golden::calendar::Day;

/// The most files of one.
const FILES: usize = 32;

/// What was decided of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Current,
    Deprecated,
    Yanked,
}

/// What a release is on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Current,
    Deprecated,
    Expired,
    Yanked,
}

impl Standing {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Deprecated => "deprecated",
            Self::Expired => "expired",
            Self::Yanked => "yanked",
        }
    }
}

/// One release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Release {
    pub name: PackageName,
    pub version: semver::Version,
    pub status: Status,
    pub published: Day,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecate_on: Option<Day>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Day>,
    /// `pytorch@2027.3.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// Why it is deprecated or yanked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    #[serde(default)]
    pub description: String,
    pub frameworks: BTreeMap<PackageName, Version>,
    pub python: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda: Option<CudaVersion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_floor: Option<DriverVersion>,
    /// Targets of its lock.
    pub runtimes: Vec<String>,
    /// By compute capability: `native`, `ptx-jit`.
    #[serde(default)]
    pub gpus: BTreeMap<String, String>,
    /// Bytes of its wheels.
    pub download: u64,
    /// Bytes that a fresh target downloads, by its name: what an image has in the same version is kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fetch: BTreeMap<String, u64>,
    /// Packages.
    pub packages: usize,
    pub files: Vec<ReleaseFile>,
    #[serde(default)]
    pub verified: Vec<Evidence>,
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseFile {
    pub name: String,
    pub size: u64,
    pub sha256: Sha256,
}

/// A verification on a real machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// A compute capability, or `none`.
    pub gpu: String,
    /// A runtime, or what the machine calls itself.
    pub runtime: String,
    pub on: Day,
    pub file: String,
    /// Who has signed the record: a name of `allowed_signers`, or a fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Release {
    /// `pytorch@2026.11.0`.
    pub fn title(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// The folder with its files.
    pub fn folder(&self) -> String {
        format!("{}/{}", self.name, self.version)
    }

    /// What it needs of the hardware, for people.
    pub fn hardware(&self) -> String {
        let gpus: Vec<&str> = self.gpus.keys().map(String::as_str).collect();
        match &self.driver_floor {
            Some(floor) => format!("needs driver {floor}"),
            None if gpus.is_empty() => "no GPU needed".to_owned(),
            None => format!("for GPUs of compute capability {}", gpus.join(", ")),
        }
    }

    /// Whether it is for a GPU of this compute capability: one that needs none runs beside any.
    pub fn runs_on(&self, gpu: &str) -> bool {
        self.gpus.is_empty() || self.gpus.contains_key(gpu)
    }

    /// What it is on `day`.
    pub fn standing(&self, day: Day) -> Standing {
        let reached = |date: Option<Day>| date.is_some_and(|date| date <= day);
        match self.status {
            Status::Yanked => Standing::Yanked,
            _ if reached(self.expires) => Standing::Expired,
            Status::Deprecated => Standing::Deprecated,
            Status::Current if reached(self.deprecate_on) => Standing::Deprecated,
            Status::Current => Standing::Current,
        }
    }

    pub fn file(&self, suffix: &str) -> Option<&ReleaseFile> {
        let name = format!("{}.{suffix}", self.name);
        self.files.iter().find(|file| file.name == name)
    }

    /// Why its rows can't be meant, such as a file name that would lead out of its folder.
    pub(super) fn fault(&self) -> Option<String> {
        let names: BTreeSet<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        if names.len() != self.files.len() || self.files.len() > FILES {
            return Some(format!("it names a file twice, or more than {FILES}"));
        }
        if let Some(name) = names.iter().find(|name| !self.may_have(name)) {
            return Some(format!("`{}` is not a file of a release", name.escape_debug()));
        }
        if self.status != Status::Current && self.because.as_ref().is_none_or(|because| because.trim().is_empty()) {
            return Some("it has no reason (`because`)".to_owned());
        }
        let is_there = |evidence: &&Evidence| {
            let signature = format!("{}.sig", evidence.file);
            names.contains(evidence.file.as_str()) && (evidence.by.is_none() || names.contains(signature.as_str()))
        };
        let lacks = self.verified.iter().find(|evidence| !is_there(evidence));
        lacks.map(|evidence| format!("its evidence `{}` is not among its files", evidence.file.escape_debug()))
    }

    /// Names that a release may have: made from its own, never paths.
    fn may_have(&self, file: &str) -> bool {
        let own = file.strip_prefix(self.name.as_ref()).and_then(|rest| rest.strip_prefix('.'));
        let record = file.strip_suffix(".sig").unwrap_or(file);
        let evidence = record.strip_prefix("verified-").and_then(|rest| rest.strip_suffix(".json"));
        own.is_some_and(|suffix| matches!(suffix, "toml" | "lock" | "ipynb" | "py"))
            || file == "diff.json"
            || evidence.is_some_and(is_word)
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        && !text.contains("..")
}
