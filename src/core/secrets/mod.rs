//! Secrets in texts and notebooks: found by their formats (`matrix/secret-formats.toml`) in what a cell really says,
//! and taken out where they stand. Text in, text out; a value is never kept, nor shown.

mod baseline;
mod file_kind;
mod json_strings;
mod line_numbers;
mod private_key;
mod replaced;
mod secret_findings;
mod sarif;
mod value;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::core::diag::Failure;
use crate::core::matrix::{SecretFormat, secret_formats};
use crate::core::model::Sha256;
use crate::core::model::json_text::strict;
use crate::core::secrets::file_kind::Document;
use crate::core::secrets::json_strings::{Site, raw_places, sites};
use crate::core::secrets::line_numbers::Lines;
use crate::core::secrets::private_key::lines_of;
use crate::core::secrets::replaced::Substitutes;
use crate::core::secrets::value::{SHORTEST, is_compound, is_secret};

pub use baseline::Baseline;
pub use replaced::Secret;
pub use sarif::{sarif, sarif_frame};
pub use secret_findings::{Fate, said, summary, unread_file, unwritten_file};

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

/// The secrets of `text`, in their order, none within another. Colours of a terminal are looked through, and quotes
/// that HTML writes as words.
pub fn scan(text: &str) -> Result<Vec<Secret>, Failure> {
    scan_lines(&Lines::of(text))
}

/// As [`scan`], of a text whose lines are known.
fn scan_lines(lines: &Lines<'_>) -> Result<Vec<Secret>, Failure> {
    match bare(lines.text) {
        None => scan_open(lines.text, lines, &|span| span),
        Some((bare, places)) => {
            scan_open(&bare, lines, &|span: Range<usize>| places[span.start]..places[span.end - 1] + 1)
        }
    }
}

/// As [`scan_bare`], and once more with blanks for escapes: in `"ok\nhf_…"` and `%3Dhf_…` the end of the escape seems
/// to be a part of the token. What has a format of its own is found so.
fn scan_open(
    bare: &str,
    lines: &Lines<'_>,
    original: &dyn Fn(Range<usize>) -> Range<usize>,
) -> Result<Vec<Secret>, Failure> {
    static ESCAPE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"\\{1,8}(?:[nrtbfv0'"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})|%[0-9a-fA-F]{2}"#).ok());
    let mut found = scan_bare(bare, lines, original)?;
    let Some(escape) = ESCAPE.as_ref().filter(|escape| escape.is_match(bare)) else { return Ok(found) };
    let open = escape.replace_all(bare, |escape: &regex::Captures<'_>| " ".repeat(escape[0].len()));
    let formats = secret_formats().map_err(Failure::bug)?;
    let has_form =
        |secret: &Secret| formats.secret.iter().any(|row| row.id == *secret.rule && !row.generic && !row.bare);
    let more = scan_bare(&open, lines, original)?.into_iter().filter(has_form);
    let known: Vec<Range<usize>> = found.iter().map(|secret| secret.span.clone()).collect();
    found.extend(more.filter(|one| known.iter().all(|span| one.span.end <= span.start || span.end <= one.span.start)));
    found.sort_by_key(|secret| secret.span.start);
    Ok(found)
}

/// The text without escape sequences (ECMA-48, CSI) and with quotes for their names in HTML, and where each of its
/// bytes stands; `None` where there are none of either.
fn bare(text: &str) -> Option<(String, Vec<usize>)> {
    static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?P<quote>&(?:quot|apos|#34|#39|#[xX]22|#[xX]27);)|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033)\[[0-9;?]{0,16}[ -/]{0,4}[@-~]").ok()
    });
    let sequence = SEQUENCE.as_ref()?;
    if !sequence.is_match(text) {
        return None;
    }
    let (mut bare, mut places, mut at) = (String::new(), Vec::new(), 0);
    for found in sequence.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        bare.push_str(&text[at..whole.start()]);
        places.extend(at..whole.start());
        if found.name("quote").is_some() {
            bare.push('"');
            places.push(whole.start());
        }
        at = whole.end();
    }
    bare.push_str(&text[at..]);
    places.extend(at..text.len());
    Some((bare, places))
}

