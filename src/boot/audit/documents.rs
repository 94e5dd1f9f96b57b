//! Other files that name distributions: `pyproject.toml`, conda's `environment.yml`, and the install lines of a
//! notebook.

use std::ops::Range;

use pep508_rs::MarkerEnvironment;
use saphyr::{LoadableYamlNode, Yaml};
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use crate::boot::audit::nesting::is_shallow;
use crate::boot::audit::requirements_txt::{one, read_included, read_requirements};
use crate::boot::audit::{Listed, Place};
use crate::core::diag::Source;
use crate::core::model::ipynb::source as source_of;
use crate::core::model::json_text::strict;

/// Gives the text of a file that another one names, by its path from there.
type Include<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Reads `source` if it is one of these files; `None` for any other. The error says what makes no sense.
pub fn read_other(
    source: &Source,
    markers: &MarkerEnvironment,
    include: Include<'_>,
) -> Option<Result<Listed, String>> {
    let text = source.text.trim_start_matches('\u{feff}').trim_start();
    let name = source.name.to_ascii_lowercase();
    if name.ends_with(".ipynb") || text.starts_with('{') && text.contains("\"nbformat\"") {
        Some(notebook(source, markers, include))
    } else if name.ends_with("pyproject.toml") {
        Some(pyproject(source, markers))
    } else if name.ends_with(".yml") || name.ends_with(".yaml") {
        Some(conda(source, markers, include))
    } else {
        None
    }
}

