//! Secrets that somebody has looked at and accepts: a file of digests, which gives nothing away.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::core::diag::Failure;
use crate::core::secrets::Sighting;

/// What is known and accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    pub version: u64,
    pub known: Vec<AcceptedSecret>,
    /// Of all that is known.
    #[serde(skip)]
    digests: OnceLock<HashSet<String>>,
}

/// One secret that is accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedSecret {
    pub rule: String,
    pub sha256: String,
    /// Where it was seen; it counts everywhere.
    pub file: String,
}

impl Baseline {
    /// From the text of the file called `path`, which may only be missing where it is about to be written.
    pub fn parse(path: &Path, text: Option<&str>, may_be_new: bool) -> Result<Self, Failure> {
        let Some(text) = text else {
            let none = Failure::input(format!("`{}` does not exist", path.display()));
            return if may_be_new { Ok(Self::default()) } else { Err(none.help("create it with --update-baseline")) };
        };
        let bad = |why: String| Failure::input(format!("`{}` is not a baseline", path.display())).cause(why);
        let read: Self = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if read.version == 1 {
            Ok(read)
        } else {
            Err(bad(format!("it has format {}; only 1 is supported", read.version)))
        }
    }

    /// Whether somebody has accepted it, wherever it stood.
    pub fn accepts(&self, one: &Sighting) -> bool {
        let digests = || self.known.iter().map(|known| known.sha256.clone()).collect();
        // A digest is of the rule, too.
        self.digests.get_or_init(digests).contains(&one.sha256)
    }

    /// Adds what was found, by file.
    pub fn accept(&mut self, found: &[(String, Vec<Sighting>)]) {
        for (file, sightings) in found {
            self.known.extend(sightings.iter().map(|one| AcceptedSecret {
                rule: one.rule.to_owned(),
                sha256: one.sha256.clone(),
                file: file.clone(),
            }));
        }
        self.version = 1;
        self.digests = OnceLock::new();
        self.known.sort();
        self.known.dedup();
    }
}