/// As [`scan`], in `bare`; `original` leads back to the text that `lines` are of.
fn scan_bare(
    bare: &str,
    lines: &Lines<'_>,
    original: &dyn Fn(Range<usize>) -> Range<usize>,
) -> Result<Vec<Secret>, Failure> {
    let formats = secret_formats().map_err(Failure::bug)?;
    // By where each begins.
    let mut found: BTreeMap<usize, Secret> = BTreeMap::new();
    for row in formats.of_words(bare).map_err(Failure::bug)? {
        let pattern = row.pattern().ok_or_else(|| Failure::bug(format!("`{}` is not a valid pattern", row.id)))?;
        for captures in pattern.captures_iter(bare) {
            let Some(value) = captures.name("value").or_else(|| captures.get(0)) else { continue };
            let text = before_escape(row, value.as_str());
            let span = original(value.start()..value.start() + text.len());
            let before = found.range(..span.end).next_back();
            let is_known = before.is_some_and(|(_, one)| span.start < one.span.end);
            let is_about = captures.name("name").is_some_and(|rest| formats.is_about(rest.as_str()));
            // In a list of names, the next name is no value of the one before.
            let is_listed = captures.name("name").is_some_and(|name| {
                let between = &bare[name.end()..value.start()];
                between.contains(',') && !between.contains([':', '=']) && text.split('.').all(is_compound)
            });
            let is_none = is_about || is_listed || !is_secret(row, text) || formats.is_placeholder(text);
            let parts =
                parts(text).into_iter().map(|part| original(value.start() + part.start..value.start() + part.end));
            let parts: Vec<Range<usize>> = parts.collect();
            if !is_known && !is_none && !parts.is_empty() && !lines.allow(&span) {
                found.insert(span.start, Secret { rule: &row.id, span, parts });
            }
        }
    }
    Ok(found.into_values().collect())
}

/// What of a secret is taken out; nothing of what only begins like a key.
fn parts(text: &str) -> Vec<Range<usize>> {
    if text.starts_with("-----") { lines_of(text) } else { std::iter::once(0..text.len()).collect() }
}

/// `value` up to the first escape of a string of Python, a shell or TOML, where that is a secret still; without the
/// backslash of an escaped quote that ends it in any case. A key of many lines may have its ends of lines as escapes.
fn before_escape<'v>(row: &SecretFormat, value: &'v str) -> &'v str {
    if value.starts_with("-----") {
        return value;
    }
    // `\\` and other escapes are of the secret; these end a string, or a line in it.
    let (mut at, bytes) = (0, value.as_bytes());
    while at < bytes.len()
        && !(bytes[at] == b'\\' && matches!(bytes.get(at + 1), None | Some(b'n' | b'r' | b't' | b'"' | b'\'')))
    {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    let short = value.get(..at).unwrap_or(value);
    if is_secret(row, short) && short.len() >= SHORTEST { short } else { value.trim_end_matches('\\') }
}

/// The secrets of a file called `name` that the baseline does not accept, and the same text without them; `None` where
/// there are none, and where the file is no JSON though it is called so, or would be none any more.
pub fn scrubbed(name: &str, text: &str, known: &Baseline) -> Result<(Vec<Sighting>, Option<String>), Failure> {
    let strict = strict(text);
    match Document::of(name, &strict) {
        Document::Json(parts) => json(name, text, (&strict, &parts), known),
        Document::Text => plain(text, known),
        Document::Broken => plain(text, known).map(|(sightings, _)| (sightings, None)),
    }
}

fn plain(text: &str, known: &Baseline) -> Result<(Vec<Sighting>, Option<String>), Failure> {
    let lines = Lines::of(text);
    let (secrets, sightings) = unknown(scan_lines(&lines)?, text, known, &|at: usize| {
        let line = lines.number(at);
        (format!("line {line}"), line)
    });
    let clean = spliced(text, Substitutes::of(text).changes(text, &secrets));
    Ok((sightings, (!secrets.is_empty()).then_some(clean)))
}

/// Those of `secrets` that the baseline does not accept, each with how people see it. `place` names where a byte of
/// `text` stands, and its line.
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

