//! Golden cells where they are used: in notebooks that pin a release, in a real kernel, with what was verified beside
//! them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::stories::Day;
use crate::stories::extension::write_wheel;
use crate::stories::notebook::{Notebook, Stack};
use crate::stories::team::{Team, fingerprint};
use crate::support::http::Reply;
use crate::support::keys::Key;
use crate::support::python::interpreter;
use crate::support::said::Said as _;
use crate::support::test::Outcome;

#[test]
fn what_was_verified_on_a_machine_stands_beside_the_release() {
    let day = Day::new(&[("lib", "1.0", &[]), ("lib", "2.0", &[])]);
    let alice = Key::new(&day.test.path(""), "alice");
    let key = alice.path.display().to_string();
    let run = |arguments: &[&str]| day.test.run(arguments);
    let publish = |more: &[&str]| run(&[&["golden", "publish", "--repo", "repo", "--key", &key], more].concat());
    run(&["golden", "init", "repo", "--name", "team-x", "--signer", "alice.pub"]).expect(0);
    day.profile("data", &["lib"], "");
    day.run(&["lock", "data.toml"]).expect(0);
    publish(&["data.toml"]).expect(0);
    day.run(&["apply", "data.toml"]).expect(0);
    day.run(&["verify", "data.toml", "--record", "good.json"]).expect(0);
    let record = day.read("good.json");
    let folder = day.test.path("").display().to_string();
    let host =
        Command::new("hostname").output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    for word in [folder, host.unwrap_or_default()] {
        assert!(word.is_empty() || !record.contains(&word), "{word}: {record}");
    }
    // Somebody ran it who is no keeper, and signs what was seen with a key of their own; a signature another text is
    // none.
    let dana = Key::new(&day.test.path(""), "dana");
    std::fs::write(day.test.path("good.json.sig"), dana.sign("something else", "colab-boot-evidence@v1", &[]))
        .expect("a file");
    assert!(publish(&["--verified", "good.json"]).expect(1).stderr.contains("different content"));
    std::fs::write(day.test.path("good.json.sig"), dana.sign(&record, "colab-boot-golden@v1", &[])).expect("a file");
    assert!(publish(&["--verified", "good.json"]).expect(1).stderr.contains("it was made for"));
    std::fs::write(day.test.path("good.json.sig"), dana.sign(&record, "colab-boot-evidence@v1", &[])).expect("a file");
    publish(&["--verified", "good.json"]).expect(0);
    let near = run(&["golden", "list", "dta", "--repo", "repo"]).expect(0);
    assert!(near.stdout.contains("did you mean `data`?"), "{near:?}");
    let shown = run(&["golden", "list", "--show", "data", "--repo", "repo"]).expect(0);
    let by = format!("signed by {}", fingerprint(&dana));
    assert!(shown.stdout.contains("verified    on ") && shown.stdout.contains(&by), "{shown:?}");
    // The same once more, by a keeper, on the same day: two records side by side.
    let again = record.replace("\"ok\": true,\n  \"tool\"", "\"ok\": true, \"tool\"");
    assert_ne!(again, record);
    std::fs::write(day.test.path("again.json"), &again).expect("a record");
    std::fs::write(day.test.path("again.json.sig"), alice.sign(&again, "colab-boot-evidence@v1", &[])).expect("a file");
    assert!(publish(&["--verified", "again.json"]).expect(0).stdout.contains("signed by alice@team"));
    run(&["golden", "check", "--repo", "repo"]).expect(0);
    // Once is enough; what failed, and what is of another lock, is no evidence.
    let before = std::fs::read(day.test.path("repo/golden.toml")).expect("an index");
    publish(&["--verified", "good.json"]).expect(0);
    day.pip(&["install", "lib==1.0"]);
    day.run(&["verify", "data.toml", "--record", "bad.json"]).expect(1);
    let refused = publish(&["--verified", "bad.json"]).expect(1);
    assert!(refused.stderr.contains("that verification failed: foreign-change, verify-files"), "{refused:?}");
    let mut other: serde_json::Value = serde_json::from_str(&record).expect("a record");
    other["lock"] = "0".repeat(64).into();
    std::fs::write(day.test.path("other.json"), other.to_string()).expect("a record");
    publish(&["--verified", "other.json"]).expect(1);
    assert_eq!(std::fs::read(day.test.path("repo/golden.toml")).expect("an index"), before);
}

