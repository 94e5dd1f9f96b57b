//! Rows of `matrix/symptoms.toml`: what an error text means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde::{Deserialize, Deserializer, Serialize};

use crate::core::diag::Code;
use crate::core::matrix::slots::Slot;
use crate::core::matrix::{Matrix, parse};

/// A text that a program prints when it fails.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Symptom {
    pub says: Vec<Phrase>,
    /// What it comes from.
    #[serde(default)]
    pub code: Option<Code>,
    /// `{module}` and the like stand for what the slot of that name held, here and in `fix`.
    pub means: String,
    /// Commands to run now, `;` between them.
    #[serde(default)]
    pub ask: String,
    /// What a person does about it.
    pub fix: String,
    pub source: String,
    /// The text follows from many causes, and often from another line: a row that says more goes first.
    #[serde(default)]
    pub general: bool,
    /// The program goes on, and nothing is lost.
    #[serde(default)]
    pub harmless: bool,
    /// The packages whose versions matter.
    #[serde(default)]
    pub packages: Vec<String>,
}

/// A part of a line, in any case; `*` stands for anything within the line, `{library}` and the like for a word of that
/// kind ([`Slot`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Phrase {
    /// As it stands in the row.
    pub text: String,
    /// The slot before each literal, and that literal in lower case. The last literal may be empty.
    parts: Vec<(Option<Slot>, String)>,
}

/// A phrase in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// How many characters of the line the phrase knows.
    pub weight: usize,
    /// What its slots held.
    pub held: BTreeMap<Slot, String>,
}

impl Phrase {
    fn new(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let (mut slot, mut literal) = (None, String::new());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['*', '{']) {
            literal += &rest[..at];
            let (next, after) = Slot::parse(&rest[at..])?;
            let Some(next) = next else {
                // A brace that is part of the text.
                literal.push('{');
                rest = after;
                continue;
            };
            if slot.is_some() || !literal.is_empty() {
                parts.push((slot, literal.to_ascii_lowercase()));
            }
            (slot, literal, rest) = (Some(next), String::new(), after);
        }
        parts.push((slot, (literal + rest).to_ascii_lowercase()));
        Ok(Self { text, parts })
    }

    /// What its slots hold in `line`, of which `lower` is the same in lower case (ASCII alone); `None` where it is not
    /// there.
    pub fn meet(&self, line: &str, lower: &str, matrix: &Matrix) -> Option<Met> {
        let (first, rest) = self.parts.split_first()?;
        let starts: Vec<usize> = match (first.0, first.1.as_str()) {
            (_, "") => vec![0],
            (_, literal) => lower.match_indices(literal).map(|(at, _)| at).collect(),
        };
        starts.into_iter().find_map(|start| {
            let mut met = Met { weight: first.1.len(), held: BTreeMap::new() };
            if let Some(slot) = first.0 {
                met.hold(slot, slot.word_before(&line[..start]), matrix)?;
            }
            let mut at = start + first.1.len();
            for (slot, literal) in rest {
                let slot = slot.as_ref()?;
                if literal.is_empty() {
                    met.hold(*slot, slot.word_after(&line[at..]), matrix)?;
                    continue;
                }
                let next = at + lower[at..].find(literal.as_str())?;
                met.hold(*slot, &line[at..next], matrix)?;
                met.weight += literal.len();
                at = next + literal.len();
            }
            Some(met)
        })
    }

    fn longest_literal(&self) -> &str {
        self.parts.iter().map(|(_, literal)| literal.as_str()).max_by_key(|literal| literal.len()).unwrap_or_default()
    }

    /// Its words that say something.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.parts.iter().flat_map(|(_, part)| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
        words.filter(|word| word.len() > 2)
    }
}

impl Met {
    /// `None` where `text` is no word of that kind.
    fn hold(&mut self, slot: Slot, text: &str, matrix: &Matrix) -> Option<()> {
        let word = slot.accept(text, matrix)?;
        self.weight += slot.weight();
        if slot != Slot::Any {
            self.held.insert(slot, word.to_owned());
        }
        Some(())
    }
}

impl<'de> Deserialize<'de> for Phrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let phrase = Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)?;
        if phrase.parts.iter().map(|(_, part)| part.trim().len()).sum::<usize>() < 6 {
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

/// All rows.
pub struct Symptoms {
    pub rows: Vec<Symptom>,
    /// Finds the longest literal of each phrase.
    literals: AhoCorasick,
    /// The row and the phrase of each literal.
    phrases: Vec<(usize, usize)>,
}

static BUNDLED: LazyLock<Result<Symptoms, String>> = LazyLock::new(|| {
    let rows = parse::<SymptomsFile>("symptoms.toml")?.symptom;
    let phrases =
        |(at, row): (usize, &Symptom)| (0..row.says.len()).map(move |phrase| (at, phrase)).collect::<Vec<_>>();
    let phrases: Vec<(usize, usize)> = rows.iter().enumerate().flat_map(phrases).collect();
    let literals = phrases.iter().map(|(row, phrase)| rows[*row].says[*phrase].longest_literal());
    let literals = AhoCorasick::new(literals).map_err(|error| error.to_string())?;
    Ok(Symptoms { rows, literals, phrases })
});

impl Symptoms {
    /// The bundled ones. Fails only if the file is wrong, which a test rules out.
    pub fn bundled() -> Result<&'static Self, String> {
        BUNDLED.as_ref().map_err(Clone::clone)
    }

    /// The row that knows most of `line`, the last of several, and a general one only where no other knows it; with its
    /// place.
    pub fn best(&self, line: &str, matrix: &Matrix) -> Option<(usize, Met)> {
        let lower = line.to_ascii_lowercase();
        let found: BTreeSet<usize> =
            self.literals.find_overlapping_iter(&lower).map(|literal| literal.pattern().as_usize()).collect();
        let met = found.into_iter().filter_map(|at| {
            let (row, phrase) = self.phrases[at];
            Some((row, self.rows[row].says[phrase].meet(line, &lower, matrix)?))
        });
        met.max_by_key(|(row, met)| (!self.rows[*row].general, met.weight))
    }
}
