//! What secrets look like (`secret-formats.toml`).

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::core::matrix::parse;

/// A row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretFormat {
    pub id: String,
    /// In lower case; one of them must be in the text.
    pub keywords: Vec<String>,
    pattern: String,
    /// Bits a character that the secret has at least.
    #[serde(default)]
    pub entropy: f64,
    /// By the name that it is given to, and not by its own form.
    #[serde(default)]
    pub generic: bool,
    /// It has digits, and letters of both cases or of hexadecimal numbers alone: without quotes around it a name may
    /// stand there as well.
    #[serde(default)]
    pub bare: bool,
    pub source: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

impl SecretFormat {
    /// The pattern, compiled when a text first has one of the keywords: all of them at once would take longer than most
    /// texts.
    pub fn pattern(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| RegexBuilder::new(&self.pattern).size_limit(20 << 20).build().ok()).as_ref()
    }
}

/// All of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretFormats {
    pub secret: Vec<SecretFormat>,
    not: NotSecret,
    #[serde(skip)]
    words: OnceLock<Option<Words>>,
}

/// The keywords of all rows.
#[derive(Debug)]
struct Words {
    automaton: AhoCorasick,
    /// For each of them, the place of its row.
    rows: Vec<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotSecret {
    words: Vec<String>,
    /// Only where a word begins, all in one case or with a capital.
    #[serde(rename = "short-words")]
    short_words: Vec<String>,
    /// Not in long values.
    filler: String,
    /// Whole values, in any case.
    values: Vec<String>,
    #[serde(skip)]
    any_word: OnceLock<Option<Regex>>,
    /// How the name of something else goes on.
    others: Vec<String>,
    /// Of the names of variables.
    endings: Vec<String>,
}

/// A longer value has four equal letters by chance.
const LONG: usize = 200;

impl SecretFormats {
    /// The rows of which `text` has a keyword, in any case; in their order. Fails only if there are too many keywords,
    /// which a test rules out.
    pub fn of_words(&self, text: &str) -> Result<impl Iterator<Item = &SecretFormat>, String> {
        let words =
            self.words.get_or_init(|| self.all_words()).as_ref().ok_or("the keywords of secrets can't be searched")?;
        let mut has = vec![false; self.secret.len()];
        for found in words.automaton.find_overlapping_iter(text) {
            has[words.rows[found.pattern().as_usize()]] = true;
        }
        Ok(self.secret.iter().zip(has).filter_map(|(row, has)| has.then_some(row)))
    }

    fn all_words(&self) -> Option<Words> {
        let rows =
            self.secret.iter().enumerate().flat_map(|(at, row)| std::iter::repeat_n(at, row.keywords.len())).collect();
        let words = self.secret.iter().flat_map(|row| &row.keywords);
        let automaton = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(words).ok()?;
        Some(Words { automaton, rows })
    }

    /// Whether `value` is an example, a name or a placeholder.
    pub fn is_placeholder(&self, value: &str) -> bool {
        let filler = self.not.filler.as_str();
        let words = self.not.any_word.get_or_init(|| self.placeholder_words());
        self.not.values.iter().any(|one| one.eq_ignore_ascii_case(value))
            || words.as_ref().is_some_and(|any| any.is_match(value))
            || value.len() <= LONG && (value.contains(filler) || value.contains(&filler.to_uppercase()))
    }

    /// The words of placeholders as one expression; short ones only where no letter or digit stands before.
    fn placeholder_words(&self) -> Option<Regex> {
        let mut words: Vec<String> = self.not.words.iter().map(|word| regex::escape(word)).collect();
        words.extend(self.not.short_words.iter().map(|word| {
            let (first, rest) = word.split_at(1);
            format!("(?:^|[^a-z0-9])(?-i:{word}|{}|{}{rest})", word.to_uppercase(), first.to_uppercase())
        }));
        RegexBuilder::new(&words.join("|")).case_insensitive(true).build().ok()
    }
}

impl SecretFormats {
    /// Whether a name that ends in `rest` speaks of something else than a secret: `_path` or `_sha256` of one, a
    /// token`izer`.
    pub fn is_about(&self, rest: &str) -> bool {
        let rest = rest.to_lowercase();
        if self.not.others.iter().any(|other| rest.starts_with(other.as_str())) {
            return true;
        }
        let between = ['_', '-', ' ', '.'];
        let last = rest.trim_matches(between).rsplit(between).next().unwrap_or_default();
        self.not.endings.iter().any(|ending| ending == last)
    }
}

static BUNDLED: LazyLock<Result<SecretFormats, String>> = LazyLock::new(|| parse("secret-formats.toml"));

/// The rows. Fails only if the file is wrong, which a test rules out.
pub fn secret_formats() -> Result<&'static SecretFormats, String> {
    BUNDLED.as_ref().map_err(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::secret_formats;

    #[test]
    fn each_row_is_whole() {
        for row in &secret_formats().expect("secret-formats.toml").secret {
            assert!(row.pattern().is_some(), "{} is no pattern", row.id);
            assert!(!row.source.is_empty() && !row.keywords.is_empty(), "{}", row.id);
            assert!(row.keywords.iter().all(|word| *word == word.to_lowercase()), "{}", row.id);
        }
    }

    #[test]
    fn rows_are_chosen_by_their_words_in_any_case() {
        let formats = secret_formats().expect("secret-formats.toml");
        let chosen =
            |text: &str| -> Vec<&str> { formats.of_words(text).expect("words").map(|row| row.id.as_str()).collect() };
        assert_eq!(chosen("plain"), Vec::<&str>::new());
        assert_eq!(chosen("x Hf_ and eyJ"), ["hugging-face-token", "json-web-token"]);
        for (at, row) in formats.secret.iter().enumerate() {
            for word in &row.keywords {
                let upper = format!("é{}é", word.to_uppercase());
                let mut rows = formats.of_words(&upper).expect("words");
                assert!(rows.any(|one| std::ptr::eq(one, &raw const formats.secret[at])), "{word}");
            }
        }
    }
}
