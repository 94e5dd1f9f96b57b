//! Secrets in texts and notebooks: found by their formats (`matrix/secrets.toml`) in what a cell really says, and taken out where they stand.
//! Text in, text out; a value is never kept, nor shown.

mod baseline;
mod json_strings;
mod sarif;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::diag::Failure;
use crate::matrix::{SecretFormat, secret_formats};
use crate::model::Sha256;
use crate::scrub::json_strings::{Site, sites};

pub use baseline::Baseline;
pub use sarif::{sarif, sarif_frame};

/// A line with this is passed over: somebody has looked at it.
const ALLOWED: &str = "colab-boot: allow";

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    pub rule: &'static str,
    pub span: Range<usize>,
}

/// A secret in a file, as people may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sighting {
    /// `hugging-face-token`.
    pub rule: &'static str,
    /// `cell 3, line 2`.
    pub place: String,
    /// In the file, from 1.
    pub line: usize,
    /// The first four characters and the length.
    pub shown: String,
    /// Of rule and value: the same secret has the same wherever it stands.
    pub sha256: String,
}

/// The secrets of `text`, in their order, none within another. Colours of a terminal are looked through.
pub fn scan(text: &str) -> Result<Vec<Secret>, Failure> {
    let Some((bare, places)) = without_colours(text) else { return scan_bare(text, text, &|span| span) };
    let original = |span: Range<usize>| places[span.start]..places[span.end - 1] + 1;
    scan_bare(&bare, text, &original)
}

/// The text without escape sequences (ECMA-48, CSI), and where each of its bytes stands; `None` where there are none.
fn without_colours(text: &str) -> Option<(String, Vec<usize>)> {
    static SEQUENCE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033)\[[0-9;?]{0,16}[ -/]{0,4}[@-~]").ok());
    let sequence = SEQUENCE.as_ref()?;
    if !sequence.is_match(text) {
        return None;
    }
    let (mut bare, mut places, mut at) = (String::new(), Vec::new(), 0);
    for found in sequence.find_iter(text) {
        bare.push_str(&text[at..found.start()]);
        places.extend(at..found.start());
        at = found.end();
    }
    bare.push_str(&text[at..]);
    places.extend(at..text.len());
    Some((bare, places))
}

/// As [`scan`], in `bare`; `original` leads back to `text`.
fn scan_bare(bare: &str, text: &str, original: &dyn Fn(Range<usize>) -> Range<usize>) -> Result<Vec<Secret>, Failure> {
    let formats = secret_formats().map_err(Failure::bug)?;
    let lower = bare.to_ascii_lowercase();
    let mut found: Vec<Secret> = Vec::new();
    for row in formats.secret.iter().filter(|row| row.keywords.iter().any(|word| lower.contains(word.as_str()))) {
        let pattern = row.pattern().ok_or_else(|| Failure::bug(format!("`{}` is no pattern", row.id)))?;
        for captures in pattern.captures_iter(bare) {
            let Some(value) = captures.name("value").or_else(|| captures.get(0)) else { continue };
            let span = original(value.range());
            let is_known = found.iter().any(|one| one.span.start < span.end && span.start < one.span.end);
            let is_about = captures.name("name").is_some_and(|rest| formats.is_about(rest.as_str()));
            let is_none = is_about || !is_secret(row, value.as_str()) || formats.is_placeholder(value.as_str());
            if !is_known && !is_none && !is_allowed(text, &span) {
                found.push(Secret { rule: &row.id, span });
            }
        }
    }
    found.sort_by_key(|one| one.span.start);
    Ok(found)
}

/// Whether the line of `span` says that it is meant.
fn is_allowed(text: &str, span: &Range<usize>) -> bool {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at);
    text[start..end].contains(ALLOWED)
}

fn is_secret(row: &SecretFormat, value: &str) -> bool {
    entropy(value) >= row.entropy
        && (!row.generic || is_random(value) && !is_name(value))
        && (!row.bare || is_no_word(value))
}

/// No name of a variable, no call, no version: digits with letters of both cases, or a long hexadecimal number.
fn is_no_word(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
    let is_hexadecimal = value.len() >= 32 && value.chars().all(|c| c.is_ascii_hexdigit());
    has(char::is_ascii_digit) && (is_hexadecimal || has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase))
}

/// Paths, addresses, digests, versions, names of models and of code: `/content/x.json`, `meta-llama/Llama-3.1-8B-Instruct`, `1:4.13+dfsg1`,
/// `AutoTokenizer.from_pretrained`.
fn is_name(value: &str) -> bool {
    let is_of = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".:+~-".contains(c);
    let is_version = value.starts_with(|c: char| c.is_ascii_digit()) && value.contains('.') && value.chars().all(is_of);
    let is_code = value.contains('.')
        && value.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphabetic() || c == '_'));
    if is_version || is_code {
        return true;
    }
    let starts = ["/", "./", "../", "~/", "http:", "https:", "gs:", "s3:", "sha256:", "sha256-", "sha512-", "md5:"];
    let is_word = |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let model =
        value.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name) && name.contains('-'));
    model || starts.iter().any(|start| value.starts_with(start))
}

