//! What the cells of a notebook install, in their order.

use std::collections::BTreeMap;
use std::ops::Range;

use pep508_rs::MarkerEnvironment;
use serde_json::Value;

use crate::boot::audit::cell_text::{logical_lines, plain, quoted_texts, runs_shell, written_file};
use crate::boot::audit::install_commands::{Argument, commands_in, quoted_away};
use crate::boot::audit::listed_lines::{Listed, PipCommand};
use crate::boot::audit::pip_options::unread_options;
use crate::boot::audit::requirements_txt::{Include, one, read_constraints, read_included};
use crate::boot::profile::Manner;
use crate::core::diag::Source;
use crate::core::model::ipynb::{must_be_supported, source as source_of};
use crate::core::model::json_text::strict;

/// Adds what `command` of a cell has beside the packages that it installs: other programs, indexes, options.
fn note_others(command: &str, installs: bool, cell: usize, listed: &mut Listed) {
    let in_cell = |line: &str| format!("cell {cell}: {line}");
    let others = command.split(['&', ';', '|']).map(str::trim);
    listed.others.extend(others.filter(|line| is_of_another_program(line)).map(in_cell));
    if installs {
        listed.take_index_options(command);
    }
    listed.unread.extend(unread_options(command).filter(|_| installs).map(|line| in_cell(&line)));
}

/// The lines of a notebook that install: `%pip install …`, `!pip install …`, `!uv pip install …`, `!python -m pip
/// install …`, and the same without a mark in a cell that is a shell script.
pub(super) fn notebook(source: &Source, markers: &MarkerEnvironment, include: Include<'_>) -> Result<Listed, String> {
    let notebook: Value = serde_json::from_str(&strict(&source.text)).map_err(|error| error.to_string())?;
    notebook["nbformat"].as_u64().map_or(Ok(()), must_be_supported)?;
    let cells = notebook["cells"].as_array().ok_or("it has no cells")?;
    let mut listed = Listed::default();
    let (mut assigned, mut written) = (BTreeMap::new(), BTreeMap::<String, String>::new());
    let code = cells.iter().enumerate().filter(|(_, cell)| cell["cell_type"] == "code");
    for (at, cell) in code {
        let text = source_of(cell);
        let own = Source { name: format!("{}, cell {}", source.name, at + 1).into(), text: text.into() };
        if let Some((name, appends, content)) = written_file(&own.text) {
            let before = appends.then(|| written.remove(&name)).flatten().unwrap_or_default();
            written.insert(name, before + content);
        }
        let Some(shell) = runs_shell(&own.text) else { continue };
        let include = |name: &str| written.get(plain(name)).cloned().map_or_else(|| include(name), Ok);
        // The first command that fails ends such a script.
        let (stops, first) =
            (shell && own.text.lines().any(|line| line.trim().starts_with("set -e")), listed.commands.len());
        let quoted = if shell { Vec::new() } else { quoted_texts(&own.text) };
        let is_run = |span: &Range<usize>| !quoted.iter().any(|text| text.contains(&span.start));
        for (span, line) in logical_lines(&own.text).into_iter().filter(|(span, _)| is_run(span)) {
            let (known, refused) = (listed.sizes(), listed.refused.len());
            let command = shell_command(line.trim(), shell);
            let command = command.map(|command| quoted_away(command, &format!("cell {}", at + 1), &mut listed));
            listed.open.extend(pip_variable(&line).map(|name| format!("cell {}: the variable {name} of pip", at + 1)));
            let called = called(&line);
            assigned.extend(assignment(&line));
            let command = command.or(called).map(|command| with_values(&command, &assigned));
            // A shell does not even start such a line.
            let is_refused = listed.refused.len() > refused;
            let installs = command.as_deref().map(commands_in).unwrap_or_default();
            if let Some(command) = &command {
                note_others(command, !installs.is_empty(), at + 1, &mut listed);
            }
            for command in installs {
                let (before, number) = (listed.asked.len(), listed.commands.len());
                let after = command.after.or_else(|| (stops && number > first).then_some(true));
                let mut own = PipCommand { after, is_refused, ..PipCommand::default() };
                for word in command.arguments {
                    add(word, (&mut own, &mut listed), at + 1, markers, &include);
                }
                listed.commands.push(own);
                let manner = command.manner;
                for line in &mut listed.asked[before..] {
                    (line.manner, line.command) = (Manner { pre: manner.pre || line.manner.pre, ..manner }, number);
                }
            }
            let start = span.start;
            listed.place(known, &own, span);
            if is_conditional(&own.text, start) {
                listed.set_conditional(known);
            }
            listed.replace(known);
        }
    }
    Ok(listed)
}