#[test]
fn a_cell_asks_once_a_boot_and_stops_at_what_was_withdrawn() {
    let team = Team::new();
    team.profile("1.0.0", "");
    wheel(&team);
    team.keep(&["publish", "data.toml", "--at", &team.url, "--binary", "boot.whl"]);
    let cell = std::fs::read_to_string(team.day.test.path("repo/data/1.0.0/data.py")).expect("a cell");
    let functions = cell.split("\ncolab_boot_apply()").next().expect("a cell").to_owned();
    std::fs::write(team.day.test.path("cell.py"), format!("{functions}\ncolab_boot_golden()\n")).expect("a cell");
    let run_with = |python: &Path, more: &[(&str, &str)]| {
        let mut command = Command::new(python);
        command.arg(team.day.test.path("cell.py")).env_clear().envs(&team.day.test.environment);
        // colab-boot is nowhere on this machine: the cell takes it from the repository.
        command.envs(more.iter().copied());
        Outcome::of(command)
    };
    let run = |more: &[(&str, &str)]| run_with(interpreter(), more);
    let asked_again = || std::fs::remove_dir_all(team.day.test.path("cache/cells")).expect("a cache");
    run(&[]).expect(0);
    // Within one boot and one day the cell does not ask again: a server that is gone costs nothing.
    team.lies(|_, _| Reply::status(500));
    let quiet = run(&[]).expect(0);
    assert_eq!(quiet.stdout, "", "{quiet:?}");
    // Another environment asks for itself.
    assert!(run_with(&team.day.venv.python, &[]).expect(0).stdout.contains("golden-unchecked"));
    let cells = std::fs::read_dir(team.day.test.path("cache/cells")).expect("a cache");
    let asked = cells.flatten().next().expect("a cell").path().join("asked");
    let text = std::fs::read_to_string(&asked).expect("a note");
    let (when, boot) = text.split_once(' ').expect("a time");
    let yesterday = when.parse::<u64>().expect("a time") - 86_400;
    std::fs::write(&asked, format!("{yesterday} {boot}")).expect("a note");
    assert!(run(&[]).expect(0).stdout.contains("golden-unchecked"));
    team.tells_the_truth();
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--at", &team.url]);
    team.keep(&["withdraw", "--yank", "data@1.0.0", "--because", "wrong numbers", "--use", "data@2.0.0"]);
    asked_again();
    let stopped = run(&[]).expect(1);
    let words = format!("{}{}", stopped.stdout, stopped.stderr);
    assert!(words.contains("wrong numbers") && words.contains("data@1.0.0 must not be used"), "{words}");
    assert!(run(&[("COLAB_BOOT_ALLOW_YANKED", "1")]).expect(0).stdout.contains("wrong numbers"));
    run(&[]).expect(1);
    // An index that is not signed by those whom the cell names is no answer to go on with.
    asked_again();
    team.lies(|path, bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Reply::new("text/plain", if path == "golden.toml" { text.replace("yanked", "current") } else { text })
    });
    assert!(run(&[]).expect(1).stdout.contains("golden-threshold"));
    // Nor is a check that could not be made, because of a mistake in what the user has set.
    let refused = run(&[("COLAB_BOOT_GOLDEN_TRUST", "SHA256:abc")]).expect(1);
    assert!(refused.stderr.contains("so it is not used"), "{refused:?}");
    run(&[]).expect(1);
}

/// A wheel as `.ci/wheel` builds it, with what starts the program under test.
fn wheel(team: &Team) {
    write_wheel(&team.day.test.path("boot.whl"));
}

fn sources(text: &str) -> Vec<String> {
    let notebook: Value = serde_json::from_str(text).expect("a notebook");
    let cells = notebook["cells"].as_array().expect("cells").iter();
    cells.map(colab_boot::core::model::ipynb::source).collect()
}

