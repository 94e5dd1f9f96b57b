//! Small texts that many messages have in common: sizes, long lists, foreign text, words of the shell.

use std::path::Path;

/// `812.4 MB`, powers of ten as installers print them.
pub fn bytes(count: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) => format!("{}.{} {unit}", count / size, count % size * 10 / size),
        None => format!("{count} B"),
    }
}

/// `1 package`, `2 packages`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Lines of a list that are shown.
const SHOWN: usize = 12;

/// The first dozen of `lines`, and how many more there are.
pub fn few(changes: &[String]) -> Vec<String> {
    let more = changes.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("and {more} more"));
    changes.iter().take(SHOWN).cloned().chain(more).collect()
}

/// The first eight of `all` in a sentence, and how many more there are.
pub fn listed(all: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = all.len().saturating_sub(SHOWN);
    let named = all.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Control characters, separators of lines, bidirectional overrides and zero-width characters of foreign text, made
/// visible.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if hostile(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::shell_word;

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
