//! The words of an install command as a shell passes them on: quotes, redirections, options, what each `pip install` of
//! a line names.

use crate::boot::audit::listed_lines::Listed;
use crate::boot::profile::Manner;

/// `line` of an install command without what a shell takes out of it: `>=0.3.0` of an unquoted `einops>=0.3.0` is a
/// file that is written, and `<4.21` one that is read, so that the line fails. Expressions in braces become one word.
pub(super) fn quoted_away(line: &str, cell: &str, listed: &mut Listed) -> String {
    if !line.contains("pip") || !line.contains("install") {
        return line.to_owned();
    }
    let (mut kept, mut quote, mut braces, mut end) = (String::new(), None, 0_usize, 0);
    for (at, c) in line.char_indices() {
        if at < end {
            continue;
        }
        match (quote, c) {
            (None, '{') => braces += 1,
            (None, '}') => braces = braces.saturating_sub(1),
            (None, '"' | '\'') if braces == 0 => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            // A comment.
            (None, '#') if kept.ends_with(char::is_whitespace) => return kept,
            (None, '<' | '>') if braces == 0 && is_of_a_requirement(&kept, &line[at..]) => {
                end = line[at..].find(char::is_whitespace).map_or(line.len(), |end| at + end);
                let word = kept.rsplit(char::is_whitespace).next().unwrap_or_default();
                let whole = format!("{word}{}", &line[at..end]);
                if c == '<' {
                    listed.refused.push(format!("{cell}: `{whole}` must be in quotes: for a shell it reads a file"));
                } else {
                    listed.open.push(format!("{cell}: the version of `{whole}`, for a shell without quotes a file"));
                }
                continue;
            }
            _ => {}
        }
        // What is computed is one word, however it is written.
        if braces > 0 && (c.is_whitespace() || matches!(c, '"' | '\'')) {
            kept.push('_');
        } else {
            kept.push(c);
        }
    }
    kept
}

/// Whether `<` or `>` at the start of `rest` stands behind the name of a package and before a version.
fn is_of_a_requirement(before: &str, rest: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let version = rest.trim_start_matches(['<', '>', '=']);
    word.contains(|c: char| c.is_alphabetic())
        && !word.starts_with('-')
        && version.starts_with(|c: char| c.is_ascii_digit())
}

/// What an install line names.
pub(super) enum Argument {
    Requirement(String),
    File(String),
    Editable(String),
    /// By the pip of another Python, of which this is the path.
    Foreign(String),
}

/// Options of `pip install` that take a value.
const WITH_VALUE: &[&str] = &[
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "-c",
    "--constraint",
    "-t",
    "--target",
    "--prefix",
    "--root",
    "--python",
    "-p",
    "--platform",
    "--python-version",
    "--upgrade-strategy",
    "--only-binary",
    "--no-binary",
    "--cache-dir",
    "--timeout",
    "--retries",
    "--trusted-host",
    "--proxy",
    "--progress-bar",
    "--torch-backend",
];

/// What each `pip install …` of a command line names, alone or behind `uv` or `python -m`.
pub(super) fn installed_by(command: &str) -> Vec<(Vec<Argument>, Manner)> {
    let words = shlex::split(command).unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect());
    // `;` may stand right behind a word.
    let words = words.iter().flat_map(|word| match word.strip_suffix(';') {
        Some(own) => vec![own, ";"],
        None => vec![word.as_str()],
    });
    let words: Vec<&str> = words.map(|word| word.trim_start_matches('(')).collect();
    let commands = words.split(|word| matches!(*word, "&&" | "||" | "|" | "&" | ";"));
    commands
        .map(|words| {
            let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
            let newest = has(&["-U", "--upgrade", "-qU", "-Uq"]);
            let manner = Manner { newest, alone: has(&["--no-deps"]), pre: has(&["--pre"]) };
            (installed_by_one(words), manner)
        })
        .filter(|(arguments, _)| !arguments.is_empty())
        .collect()
}

/// Where the pip of the notebook's own Python lies, if a path is given.
const OWN_FOLDERS: [&str; 2] = ["/usr/bin/", "/usr/local/bin/"];

/// The same for the words of one command.
fn installed_by_one(words: &[&str]) -> Vec<Argument> {
    let Some(at) = words.iter().position(|word| *word == "install") else {
        return Vec::new();
    };
    if matches!(words.first(), Some(&("echo" | "printf"))) {
        return Vec::new();
    }
    let mut pips = words[..at].iter().filter(|word| matches!(word.rsplit('/').next(), Some("pip" | "pip3")));
    let is_pip = match pips.next() {
        Some(pip) if pip.contains('/') && !OWN_FOLDERS.iter().any(|folder| pip.starts_with(folder)) => {
            return vec![Argument::Foreign((*pip).to_owned())];
        }
        pip => pip.is_some(),
    };
    let mut found = Vec::new();
    // A redirection or a comment ends pip's arguments.
    let ends = |word: &str| matches!(word, "#" | "\\") || word.contains('>') && is_redirection(word);
    let mut rest = words[at + 1..].iter().take_while(|word| !ends(word)).map(|word| (*word).to_owned());
    while let Some(word) = rest.next().filter(|_| is_pip) {
        match word.trim_end_matches(')') {
            "-r" | "--requirement" => found.extend(rest.next().map(Argument::File)),
            "-e" | "--editable" => found.extend(rest.next().map(Argument::Editable)),
            // `-qr`, as short options may be written.
            short if short.len() < 6 && short.starts_with('-') && !short.starts_with("--") && short.ends_with('r') => {
                found.extend(rest.next().map(Argument::File));
            }
            option if WITH_VALUE.contains(&option) => drop(rest.next()),
            option if option.starts_with('-') || option.is_empty() => {}
            requirement => found.push(Argument::Requirement(requirement.to_owned())),
        }
    }
    found
}

/// `>`, `>>`, `2>&1`, `&>log`, `>/dev/null`: a word that begins with them, or with a number before.
fn is_redirection(word: &str) -> bool {
    word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with('>')
}
