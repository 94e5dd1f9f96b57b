//! `golden.lock`: which releases a folder has taken from which repository, by digest; what was asked for beside what it
//! was.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::core::model::{PackageName, Sha256};

/// The file.
pub const PIN_FILE: &str = "golden.lock";

/// All pins of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// Of the format.
    pub version: u64,
    #[serde(default, rename = "golden")]
    pub all: Vec<Pin>,
}

/// One release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    pub name: PackageName,
    /// What was asked for: `pytorch`, `pytorch@2026.11.0`.
    pub original: String,
    pub version: semver::Version,
    /// Of its lock.
    pub sha256: Sha256,
    /// Where its repository is, and what that calls itself.
    pub from: String,
    pub repository: PackageName,
    /// The number of the index that named it, and who had signed that.
    pub seq: u64,
    pub signers: Vec<String>,
    /// The user wants it though it was withdrawn.
    #[serde(default, rename = "allow-yanked", skip_serializing_if = "std::ops::Not::not")]
    pub allow_yanked: bool,
}

impl Default for Pins {
    fn default() -> Self {
        Self { version: 1, all: Vec::new() }
    }
}

impl Pins {
    pub fn parse(text: &str) -> Result<Self, String> {
        let pins: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if pins.version != 1 {
            return Err(format!("it has format {}, this colab-boot reads 1", pins.version));
        }
        let mut names = BTreeSet::new();
        match pins.all.iter().find(|pin| !names.insert(&pin.name)) {
            Some(pin) => Err(format!("it pins `{}` twice: keep one of the entries", pin.name)),
            None => Ok(pins),
        }
    }

    /// Sorted by name, so that a change is a short diff.
    pub fn to_text(&self) -> Result<String, String> {
        let body = toml::to_string(self).map_err(|error| error.to_string())?;
        Ok(format!("# Made by `colab-boot golden add`. `colab-boot golden update` changes it.\n{body}"))
    }

    pub fn of(&self, name: &PackageName) -> Option<&Pin> {
        self.all.iter().find(|pin| pin.name == *name)
    }

    /// Puts `pin` in the place of the one of its name.
    pub fn put(&mut self, pin: Pin) {
        self.all.retain(|other| other.name != pin.name);
        self.all.push(pin);
        self.all.sort_by(|a, b| a.name.cmp(&b.name));
    }
}
