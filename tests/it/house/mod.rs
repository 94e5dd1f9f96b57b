//! The laws of the house: one order of rooms, no circles, a pure core, short files, one file a verb, one word for one
//! thing, a thin main, nothing left open, licences that are allowed. Each law has planted violations that it must find.

mod circles;
mod licences;
mod names;
mod paths;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use colab_boot::cli::arguments::Arguments;

use crate::house::circles::circles;
use crate::house::licences::is_allowed;
use crate::house::paths::{code_of, paths};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below `folder` whose names end in `suffix`.
fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, suffix));
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The modules of `src`, by their paths, with their text.
fn modules() -> BTreeMap<Vec<String>, String> {
    let source = root().join("src");
    let module = |path: &Path| {
        let inside = path.strip_prefix(&source).expect("inside").with_extension("");
        let mut names: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        names.pop_if(|last| last == "mod");
        names
    };
    files(&source, ".rs").into_iter().map(|path| (module(&path), read(&path))).collect()
}

/// The modules that `text` declares, in order.
fn declared(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// The rooms as `wing::room`, in the order that `src/lib.rs` and the wings declare.
fn order() -> Vec<String> {
    let source = root().join("src");
    let rooms = |wing: String| {
        let rooms = declared(&read(&source.join(&wing).join("mod.rs")));
        assert!(rooms.len() > 3, "{wing} has {} rooms", rooms.len());
        rooms.into_iter().map(move |room| format!("{wing}::{room}"))
    };
    declared(&read(&source.join("lib.rs"))).into_iter().flat_map(rooms).collect()
}

/// The room that a path leads into.
fn room_of(path: &[String]) -> Option<String> {
    Some(format!("{}::{}", path.first()?, path.get(1)?))
}

/// What `text`, a file of `module`, names that stands below its room.
fn against_the_order(order: &[String], module: &[String], text: &str) -> Vec<String> {
    let place = |path: &[String]| order.iter().position(|known| Some(known) == room_of(path).as_ref());
    let own = place(module).unwrap_or_else(|| panic!("{} is not in its wing's mod.rs", module.join("::")));
    let named = paths(&code_of(text), module);
    let below = named.into_iter().filter(|path| place(path).is_some_and(|other| other > own));
    below.map(|path| path.join("::")).collect()
}

/// The rooms that only think.
const PURE: &[&str] = &[
    "core::diag",
    "core::model",
    "core::matrix",
    "core::inspect",
    "core::secrets",
    "boot::profile",
    "boot::resolve",
    "boot::audit",
    "boot::lock",
    "boot::ledger",
    "boot::marker",
    "boot::verdict",
    "boot::plan",
    "boot::script",
    "golden::cell",
    "golden::pin",
    "golden::in_notebook",
    "golden::calendar",
    "golden::entry",
    "golden::evidence",
    "golden::catalogue",
    "golden::due_work",
    "golden::signed_text",
    "golden::signers",
    "golden::index_trust",
    "golden::catalogue_page",
    "health::difference",
];

/// The doors to the world that `text` goes through.
fn against_purity(module: &[String], text: &str) -> Vec<String> {
    let code = code_of(text);
    let rooms = paths(&code, module).into_iter().filter_map(|path| room_of(&path));
    let mut found: Vec<String> = rooms.filter(|room| room == "core::host" || room == "boot::index").collect();
    let doors = ["std::fs", "std::process", "std::env", "std::net", "SystemTime", "env::var"];
    found.extend(doors.into_iter().filter(|door| code.contains(door)).map(str::to_owned));
    found
}

#[test]
fn rooms_name_only_rooms_above_them() {
    let order = order();
    for (module, text) in modules().iter().filter(|(module, _)| module.len() > 1) {
        let found = against_the_order(&order, module, text);
        assert!(found.is_empty(), "{} names {found:?}, which stand below it", module.join("::"));
    }
    let plan = ["boot".to_owned(), "plan".to_owned()];
    assert_eq!(against_the_order(&order, &plan, "use crate::boot::lock::Lock; use crate::core::diag;"), [""; 0]);
    for planted in [
        "use crate::boot::verify::run;",
        "use crate::{core::log::Log, boot::{lock::Lock, verify::{run, audit}}};",
        "#[cfg(test)]\nmod tests { }\nfn late() { crate::boot::verify::run() }",
        "#[cfg(test)]\nmod tests {\n use super::super::verify::run;\n}",
        "let x = \"crate::model\"; crate::boot::verify::run();",
    ] {
        let first = against_the_order(&order, &plan, planted).into_iter().next();
        assert_eq!(first.as_deref(), Some("boot::verify::run"), "{planted}");
    }
    assert_eq!(against_the_order(&order, &plan, "use crate::golden::cell::Home;"), ["golden::cell::Home"]);
    assert!(against_the_order(&order, &plan, "// crate::cli::run\n\"crate::cli::run\"").is_empty());
}

#[test]
fn no_two_files_name_each_other() {
    let mut all = modules();
    all.retain(|module, _| module.last().is_none_or(|name| name != "tests"));
    assert_eq!(circles(&all), Vec::<Vec<String>>::new());
    let planted = |sources: &[(&[&str], &str)]| {
        let module = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        circles(&sources.iter().map(|(names, text)| (module(names), (*text).to_owned())).collect())
    };
    let a: &[&str] = &["plan", "a"];
    let b: &[&str] = &["plan", "b"];
    let c: &[&str] = &["plan", "c"];
    assert_eq!(
        planted(&[(a, "use crate::plan::b::B;"), (b, "use super::c::C;"), (c, "fn f() { crate::plan::a::f() }")]).len(),
        1
    );
    assert_eq!(
        planted(&[(&["plan"], "pub use a::A;"), (a, "use crate::plan::b::B;"), (b, "use crate::plan::A;")]).len(),
        1
    );
    assert!(planted(&[(&["plan"], "pub use a::A;"), (a, ""), (b, "use crate::plan::{A, c::C};"), (c, "")]).is_empty());
}

#[test]
fn the_core_is_pure() {
    for (module, text) in
        modules().iter().filter(|(module, _)| room_of(module).is_some_and(|room| PURE.contains(&room.as_str())))
    {
        let found = against_purity(module, text);
        assert!(found.is_empty(), "{} goes through {found:?}", module.join("::"));
    }
    let plan = ["boot".to_owned(), "plan".to_owned()];
    assert_eq!(against_purity(&plan, "use crate::core::{host::files, model};"), ["core::host"]);
    assert_eq!(against_purity(&plan, "#[cfg(test)]\nmod tests {}\nfn f() { std::fs::read(\"x\"); }"), ["std::fs"]);
    assert!(against_purity(&plan, "/// Not `std::fs`.\n").is_empty());
}

#[test]
fn files_are_short_have_a_sign_on_the_door_and_leave_nothing_open() {
    for path in ["src", "upkeep", "tests"].into_iter().flat_map(|folder| files(&root().join(folder), ".rs")) {
        let text = read(&path);
        assert!(text.starts_with("//!"), "{} begins without //!", path.display());
        assert!(text.lines().count() <= 400, "{} has {} lines", path.display(), text.lines().count());
        // A text is not cut for the width of a page.
        let is_wide = |line: &&str| {
            let is_comment = line.trim_start().starts_with("//");
            line.chars().count() > 120 && (is_comment || !line.contains(['"', '\'', '\\']))
        };
        let wide = text.lines().find(is_wide);
        assert!(wide.is_none(), "{} has a line over 120 columns: {wide:?}", path.display());
        let open = ["TO", "DO"].concat();
        assert!(!text.contains(&open), "{} leaves something open", path.display());
    }
    assert!(read(&root().join("src/main.rs")).lines().count() <= 40);
}

#[test]
fn verbs_have_one_file_each_and_none_is_long() {
    let verbs = |command: &clap::Command| -> BTreeSet<String> {
        command.get_subcommands().map(|one| one.get_name().replace('-', "_")).filter(|name| name != "help").collect()
    };
    let here = |folder: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().trim_end_matches(".rs").to_owned());
        names.filter(|name| name != "mod").collect()
    };
    let command = Arguments::command();
    assert_eq!(here("src/cli/verbs"), verbs(&command));
    let matrix = command.find_subcommand("matrix").expect("a verb");
    assert_eq!(here("src/cli/verbs/matrix"), verbs(matrix));
    let golden = command.find_subcommand("golden").expect("a verb");
    assert_eq!(here("src/cli/verbs/golden"), verbs(golden));
    for path in files(&root().join("src/cli/verbs"), ".rs") {
        assert!(read(&path).lines().count() <= 150, "{} is no thin verb", path.display());
    }
}