#[derive(Deserialize)]
struct Pyproject {
    project: Option<Project>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Project {
    #[serde(default)]
    dependencies: Vec<Spanned<String>>,
    #[serde(default)]
    optional_dependencies: toml::Table,
}

fn pyproject(source: &Source, markers: &MarkerEnvironment) -> Result<Listed, String> {
    let file: Pyproject = toml::from_str(&source.text).map_err(|error| error.message().to_owned())?;
    let project = file.project.ok_or("it has no `[project]` with `dependencies`; other tables are not read")?;
    let mut listed = Listed::default();
    for dependency in &project.dependencies {
        let known = listed.named.len();
        let line = dependency.get_ref();
        let read = one(line, markers, &mut listed);
        listed.refused.extend(read.err().map(|error| format!("`{line}`: {error}")));
        place(&mut listed, known, source, dependency.span());
    }
    listed.open.extend(project.optional_dependencies.keys().map(|extra| format!("[{extra}]")));
    Ok(listed)
}

/// The `pip:` part of an `environment.yml`; what conda installs is no wheel of an index.
fn conda(source: &Source, markers: &MarkerEnvironment, include: Include<'_>) -> Result<Listed, String> {
    is_shallow(&source.text)?;
    let documents = Yaml::load_from_str(&source.text).map_err(|error| error.to_string())?;
    let dependencies = documents.first().and_then(|document| document.as_mapping_get("dependencies"));
    let dependencies = dependencies.and_then(Yaml::as_sequence).ok_or("it has no `dependencies`")?;
    let mut listed = Listed::default();
    for entry in dependencies {
        if let Some(of_conda) = entry.as_str() {
            listed.elsewhere.push(format!("{of_conda} (conda)"));
        }
        if entry.as_mapping_get("pip").is_some_and(|pip| pip.as_sequence().is_none()) {
            return Err("its `pip` is not a list".to_owned());
        }
        let lines = entry.as_mapping_get("pip").and_then(Yaml::as_sequence).into_iter().flatten();
        for line in lines.filter_map(Yaml::as_str) {
            let known = listed.named.len();
            let own = Source { name: source.name.clone(), text: line.into() };
            merge(&mut listed, read_requirements(&own, markers, include));
            if let Some(start) = source.text.find(line) {
                place(&mut listed, known, source, start..start + line.len());
            }
        }
    }
    Ok(listed)
}

/// The lines of a notebook that install: `%pip install …`, `!pip install …`, `!uv pip install …`, `!python -m pip
/// install …`, and the same without a mark in a cell that is a shell script.
fn notebook(source: &Source, markers: &MarkerEnvironment, include: Include<'_>) -> Result<Listed, String> {
    let notebook: Value = serde_json::from_str(&strict(&source.text)).map_err(|error| error.to_string())?;
    let cells = notebook["cells"].as_array().ok_or("it has no cells")?;
    let mut listed = Listed::default();
    let code = cells.iter().enumerate().filter(|(_, cell)| cell["cell_type"] == "code");
    for (at, cell) in code {
        let text = source_of(cell);
        let own = Source { name: format!("{}, cell {}", source.name, at + 1).into(), text: text.into() };
        let shell = is_shell_cell(&own.text);
        for (span, line) in logical_lines(&own.text) {
            let known = listed.named.len();
            let command = line.trim().strip_prefix(['%', '!']).or_else(|| shell.then_some(line.trim()));
            for word in command.map(installed_by).unwrap_or_default() {
                // Half of a notebook's lines are for a shell: what makes no sense here is named, and passed over.
                let is_read = match &word {
                    Argument::Requirement(text) => one(text, markers, &mut listed).is_ok(),
                    Argument::File(path) => {
                        let mut more = read_included(path, markers, include);
                        let is_whole = more.refused.is_empty();
                        more.refused.clear();
                        merge(&mut listed, more);
                        is_whole
                    }
                };
                if let (false, Argument::Requirement(text) | Argument::File(text)) = (is_read, word) {
                    listed.open.push(format!("cell {}: {text}", at + 1));
                }
            }
            let fresh = listed.named[known..].iter_mut().filter(|named| named.place.is_none());
            fresh.for_each(|named| {
                named.place = Some(Place { source: own.clone(), span: span.clone(), is_included: false });
            });
        }
    }
    Ok(listed)
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

fn merge(listed: &mut Listed, more: Listed) {
    listed.named.extend(more.named);
    listed.open.extend(more.open);
    listed.elsewhere.extend(more.elsewhere);
    listed.refused.extend(more.refused);
}

fn place(listed: &mut Listed, known: usize, source: &Source, span: Range<usize>) {
    for named in &mut listed.named[known..] {
        named.place = Some(Place { source: source.clone(), span: span.clone(), is_included: false });
    }
}

#[cfg(test)]
mod tests {
    use super::read_other;
    use crate::boot::audit::Listed;
    use crate::core::diag::Source;
    use crate::core::model::{Libc, PythonFacts};

    fn read(name: &str, text: &str) -> Result<Listed, String> {
        let python = PythonFacts {
            version: "3.12.3".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let markers = python.marker_environment().expect("an environment");
        let source = Source { name: name.into(), text: text.into() };
        let include = |path: &str| if path == "more.txt" { Ok("c==3\n".to_owned()) } else { Err("none".to_owned()) };
        read_other(&source, &markers, &include).expect("a known file")
    }

    fn named(listed: &Listed) -> Vec<String> {
        let place = |one: &crate::boot::audit::Named| {
            one.place.as_ref().map(|place| place.source.text[place.span.clone()].to_owned())
        };
        listed
            .named
            .iter()
            .map(|one| format!("{} {} at {}", one.name, one.version, place(one).unwrap_or_default()))
            .collect()
    }

    #[test]
    fn a_pyproject_names_its_dependencies() {
        let text = "[project]\nname = 'x'\ndependencies = [\n  'a==1',\n  'b>=2',\n]\n[project.optional-dependencies]\ndev = ['z']\n";
        let listed = read("pyproject.toml", text).expect("a file");
        assert_eq!(named(&listed), ["a 1 at 'a==1'"]);
        assert_eq!(listed.open, ["b>=2", "[dev]"]);
        assert!(read("pyproject.toml", "[tool.x]\n").is_err());
        assert_eq!(read("pyproject.toml", "[project]\ndependencies = ['a=1']\n").expect("a table").refused.len(), 1);
    }

    #[test]
    fn an_environment_file_names_what_pip_installs() {
        let text =
            "name: x\ndependencies:\n  - python=3.12\n  - numpy=1.26\n  - pip:\n      - a==1\n      - -r more.txt\n";
        let listed = read("environment.yml", text).expect("a file");
        assert_eq!(named(&listed), ["a 1 at a==1", "c 3 at -r more.txt"]);
        assert_eq!(listed.elsewhere, ["python=3.12 (conda)", "numpy=1.26 (conda)"]);
        assert!(read("environment.yml", "a: [").is_err());
    }

    #[test]
    fn a_notebook_names_what_its_cells_install() {
        let text = r#"{"nbformat": 4, "cells": [
            {"cell_type": "markdown", "source": "%pip install no==1"},
            {"cell_type": "code", "source": ["import x\n", "%pip install -q a==1 \"b>=2\" --index-url https://i.example # why\n"]},
            {"cell_type": "code", "source": "!uv pip install --system c==3 && echo done\n!pip install -r more.txt\n!ls install\n"},
            {"cell_type": "code", "source": "!pip install d==4 > /dev/null 2>&1\n!pip install e==5; ls\n!pip install {name} -r gone.txt\n"},
            {"cell_type": "code", "source": "%%bash\nset -e\npip install f==6\npython3 -m pip install g==7\n# pip install no==1\n"},
            {"cell_type": "code", "source": "%pip install -q \\\n  h==8 \\\n  i==9\n"},
            {"cell_type": "code", "source": "print('pip install no==1')\n"}]}"#;
        let listed = read("x.ipynb", text).expect("a notebook");
        let line = "%pip install -q a==1 \"b>=2\" --index-url https://i.example # why";
        assert_eq!(named(&listed)[0], format!("a 1 at {line}"));
        assert_eq!(listed.named.len(), 9, "{:?}", named(&listed));
        assert_eq!(listed.open, ["b>=2", "cell 4: {name}", "cell 4: gone.txt"]);
        assert!(listed.named[1].place.as_ref().is_some_and(|place| place.source.name.ends_with("cell 3")));
    }
}
