//! The strings of a JSON text with their places: each literal, decoded, and lists of lines as one text.

use std::ops::Range;

/// A text of a notebook: one string, or a list of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The names and numbers that lead to it.
    path: Vec<String>,
    /// The text is the name of a field, and the path that of its object.
    is_key: bool,
    pub(super) text: String,
    pub(super) segments: Vec<Segment>,
    /// `"name": "value", …` of one object, for secrets that their name tells: the segments are the values.
    pub(super) is_pairs: bool,
}

/// A string literal within a [`Site`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// In the file, with its quotes.
    pub(super) literal: Range<usize>,
    /// In the text of the site.
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Site {
    /// For people: `cell 3`, `cell 3, output`, `metadata.papermill.parameters.token`.
    pub(super) fn place(&self) -> String {
        let place = place(&self.path);
        if self.is_key { format!("{place}, a key") } else { place }
    }

    /// Whether `span` of the text lies in one literal.
    pub(super) fn holds(&self, span: &Range<usize>) -> bool {
        self.segment_of(span.start).is_some_and(|segment| span.end <= segment.start + segment.length)
    }

    /// Where in the file the literal begins that has the byte `at` of the text.
    pub(super) fn literal_of(&self, at: usize) -> (usize, usize) {
        self.segment_of(at).map_or((0, 0), |segment| (segment.literal.start, segment.literal.end))
    }

    /// The last segment that begins at `at` or before.
    fn segment_of(&self, at: usize) -> Option<&Segment> {
        let behind = self.segments.partition_point(|segment| segment.start <= at);
        behind.checked_sub(1).map(|last| &self.segments[last])
    }
}

enum Frame {
    Object(Option<String>, Pairs),
    Array(usize),
}

/// Names with texts of an object.
#[derive(Default)]
struct Pairs {
    text: String,
    segments: Vec<Segment>,
}

impl Pairs {
    fn add(&mut self, name: &str, literal: &Range<usize>, value: &str) {
        if value.len() > VALUE || is_binary(name) {
            return;
        }
        // Each on a line of its own: what accepts one accepts no other.
        if !self.text.is_empty() {
            self.text.push_str(",\n");
        }
        self.text.extend(["\"", name, "\": \""]);
        let start = self.text.len();
        self.text.push_str(value);
        self.text.push('"');
        self.segments.push(Segment { literal: literal.clone(), start, length: value.len() });
    }
}

/// A longer value is none that a name tells to be a secret.
const VALUE: usize = 512;

/// Data that is no text: pictures, sound.
const BINARY: &[&str] = &["image/", "audio/", "video/", "font/", "application/pdf", "application/octet-stream"];

fn is_binary(key: &str) -> bool {
    key != "image/svg+xml" && BINARY.iter().any(|start| key.starts_with(start))
}

/// A shorter name of a field is none of a secret.
const KEY: usize = 20;

