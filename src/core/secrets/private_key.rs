//! The secret part of a private key: its lines of base64. A program may hold a key in several strings, whose quotes
//! stay.

use std::ops::Range;

/// Characters that a line of a key has at least, and all of it.
const LINE: usize = 16;
const WHOLE: usize = 40;

/// Two lines have so much between them at most: ends of lines, also as escapes, those of strings, marks of lists.
const BETWEEN: usize = 40;

/// Where the lines of the key in `text` are; nothing where it has a header and no key.
pub(super) fn lines_of(text: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for word in words(text) {
        let follows = lines.last().is_some_and(|last| word.start - last.end <= BETWEEN);
        if word.len() >= LINE || follows && is_last_line(text, &word) {
            lines.push(word);
        }
    }
    let longest = lines.iter().filter(|line| is_mixed(&text[(*line).clone()])).map(Range::len).sum::<usize>();
    if longest >= WHOLE { lines } else { Vec::new() }
}

/// Runs of base64 outside of the lines that begin and end a key.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if bytes[at..].starts_with(b"-----") {
                let rest = text.get(at + 5..).unwrap_or_default();
                at = rest.find("-----").map_or(bytes.len(), |end| at + 5 + end + 5);
                continue;
            }
            let start = at;
            at += bytes[at..].iter().take_while(|byte| is_base64(**byte)).count().max(1);
            let own = start + prefix(&bytes[..start], &bytes[start..at]);
            if is_base64(bytes[start]) && own < at {
                return Some(own..at);
            }
        }
        None
    })
}

/// How many bytes of `word` are of an escape that begins `before` it (`\n`, `\x0a`), or mark a line of a diff.
fn prefix(before: &[u8], word: &[u8]) -> usize {
    match (before.last(), word.first()) {
        (Some(b'\\'), Some(b'x')) => word.len().min(3),
        (Some(b'\\'), Some(b'u')) => word.len().min(5),
        (Some(b'\\'), Some(b'0'..=b'7')) => word.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count(),
        (Some(b'\\'), _) | (Some(b'\n'), Some(b'+')) => 1,
        _ => 0,
    }
}

/// Whether a short word is the last line of a key, and no word of a program: what follows ends its line or its string.
fn is_last_line(text: &str, word: &Range<usize>) -> bool {
    let (line, rest) = (&text[word.clone()], &text[word.end..]);
    let has_end = rest.is_empty() || rest.starts_with(['\\', '\n', '\r', '<']);
    let has_quote = rest.strip_prefix(['"', '\'']).is_some_and(|rest| !rest.starts_with("-----"));
    (has_end || has_quote) && (is_mixed(line) || line.len() > 1 && line.ends_with('='))
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Digits, and letters of both cases.
fn is_mixed(line: &str) -> bool {
    let has = |is: fn(&u8) -> bool| line.as_bytes().iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::lines_of;

    #[test]
    fn a_key_is_its_lines() {
        let (one, two) = ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7aB3dE6gH9jK2", "aB3dE6gH9jK2=");
        let found = |text: &str| lines_of(text).into_iter().map(|line| text[line].to_owned()).collect::<Vec<_>>();
        let (head, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
        for text in [
            format!("{head}\n{one}\n{two}\n{end}"),
            format!("{head}\\n{one}\\n{two}\\n{end}\\n"),
            format!("{head}\\n\"\n    \"{one}\\n\"\n    '{two}\\n'\n    \"{end}"),
            format!("{head}\", \"{one}\", \"{two}\", \"{end}"),
        ] {
            assert_eq!(found(&text), [one, two], "{text}");
        }
        assert_eq!(found(&format!("{head}\n{one}")), [one]);
        // Other strings of a program, statements, escapes, marks: what is not the key stays.
        for text in [
            format!("{head}\\n\"\n  b\"{one}\\n\"\n  rb'{two}\\n'\n  b\"{end}"),
            format!("{head}\\n\"\nK += \"{one}\\n\"\nK += \"{two}\\n\"\nK += \"{end}"),
            format!("{head}\" +\n \"{one}\" +\n \"{two}\" +\n \"{end}"),
            format!("{head}\\x0a{one}\\x0a{two}\\x0a{end}"),
            format!("{head}\n+{one}\n+{two}\n+{end}"),
            format!("{head}\n# {one}\n# {two}\n# {end}"),
            format!("{head}\",\n- \"{one}\"\n- \"{two}\"\n- \"{end}"),
        ] {
            assert_eq!(found(&text), [one, two], "{text}");
        }
        let code = format!("{head}\"\nWIDTH = 64\nALGORITHM = \"RSA\"\nENCODING = \"base64\"\nEND = \"{end}");
        assert_eq!(found(&code), [""; 0]);
        assert_eq!(found(&format!("{head}\nhow_to_make_one_of_these_for_your_own_server_in_2026\n{end}")), [""; 0]);
    }
}
