//! The cell of a release in somebody's notebook: which release it is, and another in its place. Nothing else of the
//! notebook changes.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::core::model::ipynb::{Cell, Ipynb, lines};
use crate::core::model::{PackageName, Sha256};
use crate::golden::cell::VERIFY;
use crate::golden::pin::Pin;

/// The key of our words in the metadata of a cell.
const KEY: &str = "colab-boot";

/// A cell that boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Among the cells.
    pub at: usize,
    /// What its text says; where it came from as far as that is known.
    pub pin: Pin,
    /// Who may say that it was withdrawn, as the cell carries it.
    pub home: Option<CarriedHome>,
    pub source: String,
}

/// The literal of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CarriedHome {
    pub at: String,
    pub keys: Vec<String>,
    pub threshold: usize,
    pub min_seq: u64,
}

/// The cells of `notebook` that boot a release.
pub fn held(notebook: &Ipynb<'_>) -> Vec<Held> {
    let code = notebook.cells.iter().enumerate().filter(|(_, cell)| cell.is_code);
    code.filter_map(|(at, cell)| held_in(at, cell)).collect()
}

/// What the cell with this index boots.
fn held_in(at: usize, cell: &Cell) -> Option<Held> {
    // As a script has it, marks of cells come before.
    let title = cell.source.lines().take(3).find_map(|line| line.strip_prefix("# @title colab-boot: "))?;
    let (name, version) = title.trim().split_once(' ')?;
    let (name, version) = (name.parse::<PackageName>().ok()?, version.parse::<semver::Version>().ok()?);
    let (sha256, home) = fetched(&cell.source, title).or_else(|| carried(&cell.source))?;
    let known: Option<Pin> = serde_json::from_value(cell.value["metadata"][KEY].clone()).ok();
    let pin = known.filter(|pin| (&pin.name, &pin.version, pin.sha256) == (&name, &version, sha256));
    let from = home.as_ref().map(|home| home.at.clone()).unwrap_or_default();
    let own = || Pin {
        repository: name.clone(),
        original: name.to_string(),
        from,
        seq: 0,
        signers: Vec::new(),
        allow_yanked: false,
        name,
        version,
        sha256,
    };
    Some(Held { at, pin: pin.unwrap_or_else(own), home, source: cell.source.clone() })
}

/// The digest of the lock that a cell has with it, and where its release is published.
fn carried(source: &str) -> Option<(Sha256, Option<CarriedHome>)> {
    let sha256 = literal(source, "lock")?.strip_prefix("{\"sha256\": \"")?.get(..64)?.parse().ok()?;
    let home =
        literal(source, "golden").and_then(|text| serde_json::from_str::<CarriedHome>(text.trim_end_matches(',')).ok());
    Some((sha256, home))
}

/// The same of a cell that fetches them.
fn fetched(source: &str, title: &str) -> Option<(Sha256, Option<CarriedHome>)> {
    let line = source.lines().find_map(|line| line.strip_prefix("%boot add "))?;
    let (release, rest) = line.split_once('#')?;
    let (sha256, rest) = rest.split_once(" --from ")?;
    let mut options = rest.split(" --");
    let mut home = CarriedHome { at: options.next()?.to_owned(), keys: Vec::new(), threshold: 1, min_seq: 0 };
    for option in options {
        match option.split_once(' ')? {
            ("threshold", value) => home.threshold = value.parse().ok()?,
            ("min-seq", value) => home.min_seq = value.parse().ok()?,
            ("trusted-key", value) => home.keys.push(value.trim_matches('\'').to_owned()),
            _ => return None,
        }
    }
    let is_named = release.split_once('@') == title.trim().split_once(' ');
    is_named.then_some((sha256.parse().ok()?, Some(home)))
}

/// What is wrong with the cells around one that boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellFault {
    /// No cell behind it verifies, as `golden add` has put one there. `cell` counts from 1, here and below.
    Unverified {
        title: String,
        cell: usize,
    },
    /// The metadata of the cell names another release than its text.
    OtherPin {
        title: String,
        cell: usize,
    },
    Repeated {
        title: String,
        cell: usize,
    },
    /// Code runs before it, or between it and the cell that verifies.
    CodeBefore {
        title: String,
        cell: usize,
    },
}