/// Adds what a word of a command in `cell` names. Half of a notebook's lines are for a shell: what makes no sense here
/// is named, and passed over.
fn add(
    word: Argument,
    (command, listed): (&mut PipCommand, &mut Listed),
    cell: usize,
    markers: &MarkerEnvironment,
    include: Include<'_>,
) {
    let unread = match word {
        Argument::Requirement(text) => match one(&text, markers, listed) {
            Err(error) if is_single_equals(&text) => {
                command.is_refused = true;
                listed.refused.push(format!("cell {cell}: `{text}`: {error}"));
                None
            }
            read => read.err().map(|_| text),
        },
        Argument::Editable(what) => {
            listed.elsewhere.push(what);
            None
        }
        Argument::Foreign(pip) => Some(format!("what `{pip}` installs, for another Python")),
        Argument::Elsewhere(option) => Some(format!("what is installed with `{option}`, into another folder")),
        Argument::Removed(name) => match name.parse() {
            Ok(name) => {
                command.removes.push(name);
                None
            }
            Err(_) => Some(name),
        },
        Argument::RemovedFile(path) => {
            let more = read_included(&path, markers, include);
            let named = more.named.into_iter().map(|one| one.name);
            command.removes.extend(named.chain(more.asked.into_iter().map(|line| line.requirement.name)));
            (!more.refused.is_empty()).then_some(path)
        }
        Argument::File(path) => {
            let mut more = read_included(&path, markers, include);
            let is_whole = more.refused.is_empty();
            more.refused.clear();
            command.constraints.append(&mut more.constraints);
            listed.merge(more);
            (!is_whole).then_some(path)
        }
        Argument::Constraints(path) => match read_constraints(&path, markers, include) {
            Ok(constraints) => {
                command.constraints.extend(constraints);
                None
            }
            // A cell may write it.
            Err(_) => Some(path),
        },
    };
    listed.open.extend(unread.map(|what| format!("cell {cell}: {what}")));
}

/// A variable with which a line sets an option of pip's: `%env PIP_CONSTRAINT=…`, `os.environ["PIP_INDEX_URL"] = …`.
fn pip_variable(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("PIP_").filter(|(before, _)| !before.ends_with(|c: char| c.is_alphanumeric()))?;
    let length = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(rest.len());
    let is_set = rest[length..].trim_start_matches(['"', '\'', ']', ' ']).starts_with('=');
    let start = line.len() - rest.len() - "PIP_".len();
    is_set.then(|| &line[start..start + "PIP_".len() + length])
}

/// Whether it is `name=1.0`, as conda writes it.
fn is_single_equals(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, version)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        !name.is_empty() && name.chars().all(is_name) && version.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The command that a line gives to a shell: `!pip …`, `%pip …`, `out = !pip …`, a bare `pip install …`; in a shell
/// script, the line itself.
fn shell_command(line: &str, is_script: bool) -> Option<&str> {
    let is_name = |name: &str| name.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
    let assigned = line.split_once("= !").filter(|(name, _)| is_name(name)).map(|(_, command)| command);
    let is_bare = is_script || ["pip install ", "pip3 install "].iter().any(|start| line.starts_with(start));
    line.strip_prefix(['%', '!']).or_else(|| is_bare.then_some(line)).or(assigned)
}

/// Whether a command changes packages, and is none that installs from an index.
fn is_of_another_program(command: &str) -> bool {
    let mut words = command.split_whitespace().filter(|word| !word.starts_with('-') && *word != "sudo");
    let program = words.next().unwrap_or_default();
    let what = words.next().unwrap_or_default();
    match program {
        "uv" | "poetry" | "pipenv" | "pdm" | "pixi" => ["add", "sync", "install", "update", "remove"].contains(&what),
        "pip-sync" | "pipx" | "easy_install" => true,
        "python" | "python3" => what == "setup.py",
        "apt" | "apt-get" | "conda" | "mamba" | "micromamba" => ["install", "remove", "purge", "env"].contains(&what),
        "pip" | "pip3" => what == "uninstall",
        _ => false,
    }
}

/// So many lines are looked at for the `if` that a line stands in.
const LOOKED_BACK: usize = 500;

/// Whether the line at `start` is within an `if`, and not one that asks for Colab.
fn is_conditional(text: &str, start: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let mut own = indent(&text[line_start..]);
    for line in text[..line_start].lines().rev().filter(|line| !line.trim().is_empty()).take(LOOKED_BACK) {
        if own == 0 {
            return false;
        }
        if indent(line) >= own {
            continue;
        }
        own = indent(line);
        let line = line.trim().to_lowercase();
        if ["if ", "elif ", "else:"].iter().any(|word| line.starts_with(word)) && !line.contains("colab") {
            return true;
        }
    }
    false
}

/// The command that a line of Python has a shell run: `os.system("pip install x")`.
fn called(line: &str) -> Option<String> {
    if let Some(words) = listed_words(line) {
        return Some(words);
    }
    let (_, rest) = CALLS.iter().find_map(|call| line.split_once(call))?;
    let rest = rest.trim_start().trim_start_matches('f');
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let text = rest[1..].split(quote).next()?;
    Some(text.trim_start_matches(['!', '%']).to_owned())
}

