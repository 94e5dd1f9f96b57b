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
        let spaced = spaced_versions(line);
        let line = spaced.as_deref().unwrap_or(line);
        names_are_whole(line)?;
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

    /// The same of what a person writes, where nothing is repaired: what pip refuses is an error.
    pub fn parse_strictly(line: &str) -> Result<Self, String> {
        let spaced = spaced_versions(line);
        pep508_rs::Requirement::<url::Url>::from_str(spaced.as_deref().unwrap_or(line))
            .map_err(|error| error.message.to_string())?;
        Self::parse(line)
    }

    /// Whether it applies in `environment` with `extra` asked for (or none).
    pub fn applies(&self, environment: &MarkerEnvironment, extra: Option<&ExtraName>) -> bool {
        let extras = extra.map(std::slice::from_ref).unwrap_or_default();
        self.marker.evaluate(environment, extras)
    }
}

/// Whether the name and extras that `line` begins with end as names must; the parser panics on `a.: b` and `a[b-]`.
fn names_are_whole(line: &str) -> Result<(), String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let line = line.trim_start();
    let (name, rest) = line.split_at(line.find(|c| !is_part(c)).unwrap_or(line.len()));
    let extras = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or_default();
    let extras = extras.split(|c: char| c == ',' || c.is_whitespace());
    let cut = std::iter::once(name).chain(extras).find(|name| name.ends_with(['.', '-', '_']));
    cut.map_or(Ok(()), |name| Err(format!("`{name}` must end with a letter or a digit")))
}

/// Parses a marker by itself.
pub fn parse_marker(text: &str) -> Result<pep508_rs::MarkerTree, String> {
    let line = format!("; {text}");
    let line = spaced_versions(&line).unwrap_or(line);
    pep508_rs::MarkerTree::parse_str::<url::Url>(&line[2..]).map_err(|error| error.message.to_string())
}

/// `python_version in '3.8, 3.9'`: the parser wants the versions apart by spaces alone, and takes a list that it can't read for true.
/// `None` where there is no such list.
fn spaced_versions(line: &str) -> Option<String> {
    let (head, marker) = line.split_at(line.find(';')?);
    let mut text = head.to_owned();
    let mut rest = marker;
    while let Some(at) = rest.find(" in ") {
        let list = at + " in ".len();
        // The list may also be a variable.
        let quoted = rest[list..].trim_start().starts_with(['\'', '"']);
        let open = rest[list..].find(['\'', '"']).map(|quote| list + quote).filter(|_| quoted);
        let Some((open, close)) =
            open.and_then(|open| Some((open, open + 1 + rest[open + 1..].find(&rest[open..=open])?)))
        else {
            text.push_str(&rest[..list]);
            rest = &rest[list..];
            continue;
        };
        text.push_str(&rest[..open]);
        let about_python = rest[..at].trim_end().trim_end_matches(" not").trim_end().ends_with("_version");
        let versions = &rest[open..close];
        text.push_str(&if about_python { versions.replace([',', '|'], " ") } else { versions.to_owned() });
        rest = &rest[close..];
    }
    text.push_str(rest);
    (text != line).then_some(text)
}

/// Specifiers as published, with the faults repaired that pip and uv forgive; `None` where it is not clear what they mean.
pub fn lenient_specifiers(text: &str) -> Option<VersionSpecifiers> {
    VersionSpecifiers::from_str(text)
        .or_else(|_| VersionSpecifiers::from_str(&repaired(text).ok_or(())?).map_err(drop))
        .ok()
}

/// A requirement line with its specifiers repaired; `None` where nothing is to repair.
fn repair(line: &str) -> Option<String> {
    let (head, marker) = line.split_at(line.find(';').unwrap_or(line.len()));
    let after_extras = head.find(']').map_or(0, |at| at + 1);
    let start = after_extras + head[after_extras..].find(['<', '>', '=', '!', '~', '('])?;
    let (name, specifiers) = head.split_at(start);
    let inner = specifiers.trim().trim_start_matches('(').trim_end_matches(')');
    let fixed = format!("{name}{}{}{marker}", repaired(inner)?, if marker.is_empty() { "" } else { " " });
    (fixed != line && !head.contains('@')).then_some(fixed)
}

