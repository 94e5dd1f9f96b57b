//! What a file is, by its content: JSON as programs write it (Python writes `NaN`, editors a mark of the byte order), lines of JSON, or a text.

use std::ops::Range;

use serde::de::IgnoredAny;

/// A kind of file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Document {
    /// Where each JSON text stands: one, or one a line.
    Json(Vec<Range<usize>>),
    Text,
    /// It is called JSON, and is none that could be read: an edit could make it worse.
    Broken,
}

impl Document {
    /// What `text` is; `strict` is the same with [`strict`]. The `name` of the file counts where the content is no JSON.
    pub(super) fn of(name: &str, strict: &str) -> Self {
        let is_json =
            |text: &str| text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
        if is_json(strict) {
            return Self::Json(std::iter::once(0..strict.len()).collect());
        }
        let mut at = 0;
        let lines = strict.split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at
        });
        let lines: Vec<Range<usize>> = lines.filter(|line| !strict[line.clone()].trim().is_empty()).collect();
        if lines.len() > 1 && lines.iter().all(|line| is_json(&strict[line.clone()])) {
            return Self::Json(lines);
        }
        let name = name.to_ascii_lowercase();
        let is_called_json = [".ipynb", ".json", ".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end));
        if is_called_json { Self::Broken } else { Self::Text }
    }
}

/// `text` with what JSON does not have in the place of what programs write all the same, byte for byte as long: a mark of the byte order, `NaN` and
/// `Infinity`, halves of surrogate pairs, and control characters in strings.
pub(super) fn strict(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if text.starts_with('\u{feff}') {
        bytes[..3].fill(b' ');
    }
    let mut at = 0;
    let mut in_string = false;
    while at < bytes.len() {
        let step = match (in_string, bytes[at]) {
            (_, b'"') => {
                in_string = !in_string;
                1
            }
            (true, b'\\') => escape(&mut bytes, at),
            (true, byte) if byte < b' ' => {
                bytes[at] = b' ';
                1
            }
            (false, b'N' | b'I') => number(&mut bytes, at),
            _ => 1,
        };
        at += step;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Puts a number in the place of a word for one that JSON does not have. Returns how many bytes it takes.
fn number(bytes: &mut [u8], at: usize) -> usize {
    for (word, instead) in [(&b"NaN"[..], &b"0.0"[..]), (b"Infinity", b"1.000000")] {
        if bytes[at..].starts_with(word) {
            bytes[at..at + word.len()].copy_from_slice(instead);
            return word.len();
        }
    }
    1
}

/// Puts the sign for what can't be shown in the place of half a pair. Returns how many bytes the escape takes.
fn escape(bytes: &mut [u8], at: usize) -> usize {
    let unit = |bytes: &[u8], at: usize| {
        let digits = bytes.get(at..at + 6).filter(|unit| unit.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    match unit(bytes, at) {
        Some(0xd800..=0xdbff) if matches!(unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => 12,
        Some(0xd800..=0xdfff) => {
            bytes[at..at + 6].copy_from_slice(b"\\ufffd");
            6
        }
        Some(_) => 6,
        None => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, strict};

    #[test]
    fn what_programs_write_is_json_of_the_same_length() {
        for text in [
            r#"{"a": NaN, "b": [Infinity, -Infinity], "c": "NaN"}"#,
            "\u{feff}{\"a\": \"é\"}",
            r#"{"a": "\ud83d", "b": "\ud83d\ude00 \udc00x", "c": "\\ud83d"}"#,
            "{\"a\": \"tab\there\"}",
        ] {
            let strict = strict(text);
            assert_eq!(strict.len(), text.len(), "{text}");
            assert_eq!(Document::of("x", &strict), Document::Json(std::iter::once(0..text.len()).collect()), "{text}");
        }
        assert!(strict(r#"{"a": "NaN \ud83d\ude00"}"#).contains("NaN \\ud83d\\ude00"));
    }

    #[test]
    fn a_kind_goes_by_the_content() {
        for (name, text, expected) in [
            ("log", "{\"a\": 1}\n\n{\"b\": 2}\n", Document::Json(vec![0..9, 10..19])),
            ("log", "{\"a\": 1}\nplain\n", Document::Text),
            ("A.IPYNB", "{ no json", Document::Broken),
            ("notes.md", "\"a string\"", Document::Text),
        ] {
            assert_eq!(Document::of(name, &strict(text)), expected, "{text}");
        }
    }
}