/// The command in a call that takes its words one by one: `subprocess.run([sys.executable, "-m", "pip", "install",
/// "x"])`, `pip.main(["install", "x"])`, `run_line_magic("pip", "install x")`.
fn listed_words(line: &str) -> Option<String> {
    let is_call = ["subprocess.", "check_call(", "pip.main(", "run_line_magic("].iter().any(|call| line.contains(call));
    let parts: Vec<&str> = line.split(['"', '\'']).skip(1).step_by(2).collect();
    let parts = if line.contains("pip.main(") { [vec!["pip"], parts].concat() } else { parts };
    let at = parts.iter().position(|part| *part == "pip")?;
    let is_install = parts.get(at + 1).is_some_and(|next| *next == "install" || next.starts_with("install "));
    (is_call && is_install).then(|| parts[at..].join(" "))
}

/// What runs a command line.
const CALLS: &[&str] = &[
    "os.system(",
    "get_ipython().system(",
    "subprocess.getoutput(",
    "subprocess.run(",
    "subprocess.call(",
    "subprocess.check_call(",
    "subprocess.check_output(",
    "subprocess.Popen(",
];

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
        for (name, value) in assigned {
            text = with_value(&text.replace(&format!("{{{name}}}"), value), &format!("${name}"), value);
        }
    }
    text
}

/// `text` with `value` for each `name` that does not go on: `$VERSION`, and not that of `$VERSION2`.
fn with_value(text: &str, name: &str, value: &str) -> String {
    let mut parts = text.split(name);
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        new.push_str(if goes_on { name } else { value });
        new.push_str(part);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::notebook;
    use crate::boot::audit::RequiredLine;
    use crate::boot::profile::{Manner, UpgradeStrategy};
    use crate::core::diag::Source;
    use crate::core::model::{Libc, PythonFacts};

    /// What a notebook with this cell asks for.
    fn lines(cell: &str) -> Vec<RequiredLine> {
        let text = serde_json::json!({ "cells": [{ "cell_type": "code", "source": cell }] }).to_string();
        let source = Source { name: "n.ipynb".into(), text: text.into() };
        let facts = PythonFacts {
            version: "3.12.3".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let markers = facts.marker_environment().expect("markers");
        notebook(&source, &markers, &|_| Err("no file".to_owned())).expect("a notebook").asked
    }

    fn asked(cell: &str) -> Vec<String> {
        lines(cell).iter().map(|line| line.requirement.name.to_string()).collect()
    }

    #[test]
    fn options_and_conditions_of_a_line_are_known() {
        let all = lines(
            "if TPU:\n  for x in y:\n    !pip install -U six\nif IN_COLAB:\n  !pip install --no-deps idna\n!pip install a",
        );
        let known = |line: &RequiredLine| {
            let Manner { upgrade, alone, .. } = line.manner;
            (upgrade == UpgradeStrategy::Named, alone, line.place.as_ref().is_some_and(|place| place.is_conditional))
        };
        let known: Vec<_> = all.iter().map(known).collect();
        assert_eq!(known, [(true, false, true), (false, true, false), (false, false, false)]);
    }

    #[test]
    fn every_install_of_a_line_counts_and_texts_do_not() {
        for (cell, names) in [
            ("!pip install six && pip install idna", &["six", "idna"][..]),
            ("!pip install six; uv pip install idna", &["six", "idna"]),
            ("!apt-get install -y ffmpeg && pip install -q idna > /dev/null && pip install six", &["idna", "six"]),
            ("!(pip install six)", &["six"]),
            ("%%capture\n%%bash\npip install six || true; pip install idna", &["six", "idna"]),
            ("%%capture out\n!pip install six", &["six"]),
            ("\"\"\"\n!pip install six\n\"\"\"\n!pip install idna", &["idna"]),
            ("x = '''a\n%pip install six\n'''", &[]),
            ("!echo \"\"\" it's\n!pip install idna", &["idna"]),
            ("%%script false\n!pip install six", &[]),
            ("%%writefile setup.sh\n!pip install six", &[]),
            ("!pip install -e ./b six", &["six"]),
            ("V = \"1.16.0\"\n!pip install six==$V idna==$V2", &["six"]),
            ("pip install six", &["six"]),
            ("out = !pip install six", &["six"]),
            ("!echo pip install six", &[]),
            ("subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'six'])", &["six"]),
            ("subprocess.run('pip install six', shell=True)", &["six"]),
            ("pip.main(['install', 'six'])", &["six"]),
            ("get_ipython().run_line_magic('pip', 'install six')", &["six"]),
            ("%%shell\npip install six", &["six"]),
            ("!pip install {'-q' if quiet else ''} six", &["six"]),
            ("!/content/conda/bin/pip install six", &[]),
            ("!pip install six>=1.0 'idna>=2'", &["six", "idna"]),
            ("!pip install six<2", &["six"]),
        ] {
            assert_eq!(asked(cell), names, "{cell}");
        }
    }
}
