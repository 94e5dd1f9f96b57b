//! The text of a notebook's cell: its lines, its texts in quotes, the shell or the file that it is for.

use std::ops::Range;

/// Where texts in three quotes stand, in bytes: a line in one is no command.
pub(super) fn quoted_texts(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end);
    while at < text.len() {
        let rest = &text[at..];
        let begins = at == 0 || text[..at].ends_with('\n');
        if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes)) {
            let end = rest[3..].find(quotes).map_or(text.len(), |end| at + 3 + end + 3);
            found.push(at..end);
            at = end;
        } else if rest.starts_with('#') || begins && rest.trim_start_matches([' ', '\t']).starts_with(['!', '%']) {
            at = line_end(at);
        } else if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let line = &text[at + 1..line_end(at)];
            at += line.find(quote).map_or(1, |end| end + 2);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The lines of a cell with where their first one stands, in bytes; a backslash at the end takes in the next.
pub(super) fn logical_lines(text: &str) -> Vec<(Range<usize>, String)> {
    let mut lines: Vec<(Range<usize>, String)> = Vec::new();
    let (mut start, mut goes_on) = (0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let part = content.strip_suffix('\\').unwrap_or(content);
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, last)) => {
                last.push(' ');
                last.push_str(part.trim());
            }
            None => lines.push((start..start + content.len(), part.to_owned())),
        }
        goes_on = part.len() < content.len();
        start += line.len();
    }
    lines
}

/// The file that a cell writes (`%%writefile NAME`): its name, whether it appends to it, and what it writes.
pub(super) fn written_file(text: &str) -> Option<(String, bool, &str)> {
    let (first, content) = text.trim_start().split_once('\n')?;
    let words = ["%%writefile", "%%file"].iter().find_map(|magic| first.strip_prefix(magic))?.split_whitespace();
    let (options, names): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    let name = plain(names.first()?.trim_matches(['"', '\'']));
    Some((name.to_owned(), options.iter().any(|option| matches!(*option, "-a" | "--append")), content))
}

/// The name of a file as a cell may also write it: `./x` and, on Colab, `/content/x` are `x`.
pub(super) fn plain(name: &str) -> &str {
    name.trim_start_matches("/content/").trim_start_matches("./")
}

/// Whether a cell is one whole shell script (`%%bash`, `%%sh`, `%%shell`, `%%script bash`, `%%system`, `%%!`); `None`
/// where it is for neither a shell nor Python: `%%html`, `%%writefile x.py`, `%%script false`.
pub(super) fn runs_shell(text: &str) -> Option<bool> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines {
        let Some(magic) = line.strip_prefix("%%") else { return Some(false) };
        let mut words = magic.split_whitespace();
        match words.next() {
            Some("capture" | "time" | "timeit" | "prun" | "memit") => {}
            Some("bash" | "sh" | "shell" | "system" | "sx" | "!") => return Some(true),
            Some("script") => {
                let is_shell = |word: &str| matches!(word.rsplit('/').next(), Some("bash" | "sh" | "zsh"));
                return words.any(is_shell).then_some(true);
            }
            _ => return None,
        }
    }
    Some(false)
}
