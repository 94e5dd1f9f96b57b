//! Environment markers (PEP 508): `python_version < "3.13" and (extra == "gpu" or sys_platform == "linux")`.
//!
//! `pep508_rs` knows what a single comparison means. It joins them into a decision diagram that can grow exponentially,
//! and parses parentheses by recursion; both are done here instead: a tree of comparisons, of bounded depth and size,
//! evaluated as it stands.

use std::sync::Arc;

use pep508_rs::{ExtraName, MarkerEnvironment, MarkerTree};

/// The longest text of a marker, in bytes. The longest of the 5,000 most used packages has 1,900.
const LENGTH: usize = 64 << 10;

/// The most comparisons in one marker.
const TERMS: usize = 2_000;

/// The deepest parentheses.
const DEPTH: usize = 64;

/// When a requirement applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition(Option<Arc<Parsed>>);

#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Comparison(MarkerTree),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Condition {
    /// Parses a marker; the empty text always holds. The error says what is wrong in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        if text.len() > LENGTH {
            return Err(format!("the marker has {} bytes, more than {LENGTH}", text.len()));
        }
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0 };
        let root = parser.any(0)?;
        match parser.next() {
            None => Ok(Self(Some(Arc::new(Parsed { text: text.to_owned(), root })))),
            Some(token) => Err(format!("the marker has text after its end: `{}`", token.text())),
        }
    }

    /// Whether it holds in `environment` with `extra` asked for (or none).
    pub fn holds(&self, environment: &MarkerEnvironment, extra: Option<&ExtraName>) -> bool {
        let extras = extra.map(std::slice::from_ref).unwrap_or_default();
        self.0.as_ref().is_none_or(|parsed| parsed.root.holds(environment, extras))
    }

    /// As it was written; `None` for one that always holds.
    pub fn text(&self) -> Option<&str> {
        self.0.as_ref().map(|parsed| parsed.text.as_str())
    }
}

impl Node {
    fn holds(&self, environment: &MarkerEnvironment, extras: &[ExtraName]) -> bool {
        match self {
            Self::Comparison(tree) => tree.evaluate(environment, extras),
            Self::All(nodes) => nodes.iter().all(|node| node.holds(environment, extras)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(environment, extras)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    And,
    Or,
    Comparison(&'a str),
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Open => "(",
            Self::Close => ")",
            Self::And => "and",
            Self::Or => "or",
            Self::Comparison(text) => text,
        }
    }
}

/// Cuts a marker at parentheses, `and` and `or`, except in quotes.
fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        let (token, length) = match byte {
            b'\'' | b'"' => {
                let close = text[at + 1..].find(char::from(*byte)).ok_or("a quote in the marker is not closed")?;
                at += close + 2;
                continue;
            }
            // pep508_rs 0.9.2 panics where such a character follows a comparison.
            _ if !byte.is_ascii() => {
                return Err("the marker has non-ASCII characters outside quotes".to_owned());
            }
            b'(' => (Token::Open, 1),
            b')' => (Token::Close, 1),
            _ => match word_at(text, at) {
                "and" => (Token::And, 3),
                "or" => (Token::Or, 2),
                word => {
                    at += word.len().max(1);
                    continue;
                }
            },
        };
        tokens.extend(comparison(&text[start..at]));
        tokens.push(token);
        at += length;
        start = at;
    }
    tokens.extend(comparison(&text[start..]));
    let comparisons = tokens.iter().filter(|token| matches!(token, Token::Comparison(_))).count();
    if comparisons > TERMS {
        return Err(format!("the marker has {comparisons} comparisons, more than {TERMS}"));
    }
    Ok(tokens)
}

fn comparison(text: &str) -> Option<Token<'_>> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(Token::Comparison)
}

/// The letters, digits, dots and underscores at `at`.
fn word_at(text: &str, at: usize) -> &str {
    let length = text.as_bytes()[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        .count();
    text.get(at..at + length).unwrap_or_default()
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        let there = self.tokens.get(self.at) == Some(&token);
        self.at += usize::from(there);
        there
    }

    /// `all or all or …`
    fn any(&mut self, depth: usize) -> Result<Node, String> {
        let mut nodes = vec![self.all(depth)?];
        while self.takes(Token::Or) {
            nodes.push(self.all(depth)?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Any(nodes) })
    }

    /// `one and one and …`
    fn all(&mut self, depth: usize) -> Result<Node, String> {
        let mut nodes = vec![self.one(depth)?];
        while self.takes(Token::And) {
            nodes.push(self.one(depth)?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::All(nodes) })
    }

    fn one(&mut self, depth: usize) -> Result<Node, String> {
        match self.next() {
            Some(Token::Comparison(text)) => compared(text),
            Some(Token::Open) if depth == DEPTH => Err(format!("the marker has more than {DEPTH} nested parentheses")),
            Some(Token::Open) => {
                let inner = self.any(depth + 1)?;
                if self.takes(Token::Close) {
                    Ok(inner)
                } else {
                    Err("a parenthesis in the marker is not closed".to_owned())
                }
            }
            Some(token) => Err(format!("expected a comparison in the marker, found `{}`", token.text())),
            None => Err("the marker ends where a comparison is expected".to_owned()),
        }
    }
}