/// `text` without its secrets.
fn masked(text: &str) -> String {
    let secrets = scan(text).unwrap_or_default();
    spliced(text, Substitutes::of(text).changes(text, &secrets))
}

/// `text` with something else in the place of some spans, which come in their order.
fn spliced(text: &str, changes: impl IntoIterator<Item = (Range<usize>, String)>) -> String {
    let mut clean = String::new();
    let mut at = 0;
    for (span, instead) in changes {
        clean.push_str(&text[at..span.start]);
        clean.push_str(&instead);
        at = span.end;
    }
    clean + &text[at..]
}

/// In JSON the decoded strings are looked at, lines of one cell as one text; what is changed is the part of a string
/// that is the secret, and no other byte of the file. What is written is read again first.
fn json(
    name: &str,
    text: &str,
    (strict_text, parts): (&str, &[Range<usize>]),
    known: &Baseline,
) -> Result<(Vec<Sighting>, Option<String>), Failure> {
    let lines = Lines::of(text);
    let mut sightings = Vec::new();
    let mut changed: Vec<(Range<usize>, String)> = Vec::new();
    let mut names = Substitutes::of(text);
    let (pairs, texts): (Vec<Site>, Vec<Site>) =
        parts.iter().flat_map(|part| sites(strict_text, part.clone())).partition(|site| site.is_pairs);
    // Literals in which something was found.
    let mut done = HashSet::new();
    for site in texts.into_iter().chain(pairs) {
        let own_lines = Lines::of(&site.text);
        let mut all = scan_lines(&own_lines)?;
        // What a name alone tells, and in the value.
        all.retain(|one| !site.is_pairs || site.holds(&one.span) && !done.contains(&site.literal_of(one.span.start)));
        done.extend(all.iter().map(|one| site.literal_of(one.span.start)));
        let named = OnceCell::new();
        let place = |start: usize| {
            let (at, _) = site.literal_of(start);
            // A name may hold a secret, too.
            let name = named.get_or_init(|| masked(&site.place()));
            let line = lines.number(at);
            // Names and values that stand together have no lines of their own.
            let within = if name.is_empty() || site.is_pairs { line } else { own_lines.number(start) };
            let between = if name.is_empty() { "" } else { ", " };
            (format!("{name}{between}line {within}"), line)
        };
        let (secrets, own) = unknown(all, &site.text, known, &place);
        sightings.extend(own);
        changed.extend(rewritten(&site, &secrets, strict_text, &mut names));
    }
    if changed.is_empty() {
        return Ok((sightings, None));
    }
    changed.sort_by_key(|(span, _)| span.start);
    let clean = spliced(text, changed);
    let is_sound = matches!(Document::of(name, &strict(&clean)), Document::Json(now) if now.len() == parts.len());
    Ok((sightings, is_sound.then_some(clean)))
}

/// Where in the file the secrets of `site` stand, each with what replaces it. A secret of several strings is replaced
/// in the first, and taken out of the others.
fn rewritten(
    site: &Site,
    secrets: &[Secret],
    strict: &str,
    names: &mut Substitutes<'_>,
) -> Vec<(Range<usize>, String)> {
    let mut changed = Vec::new();
    let parts: Vec<(Range<usize>, String)> = names.changes(&site.text, secrets).collect();
    for segment in &site.segments {
        // The end of a line stays, or lines of the cell would run together.
        let text = &site.text[segment.start..segment.start + segment.length];
        let own = segment.start..segment.start + text.strip_suffix('\n').unwrap_or(text).len();
        let first = parts.partition_point(|(part, _)| part.end <= own.start);
        let within: Vec<_> = parts[first..].iter().take_while(|(part, _)| part.start < own.end).collect();
        if within.is_empty() {
            continue;
        }
        let places = raw_places(strict, &segment.literal);
        for (part, instead) in within {
            let instead = if part.start >= own.start { instead.clone() } else { String::new() };
            let part = part.start.max(own.start)..part.end.min(own.end);
            changed.push((places[part.start - segment.start]..places[part.end - segment.start], instead));
        }
    }
    changed
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_forms;