/// All texts of the `part` of `json` that is known to be valid.
pub(super) fn sites(json: &str, part: Range<usize>) -> Vec<Site> {
    let bytes = &json.as_bytes()[..part.end];
    let mut frames: Vec<Frame> = Vec::new();
    let mut found: Vec<Site> = Vec::new();
    let mut at = part.start;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => frames.push(Frame::Object(None, Pairs::default())),
            b'[' => frames.push(Frame::Array(0)),
            b'}' | b']' => {
                if let Some(Frame::Object(_, Pairs { text, segments })) = frames.pop()
                    && !segments.is_empty()
                {
                    found.push(Site { path: path_of(&frames), is_key: false, text, segments, is_pairs: true });
                }
            }
            b',' => {
                if let Some(Frame::Array(index)) = frames.last_mut() {
                    *index += 1;
                }
            }
            b'"' => {
                let literal = at..end_of(bytes, at);
                at = literal.end;
                let Ok(text) = serde_json::from_str::<String>(&json[literal.clone()]) else { continue };
                let is_key = json[at..].trim_start().starts_with(':');
                match frames.last_mut() {
                    Some(Frame::Object(key, _)) if is_key => {
                        *key = Some(text.clone());
                        if text.len() >= KEY {
                            let path = path_of(&frames[..frames.len() - 1]);
                            let segments = vec![Segment { literal, start: 0, length: text.len() }];
                            found.push(Site { path, is_key: true, text, segments, is_pairs: false });
                        }
                    }
                    Some(Frame::Object(Some(key), pairs)) => {
                        pairs.add(key, &literal, &text);
                        put(&mut found, &frames, literal, text);
                    }
                    _ => put(&mut found, &frames, literal, text),
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found.retain(|site| !site.path.iter().any(|key| is_binary(key)));
    found
}

/// Behind the closing quote of the literal that begins at `start`.
fn end_of(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Where each byte of the decoded `literal` stands in `json`, and at last where its closing quote does.
pub(super) fn raw_places(json: &str, literal: &Range<usize>) -> Vec<usize> {
    let inner = &json[literal.start + 1..literal.end - 1];
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(next) = inner[at..].chars().next() {
        // Bytes of the literal, and of what it stands for.
        let (raw, decoded) = match (next, inner.as_bytes().get(at + 1)) {
            ('\\', Some(b'u')) => match inner
                .get(at + 2..at + 6)
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .unwrap_or_default()
            {
                0xd800..=0xdbff => (12, 4),
                0x800.. => (6, 3),
                0x80..=0x7ff => (6, 2),
                _ => (6, 1),
            },
            ('\\', _) => (2, 1),
            _ => (next.len_utf8(), next.len_utf8()),
        };
        places.extend(std::iter::repeat_n(literal.start + 1 + at, decoded));
        at += raw;
    }
    places.push(literal.end - 1);
    places
}

fn path_of(frames: &[Frame]) -> Vec<String> {
    frames
        .iter()
        .map(|frame| match frame {
            Frame::Object(key, _) => key.clone().unwrap_or_default(),
            Frame::Array(index) => index.to_string(),
        })
        .collect()
}

/// Adds a string, to the list of lines that it belongs to or as a text of its own.
fn put(found: &mut Vec<Site>, frames: &[Frame], literal: Range<usize>, text: String) {
    let mut path = path_of(frames);
    let in_list = matches!(frames.last(), Some(Frame::Array(_)));
    if in_list {
        path.pop();
        if let Some(site) = found.last_mut().filter(|site| site.path == path && !site.is_pairs && !site.is_key) {
            if !is_in_pieces(&path) && !site.text.ends_with('\n') {
                site.text.push('\n');
            }
            let start = site.text.len();
            site.segments.push(Segment { literal, start, length: text.len() });
            site.text.push_str(&text);
            return;
        }
    }
    let segments = vec![Segment { literal, start: 0, length: text.len() }];
    found.push(Site { path, is_key: false, text, segments, is_pairs: false });
}

/// Whether a list at `path` holds pieces of one text, which are put together as they are (nbformat,
/// `multiline_string`): sources and outputs of a notebook's cells. Tracebacks are lists of lines without their ends;
/// other lists are of texts that have nothing to do with one another.
fn is_in_pieces(path: &[String]) -> bool {
    let is_text = |key: &String| matches!(key.as_str(), "source" | "text" | "input") || key.contains('/');
    path.first().is_some_and(|top: &String| top == "cells" || top == "worksheets") && path.last().is_some_and(is_text)
}

fn place(path: &[String]) -> String {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cells", index, rest @ ..] => {
            let number = index.parse::<usize>().map_or(0, |index| index + 1);
            match rest {
                ["source", ..] => format!("cell {number}"),
                ["outputs", ..] => format!("cell {number}, output"),
                other => format!("cell {number}, {}", joined(other)),
            }
        }
        other => joined(other),
    }
}

/// `pages[18].password`, as jq writes it.
fn joined(path: &[&str]) -> String {
    let mut joined = String::new();
    for part in path {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            joined.extend(["[", part, "]"]);
        } else {
            let between = if joined.is_empty() { "" } else { "." };
            joined.extend([between, part]);
        }
    }
    joined
}
