//! Packages that come to terms without some of what their libraries ask for.

use serde::Deserialize;

use crate::core::model::PackageName;

/// A package that comes to terms without some of what its libraries ask for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lenient {
    pub package: PackageName,
    /// What it can do without.
    pub without: Vec<Aspect>,
    /// What happens then.
    pub why: String,
    /// For people who read the file.
    #[serde(rename = "source")]
    _source: String,
}

/// One of the things that libraries ask of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// Other libraries.
    Libraries,
    /// A release of torch that has its symbols.
    Torch,
    /// The NumPy that it was built for.
    Numpy,
    /// A release of TensorFlow that has its symbols.
    Tensorflow,
}

/// Whether `text` is `pattern`, in which `*` stands for anything.
pub fn is_like(text: &str, pattern: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(text) = text.strip_prefix(head) else {
        return false;
    };
    text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| is_like(&text[at..], rest))
}