/// Specifiers clause by clause, each with what published metadata really gets wrong put right:
/// `>=4.0.*` (a star after an inequality), `>=0.0.4<0.2.0` and `>=2.7 !=3.0.*` (no comma), `!=3.0*` (no dot), `>=2.7,` (a comma
/// too many), `!=~3.0`, `>=3.6'` (quotes), `>dev`, `>=9.0.0a1.0` (more after a pre-release). uv repairs the same. `None` where
/// anything else stands between the clauses: what it means is anybody's guess.
fn repaired(text: &str) -> Option<String> {
    let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!' | '~');
    let mut clauses = Vec::new();
    let mut rest = text;
    let between = |text: &str| text.chars().all(|c| c.is_whitespace() || matches!(c, ',' | '\'' | '"' | '(' | ')'));
    while let Some(start) = rest.find(is_operator) {
        if !between(&rest[..start]) {
            return None;
        }
        let length = rest[start..].find(|c| !is_operator(c)).unwrap_or(rest.len() - start);
        let operator = &rest[start..start + length];
        let after = rest[start + length..].trim_start();
        let end = after
            .find(|c: char| is_operator(c) || c.is_whitespace() || matches!(c, ',' | '\'' | '"' | ')'))
            .unwrap_or(after.len());
        clauses.push(clause(operator, &after[..end]));
        rest = &after[end..];
    }
    (between(rest) && !clauses.is_empty()).then(|| clauses.join(","))
}

fn clause(operator: &str, version: &str) -> String {
    let (operator, version) = match operator {
        "!=~" => ("!=", format!("{version}.*")),
        "=>" | ">==" => (">=", version.to_owned()),
        "=<" | "<==" => ("<=", version.to_owned()),
        "=" => ("==", version.to_owned()),
        _ => (operator, version.to_owned()),
    };
    if version == "dev" {
        return format!("{operator}0.0.0dev");
    }
    if let Some(stem) = version.strip_suffix('*') {
        let stem = stem.trim_end_matches('.');
        return if matches!(operator, "==" | "!=") {
            format!("{operator}{stem}.*")
        } else {
            format!("{operator}{stem}")
        };
    }
    // `9.0.0a1.0`: what follows the number of a pre-release says nothing.
    let letter = version.find(|c: char| c.is_ascii_alphabetic()).filter(|_| !version.contains('+'));
    let beyond =
        letter.and_then(|at| version[at..].find(".0").map(|dot| at + dot)).filter(|at| version[*at..].len() == 2);
    format!("{operator}{}", &version[..beyond.unwrap_or(version.len())])
}

#[cfg(test)]
mod tests {
    use super::{Requirement, lenient_specifiers};

    #[test]
    fn published_faults_are_repaired_as_pip_and_uv_do() {
        for (line, specifiers) in [
            ("pyarrow>=4.0.* ; extra == 'x'", ">=4.0"),
            ("spacy-lookups-data (>=0.0.4<0.2.0)", ">=0.0.4, <0.2.0"),
            ("numpy>=1.22,<2", ">=1.22, <2"),
            ("a>=2.7,!=3.0*,", ">=2.7, !=3.0.*"),
            ("a[x]>=1.0 <2 ; python_version > '3'", ">=1.0, <2"),
            ("a (>=1.0,)", ">=1.0"),
            ("a!=~3.0", "!=3.0.*"),
            ("a>=9.0.0a1.0", ">=9.0.0a1"),
            ("a>=1.0'", ">=1.0"),
            ("a>dev", ">0.0.0.dev0"),
            ("a (>=1.0 , <2)", ">=1.0, <2"),
        ] {
            let parsed = Requirement::parse(line).expect(line);
            assert_eq!(parsed.specifiers.to_string(), specifiers, "{line}");
        }
        for hopeless in [
            "pytz (>=2011k)",
            "a>=",
            "a @ http://",
            "a (1.0)",
            "a (==1.0 or ==2.0)",
            "a>=0.5,1.0",
            "a>=1.0 é",
            "a.: b",
            "a[b-]",
            "a[b- ",
            "a-",
        ] {
            assert!(Requirement::parse(hopeless).is_err(), "{hopeless}");
        }
    }

    #[test]
    fn lists_of_python_versions_may_have_commas() {
        let environment = crate::model::PythonFacts {
            version: "3.12.1".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: crate::model::Libc::Glibc(2, 35),
            free_threaded: false,
        }
        .marker_environment()
        .expect("an environment");
        for (marker, applies) in [
            ("python_version in '3.8, 3.9'", false),
            ("python_version in \"3.11,3.12\" and sys_platform in 'linux, darwin'", true),
            ("python_version not in '3.8, 3.9'", true),
            ("os_name in 'posix, nt' or python_version in '3.8'", true),
            ("python_version in '3.8, 3.9' and 'linux' in sys_platform", false),
            ("'linux' in sys_platform and python_version in '3.8, 3.12'", true),
        ] {
            let requirement = Requirement::parse(&format!("a; {marker}")).expect(marker);
            assert_eq!(requirement.applies(&environment, None), applies, "{marker}");
        }
    }

    #[test]
    fn so_is_requires_python() {
        for (text, specifiers) in
            [(">=3.6.*", ">=3.6"), (">=2.7, !=3.0.*, !=3.1*,", ">=2.7, !=3.0.*, !=3.1.*"), (">=3.7<4", ">=3.7, <4")]
        {
            assert_eq!(
                lenient_specifiers(text).map(|parsed| parsed.to_string()).as_deref(),
                Some(specifiers),
                "{text}"
            );
        }
        assert_eq!(lenient_specifiers("three"), None);
    }
}
