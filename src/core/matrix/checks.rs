//! What `doctor` looks at (`doctor-checks.toml`): groups, thresholds, remedies.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

use crate::core::diag::Code;
use crate::core::matrix::parse;
use crate::core::model::{ComputeCapability, Version};

/// A row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub id: Code,
    pub group: String,
    /// Packages, driver and GPUs are enough to judge it.
    #[serde(default)]
    pub described: bool,
    #[serde(default)]
    pub limits: BTreeMap<String, Amount>,
    /// What a person does about it.
    pub remedy: String,
    pub source: String,
}

impl Check {
    /// The threshold called `name`; a row without it has none that is ever reached, which a test rules out.
    pub fn limit(&self, name: &str) -> f64 {
        self.limits.get(name).map_or(f64::NAN, |amount| amount.0)
    }
}

/// A share (`10%` is 0.1), bytes (`1GB`, `64MiB`), seconds (`12h`, `30min`) or a plain number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount(pub f64, pub Unit);

/// What an amount counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Share,
    Bytes,
    Seconds,
    Number,
}

impl Unit {
    /// How one is written.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Share => "a percentage such as `10%`, at most 100%",
            Self::Bytes => "a size such as `2GB` or `64MiB`",
            Self::Seconds => "a duration such as `8h` or `30min`",
            Self::Number => "a number",
        }
    }
}

impl Amount {
    /// Reads one; `None` for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        const UNITS: &[(&str, f64, Unit)] = &[
            ("%", 0.01, Unit::Share),
            ("KiB", 1024.0, Unit::Bytes),
            ("MiB", 1_048_576.0, Unit::Bytes),
            ("GiB", 1_073_741_824.0, Unit::Bytes),
            ("kB", 1e3, Unit::Bytes),
            ("MB", 1e6, Unit::Bytes),
            ("GB", 1e9, Unit::Bytes),
            ("TB", 1e12, Unit::Bytes),
            ("min", 60.0, Unit::Seconds),
            ("h", 3600.0, Unit::Seconds),
            ("d", 86_400.0, Unit::Seconds),
            ("ms", 1e-3, Unit::Seconds),
            ("s", 1.0, Unit::Seconds),
        ];
        let unit = UNITS.iter().find_map(|(unit, factor, kind)| Some((text.strip_suffix(unit)?, *factor, *kind)));
        let (number, factor, kind) = unit.unwrap_or((text, 1.0, Unit::Number));
        let number: f64 = number.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(Self(number * factor, kind))
    }

    /// Reads one that counts `unit`. The error says how it is written.
    pub fn of(text: &str, unit: Unit) -> Result<Self, String> {
        let amount = Self::parse(text).filter(|amount| amount.1 == unit && (unit != Unit::Share || amount.0 <= 1.0));
        amount.ok_or_else(|| format!("write {}", unit.example()))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not an amount such as `10%`, `2GB` or `12h`")))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksFile {
    check: Vec<Check>,
    #[serde(rename = "known-bad")]
    known_bad: Vec<KnownBad>,
    credential: Vec<CredentialPlace>,
    working: Working,
}

/// Where a service keeps credentials.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialPlace {
    pub service: String,
    pub variables: Vec<String>,
    /// `~` is the user's home.
    pub files: Vec<String>,
    /// Every JSON file in it.
    #[serde(default)]
    pub folder: Option<String>,
    /// The JSON field that says when it ends.
    #[serde(default)]
    pub expires: Option<String>,
    /// The JSON field that says what it is.
    #[serde(default)]
    pub kind: Option<String>,
    /// Its program renews it.
    #[serde(default)]
    pub renewed: bool,
    pub source: String,
}

/// Names of files with credentials, in a working folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Working {
    pub names: Vec<String>,
    /// Parts of the names of JSON files.
    pub parts: Vec<String>,
}

/// Versions of a library that compute wrongly, or fail, on some GPUs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KnownBad {
    /// The beginning of the names of packages that carry it.
    pub package: String,
    /// The beginning of its file name.
    pub library: String,
    pub from: Version,
    pub before: Version,
    pub capability_from: ComputeCapability,
    pub capability_before: ComputeCapability,
    pub why: String,
    pub take: String,
    pub source: String,
}

static BUNDLED: LazyLock<Result<ChecksFile, String>> = LazyLock::new(|| parse("doctor-checks.toml"));

/// All rows, in their order. Fails only if the file is wrong, which a test rules out.
pub fn checks() -> Result<&'static [Check], String> {
    BUNDLED.as_ref().map(|file| file.check.as_slice()).map_err(Clone::clone)
}

/// The versions that are known to be bad. Fails as [`checks`] does.
pub fn known_bad() -> Result<&'static [KnownBad], String> {
    BUNDLED.as_ref().map(|file| file.known_bad.as_slice()).map_err(Clone::clone)
}

/// Where credentials lie, and what they are called in a working folder. Fails as [`checks`] does.
pub fn credential_places() -> Result<(&'static [CredentialPlace], &'static Working), String> {
    BUNDLED.as_ref().map(|file| (file.credential.as_slice(), &file.working)).map_err(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        for (text, value) in [
            ("10%", 0.1),
            ("64MiB", 67_108_864.0),
            ("1GB", 1e9),
            ("12h", 43_200.0),
            ("30min", 1800.0),
            ("4096", 4096.0),
        ] {
            let read = Amount::parse(text).expect(text).0;
            assert!((read - value).abs() < 1e-6, "{text}: {read}");
        }
        for text in ["", "h", "-1%", "1XB", "inf", "NaN"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }

    #[test]
    fn each_row_is_whole() {
        let mut seen = std::collections::BTreeSet::new();
        for row in checks().expect("doctor-checks.toml") {
            assert!(seen.insert(row.id), "{} stands twice", row.id);
            assert!(!row.remedy.trim().is_empty() && !row.source.trim().is_empty(), "{}", row.id);
        }
    }
}