/// Publishes `version` of a profile for the day's own environment; the cell has it with it where `offline`.
fn publish(team: &Team, (version, offline): (&str, bool), packages: &str) {
    let text =
        format!("[profile]\nname = 'data'\nversion = '{version}'\n[frameworks]\nlib = '*'\n[packages]\n{packages}");
    std::fs::write(team.day.test.path("data.toml"), text).expect("a profile");
    team.day.run(&["lock", "data.toml"]).expect(0);
    let publish = ["publish", "data.toml", "--at", &team.url, "--binary", "boot.whl", "--offline"];
    team.keep(if offline { &publish } else { &publish[..6] });
}

#[test]
fn a_notebook_takes_a_release_boots_it_moves_on_and_is_stopped() {
    takes_boots_moves_on_and_is_stopped(false);
}

#[test]
fn a_notebook_that_has_all_with_it_does_the_same() {
    takes_boots_moves_on_and_is_stopped(true);
}

fn takes_boots_moves_on_and_is_stopped(offline: bool) {
    let team = Team::new();
    let Some(mut notebook) = Notebook::open(&team.day, Stack::Colab) else { return };
    wheel(&team);
    publish(&team, ("1.0.0", offline), "");
    team.trust();
    // A notebook of the user's: its own cells, in an order and with a spacing of its own.
    let mine = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"metadata\": {},\n   \"source\": \"# mine\"\n  },\n  {\"cell_type\":  \"code\", \"metadata\": {}, \"outputs\": [], \"execution_count\": null, \"source\": \"print('mine')\"}\n ],\n \"metadata\": {\"z\": 1.50},\n \"nbformat\": 4,\n \"nbformat_minor\": 2\n}\n";
    let path = team.day.test.path("reader/mine.ipynb");
    std::fs::write(&path, mine).expect("a notebook");
    let read = || std::fs::read_to_string(&path).expect("a notebook");
    team.reader(&["golden", "add", "data", "--into", "mine.ipynb", "--repo", &team.url]).expect(0);
    let first = read();
    assert!(first.starts_with(&mine[..mine.find("  {\"cell_type\":").expect("a cell")]), "{first}");
    assert!(first.ends_with(&mine[mine.find("  {\"cell_type\":").expect("a cell")..]), "{first}");
    let cells = sources(&first);
    assert_eq!((cells.len(), cells[3].as_str()), (4, "print('mine')"));
    assert!(offline || cells[1].lines().count() <= 13, "a title and twelve lines: {}", cells[1]);
    // It boots in a real kernel, and says so twice.
    let mut kernel = notebook.kernel();
    let (restarts, said) = notebook.boot(&mut kernel, &cells[1]);
    assert!(!restarts && said.concludes("applied: 1 package"), "{said}");
    assert!(notebook.run(&kernel, &cells[2]).concludes("verified"));
    assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "2.0");
    // The next release: shown first, then taken; the outputs of the old cell go, the user's cells stay.
    publish(&team, ("2.0.0", offline), "more = '*'\n");
    let dry = team.reader(&["golden", "update", "--into", "mine.ipynb", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("data@1.0.0 -> data@2.0.0") && dry.stdout.contains("more 1.0 is new"), "{dry:?}");
    assert_eq!(read(), first);
    team.reader(&["golden", "update", "--into", "mine.ipynb"]).expect(0);
    let second = read();
    assert!(second.ends_with(&mine[mine.find("  {\"cell_type\":").expect("a cell")..]), "{second}");
    team.reader(&["golden", "verify", "--into", "mine.ipynb"]).expect(0);
    let cells = sources(&second);
    assert!(notebook.boot(&mut kernel, &cells[1]).1.concludes("applied"), "{cells:?}");
    assert_eq!(notebook.run(&kernel, "import more; print(more.word)").trim(), "1.0");
    // What somebody has written into the cell is not written over; nor does a strange file change.
    let (line, more) = if offline {
        ("colab_boot_apply()\"", "colab_boot_apply()\\n\",\n    \"import lib\"")
    } else {
        ("%reload_ext colab_boot\\n\"", "%reload_ext colab_boot\\n\",\n    \"import lib\\n\"")
    };
    let edited = second.replace(line, more);
    assert_ne!(edited, second);
    std::fs::write(&path, &edited).expect("a notebook");
    publish(&team, ("3.0.0", offline), "");
    let update = ["golden", "update", "--into", "mine.ipynb", "--dry-run"];
    for update in [&update, &update[..4]] {
        let refused = team.reader(update).expect(2);
        assert!(refused.stderr.contains("cell 2 of `mine.ipynb` was changed after `golden add`"), "{refused:?}");
        assert_eq!(read(), edited);
    }
    std::fs::write(&path, &second).expect("a notebook");
    // The release that it pins is withdrawn: the cell stops in a new boot, and says what to take.
    team.keep(&["withdraw", "--yank", "data@2.0.0", "--because", "wrong decimals", "--use", "data@3.0.0"]);
    let codes = team.reader(&["golden", "verify", "--into", "mine.ipynb", "--json"]).expect(1).codes();
    assert_eq!(codes, ["golden-yanked", "golden-newer"]);
    let of_cells = team.day.test.path(if offline { "cache/cells" } else { "cache/releases" });
    for cell in std::fs::read_dir(of_cells).expect("a cache").flatten() {
        let _ = std::fs::remove_file(cell.path().join("asked"));
    }
    let said = notebook.run(&kernel, &cells[1]);
    assert!(said.contains("wrong decimals") && said.contains("data@2.0.0 must not be used"), "{said}");
    team.reader(&["golden", "update", "--into", "mine.ipynb"]).expect(0);
    assert!(notebook.boot(&mut kernel, &sources(&read())[1]).1.concludes("applied"));
}