/// File names that several rooms have, for the same thing in each.
const SHARED: &[&str] = &["hints", "kernel", "observe", "refresh", "report", "variables", "why"];

#[test]
fn one_word_means_one_thing() {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in modules().into_keys().filter(|module| module.len() > 2 && module[0] != "cli") {
        let name = module.last().expect("a name").clone();
        rooms.entry(name).or_default().extend(room_of(&module));
    }
    for (name, rooms) in rooms.iter().filter(|(name, rooms)| rooms.len() > 1 && *name != "tests") {
        assert!(SHARED.contains(&name.as_str()), "`{name}` is a file in {rooms:?}");
    }
    let poetry = [
        "teller",
        "shelf",
        "sift",
        "patience",
        "contested",
        "remarks",
        "forms",
        "ahead",
        "gather",
        "lookup",
        "utils",
        "helpers",
    ];
    for name in rooms.keys() {
        assert!(!poetry.contains(&name.as_str()), "`{name}` is not the field's word");
    }
    for (module, text) in modules() {
        let names = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let odd: Vec<String> = names.filter(|name| poetry[..6].contains(&name.as_str())).collect();
        assert!(odd.is_empty(), "{module:?}: {odd:?} are not the field's words");
    }
}

/// What is written another way: see CONTRIBUTING.md.
fn against_plain_english(text: &str) -> Vec<&'static str> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphabetic() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let text = format!(" {} ", words.join(" "));
    let banned = [
        " mend ",
        " mends ",
        " mended ",
        " mending ",
        " whoever ",
        " to be had ",
        " as ever ",
        " told ",
        " nobody's ",
        " heed ",
    ];
    banned.into_iter().filter(|words| text.contains(words)).collect()
}

