//! Small texts that many messages have in common: sizes, long lists, foreign text, words of the shell.

use std::fmt::Display;
use std::path::Path;

/// `812.4 MB`, powers of ten as installers print them.
pub fn bytes(count: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) => format!("{}.{} {unit}", count / size, count % size * 10 / size),
        None => format!("{count} B"),
    }
}

/// `1 package`, `2 packages`, `0 libraries`, `2 processes`.
pub fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let plural = match what.strip_suffix('y') {
        _ if count == "1" => what.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if what.ends_with(['s', 'x']) => format!("{what}es"),
        _ => format!("{what}s"),
    };
    format!("{count} {plural}")
}

/// The first dozen of `lines`, and how many more there are.
pub fn few(lines: &[String]) -> Vec<String> {
    first_of(lines, 12)
}

/// The first `most` of `lines`, and how many more there are.
pub fn first_of(lines: &[String], most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {more} more"));
    lines.iter().take(most).cloned().chain(more).collect()
}

/// The first eight of `all` in a sentence, and how many more there are.
pub fn listed(all: &[String]) -> String {
    const SHOWN: usize = 8;
    all.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ") + &others(all.len().saturating_sub(SHOWN))
}

/// ` and 2 more`; nothing where there are no others.
pub fn others(count: usize) -> String {
    if count > 0 { format!(" and {count} more") } else { String::new() }
}

/// Control characters, separators of lines, bidirectional overrides and zero-width characters of foreign text, made
/// visible.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if hostile(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// `text` with other characters in the place of such ones, of the same length in UTF-8: spans of it stay true. ASCII
/// stays as it is.
pub fn harmless_in_place(text: &str) -> String {
    let visible = |c: char| match (hostile(c), c.len_utf8()) {
        (true, 2) => '·',
        (true, 3) => '\u{fffd}',
        (true, 4) => '\u{1f6ab}',
        _ => c,
    };
    text.chars().map(visible).collect()
}

fn hostile(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// `path` as a word of the shell.
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@:,=".contains(c)) {
        return text;
    }
    // A newline or a tab would be shown as something else: bash has a form for them.
    if text.chars().any(char::is_control) {
        return format!("$'{}'", text.escape_default());
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// How many bytes `text` says: `1500000`, `500MB`, `4 GB`, `2GiB`. An error says what to write.
pub fn byte_count(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("write a number of bytes, such as `500MB` or `4GB`".to_owned()),
    };
    let count: u64 = count.parse().map_err(|_| "write a whole number, such as `500MB`".to_owned())?;
    count.checked_mul(unit).ok_or_else(|| "the number is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{harmless_in_place, hostile, shell_word};

    #[test]
    fn what_steers_a_terminal_is_replaced_and_nothing_moves() {
        for c in ['\u{85}', '\u{9b}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}'] {
            let (text, shown) = (format!("ä{c}z"), harmless_in_place(&format!("ä{c}z")));
            assert!(shown.len() == text.len() && shown.find('z') == text.find('z'), "{c:?}: {shown:?}");
            assert!(!shown.chars().any(hostile), "{c:?}: {shown:?}");
        }
    }

    #[test]
    fn a_path_in_a_command_can_be_pasted() {
        for (path, word) in [
            ("/mnt/drive", "/mnt/drive"),
            ("/mnt/a b", "'/mnt/a b'"),
            ("/mnt/a'b", "'/mnt/a'\\''b'"),
            ("/mnt/a\tb", "$'/mnt/a\\tb'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }
}
