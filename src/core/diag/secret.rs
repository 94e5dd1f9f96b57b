//! What people and files must not see: passwords in addresses, tokens in queries and paths, keys by their well-known
//! beginnings. They are covered by as many `*` as they have bytes, so that carets into a source still point where they
//! should.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Parameters of a query, in lower case, whose values are secret.
const PARAMETERS: &[&str] = &[
    "access_key",
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "auth_token",
    "authorization",
    "key",
    "passwd",
    "password",
    "private_token",
    "secret",
    "sig",
    "signature",
    "token",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-signature",
    "x-goog-credential",
    "x-goog-signature",
];

/// How addresses give their host, and how tokens begin: found in one pass. That they can be searched is tested below.
static STARTS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(std::iter::once(HOST).chain(PREFIXES.iter().map(|(prefix, _)| *prefix))).ok());

const HOST: &str = "://";

/// How tokens begin, and how many bytes of the alphabet of tokens follow at least. Sources: the documentation of each
/// service on its token formats, 2026-11-22.
const PREFIXES: &[(&str, usize)] = &[
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("gldt-", 18),
    ("hf_", 25),
    ("pypi-AgE", 30),
    ("sk-", 30),
    ("AKIA", 16),
    ("ASIA", 16),
    ("dapi", 32),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("npm_", 30),
    ("eyJ", 40),
    ("ya29.", 30),
    ("AIza", 30),
];

/// Those of them that are followed by letters and digits alone.
const PLAIN: &[&str] = &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hf_", "AKIA", "ASIA", "dapi", "npm_"];

/// The longest text of one message; the largest index page has 40 MB.
const LONGEST: usize = 4_000;

/// `text` with its secrets covered.
pub fn without_secrets(text: &str) -> String {
    let mut covered: Vec<std::ops::Range<usize>> = Vec::new();
    for start in STARTS.iter().flat_map(|starts| starts.find_overlapping_iter(text)) {
        match start.pattern().as_usize().checked_sub(1) {
            None => covered.extend(of_address(text, start.end())),
            Some(row) => covered.extend(of_prefix(text, start.start(), start.len(), PREFIXES[row].1)),
        }
    }
    if covered.is_empty() {
        return text.to_owned();
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in covered {
        bytes[range].fill(b'*');
    }
    // Whole characters are covered, by ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

/// `text` as a message may have it: no secrets, and of a long one the beginning and the end.
pub fn presentable(text: &str) -> String {
    let text = without_secrets(text);
    if text.len() <= LONGEST {
        return text;
    }
    let start = text.floor_char_boundary(LONGEST * 3 / 4);
    let end = text.ceil_char_boundary(text.len() - LONGEST / 4);
    format!("{} … ({} bytes omitted) … {}", &text[..start], end - start, &text[end..])
}

/// The secrets of the address whose host begins at `start`.
fn of_address(text: &str, start: usize) -> Vec<std::ops::Range<usize>> {
    let rest = &text[start..];
    let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>)]}".contains(c));
    let address = &rest[..end.unwrap_or(rest.len())];
    let (place, query) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let mut found = Vec::new();
    if let Some(at) = authority.rfind('@') {
        found.push(start..start + at);
    }
    let path_start = start + authority.len();
    let mut before = "";
    let mut at = path_start;
    for segment in path.split('/') {
        // conda's servers have `/t/TOKEN/`.
        if !segment.is_empty() && (before == "t" || is_random(segment)) {
            found.push(at..at + segment.len());
        }
        before = segment;
        at += segment.len() + 1;
    }
    let mut at = path_start + path.len();
    for pair in query.split_inclusive(['?', '&', '#', ';']) {
        let body = pair.trim_end_matches(['?', '&', '#', ';']);
        if let Some((name, value)) = body.split_once('=').filter(|(name, _)| is_secret(name)) {
            let from = at + name.len() + 1;
            found.push(from..from + value.len());
        }
        at += pair.len();
    }
    found
}

fn is_secret(parameter: &str) -> bool {
    PARAMETERS.contains(&parameter.to_ascii_lowercase().as_str())
}

/// Whether a part of a path looks drawn at random, as tokens are: long, of letters in both cases and digits. Digests
/// are in one case.
fn is_random(segment: &str) -> bool {
    let has = |test: fn(&u8) -> bool| segment.bytes().filter(test).count();
    let plain = segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    plain
        && segment.len() >= 20
        && has(u8::is_ascii_digit) >= 3
        && has(u8::is_ascii_uppercase) >= 3
        && has(u8::is_ascii_lowercase) >= 3
}

/// The token that begins at `at`, if one does.
fn of_prefix(text: &str, at: usize, length: usize, least: usize) -> Option<std::ops::Range<usize>> {
    if text[..at].bytes().next_back().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = text.as_bytes()[at + length..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        .count();
    let plain = text.as_bytes()[at + length..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    // The wheel `hf_xet-1.5.1-cp37-abi3-….whl` is no token: those of such services have letters and digits alone.
    let long = if PLAIN.contains(&&text[at..at + length]) { plain } else { rest };
    (long >= least).then_some(at + length..at + length + rest)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, presentable, without_secrets};

    #[test]
    fn secrets_are_covered_and_the_rest_stays() {
        let long = "aB3".repeat(12);
        for (text, shown) in [
            ("a @ https://user:pass@h/x.whl", "a @ https://*********@h/x.whl".to_owned()),
            ("git+https://h/x/y@v1.0 and https://tok@h", "git+https://h/x/y@v1.0 and https://***@h".to_owned()),
            ("https://h/x?token=abc&v=1#sha256=0", "https://h/x?token=***&v=1#sha256=0".to_owned()),
            ("https://h/x?v=1&X-Amz-Signature=abc.", "https://h/x?v=1&X-Amz-Signature=****".to_owned()),
            ("https://h/t/ab-12/simple", "https://h/t/*****/simple".to_owned()),
            (&format!("https://h/{long}/simple/"), format!("https://h/{}/simple/", "*".repeat(36))),
            (&format!("hf_{long}"), format!("hf_{}", "*".repeat(36))),
            (
                "https://h/packages/ab/0123456789abcdef0123456789abcdef/torch-2.11.0-cp312.whl",
                "https://h/packages/ab/0123456789abcdef0123456789abcdef/torch-2.11.0-cp312.whl".to_owned(),
            ),
            (
                "hf_xet-1.5.1-cp37-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
                "hf_xet-1.5.1-cp37-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl".to_owned(),
            ),
            ("requests[socks]>=2 ; python_version > '3'", "requests[socks]>=2 ; python_version > '3'".to_owned()),
            ("https://üser:pä@h/é", "https://*********@h/é".to_owned()),
        ] {
            let covered = without_secrets(text);
            assert_eq!((covered.as_str(), covered.len()), (shown.as_str(), text.len()), "{text}");
        }
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let text = format!("begin {} end", "é".repeat(1 << 20));
        let shown = presentable(&text);
        assert!(shown.len() < LONGEST + 100 && shown.starts_with("begin") && shown.ends_with("end"));
    }
}