impl std::fmt::Display for CellFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unverified { title, cell } => write!(f, "cell {cell} boots {title}, but no cell verifies it"),
            Self::OtherPin { title, cell } => {
                write!(f, "cell {cell} boots {title}, but its metadata does not name it")
            }
            Self::Repeated { title, cell } => write!(f, "cell {cell} boots {title} again"),
            Self::CodeBefore { title, cell } => {
                write!(f, "cell {cell} runs code before {title} is booted and verified")
            }
        }
    }
}

impl CellFault {
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unverified { .. } => "remove the boot cell, then run `colab-boot golden add`: it inserts both cells",
            Self::OtherPin { .. } => "remove the cell, then run `colab-boot golden add` to insert it again",
            Self::Repeated { .. } => "remove one of the cells",
            Self::CodeBefore { .. } => "move it below the verify cell: it can change what these cells do",
        }
    }
}

/// What is wrong with the cells of `notebook` that boot, and with those around them. A cell that was pasted by hand,
/// without the metadata of `golden add`, needs none that verifies.
pub fn cell_faults(notebook: &Ipynb<'_>) -> Vec<CellFault> {
    let all = held(notebook);
    let is_code = |at: usize| notebook.cells[at].is_code && !notebook.cells[at].source.trim().is_empty();
    let is_ours = |at: usize| all.iter().any(|one| one.at == at) || is_verify(&notebook.cells[at].source);
    let (mut faults, mut titles) = (Vec::new(), Vec::new());
    for one in &all {
        let (title, cell) = (format!("{}@{}", one.pin.name, one.pin.version), one.at + 1);
        let word = &notebook.cells[one.at].value["metadata"][KEY];
        let known: Option<Pin> = serde_json::from_value(word.clone()).ok();
        if !word.is_null() && known.as_ref() != Some(&one.pin) {
            faults.push(CellFault::OtherPin { title: title.clone(), cell });
        }
        if titles.contains(&one.pin.name) {
            faults.push(CellFault::Repeated { title, cell });
            continue;
        }
        titles.push(one.pin.name.clone());
        let behind =
            (one.at + 1..notebook.cells.len()).find(|at| is_code(*at) && is_verify(&notebook.cells[*at].source));
        if behind.is_none() && !word.is_null() && !has_verify(&one.source) {
            faults.push(CellFault::Unverified { title: title.clone(), cell });
        }
        let strange = (0..behind.unwrap_or(one.at)).find(|at| is_code(*at) && !is_ours(*at));
        faults.extend(strange.map(|at| CellFault::CodeBefore { title, cell: at + 1 }));
    }
    faults
}

fn is_verify(source: &str) -> bool {
    source.trim_start().trim_start_matches("# %%").trim() == VERIFY.trim()
}

/// Whether what verifies stands in the same cell, as a script has it.
fn has_verify(source: &str) -> bool {
    source.trim_end().ends_with(VERIFY.trim_end())
}

/// What stands behind `"NAME": ` in the table of a cell.
fn literal<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    source.lines().find_map(|line| line.strip_prefix("    \"")?.strip_prefix(name)?.strip_prefix("\": "))
}

/// What the cell that boots says of its repository, of the notebook of a release.
pub fn boot_home(release: &str) -> Option<CarriedHome> {
    held(&Ipynb::parse(release).ok()?).into_iter().next()?.home
}

/// The text of the cell that boots, of the notebook of a release.
pub fn boot_cell(release: &str) -> Result<String, String> {
    let notebook = Ipynb::parse(release)?;
    held(&notebook).into_iter().next().map(|held| held.source).ok_or_else(|| "it has no boot cell".to_owned())
}

