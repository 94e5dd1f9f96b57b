//! What the cells of a notebook install, in their order.

use std::collections::BTreeMap;
use std::ops::Range;

use pep508_rs::MarkerEnvironment;
use serde_json::Value;

use crate::boot::audit::listed_lines::Listed;
use crate::boot::audit::requirements_txt::{Include, one, read_included};
use crate::core::diag::Source;
use crate::core::model::ipynb::source as source_of;
use crate::core::model::json_text::strict;

/// The lines of a notebook that install: `%pip install …`, `!pip install …`, `!uv pip install …`, `!python -m pip
/// install …`, and the same without a mark in a cell that is a shell script.
pub(super) fn notebook(source: &Source, markers: &MarkerEnvironment, include: Include<'_>) -> Result<Listed, String> {
    let notebook: Value = serde_json::from_str(&strict(&source.text)).map_err(|error| error.to_string())?;
    let cells = notebook["cells"].as_array().ok_or("it has no cells")?;
    let mut listed = Listed::default();
    let mut assigned = BTreeMap::new();
    let code = cells.iter().enumerate().filter(|(_, cell)| cell["cell_type"] == "code");
    for (at, cell) in code {
        let text = source_of(cell);
        let own = Source { name: format!("{}, cell {}", source.name, at + 1).into(), text: text.into() };
        let shell = is_shell_cell(&own.text);
        for (span, line) in logical_lines(&own.text) {
            let known = listed.sizes();
            let command = line.trim().strip_prefix(['%', '!']).or_else(|| shell.then_some(line.trim()));
            let called = called(&line);
            assigned.extend(assignment(&line));
            let command = command.or(called.as_deref()).map(|command| with_values(command, &assigned));
            listed.has_indexes |= command.as_deref().is_some_and(names_an_index);
            for word in command.as_deref().map(installed_by).unwrap_or_default() {
                // Half of a notebook's lines are for a shell: what makes no sense here is named, and passed over.
                let is_read = match &word {
                    Argument::Requirement(text) => one(text, markers, &mut listed).is_ok(),
                    Argument::File(path) => {
                        let mut more = read_included(path, markers, include);
                        let is_whole = more.refused.is_empty();
                        more.refused.clear();
                        listed.merge(more);
                        is_whole
                    }
                };
                if let (false, Argument::Requirement(text) | Argument::File(text)) = (is_read, word) {
                    listed.open.push(format!("cell {}: {text}", at + 1));
                }
            }
            listed.place(known, &own, span);
            listed.replace(known);
        }
    }
    Ok(listed)
}

/// The command that a line of Python has a shell run: `os.system("pip install x")`.
fn called(line: &str) -> Option<String> {
    let (_, rest) = CALLS.iter().find_map(|call| line.split_once(call))?;
    let rest = rest.trim_start().trim_start_matches('f');
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let text = rest[1..].split(quote).next()?;
    Some(text.trim_start_matches(['!', '%']).to_owned())
}

/// What runs a command line.
const CALLS: &[&str] = &["os.system(", "get_ipython().system(", "subprocess.getoutput(", "run_line_magic("];

/// `VERSION = "1.2"`.
fn assignment(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let value = value[1..].strip_suffix(quote).filter(|value| !value.contains(quote))?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// `command` with the variables that a notebook has given a text, as `IPython` puts them in: `{NAME}` and `$NAME`.
fn with_values(command: &str, assigned: &BTreeMap<String, String>) -> String {
    let mut text = command.to_owned();
    if text.contains(['{', '$']) {
        for (name, value) in assigned.iter().rev() {
            text = text.replace(&format!("{{{name}}}"), value).replace(&format!("${name}"), value);
        }
    }
    text
}

/// Whether an install line names an index or a page of wheels.
fn names_an_index(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.any(|word| {
        ["-i", "-f"].contains(&word)
            || ["--index-url", "--extra-index-url", "--find-links"].iter().any(|name| word.starts_with(name))
    })
}

/// The lines of a cell with where their first one stands, in bytes; a backslash at the end takes in the next.
fn logical_lines(text: &str) -> Vec<(Range<usize>, String)> {
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

/// What an install line names.
enum Argument {
    Requirement(String),
    File(String),
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
    "-e",
    "--editable",
];

/// Whether a cell is one whole shell script: `%%bash`, `%%sh`, `%%script bash`, `%%system`, `%%!`.
fn is_shell_cell(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let mut words = first.strip_prefix("%%").unwrap_or_default().split_whitespace();
    match words.next() {
        Some("script") => words.any(|word| matches!(word.rsplit('/').next(), Some("bash" | "sh" | "zsh"))),
        word => matches!(word, Some("bash" | "sh" | "system" | "sx" | "!")),
    }
}

/// What the command line `pip install …`, alone or behind `uv` or `python -m`, names.
fn installed_by(command: &str) -> Vec<Argument> {
    // A redirection or a second command ends pip's arguments.
    let words = shlex::split(command).unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect());
    let Some(at) = words.iter().position(|word| word == "install") else {
        return Vec::new();
    };
    let is_pip = words[..at].iter().any(|word| matches!(word.rsplit('/').next(), Some("pip" | "pip3")));
    let mut found = Vec::new();
    let ends =
        |word: &str| matches!(word, "&&" | "||" | "|" | ";" | "#" | "\\") || word.contains('>') && is_redirection(word);
    let mut arguments = Vec::new();
    for word in words[at + 1..].iter().take_while(|word| !ends(word)) {
        arguments.push(word.trim_end_matches(';').to_owned());
        if word.ends_with(';') {
            break;
        }
    }
    let mut rest = arguments.into_iter();
    while let Some(word) = rest.next().filter(|_| is_pip) {
        match word.as_str() {
            "-r" | "--requirement" => found.extend(rest.next().map(Argument::File)),
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
