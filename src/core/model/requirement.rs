//! PEP 508 requirements as published, forgiving what real METADATA gets wrong and what uv and pip forgive too.

use std::str::FromStr;

use pep440_rs::VersionSpecifiers;
use pep508_rs::{ExtraName, MarkerEnvironment, PackageName, VersionOrUrl};

use crate::core::model::Condition;
use crate::core::model::version::{VersionRange, range_of};

/// The longest name with extras and specifiers, in bytes.
const HEAD: usize = 16 << 10;

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
    condition: Condition,
}

impl Requirement {
    /// Parses one `Requires-Dist` line. The error says what is wrong in one line.
    pub fn parse(line: &str) -> Result<Self, String> {
        Self::read(line, true)
    }

    /// The same of what a person writes, where nothing is repaired: what pip refuses is an error.
    pub fn parse_strictly(line: &str) -> Result<Self, String> {
        Self::read(line, false)
    }

    fn read(line: &str, repairs: bool) -> Result<Self, String> {
        type Parsed = pep508_rs::Requirement<url::Url>;
        let (head, marker) = split_marker(line);
        if head.len() > HEAD {
            return Err(format!("the requirement has {} bytes before its marker, more than {HEAD}", head.len()));
        }
        let ascii = ascii_address(head)?;
        let head = ascii.as_deref().unwrap_or(head);
        names_are_whole(head)?;
        let parsed = Parsed::from_str(head)
            .or_else(|error| repair(head).filter(|_| repairs).map_or(Err(error), |fixed| Parsed::from_str(&fixed)))
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
            condition: Condition::parse(marker)?,
        })
    }

    /// `name[extra]>=1,<2`, without its marker.
    pub fn written(&self) -> String {
        format!("{}{}{}", self.name, bracketed(&self.extras), self.specifiers.to_string().replace(", ", ","))
    }

    /// Whether it applies in `environment` with `extra` asked for (or none).
    pub fn applies(&self, environment: &MarkerEnvironment, extra: Option<&ExtraName>) -> bool {
        self.condition.holds(environment, extra)
    }
}

/// `[a,b]`; nothing without extras.
pub fn bracketed(extras: &[impl AsRef<str>]) -> String {
    let extras: Vec<&str> = extras.iter().map(AsRef::as_ref).collect();
    if extras.is_empty() { String::new() } else { format!("[{}]", extras.join(",")) }
}

/// A requirement and its marker. An address ends at a space; it may have a `;` in it.
fn split_marker(line: &str) -> (&str, &str) {
    let semicolon = line.find(';');
    let is_address = line[..semicolon.unwrap_or(line.len())].contains('@');
    let end = if is_address {
        line.char_indices()
            .zip(line.chars().skip(1))
            .find(|((_, c), next)| c.is_whitespace() && *next == ';')
            .map(|((at, c), _)| at + c.len_utf8())
    } else {
        semicolon
    };
    end.map_or((line, ""), |at| (&line[..at], &line[at + 1..]))
}

/// The marker of a requirement, as written; `None` where it applies everywhere.
pub fn marker_of(line: &str) -> Option<&str> {
    Some(split_marker(line).1.trim()).filter(|marker| !marker.is_empty())
}

/// The requirement with its address in ASCII, which `pep508_rs` 0.9.2 does not panic on; an error where anything else
/// has other characters.
fn ascii_address(head: &str) -> Result<Option<String>, String> {
    let Some(odd) = head.chars().find(|c| !c.is_ascii()) else {
        return Ok(None);
    };
    match head.split_once('@').filter(|(name, _)| name.is_ascii()) {
        Some((name, address)) => {
            Ok(Some(format!("{name}@{}", percent_encoding::utf8_percent_encode(address, percent_encoding::CONTROLS))))
        }
        None => Err(format!("the requirement contains `{odd}` (U+{:04X})", u32::from(odd))),
    }
}