/// `notebook` with the cell `boot` of the release of `pin` in the place of each that is there, or before its first code
/// cell, with the cell that verifies behind it.
pub fn with_release(notebook: &Ipynb<'_>, pin: &Pin, boot: &str) -> String {
    let own = serde_json::to_value(pin).unwrap_or_default();
    let there: Vec<Held> = held(notebook).into_iter().filter(|held| held.pin.name == pin.name).collect();
    if there.is_empty() {
        return inserted(notebook, pin, boot, own);
    }
    // From the last on, so that the places of the others stay.
    let mut text: Option<String> = None;
    for old in there.iter().rev() {
        let changed = match &text {
            None => replaced(notebook, old, &own, boot),
            Some(text) => {
                Ipynb::parse(text).map_or_else(|_| text.clone(), |notebook| replaced(&notebook, old, &own, boot))
            }
        };
        text = Some(changed);
    }
    text.unwrap_or_default()
}

fn inserted(notebook: &Ipynb<'_>, pin: &Pin, boot: &str, own: Value) -> String {
    let first = notebook.cells.iter().position(|cell| cell.is_code).unwrap_or(notebook.cells.len());
    let verify = json!({ "verifies": pin.name.as_ref() });
    let is_there = |id: &String| notebook.cells.iter().any(|cell| cell.value["id"] == id.as_str());
    let verifies = notebook.cells.iter().any(|cell| cell.value["metadata"][KEY] == verify);
    let mut cells = vec![("boot", boot, own)];
    if !verifies {
        cells.push(("verify", VERIFY, verify));
    }
    let cells: Vec<Value> = cells
        .into_iter()
        .map(|(id, source, word)| {
            let names = (0..64).map(|count| match count {
                0 => format!("{id}-{}", pin.name),
                count => format!("{id}-{}-{count}", pin.name),
            });
            let id = names.into_iter().find(|name| !is_there(name)).unwrap_or_default();
            code(notebook.has_ids, &id, source, &word)
        })
        .collect();
    notebook.inserted(first, &cells)
}

fn replaced(notebook: &Ipynb<'_>, old: &Held, own: &Value, boot: &str) -> String {
    let mut cell = notebook.cells[old.at].value.clone();
    cell["source"] = lines(boot.trim_end());
    // One that was pasted by hand stays one: it says itself whom to ask, and needs no cell that verifies.
    if !cell["metadata"][KEY].is_null() || old.home.is_none() && cell["metadata"].is_object() {
        cell["metadata"][KEY] = own.clone();
    }
    if old.source.trim_end() != boot.trim_end() {
        // What the old one printed is not what this one did.
        cell["outputs"] = json!([]);
        cell["execution_count"] = Value::Null;
    }
    notebook.replaced(old.at, &cell)
}

