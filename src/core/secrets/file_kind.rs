//! What a file is, by its content: JSON as programs write it (Python writes `NaN`, editors a mark of the byte order),
//! lines of JSON, or a text.

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
    /// What `text` is; `strict` is the same with [`strict`]. The `name` of the file counts where the content is no
    /// JSON.
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

#[cfg(test)]
mod tests {
    use super::Document;
    use crate::core::model::json_text::strict;

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
