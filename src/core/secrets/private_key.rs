//! What is secret in a private key as text: the lines of base64, not what stands between them. A key may be written
//! over several strings of a program, whose quotes stay.

use std::ops::Range;

/// Characters that a line of a key has at least, and all of it.
const LINE: usize = 16;
const WHOLE: usize = 40;

/// Where the lines of the key in `text` are; nothing where it has a header and no key.
pub(super) fn lines_of(text: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for word in words(text) {
        let follows = lines.last().is_some_and(|last| is_between(&text[last.end..word.start]));
        // The last line may be short.
        if word.len() >= LINE || follows {
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
            // The letter of an escape: `\n`.
            let escape = usize::from(start > 0 && bytes[start - 1] == b'\\');
            if is_base64(bytes[start]) && start + escape < at {
                return Some(start + escape..at);
            }
        }
        None
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether two lines of a key may have this between them: ends of lines, also as escapes, and those of strings.
fn is_between(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || "\\\"'nr,+".contains(c))
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
        let of = |text: &str| lines_of(text).into_iter().map(|line| text[line].to_owned()).collect::<Vec<_>>();
        let (head, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
        for text in [
            format!("{head}\n{one}\n{two}\n{end}"),
            format!("{head}\\n{one}\\n{two}\\n{end}\\n"),
            format!("{head}\\n\"\n    \"{one}\\n\"\n    '{two}\\n'\n    \"{end}"),
            format!("{head}\", \"{one}\", \"{two}\", \"{end}"),
        ] {
            assert_eq!(of(&text), [one, two], "{text}");
        }
        assert_eq!(of(&format!("{head}\n{one}")), [one]);
        let code = format!("{head}\"\nWIDTH = 64\nALGORITHM = \"RSA\"\nENCODING = \"base64\"\nEND = \"{end}");
        assert_eq!(of(&code), [""; 0]);
        assert_eq!(of(&format!("{head}\nhow_to_make_one_of_these_for_your_own_server_in_2026\n{end}")), [""; 0]);
    }
}
