//! What error texts mean (`symptoms.toml`).

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};

use crate::core::diag::Code;
use crate::core::matrix::parse;

/// A row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symptom {
    pub says: Vec<Phrase>,
    /// What it comes from.
    #[serde(default)]
    pub code: Option<Code>,
    pub means: String,
    /// Commands to run now, `;` between them.
    #[serde(default)]
    pub ask: String,
    /// What a person does about it.
    pub fix: String,
    pub source: String,
}

/// A part of a line, in any case; `*` stands for anything within the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Phrase {
    /// As it stands in the row.
    pub text: String,
    parts: Vec<String>,
}

impl Phrase {
    fn new(text: String) -> Self {
        let parts = text.to_lowercase().split('*').map(str::to_owned).filter(|part| !part.is_empty()).collect();
        Self { text, parts }
    }

    /// How many characters of `line`, in lower case, it knows literally; `None` where it is not in it.
    pub fn weight(&self, line: &str) -> Option<usize> {
        let mut rest = line;
        for part in &self.parts {
            rest = &rest[rest.find(part.as_str())? + part.len()..];
        }
        Some(self.parts.iter().map(String::len).sum())
    }

    /// Its words that say something.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.parts.iter().flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
        words.filter(|word| word.len() > 2)
    }
}

impl<'de> Deserialize<'de> for Phrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let phrase = Self::new(String::deserialize(deserializer)?);
        if phrase.parts.iter().map(|part| part.trim().len()).sum::<usize>() < 6 {
            return Err(serde::de::Error::custom(format!("`{}` is too short to be unambiguous", phrase.text)));
        }
        Ok(phrase)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SymptomsFile {
    symptom: Vec<Symptom>,
}

static BUNDLED: LazyLock<Result<SymptomsFile, String>> = LazyLock::new(|| parse("symptoms.toml"));

/// All rows. Fails only if the file is wrong, which a test rules out.
pub fn symptoms() -> Result<&'static [Symptom], String> {
    BUNDLED.as_ref().map(|file| file.symptom.as_slice()).map_err(Clone::clone)
}
