//! The small Python files in which frameworks record their build: torch's `version.py`, tensorflow's `build_info.py`,
//! onnxruntime's `build_and_package_info.py`. They are searched, not run.

use crate::core::inspect::{Flow, Malformed, Sink};
use crate::core::model::Architecture;

/// As much of a line as is looked at.
const LONGEST_LINE: usize = 200;

/// A text member, kept whole.
#[derive(Debug)]
pub struct Collected {
    limit: u64,
    bytes: Vec<u8>,
}

impl Collected {
    pub fn new(limit: u64) -> Self {
        Self { limit, bytes: Vec::new() }
    }

    pub fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Sink for Collected {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() as u64 > self.limit {
            return Err(Malformed::new(self.limit, "longer than the limit"));
        }
        Ok(Flow::More)
    }
}

/// What such a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BuildRecord {
    /// `13.2` or `12.5.1`.
    pub cuda: Option<String>,
    pub cudnn: Option<String>,
    pub architectures: Vec<Architecture>,
}

/// Reads the record out of `text`.
pub(super) fn build_record(text: &str) -> BuildRecord {
    let cuda =
        || number_of(text, "cuda").or_else(|| number_of(text, "__version__").and_then(|version| by_label(&version)));
    BuildRecord {
        cuda: number_of(text, "cuda_version").or_else(cuda),
        cudnn: number_of(text, "cudnn_version"),
        architectures: list_of(text, "cuda_compute_capabilities").iter().filter_map(|word| word.parse().ok()).collect(),
    }
}

/// `12.8` of `0.24.1+cu128`.
fn by_label(version: &str) -> Option<String> {
    let digits = version.split_once("+cu")?.1;
    let (major, minor) = (digits.get(..2)?, digits.get(2..)?);
    digits.chars().all(|digit| digit.is_ascii_digit()).then(|| format!("{major}.{minor}"))
}

/// The quoted number after `key`: `cuda = '11.7'`, `cuda: Optional[str] = '12.1'`, `("cuda_version", "12.5.1")`.
fn number_of(text: &str, key: &str) -> Option<String> {
    after_key(text, key).find_map(|after| {
        // No line of such a file is longer; a hostile one would be searched again and again.
        let line = after[..after.floor_char_boundary(LONGEST_LINE)].lines().next().unwrap_or_default();
        let value = match line.split_once('=') {
            Some((annotation, value)) if !annotation.contains(['\'', '"']) => value,
            _ => line,
        };
        let value = quoted(value.trim_start_matches([',', ' ', ':']))?.0;
        value.starts_with(|first: char| first.is_ascii_digit()).then(|| value.to_owned())
    })
}

/// The quoted words of the list after `key`: `('cuda_compute_capabilities', ['sm_60', 'compute_90'])`.
fn list_of(text: &str, key: &str) -> Vec<String> {
    let Some((_, list)) = after_key(text, key).next().and_then(|rest| rest.split_once('[')) else {
        return Vec::new();
    };
    let mut rest = list.split(']').next().unwrap_or_default();
    let mut words = Vec::new();
    while let Some(at) = rest.find(['\'', '"']) {
        let Some((word, after)) = quoted(&rest[at..]) else {
            break;
        };
        words.push(word.to_owned());
        rest = after;
    }
    words
}

/// What follows each `key` that stands as a word of its own, its closing quote left out.
fn after_key<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(key).filter_map(move |(at, key)| {
        let rest = &text[at + key.len()..];
        let alone = !text[..at].ends_with(word) && !rest.starts_with(word) && !rest.starts_with('.');
        alone.then(|| rest.trim_start_matches(['\'', '"']))
    })
}

/// The text in the quotes that `text` starts with, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::build_record;

    #[test]
    fn every_spelling_is_read() {
        for (text, cuda) in [
            ("debug = False\ncuda = '11.7'\ngit_version = 'c'\n", Some("11.7")),
            ("__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n", Some("12.8")),
            ("__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.0'\n", None),
            ("package_name = 'onnxruntime-gpu'\n__version__ = '1.20.2'\ncuda_version = '12.2'\n", Some("12.2")),
            (
                "build_info = OrderedDict([('cpu_compiler', '/usr/bin/clang'), ('cuda_version', '12.5.1'), ('x', 'y')])",
                Some("12.5.1"),
            ),
            ("__all__ = ['__version__', 'debug', 'cuda', 'git_version']\ncuda: Optional[str] = '13.2'\n", Some("13.2")),
            ("__version__ = '0.24.1+cu128'\ngit_version = '7'\n", Some("12.8")),
            ("from x import cuda\nprint('cuda')", None),
        ] {
            assert_eq!(build_record(text).cuda.as_deref(), cuda, "{text}");
        }
    }

    #[test]
    fn lists_of_architectures_are_read() {
        let text = "OrderedDict([(\"cuda_compute_capabilities\", [\"sm_60\", \"sm_70\", \"compute_90\"]), (\"cudnn_version\", \"9\")])";
        let record = build_record(text);
        let names: Vec<String> = record.architectures.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["sm_60", "sm_70", "compute_90"]);
        assert_eq!(record.cudnn.as_deref(), Some("9"));
    }
}
