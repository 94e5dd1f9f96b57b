//! PEP 508 requirements as published, forgiving what real METADATA gets wrong and what uv and pip forgive too.

use std::str::FromStr;

use pep440_rs::VersionSpecifiers;
use pep508_rs::{ExtraName, MarkerEnvironment, PackageName, VersionOrUrl};

use crate::model::version::{VersionRange, range_of};

/// One requirement: a name, extras, the versions allowed, and when it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    pub name: PackageName,
    pub extras: Vec<ExtraName>,
    pub range: VersionRange,
    /// The specifiers as written, for people; empty means any version.
    pub specifiers: VersionSpecifiers,
    /// A direct reference: no index can satisfy it.
    pub url: Option<String>,
    marker: pep508_rs::MarkerTree,
}

impl Requirement {
    /// Parses one `Requires-Dist` line. The error says what is wrong in one line.
    pub fn parse(line: &str) -> Result<Self, String> {
        type Parsed = pep508_rs::Requirement<url::Url>;
        let parsed = Parsed::from_str(line)
            .or_else(|error| repair(line).map_or(Err(error), |fixed| Parsed::from_str(&fixed)))
            .map_err(|error| error.message.to_string())?;
        let (specifiers, url) = match parsed.version_or_url {
            None => (VersionSpecifiers::empty(), None),
            Some(VersionOrUrl::VersionSpecifier(specifiers)) => (specifiers, None),
            Some(VersionOrUrl::Url(url)) => (VersionSpecifiers::empty(), Some(url.to_string())),
        };
        Ok(Self {
            name: parsed.name,
            extras: parsed.extras,
            range: range_of(&specifiers),
            specifiers,
            url,
            marker: parsed.marker,
        })
    }

    /// Whether it applies in `environment` with `extra` asked for (or none).
    pub fn applies(&self, environment: &MarkerEnvironment, extra: Option<&ExtraName>) -> bool {
        let extras = extra.map(std::slice::from_ref).unwrap_or_default();
        self.marker.evaluate(environment, extras)
    }
}

/// Mends the two faults that published metadata really has: `>=4.0.*` and specifiers that run together (`>=0.0.4<0.2.0`).
fn repair(line: &str) -> Option<String> {
    let (head, tail) = line.split_once(';').map_or((line, None), |(head, tail)| (head, Some(tail)));
    let mut fixed = String::with_capacity(head.len() + 4);
    let mut previous = ' ';
    for character in head.chars() {
        let starts_operator = matches!(character, '<' | '>' | '!' | '~' | '=');
        if starts_operator && (previous.is_ascii_alphanumeric() || previous == '*') && fixed.contains(['<', '>', '=']) {
            fixed.push(',');
        }
        fixed.push(character);
        previous = character;
    }
    let fixed = [">=", "<=", ">", "<"].iter().fold(fixed, |text, operator| drop_star_after(&text, operator));
    let fixed = tail.map_or(fixed.clone(), |tail| format!("{fixed};{tail}"));
    (fixed != line).then_some(fixed)
}

fn drop_star_after(text: &str, operator: &str) -> String {
    text.split(',')
        .map(|part| match part.find(operator) {
            Some(_) => part.replacen(".*", "", 1),
            None => part.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::Requirement;

    #[test]
    fn published_faults_are_mended_as_pip_and_uv_do() {
        for (line, specifiers) in [
            ("pyarrow>=4.0.* ; extra == 'x'", ">=4.0"),
            ("spacy-lookups-data (>=0.0.4<0.2.0)", ">=0.0.4, <0.2.0"),
            ("numpy>=1.22,<2", ">=1.22, <2"),
        ] {
            let parsed = Requirement::parse(line).expect(line);
            assert_eq!(parsed.specifiers.to_string(), specifiers, "{line}");
        }
        assert!(Requirement::parse("pytz (>=2011k)").is_err());
    }
}
