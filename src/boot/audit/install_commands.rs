//! The words of an install command as a shell passes them on: quotes, redirections, options, what each `pip install` of
//! a line names.

use crate::boot::audit::listed_lines::Listed;
use crate::boot::profile::{Manner, UpgradeStrategy};

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

/// What a command of pip names.
pub(super) enum Argument {
    Requirement(String),
    File(String),
    Constraints(String),
    Editable(String),
    /// By the pip of another Python, of which this is the path.
    Foreign(String),
    /// What is installed into another folder, of which this is the option.
    Elsewhere(String),
    Removed(String),
    /// A file that lists what is removed.
    RemovedFile(String),
}

/// A command of pip's in a line.
pub(super) struct Command {
    pub(super) arguments: Vec<Argument>,
    pub(super) manner: Manner,
    /// It runs only if the command of pip's before it in the line succeeded, or failed.
    pub(super) after: Option<bool>,
}

/// Options of `pip install` that take a value.
const WITH_VALUE: &[&str] = &[
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
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
    "--src",
    "--report",
    "--log",
    "--config-settings",
    "--global-option",
    "--use-feature",
    "--abi",
    "--implementation",
    "--exclude-newer",
    "--python-platform",
    "--index-strategy",
    "--keyring-provider",
    "--link-mode",
    "--resolution",
    "--prerelease",
    "--overrides",
    "--override",
    "--build-constraint",
    "--index",
    "--default-index",
];

/// The operators of a shell that separate two commands.
const CONNECTORS: [&str; 5] = ["&&", "||", "|", "&", ";"];

/// The commands of pip's in a command line, alone or behind `uv` or `python -m`.
pub(super) fn commands_in(line: &str) -> Vec<Command> {
    let words = shlex::split(line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect());
    // `;` may stand right behind a word.
    let words = words.iter().flat_map(|word| match word.strip_suffix(';') {
        Some(own) => vec![own, ";"],
        None => vec![word.as_str()],
    });
    let words: Vec<&str> = words.map(|word| word.trim_start_matches('(')).collect();
    let (mut found, mut after) = (Vec::new(), None);
    for part in words.split_inclusive(|word| CONNECTORS.contains(word)) {
        let (own, connector) = match part.split_last() {
            Some((last, own)) if CONNECTORS.contains(last) => (own, *last),
            _ => (part, ";"),
        };
        let arguments = arguments_of(own);
        let is_pip = !arguments.is_empty();
        if is_pip {
            found.push(Command { arguments, manner: manner_of(own), after });
        }
        after = match connector {
            "&&" if is_pip => Some(true),
            // What is no command of pip's is taken to succeed.
            "&&" => after,
            "||" if is_pip => Some(false),
            _ => None,
        };
    }
    found
}

/// How the words of one command ask for packages.
fn manner_of(words: &[&str]) -> Manner {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let newest = has(&["-U", "--upgrade", "-qU", "-Uq"]);
    let is_eager = newest && has(&["uv", "eager", "--upgrade-strategy=eager"]);
    let upgrade = match newest {
        _ if is_eager || has(&["--force-reinstall", "-I", "--ignore-installed"]) => UpgradeStrategy::All,
        true => UpgradeStrategy::Named,
        false => UpgradeStrategy::Nothing,
    };
    Manner { upgrade, alone: has(&["--no-deps"]), pre: has(&["--pre"]) }
}

/// Where the pip of the notebook's own Python lies, if a path is given.
const OWN_FOLDERS: [&str; 2] = ["/usr/bin/", "/usr/local/bin/"];

/// `pip`, `pip3`, `pip3.12`.
fn is_pip(program: &str) -> bool {
    let version = program.strip_prefix("pip");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// What a command of pip's names: nothing where it is none, or changes nothing.
fn arguments_of(words: &[&str]) -> Vec<Argument> {
    let Some(at) = words.iter().position(|word| matches!(*word, "install" | "uninstall")) else {
        return Vec::new();
    };
    if matches!(words.first(), Some(&("echo" | "printf"))) || words.contains(&"--dry-run") {
        return Vec::new();
    }
    let mut pips = words[..at].iter().filter(|word| is_pip(word.rsplit('/').next().unwrap_or_default()));
    match pips.next() {
        None => return Vec::new(),
        Some(pip) if pip.contains('/') && !OWN_FOLDERS.iter().any(|folder| pip.starts_with(folder)) => {
            return vec![Argument::Foreign((*pip).to_owned())];
        }
        Some(_) => {}
    }
    let removes = words[at] == "uninstall";
    let file = if removes { Argument::RemovedFile } else { Argument::File };
    let mut found = Vec::new();
    // A redirection or a comment ends pip's arguments.
    let ends = |word: &str| matches!(word, "#" | "\\") || word.contains('>') && is_redirection(word);
    let mut rest = words[at + 1..].iter().take_while(|word| !ends(word)).map(|word| (*word).to_owned());
    while let Some(word) = rest.next() {
        let word = word.trim_end_matches(')');
        let (option, value) = option_and_value(word);
        let mut value = || value.map(str::to_owned).or_else(|| rest.next());
        match option {
            "-r" | "--requirement" | "--requirements" => found.extend(value().map(file)),
            "-c" | "--constraint" | "--constraints" => found.extend(value().map(Argument::Constraints)),
            "-e" | "--editable" => found.extend(value().map(Argument::Editable)),
            "-t" | "--target" | "--prefix" | "--root" => return vec![Argument::Elsewhere(word.to_owned())],
            option if WITH_VALUE.contains(&option) => drop(value()),
            option if option.starts_with('-') || option.is_empty() => {}
            _ if removes => found.push(Argument::Removed(word.to_owned())),
            _ => found.push(Argument::Requirement(word.to_owned())),
        }
    }
    found
}

/// An option without the value that is written to it: `--requirement=FILE`, `-rFILE`, and of `-qr` the last letter.
fn option_and_value(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
    }
    let letters = word.strip_prefix('-').unwrap_or_default();
    let found = SHORT.iter().filter_map(|option| Some((letters.find(&option[1..])?, *option))).min();
    let value = |at: usize| Some(&letters[at + 1..]).filter(|value| !value.is_empty());
    found.map_or((word, None), |(at, option)| (option, value(at)))
}

/// Short options that take a value.
const SHORT: [&str; 7] = ["-r", "-c", "-e", "-t", "-i", "-f", "-p"];

/// `>`, `>>`, `2>&1`, `&>log`, `>/dev/null`: a word that begins with them, or with a number before.
fn is_redirection(word: &str) -> bool {
    word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with('>')
}