/// Whether the name and extras that `line` begins with end as names must; the parser panics on `a.: b` and `a[b-]`.
fn names_are_whole(line: &str) -> Result<(), String> {
    let line = line.trim_start();
    let (name, rest) = line.split_at(
        line.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))).unwrap_or(line.len()),
    );
    let extras = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or_default();
    let extras = extras.split(|c: char| c == ',' || c.is_whitespace());
    let cut = std::iter::once(name).chain(extras).find(|name| name.ends_with(['.', '-', '_']));
    cut.map_or(Ok(()), |name| Err(format!("`{name}` must end with a letter or a digit")))
}

/// Specifiers as published, with the faults repaired that pip and uv forgive; `None` where it is not clear what they
/// mean.
pub fn lenient_specifiers(text: &str) -> Option<VersionSpecifiers> {
    VersionSpecifiers::from_str(text)
        .or_else(|_| VersionSpecifiers::from_str(&repaired(text).ok_or(())?).map_err(drop))
        .ok()
}

/// A requirement without its marker, with its specifiers repaired; `None` where nothing is to repair.
fn repair(head: &str) -> Option<String> {
    let after_extras = head.find(']').map_or(0, |at| at + 1);
    let start = after_extras + head[after_extras..].find(['<', '>', '=', '!', '~', '('])?;
    let (name, specifiers) = head.split_at(start);
    let inner = specifiers.trim().trim_start_matches('(').trim_end_matches(')');
    let fixed = format!("{name}{}", repaired(inner)?);
    (fixed != head && !head.contains('@')).then_some(fixed)
}

/// Specifiers clause by clause, each with what published metadata really gets wrong put right: `>=4.0.*` (a star after
/// an inequality), `>=0.0.4<0.2.0` and `>=2.7 !=3.0.*` (no comma), `!=3.0*` (no dot), `>=2.7,` (a comma too many),
/// `!=~3.0`, `>=3.6'` (quotes), `>dev`, `>=9.0.0a1.0` (more after a pre-release). uv repairs the same. `None` where
/// anything else stands between the clauses: what it means is anybody's guess.
fn repaired(text: &str) -> Option<String> {
    let mut clauses = Vec::new();
    let mut rest = text;
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

fn between(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, ',' | '\'' | '"' | '(' | ')'))
}

fn is_operator(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '!' | '~')
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

    /// A generator of numbers, the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).expect("31 bits") % limit
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        let samples = [
            "a[x,y]>=1.0,<2 ; python_version > '3' and (extra == 'x' or os_name in \"posix, nt\")",
            "a @ https://h/é/b-1.0.whl#sha256=0 ; sys_platform not in 'linux'",
            "a (==1.*) ; 'x' in platform_version",
        ];
        let pieces = [
            "(",
            ")",
            "'",
            "\"",
            ";",
            "@",
            " ",
            "é",
            "\u{1f600}",
            "==",
            "and",
            " or ",
            "[",
            "]",
            ",",
            ".",
            "-",
            "~=",
            "*",
            "\n",
            "\0",
            "extra",
            "1!",
            "+",
        ];
        let mut numbers = Numbers(7);
        for _ in 0..20_000 {
            let mut text: Vec<char> = samples[numbers.below(samples.len())].chars().collect();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(text.len());
                match numbers.below(3) {
                    0 => drop(text.remove(at)),
                    1 => text.truncate(at + 1),
                    _ => drop(text.splice(at..at, pieces[numbers.below(pieces.len())].chars()).count()),
                }
                if text.is_empty() {
                    text.push('a');
                }
            }
            let text: String = text.into_iter().collect();
            let _ = Requirement::parse(&text);
            let _ = Requirement::parse_strictly(&text);
            let _ = lenient_specifiers(&text);
            let _ = text.parse::<pep440_rs::Version>();
        }
    }

    #[test]
    fn lists_of_python_versions_may_have_commas() {
        let environment = crate::core::model::PythonFacts {
            version: "3.12.1".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: crate::core::model::Libc::Glibc(2, 35),
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
