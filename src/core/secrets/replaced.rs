//! Secrets in a text, and what takes their place.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    pub rule: &'static str,
    pub span: Range<usize>,
    /// What of it is taken out: all of it, or the lines of a key.
    pub(super) parts: Vec<Range<usize>>,
}

/// The names that secrets of one file get: no blank, no quote and ASCII alone, so that they can stand wherever the
/// secret did. Two secrets have two names, or two keys of a table would become one.
pub(super) struct Substitutes<'t> {
    /// Those that the file has already, of secrets that were taken out earlier.
    taken: HashSet<&'t str>,
    known: HashMap<(&'static str, String), String>,
    counts: HashMap<&'static str, usize>,
}

impl<'t> Substitutes<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let names = text.match_indices("REMOVED-").map(|(at, _)| {
            text[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default()
        });
        Self { taken: names.collect(), known: HashMap::new(), counts: HashMap::new() }
    }

    /// What becomes of `text` without `secrets`: its first part is the name, the others go.
    pub(super) fn changes(
        &mut self,
        text: &str,
        secrets: &[Secret],
    ) -> impl Iterator<Item = (Range<usize>, String)> + use<> {
        let mut changes = Vec::new();
        for secret in secrets {
            let name = self.name(secret.rule, &text[secret.span.clone()]);
            let names = std::iter::once(name).chain(std::iter::repeat(String::new()));
            changes.extend(secret.parts.iter().cloned().zip(names));
        }
        changes.into_iter()
    }

    fn name(&mut self, rule: &'static str, value: &str) -> String {
        if let Some(name) = self.known.get(&(rule, value.to_owned())) {
            return name.clone();
        }
        let count = self.counts.entry(rule).or_default();
        let name = loop {
            *count += 1;
            let name = if *count == 1 { format!("REMOVED-{rule}") } else { format!("REMOVED-{rule}-{count}") };
            if !self.taken.contains(name.as_str()) {
                break name;
            }
        };
        self.known.insert((rule, value.to_owned()), name.clone());
        name
    }
}