#[test]
fn sentences_have_an_actor() {
    let mut all = files(&root().join("src"), ".rs");
    all.extend(files(&root().join("docs"), ".md"));
    all.extend(files(&root().join("tests/it"), ".rs").into_iter().filter(|path| !path.ends_with("house/mod.rs")));
    all.extend(["README.md", "ARCHITECTURE.md"].map(|name| root().join(name)));
    for path in all {
        let found = against_plain_english(&read(&path));
        assert!(found.is_empty(), "{} says {found:?}", path.display());
    }
    assert_eq!(against_plain_english("Whoever reads:\nthe fault is mended"), [" mended ", " whoever "]);
    assert!(against_plain_english("recommended, as everywhere").is_empty());
}

#[test]
fn the_guides_name_files_that_are_there() {
    for guide in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = read(&root().join(guide));
        let quoted = text.split('`').skip(1).step_by(2);
        let folders = ["src/", "upkeep/", "matrix/", "runtimes/", "docs/", "tests/", "benches/", "profiles/"];
        let paths = quoted
            .filter(|word| folders.iter().any(|folder| word.starts_with(folder)) && !word.contains(['*', ' ', '<']));
        for path in paths {
            assert!(root().join(path).exists(), "{guide} names `{path}`, which is not there");
        }
    }
    // The tables of rooms: a heading with the wing, and rows that begin with names of its files.
    let mut wing = None;
    for line in read(&root().join("ARCHITECTURE.md")).lines() {
        if line.starts_with('#') {
            wing = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix("/`"));
        }
        let (Some(wing), Some(row)) = (wing, line.strip_prefix("| `")) else { continue };
        let rooms = row.split(" | ").next().unwrap_or_default().split('`').step_by(2);
        for room in rooms.map(|room| room.trim_end_matches('/')).filter(|room| !room.is_empty()) {
            let there = [room.to_owned(), format!("{room}.rs")].map(|name| root().join(wing).join(name));
            assert!(there.iter().any(|path| path.exists()), "ARCHITECTURE.md names the room `{room}` of {wing}");
        }
    }
}

#[test]
fn prints_are_in_one_place() {
    for path in files(&root().join("src"), ".rs") {
        let text = read(&path);
        for word in ["println!", "eprintln!", "print!(", "eprint!("] {
            assert!(!text.contains(word), "{} prints", path.display());
        }
    }
}

#[test]
fn every_code_is_used_and_explained() {
    let all: String = files(&root().join("src"), ".rs")
        .iter()
        .filter(|path| !path.ends_with("diag/finding_code.rs"))
        .map(|path| read(path))
        .collect();
    for code in colab_boot::core::diag::Code::ALL {
        assert!(all.contains(&format!("Code::{code:?}")), "{code} is never given");
        assert!(code.explanation().len() > 60, "{code} is hardly explained");
    }
}

#[test]
fn licences_of_all_dependencies_are_allowed() {
    let deny: toml::Table = toml::from_str(&read(&root().join("deny.toml"))).expect("deny.toml");
    let allowed = deny["licenses"]["allow"].as_array().expect("a list").iter().filter_map(|one| one.as_str());
    let allowed: BTreeSet<String> = allowed.map(str::to_owned).collect();
    // What other platforms would take is not fetched to build this one.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", &platform])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100);
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{} has the licence `{licence}`", package["name"]);
    }
    for (expression, good) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("(MIT OR GPL-3.0) AND GPL-2.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
    ] {
        assert_eq!(is_allowed(expression, &allowed), good, "{expression}");
    }
}

/// The words that only a verdict may say, as a literal that begins with one of them.
fn says_a_verdict(text: &str) -> Option<&'static str> {
    let words =
        ["\"ready: ", "\"applied: ", "\"restored: ", "\"restored, ", "\"verified\".", "\"not verified", "\"refused: "];
    words.into_iter().find(|words| text.contains(words))
}

#[test]
fn verdicts_are_said_in_one_room() {
    for (module, text) in modules().iter().filter(|(module, _)| !module.starts_with(&["boot".into(), "verdict".into()]))
    {
        // Tests may name what they expect.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert_eq!(says_a_verdict(code), None, "{}", module.join("::"));
    }
    assert!(says_a_verdict("let line = format!(\"ready: {count} packages\");").is_some());
    assert!(says_a_verdict("already: \"is ready\"").is_none());
}
