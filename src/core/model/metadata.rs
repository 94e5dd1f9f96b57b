//! METADATA of a wheel, as far as a solve goes by it.

use std::collections::BTreeSet;

use pep440_rs::VersionSpecifiers;
use pep508_rs::ExtraName;

use crate::core::model::requirement::lenient_specifiers;
use crate::core::model::{Requirement, Sha256};

/// The part of METADATA that resolution needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// What counts without any extra; some of it may ask for one all the same.
    pub requires: Vec<Requirement>,
    /// `Requires-Dist` lines that count for an extra alone: half of all there are, of which most are never looked at.
    of_extras: Vec<String>,
    pub extras: Vec<ExtraName>,
    pub requires_python: Option<VersionSpecifiers>,
    /// Bytes of the wheel, where reading it showed them.
    pub size: Option<u64>,
    /// `Requires-Dist` lines that can't be parsed.
    pub unreadable: Vec<String>,
    /// Lines of `requires` that can be parsed because their faults are known.
    repaired: Vec<String>,
    /// The first 32 hex digits of the sha256 of all that a solve goes by, in a fixed order: two METADATA with one
    /// digest lead to one answer.
    pub digest: String,
}

impl Metadata {
    /// From the headers of a METADATA file.
    pub fn parse(text: &str, size: Option<u64>) -> Self {
        let mut metadata = Self { size, ..Self::default() };
        let mut counts = BTreeSet::new();
        for (name, value) in headers(text) {
            let name = name.to_ascii_lowercase();
            if ["requires-dist", "provides-extra", "requires-python"].contains(&name.as_str()) {
                counts.insert(format!("{name}: {}\n", value.split_whitespace().collect::<Vec<_>>().join(" ")));
            }
            match name.as_str() {
                "requires-dist" if is_of_extra(&value) => metadata.of_extras.push(value),
                "requires-dist" => metadata.add(value),
                "provides-extra" => metadata.extras.extend(value.parse::<ExtraName>()),
                "requires-python" => metadata.requires_python = lenient_specifiers(&value),
                _ => {}
            }
        }
        let digest = Sha256::of(counts.into_iter().collect::<String>().as_bytes()).to_string();
        digest[..32].clone_into(&mut metadata.digest);
        metadata
    }
}

impl Metadata {
    /// Adds a `Requires-Dist` line that does not count for an extra alone.
    fn add(&mut self, line: String) {
        if let Ok(requirement) = Requirement::parse_strictly(&line) {
            self.requires.push(requirement);
        } else if let Ok(requirement) = Requirement::parse(&line) {
            self.requires.push(requirement);
            self.repaired.push(line);
        } else {
            self.unreadable.push(line);
        }
    }

    /// The first `Requires-Dist` line for which pip refuses the release since its version 24.1: it takes lines as the
    /// specification has them, but for a comma at the end of the specifiers and for empty parentheses.
    pub fn refused_by_pip(&self) -> Option<&str> {
        let lines = self.repaired.iter().chain(&self.unreadable).chain(&self.of_extras);
        lines.map(String::as_str).find(|line| {
            Requirement::parse_strictly(line).is_err() && Requirement::parse_strictly(&without_trifles(line)).is_err()
        })
    }

    /// Every requirement, those of extras too, as far as they can be read.
    pub fn all(&self) -> impl Iterator<Item = Requirement> {
        let of_extras = self.of_extras.iter().filter_map(|line| Requirement::parse(line).ok());
        self.requires.iter().cloned().chain(of_extras)
    }

    /// The requirements that may count where `extra` is asked for; `Err` is the first line that can't be parsed.
    pub fn with_extra(&self, extra: &ExtraName) -> Result<Vec<Requirement>, &str> {
        let quoted = [format!("'{extra}'"), format!("\"{extra}\"")];
        let mut requires = self.requires.clone();
        let naming = self.of_extras.iter().filter(|line| {
            let normalised = line.replace(['_', '.'], "-").to_lowercase();
            quoted.iter().any(|extra| normalised.contains(extra.as_str()))
        });
        for line in naming {
            requires.push(Requirement::parse(line).map_err(|_| line.as_str())?);
        }
        Ok(requires)
    }
}

/// A line without the faults that no installer minds.
fn without_trifles(line: &str) -> String {
    let (head, marker) = line.split_at(line.find(';').unwrap_or(line.len()));
    let head = head.replace("()", "");
    let (inner, closing) =
        head.trim_end().strip_suffix(')').map_or((head.trim_end(), ""), |inner| (inner.trim_end(), ")"));
    format!("{}{closing}{marker}", inner.strip_suffix(',').unwrap_or(inner))
}

/// Whether a line counts for an extra alone: its marker names one, and nothing instead of it.
fn is_of_extra(line: &str) -> bool {
    let marker = line.split_once(';').map(|(_, marker)| marker).unwrap_or_default();
    (marker.contains("extra ==") || marker.contains("extra==")) && !marker.contains(" or ")
}

/// The header lines of METADATA or WHEEL, before the first blank one: names as written, values; continuation lines are
/// joined.
pub fn headers(text: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.lines().take_while(|line| !line.is_empty()) {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = found.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            found.push((name, value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Metadata;

    #[test]
    fn metadata_is_read_up_to_the_description() {
        let text = "Metadata-Version: 2.1\nName: a\nRequires-Python: >=3.9\nRequires-Dist: b>=1\nRequires-Dist: c; extra ==\n  'x'\n\
                    Requires-Dist: pytz (>=2011k)\nProvides-Extra: x\n\nRequires-Dist: not-this\n";
        let metadata = Metadata::parse(text, Some(7));
        let names: Vec<_> = metadata.all().map(|one| one.name.to_string()).collect();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(metadata.requires.len(), 1);
        let extra = |name: &str| metadata.with_extra(&name.parse().expect(name)).map(|all| all.len());
        assert_eq!((extra("x"), extra("y")), (Ok(2), Ok(1)));
        assert_eq!((metadata.extras.len(), metadata.unreadable.len(), metadata.size), (1, 1, Some(7)));
    }

    /// As `packaging` 26.3 has it.
    #[test]
    fn what_pip_refuses_is_known_by_the_line() {
        let refused = |line: &str| {
            let metadata = Metadata::parse(&format!("Name: a\nRequires-Dist: b\nRequires-Dist: {line}\n"), None);
            metadata.refused_by_pip().is_some()
        };
        for line in [
            "pyarrow>=4.0.* ; extra == 'x'",
            "s (>=0.0.4<0.2.0)",
            "a>=2.7,!=3.0*,",
            "a[x]>=1.0 <2 ; python_version > '3'",
            "a!=~3.0",
            "a>=9.0.0a1.0",
            "a>=1.0'",
            "a>dev",
            "pytz (>=2011k)",
            "torch (>=1.7.*)",
            "a=>1",
        ] {
            assert!(refused(line), "{line}");
        }
        for line in [
            "a (>=1.0,)",
            "a (>=1.0 , <2)",
            "a>=1,",
            "a>=1, ; extra=='x'",
            "a (==1.0.*)",
            "a ()",
            "a(>=1)",
            "a>=1;python_version<'3'",
            "b [x] >= 2",
        ] {
            assert!(!refused(line), "{line}");
        }
    }
}