#[test]
fn a_cell_that_was_pasted_says_whom_to_ask() {
    let team = Team::new();
    team.profile("1.0.0", "");
    team.keep(&["publish", "data.toml", "--at", &team.url]);
    let released = std::fs::read_to_string(team.day.test.path("repo/data/1.0.0/data.ipynb")).expect("a notebook");
    let cell = &sources(&released)[1];
    let pasted = json!({ "cells": [{ "cell_type": "code", "metadata": {}, "source": cell }], "nbformat": 4, "nbformat_minor": 5, "metadata": {} });
    std::fs::write(team.day.test.path("reader/pasted.ipynb"), pasted.to_string()).expect("a notebook");
    team.reader(&["golden", "verify", "--into", "pasted.ipynb"]).expect(0);
    team.profile("2.0.0", "more = '*'\n");
    team.keep(&["publish", "data.toml", "--at", &team.url]);
    // The keys are those of the cell: another index is not believed, with nothing pinned on this machine.
    team.lies(|path, bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Reply::new("text/plain", if path == "golden.toml" { text.replace("current", "current ") } else { text })
    });
    let refused = team.reader(&["golden", "update", "--into", "pasted.ipynb", "--json"]);
    assert!(refused.code != 0 && refused.codes() != ["golden-newer"], "{refused:?}");
    team.tells_the_truth();
    team.reader(&["golden", "update", "--into", "pasted.ipynb"]).expect(0);
    let codes = team.reader(&["golden", "verify", "--into", "pasted.ipynb", "--json"]).expect(0).codes();
    assert!(codes.is_empty(), "{codes:?}");
    // Mistakes.
    for (name, text, words) in [
        ("no.ipynb", "{", "can't be read"),
        ("none.ipynb", "{\"cells\": [], \"nbformat\": 4}", "pins nothing"),
        ("old.ipynb", "{\"worksheets\": [], \"nbformat\": 3}", "can't be read"),
    ] {
        std::fs::write(team.day.test.path(&format!("reader/{name}")), text).expect("a notebook");
        let said = team.reader(&["golden", "update", "--into", name]).expect(2);
        assert!(said.stderr.contains(words), "{said:?}");
    }
    team.reader(&["golden", "add", "data", "--into", "new.ipynb", "--repo", &team.url]).expect(0);
    team.reader(&["golden", "verify", "--into", "new.ipynb"]).expect(0);
}