/// Bits a character (Shannon).
#[expect(clippy::cast_precision_loss, reason = "counts of characters")]
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    text.chars().for_each(|c| *counts.entry(c).or_insert(0_u32) += 1);
    let length = text.chars().count() as f64;
    -counts.values().map(|count| f64::from(*count) / length).map(|share| share * share.log2()).sum::<f64>()
}

/// Letters and digits, or both cases, change places as words do not: names of models and files are none.
fn is_random(text: &str) -> bool {
    let kind = |c: char| match c {
        'a'..='z' => 1,
        'A'..='Z' => 2,
        '0'..='9' => 3,
        _ => 0,
    };
    let kinds: Vec<u8> = text.chars().map(kind).collect();
    let changes = |pair: &&[u8]| pair[0] != pair[1] && pair[0] != 0 && pair[1] != 0;
    // `Word` is one change, and no sign of anything.
    kinds.windows(2).filter(changes).count() >= 3
}

/// The secrets of a file called `name` that the baseline does not accept, and the same text without them where there are any.
pub fn scrubbed(name: &str, text: &str, known: &Baseline) -> Result<(Vec<Sighting>, Option<String>), Failure> {
    let is_notebook = name.ends_with(".ipynb") && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_notebook { notebook(text, known) } else { plain(text, known) }
}

fn plain(text: &str, known: &Baseline) -> Result<(Vec<Sighting>, Option<String>), Failure> {
    let place = |at: usize| {
        let line = text[..at].matches('\n').count() + 1;
        (format!("line {line}"), line)
    };
    let (secrets, sightings) = unknown(scan(text)?, text, known, &place);
    let clean = without(text, &secrets);
    Ok((sightings, (!secrets.is_empty()).then_some(clean)))
}

/// Those of `secrets` that the baseline does not accept, each with how people see it. `place` names where a byte of `text` stands, and its line.
fn unknown(
    secrets: Vec<Secret>,
    text: &str,
    known: &Baseline,
    place: &dyn Fn(usize) -> (String, usize),
) -> (Vec<Secret>, Vec<Sighting>) {
    let seen = secrets.into_iter().map(|one| {
        let (name, line) = place(one.span.start);
        let sighting = sighting(one.rule, &text[one.span.clone()], name, line);
        (one, sighting)
    });
    seen.filter(|(_, sighting)| !known.accepts(sighting)).unzip()
}

fn sighting(rule: &'static str, value: &str, place: String, line: usize) -> Sighting {
    let first: String = value.chars().take(4).collect();
    let shown = format!("{first}…, {} characters", value.chars().count());
    let sha256 = Sha256::of(format!("{rule}\n{value}").as_bytes()).short();
    Sighting { rule, place, line, shown, sha256 }
}

fn replacement(rule: &str) -> String {
    format!("«removed: {rule}»")
}

fn without(text: &str, secrets: &[Secret]) -> String {
    let mut clean = String::new();
    let mut at = 0;
    for secret in secrets {
        clean.push_str(&text[at..secret.span.start]);
        clean.push_str(&replacement(secret.rule));
        at = secret.span.end;
    }
    clean + &text[at..]
}

/// In a notebook the decoded strings are looked at, lines of one cell as one text; what is changed is the string that holds the secret, and no
/// other byte of the file.
fn notebook(text: &str, known: &Baseline) -> Result<(Vec<Sighting>, Option<String>), Failure> {
    let mut sightings = Vec::new();
    let mut changed: Vec<(Range<usize>, String)> = Vec::new();
    for site in sites(text) {
        let place = |start: usize| {
            let line = site.text[..start].matches('\n').count() + 1;
            let (at, _) = site.literal_of(start);
            (format!("{}, line {line}", site.place), text[..at].matches('\n').count() + 1)
        };
        let (secrets, own) = unknown(scan(&site.text)?, &site.text, known, &place);
        sightings.extend(own);
        changed.extend(rewritten(&site, &secrets));
    }
    if changed.is_empty() {
        return Ok((sightings, None));
    }
    changed.sort_by_key(|(span, _)| span.start);
    let mut clean = String::new();
    let mut at = 0;
    for (span, literal) in changed {
        clean.push_str(&text[at..span.start]);
        clean.push_str(&literal);
        at = span.end;
    }
    Ok((sightings, Some(clean + &text[at..])))
}

/// The literals of `site` that hold a part of a secret, written anew. A secret of several lines leaves its word in the first.
fn rewritten(site: &Site, secrets: &[Secret]) -> Vec<(Range<usize>, String)> {
    let mut changed = Vec::new();
    for segment in &site.segments {
        let own = segment.start..segment.start + segment.length;
        let within: Vec<&Secret> =
            secrets.iter().filter(|one| one.span.start < own.end && own.start < one.span.end).collect();
        if within.is_empty() {
            continue;
        }
        let mut clean = String::new();
        let mut at = own.start;
        for secret in within {
            clean.push_str(&site.text[at..secret.span.start.max(at)]);
            if secret.span.start >= own.start {
                clean.push_str(&replacement(secret.rule));
            }
            at = secret.span.end.min(own.end);
        }
        clean.push_str(&site.text[at..own.end]);
        // The end of a line stays, or lines of the cell would run together.
        if site.text[own.clone()].ends_with('\n') && !clean.ends_with('\n') {
            clean.push('\n');
        }
        changed.push((segment.literal.clone(), serde_json::Value::from(clean).to_string()));
    }
    changed
}

#[cfg(test)]
mod tests;