fn code(has_ids: bool, id: &str, source: &str, word: &Value) -> Value {
    let mut cell = json!({
        "cell_type": "code",
        "execution_count": null,
        "metadata": { KEY: word },
        "outputs": [],
        "source": lines(source.trim_end()),
    });
    if has_ids {
        cell["id"] = id
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .take(64)
            .collect::<String>()
            .into();
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": []\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

    fn cell(version: &str, golden: &str) -> String {
        let digest = "ab".repeat(32);
        format!(
            "# @title colab-boot: data {version}\nX = {{\n    \"lock\": {{\"sha256\": \"{digest}\", \"packed\": (\n    \"golden\": {golden},\n}}\n"
        )
    }

    fn pin(version: &str) -> Pin {
        Pin {
            name: "data".parse().expect("a name"),
            original: "data".to_owned(),
            version: version.parse().expect("a version"),
            sha256: "ab".repeat(32).parse().expect("a digest"),
            from: "https://golden.example/".to_owned(),
            repository: "team-x".parse().expect("a name"),
            seq: 7,
            signers: vec!["alice".to_owned()],
            allow_yanked: false,
        }
    }

    #[test]
    fn a_release_goes_in_and_out_by_itself() {
        let first = with_release(&Ipynb::parse(EMPTY).expect("a notebook"), &pin("1.0.0"), &cell("1.0.0", "None"));
        let notebook = Ipynb::parse(&first).expect("a notebook");
        assert_eq!(
            held(&notebook).into_iter().map(|held| (held.at, held.pin)).collect::<Vec<_>>(),
            [(0, pin("1.0.0"))]
        );
        assert_eq!((notebook.cells.len(), notebook.cells[1].source.as_str()), (3, VERIFY.trim_end()));
        let second = with_release(&notebook, &pin("2.0.0"), &cell("2.0.0", "None"));
        let notebook = Ipynb::parse(&second).expect("a notebook");
        assert_eq!(held(&notebook)[0].pin, pin("2.0.0"));
        assert_eq!(with_release(&notebook, &pin("1.0.0"), &cell("1.0.0", "None")), first);
    }

    #[test]
    fn a_cell_that_was_pasted_says_what_it_is() {
        let home = r#"{"at":"https://golden.example/","release":"data@1.0.0","keys":["ssh-ed25519 AAAA a"],"threshold":1,"min-seq":3}"#;
        let pasted =
            json!({ "cells": [{ "cell_type": "code", "metadata": {}, "source": cell("1.0.0", home) }], "nbformat": 4 });
        let text = pasted.to_string();
        let found = held(&Ipynb::parse(&text).expect("a notebook"));
        assert_eq!(found[0].home.as_ref().map(|home| (home.min_seq, home.keys.len())), Some((3, 1)));
        assert_eq!(
            (found[0].pin.from.as_str(), found[0].pin.version.to_string()),
            ("https://golden.example/", "1.0.0".to_owned())
        );
        // A word about another release is not believed: the text is what runs.
        let mut other = pasted;
        other["cells"][0]["metadata"][KEY] = serde_json::to_value(pin("9.0.0")).expect("a pin");
        let text = other.to_string();
        assert_eq!(held(&Ipynb::parse(&text).expect("a notebook"))[0].pin.version.to_string(), "1.0.0");
    }

    /// A notebook of these cells: `boot` and `verify` as `golden add` puts them there, anything else as code.
    fn faults_of(cells: &[&str]) -> Vec<CellFault> {
        let cells: Vec<Value> = cells
            .iter()
            .map(|text| match *text {
                "boot" => code(false, "", &cell("1.0.0", "None"), &serde_json::to_value(pin("1.0.0")).expect("a pin")),
                "pasted" => code(false, "", &cell("1.0.0", "None"), &Value::Null),
                "other" => code(false, "", &cell("1.0.0", "None"), &serde_json::to_value(pin("9.0.0")).expect("a pin")),
                "verify" => code(false, "", VERIFY, &json!({ "verifies": "data" })),
                "text" => json!({ "cell_type": "markdown", "metadata": {}, "source": ["# Title"] }),
                source => code(false, "", source, &Value::Null),
            })
            .collect();
        let text = json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4 }).to_string();
        cell_faults(&Ipynb::parse(&text).expect("a notebook"))
    }

    #[test]
    fn cells_are_held_to_their_order() {
        let title = || "data@1.0.0".to_owned();
        for good in [
            &["boot", "verify"][..],
            &["text", "boot", "text", "verify", "x = 1"],
            &["boot", "", "verify"],
            &["pasted"],
            &["pasted", "x = 1"],
        ] {
            assert_eq!(faults_of(good), [], "{good:?}");
        }
        for (cells, fault) in [
            (&["boot"][..], CellFault::Unverified { title: title(), cell: 1 }),
            (&["verify", "boot"], CellFault::Unverified { title: title(), cell: 2 }),
            (&["boot", "if False: pass"], CellFault::Unverified { title: title(), cell: 1 }),
            (&["boot", "x = 1", "verify"], CellFault::CodeBefore { title: title(), cell: 2 }),
            (&["x = 1", "boot", "verify"], CellFault::CodeBefore { title: title(), cell: 1 }),
            (&["boot", "boot", "verify"], CellFault::Repeated { title: title(), cell: 2 }),
            (&["other", "verify"], CellFault::OtherPin { title: title(), cell: 1 }),
        ] {
            assert_eq!(faults_of(cells), [fault], "{cells:?}");
        }
    }
}
