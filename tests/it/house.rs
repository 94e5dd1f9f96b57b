//! The laws of the house: one order of modules, a pure core, short files, a thin main, nothing left open.

use std::path::{Path, PathBuf};

/// The order that `src/lib.rs` declares.
fn order() -> Vec<String> {
    let text = read(&root().join("src/lib.rs"));
    let names = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The top-level modules that a text names after `crate::`, tests aside.
fn named(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let words = code.split("crate::").skip(1);
    let name =
        |rest: &str| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or_default().to_owned();
    words.map(name).filter(|name| !name.is_empty()).collect()
}

/// The violations of "a module names only modules above it".
fn against_the_order(order: &[String], module: &str, text: &str) -> Vec<String> {
    let place = |name: &str| order.iter().position(|known| known == name);
    let own = place(module).unwrap_or_else(|| panic!("{module} is not in src/lib.rs"));
    named(text).into_iter().filter(|name| place(name).is_some_and(|other| other > own)).collect()
}

/// The rooms that only think.
const PURE: &[&str] = &[
    "model", "diag", "matrix", "inspect", "profile", "resolve", "audit", "lock", "plan", "script", "marker", "golden",
];

fn against_purity(text: &str) -> Vec<&'static str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    ["crate::host", "crate::index", "std::fs", "std::process", "std::env", "std::net", "SystemTime"]
        .into_iter()
        .filter(|door| code.contains(door))
        .collect()
}

fn module_of(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root().join("src")).ok()?;
    let first = inside.components().next()?.as_os_str().to_string_lossy().into_owned();
    let name = first.strip_suffix(".rs").unwrap_or(&first).to_owned();
    (name != "lib" && name != "main").then_some(name)
}

#[test]
fn modules_name_only_what_stands_above_them() {
    let order = order();
    for path in sources(&root().join("src")) {
        let Some(module) = module_of(&path) else {
            continue;
        };
        let found = against_the_order(&order, &module, &read(&path));
        assert!(found.is_empty(), "{} names {found:?}, which stand below it", path.display());
    }
}

#[test]
fn the_core_is_pure() {
    for path in sources(&root().join("src")) {
        let pure = module_of(&path).is_some_and(|module| PURE.contains(&module.as_str()));
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if pure && !is_test {
            let found = against_purity(&read(&path));
            assert!(found.is_empty(), "{} goes through {found:?}", path.display());
        }
    }
}

#[test]
fn planted_violations_are_found() {
    let order = order();
    assert_eq!(against_the_order(&order, "model", "use crate::host::files;"), ["host"]);
    assert_eq!(against_the_order(&order, "plan", "let x = crate::command::run();"), ["command"]);
    assert!(against_the_order(&order, "plan", "use crate::lock::Lock;").is_empty());
    assert_eq!(against_purity("use crate::host::files;"), ["crate::host"]);
    assert_eq!(against_purity("fn f() { std::fs::read(\"x\"); }"), ["std::fs"]);
}

#[test]
fn files_are_short_have_a_sign_on_the_door_and_leave_nothing_open() {
    for path in sources(&root().join("src")).into_iter().chain(sources(&root().join("tests"))) {
        let text = read(&path);
        assert!(text.starts_with("//!"), "{} begins without //!", path.display());
        assert!(text.lines().count() <= 400, "{} has {} lines", path.display(), text.lines().count());
        let open = ["TO", "DO"].concat();
        assert!(!text.contains(&open), "{} leaves something open", path.display());
    }
    assert!(read(&root().join("src/main.rs")).lines().count() <= 40);
}

#[test]
fn prints_are_in_one_place() {
    for path in sources(&root().join("src")) {
        let text = read(&path);
        for word in ["println!", "eprintln!", "print!(", "eprint!("] {
            assert!(!text.contains(word), "{} prints", path.display());
        }
    }
}

#[test]
fn every_code_is_used_and_explained() {
    let all: String = sources(&root().join("src"))
        .iter()
        .filter(|path| !path.ends_with("diag/code.rs"))
        .map(|path| read(path))
        .collect();
    for code in colab_boot::diag::Code::ALL {
        assert!(all.contains(&format!("Code::{code:?}")), "{code} is never given");
        assert!(code.explanation().len() > 60, "{code} is hardly explained");
    }
}
