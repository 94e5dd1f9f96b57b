//! Six small packages in two versions each, and what is true of them on disk and in a fresh Python.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::stories::{Day, release};
use crate::support::index_server::{Release, Table};
use crate::support::object::object;

/// A package, and the module whose `word` is its version: the text itself, or a function that returns it.
pub struct Package {
    pub name: &'static str,
    pub module: Option<&'static str>,
    /// What a user edits: its path in site-packages.
    pub file: &'static str,
    /// Nothing but the time of its import tells which version of it is in memory.
    pub is_opaque: bool,
}

pub const PACKAGES: [Package; 6] = [
    // A function, so that its code tells the version. 2.0 needs `tables` 2.0.
    Package { name: "plain", module: Some("plain"), file: "plain.py", is_opaque: false },
    Package { name: "opaque", module: Some("opaque"), file: "opaque.py", is_opaque: true },
    // The same code in both versions; a library says which.
    Package { name: "native", module: Some("native"), file: "native/_core.so", is_opaque: true },
    Package { name: "spaced", module: Some("space.spaced.inner"), file: "space/spaced/inner.py", is_opaque: false },
    // A script, and no module.
    Package { name: "tool", module: None, file: "../../../bin/tool", is_opaque: false },
    // The same code in both versions; data says which.
    Package { name: "tables", module: Some("tables"), file: "tables/words.txt", is_opaque: true },
];

pub const VERSIONS: [&str; 2] = ["1.0", "2.0"];

const NATIVE: &str = "import ctypes, os\n_core = ctypes.CDLL(os.path.join(os.path.dirname(__file__), '_core.so'))\n\n\n\
    def word():\n    return str(_core.word() + 1) + '.0'\n";
const TABLES: &str = "import os\n\nwith open(os.path.join(os.path.dirname(__file__), 'words.txt')) as file:\n    word = file.read().strip()\n";

fn release_of(name: &str, version: &str) -> Release {
    let text = |format: &str| format.replace("VERSION", version);
    let (data, scripts) = (format!("{name}-{version}.data/data"), format!("{name}-{version}.data/scripts"));
    match name {
        "plain" => {
            let requires = if version == "2.0" { vec!["tables>=2".to_owned()] } else { Vec::new() };
            Release { requires, ..release(&[("plain.py", &text("def word():\n    return 'VERSION'\n"))]) }
        }
        "opaque" => {
            let digits: Vec<String> = version.chars().map(|one| format!("'{one}'")).collect();
            release(&[("opaque.py", &format!("word = ''.join([{}])\n", digits.join(", ")))])
        }
        "native" => {
            // The number that `word` returns is its place among the words.
            let words = if version == "2.0" { "says:two defines:word" } else { "defines:word" };
            let objects = [("native/_core.so".to_owned(), words.to_owned())].into();
            Release { objects, ..release(&[("native/__init__.py", NATIVE)]) }
        }
        "spaced" => release(&[
            ("space/spaced/__init__.py", ""),
            (
                "space/spaced/inner.py",
                &text(
                    "class Word:\n    def get(self):\n        return 'VERSION'\n\n\ndef word():\n    return Word().get()\n",
                ),
            ),
        ]),
        "tool" => release(&[(&format!("{scripts}/tool"), &text("#!python\nprint('VERSION')\n"))]),
        "tables" => release(&[
            ("tables/__init__.py", TABLES),
            ("tables/words.txt", &text("VERSION\n")),
            (&format!("{data}/share/tables/notes.txt"), &text("notes of VERSION\n")),
        ]),
        _ => unreachable!("{name}"),
    }
}

/// What the index has.
pub fn table() -> Table {
    let versions = |name: &str| VERSIONS.map(|version| (version.to_owned(), release_of(name, version))).into();
    PACKAGES.iter().map(|one| (one.name.to_owned(), versions(one.name))).collect()
}

/// The files of a release with their bytes, where an installer puts them.
pub fn files(day: &Day, (name, version): (&str, &str)) -> Vec<(PathBuf, Vec<u8>)> {
    let release = release_of(name, version);
    let texts = release.files.into_iter().map(|(path, text)| (path, text.into_bytes()));
    let objects = release.objects.into_iter().map(|(path, words)| (path, object(&words)));
    let place = |path: &str| match path.split_once(".data/").and_then(|(_, rest)| rest.split_once('/')) {
        Some(("scripts", rest)) => day.prefix().join("bin").join(rest),
        Some((_, rest)) => day.prefix().join(rest),
        None => day.venv.layout().join(path),
    };
    texts.chain(objects).map(|(path, bytes)| (place(&path), bytes)).collect()
}

/// What of `locked` is not on disk as its wheel has it.
pub fn differences(day: &Day, locked: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    let entries = day.venv.site_packages();
    for (name, version) in locked {
        let infos: Vec<&String> = entries.iter().filter(|entry| is_metadata_of(entry, name)).collect();
        if infos != [&format!("{name}-{version}.dist-info")] {
            found.push(format!("{name} {version} is there as {infos:?}"));
        }
        for (path, bytes) in files(day, (name, version)) {
            let there = std::fs::read(&path).unwrap_or_default();
            // An installer writes its own first line into a script.
            let from = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
            let same = if path.ends_with("bin/tool") {
                there[from(&there)..] == bytes[from(&bytes)..] && there.starts_with(b"#!")
            } else {
                there == bytes
            };
            if !same {
                found.push(format!("{} is not that of {name} {version}", path.display()));
            }
        }
    }
    found
}

fn is_metadata_of(entry: &str, name: &str) -> bool {
    entry.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && rest.ends_with("-info"))
}

/// The versions whose metadata is there.
pub fn installed(day: &Day) -> BTreeMap<String, String> {
    let entries = day.venv.site_packages();
    let infos = entries.iter().filter_map(|entry| {
        let (name, version) = entry.strip_suffix(".dist-info")?.split_once('-')?;
        let ours = PACKAGES.iter().any(|one| one.name == name);
        ours.then(|| (name.to_owned(), version.to_owned()))
    });
    infos.collect()
}

/// The words that a fresh Python gets for the modules of all packages; what it says instead where an import fails.
pub fn fresh_words(day: &Day) -> BTreeMap<String, String> {
    let code = format!(
        "import importlib, json\nfound = {{}}\nfor name, module in {}:\n    try:\n        word = importlib.import_module(module).word\n        \
         found[name] = word() if callable(word) else word\n    except Exception as error:\n        found[name] = repr(error)\nprint(json.dumps(found))",
        modules()
    );
    let output = Command::new(&day.venv.python).args(["-c", &code]).current_dir("/").output().expect("Python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(said.trim()).unwrap_or_else(|_| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)))
}

/// `[(name, module), …]` as Python writes it.
pub fn modules() -> String {
    let pairs = PACKAGES.iter().filter_map(|one| Some(format!("('{}', '{}')", one.name, one.module?)));
    format!("[{}]", pairs.collect::<Vec<_>>().join(", "))
}

pub fn named(name: &str) -> &'static Package {
    PACKAGES.iter().find(|one| one.name == name).expect("a package")
}