fn compared(text: &str) -> Result<Node, String> {
    // pep508_rs 0.9.2 panics where such characters stand behind the comparison, in quotes too.
    if !text.is_ascii() && !has_one_literal(text) {
        return Err("the marker has extra text in a comparison".to_owned());
    }
    let spaced = spaced_versions(text);
    let text = spaced.as_deref().unwrap_or(text);
    MarkerTree::parse_str::<url::Url>(text).map(Node::Comparison).map_err(|error| error.message.to_string())
}

/// Whether there is one literal in quotes, and it is the first or the last of the comparison.
fn has_one_literal(text: &str) -> bool {
    let Some(quote) = text.chars().find(|c| matches!(*c, '\'' | '"')) else { return false };
    text.matches(quote).count() == 2 && (text.starts_with(quote) || text.ends_with(quote))
}

/// `python_version in '3.8, 3.9'`: the parser wants the versions apart by spaces alone, and takes a list that it can't
/// read for true. `None` where `text` is no such comparison.
fn spaced_versions(text: &str) -> Option<String> {
    let open = text.find(['\'', '"'])?;
    let (variable, list) = text.split_at(open);
    let variable = variable.trim_end().strip_suffix(" in")?.trim_end().trim_end_matches(" not").trim_end();
    variable.ends_with("_version").then(|| format!("{}{}", &text[..open], list.replace([',', '|'], " ")))
}

#[cfg(test)]
mod tests {
    use super::{Condition, DEPTH, TERMS};
    use crate::core::model::{Libc, PythonFacts};

    fn holds(marker: &str, extra: Option<&str>) -> bool {
        let python = PythonFacts {
            version: "3.12.1".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let environment = python.marker_environment().expect("an environment");
        let extra = extra.map(|name| name.parse().expect(name));
        Condition::parse(marker).expect(marker).holds(&environment, extra.as_ref())
    }

    #[test]
    fn and_binds_closer_than_or() {
        for (marker, expected) in [
            ("", true),
            ("os_name == 'posix'", true),
            ("os_name == 'nt'", false),
            ("os_name == 'posix' or os_name == 'nt' and os_name == 'nt'", true),
            ("(os_name == 'posix' or os_name == 'nt') and os_name == 'nt'", false),
            ("((os_name=='posix'))and(os_name=='posix')", true),
            ("python_version>='3.8' and python_version<'3.13'", true),
            ("platform_release != 'a) or (b' and os_name == 'posix'", true),
            ("'linux' in sys_platform and python_version in '3.8, 3.12'", true),
            ("python_version not in '3.8, 3.9'", true),
            ("sys_platform == \"o'r and\"", false),
        ] {
            assert_eq!(holds(marker, None), expected, "{marker}");
        }
        assert!(holds("extra == 'gpu' and python_version > '3'", Some("gpu")));
        assert!(!holds("extra == 'gpu'", None));
    }

    #[test]
    fn what_is_no_marker_is_an_error() {
        for marker in [
            "(",
            ")",
            "os_name",
            "os_name == 'a' or",
            "and",
            "os_name == 'a' os_name == 'b'",
            "os_name == 'a",
            "(os_name == 'a'",
            "os_name == 'a')",
            "é == 'a'",
            "os_name == 'a' é",
        ] {
            assert!(Condition::parse(marker).is_err(), "{marker}");
        }
    }

    #[test]
    fn absurd_markers_are_errors_or_cheap() {
        let deep = format!("{}os_name == 'a'{}", "(".repeat(10_000), ")".repeat(10_000));
        assert!(Condition::parse(&deep).expect_err("too deep").contains("parentheses"));
        let nested = |depth: usize| format!("{}os_name == 'posix'{}", "(".repeat(depth), ")".repeat(depth));
        assert!(holds(&nested(DEPTH), None));
        assert!(Condition::parse(&nested(DEPTH + 1)).is_err());
        let many = vec!["a=='b'"; TERMS + 1].join(" or ").replace("a==", "os_name==");
        assert!(Condition::parse(&many).is_err());
        let pairs: Vec<String> = (0..200).map(|at| format!("(extra == 'a{at}' and extra == 'b{at}')")).collect();
        assert!(!holds(&pairs.join(" or "), Some("a7")), "a diagram of this has 2^200 nodes");
        assert!(Condition::parse("extra == 'a ; extra >= 's ttp`#'p\u{687} ; extra >= 's'`#\u{5de}'").is_err());
        assert!(Condition::parse("extra == 'a' x'\u{e9}'").is_err());
        assert!(!holds("os_name == '\u{e9}'", None) && !holds("'\u{e9}' == os_name", None));
        assert!(Condition::parse(&" ".repeat(1 << 20)).is_ok());
        assert!(Condition::parse(&format!("os_name == '{}'", "x".repeat(1 << 20))).is_err());
    }
}
