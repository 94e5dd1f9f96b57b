//! `init --from`: what files of other tools, scripts, notebooks and environments ask for becomes a profile that
//! resolves, and what does not is said line by line.

use crate::stories::Day;

fn day() -> Day {
    Day::new(&[("app", "1.0", &["lib>=1"]), ("app", "2.0", &["lib>=1"]), ("lib", "1.0", &[]), ("lib", "2.0", &[])])
}

/// The lines of the profile that is made of the file `name` with this text, from its first table of packages on.
fn packages(day: &Day, name: &str, text: &str) -> String {
    std::fs::write(day.test.path(name), text).expect("a file");
    let said = day.test.run(&["init", "-", "--from", name]).expect(0);
    let at = said.stdout.find("[packages]").or_else(|| said.stdout.find("[constraints]")).expect("packages");
    said.stdout[at..].to_owned()
}

#[test]
fn files_of_other_tools_become_profiles_that_resolve() {
    let day = day();
    let script = "# /// script\n# requires-python = '>=3.8'\n# dependencies = ['app<2']\n# ///\nprint()\n";
    let cell = serde_json::json!({ "cell_type": "code", "metadata": {}, "source": script });
    let notebook = serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 });
    let cases = [
        ("requirements.txt", "app<2  # old\nlib ; python_version < '3'\n", "app = \"<2\"\n"),
        ("more.txt", "-r requirements.txt\n-c limits.txt\n", "app = \"<2\"\n\n[constraints]\nlib = \"<2\"\n"),
        (
            "pyproject.toml",
            "[project]\nname = 'x'\nversion = '1'\ndependencies = ['app[fast] >=1,<2']\n",
            "app = { version = \">=1,<2\", extras = [\"fast\"] }\n",
        ),
        ("environment.yml", "dependencies:\n  - pip:\n    - app==1.0\n", "app = \"==1.0\"\n"),
        ("script.py", script, "app = \"<2\"\n"),
        ("notes.ipynb", &notebook.to_string(), "app = \"<2\"\n"),
    ];
    std::fs::write(day.test.path("limits.txt"), "lib<2\n").expect("a file");
    for (name, text, expected) in cases {
        assert_eq!(packages(&day, name, text), format!("[packages]\n{expected}"), "{name}");
        let profile = format!("{name}.profile.toml");
        day.test.run(&["init", &profile, "--from", name]).expect(0);
        let locked = day.run(&["lock", &profile]);
        assert!(locked.code == 0 || name == "pyproject.toml", "{name}: {locked:?}");
    }
    // What the user has written stays.
    assert!(day.test.run(&["init", "script.py", "--from", "more.txt"]).expect(2).stderr.contains("exists already"));
    assert_eq!(day.read("script.py"), script);
}

#[test]
fn what_is_not_taken_over_is_said_and_an_environment_becomes_what_nothing_else_there_needs() {
    let day = day();
    let lines =
        "app==1.0+cu128\n-e ./mine\ngit+https://example.com/x.git\n--extra-index-url https://x.example/simple\n";
    std::fs::write(day.test.path("r.txt"), lines).expect("a file");
    let said = day.test.run(&["init", "p.toml", "--from", "r.txt"]).expect(0);
    assert!(said.stderr.contains("warning[import-incomplete]: 4 lines not taken over"), "{said:?}");
    let text = day.read("p.toml");
    assert_eq!(text.lines().filter(|line| line.starts_with("# not taken over: r.txt: ")).count(), 4, "{text}");
    day.run(&["apply", "p.toml"]).expect(0);
    let prefix = day.prefix().display().to_string();
    let said = day.test.run(&["init", "-", "--from", &prefix]).expect(0);
    assert!(said.stdout.ends_with("[packages]\napp = \"==1.0\"\n"), "{said:?}");
    let refused = day.test.run(&["init", "q.toml", "--from", "nowhere.txt"]).expect(2);
    assert!(refused.stderr.contains("nowhere.txt") && !day.test.path("q.toml").exists(), "{refused:?}");
    let found = day.test.run(&["init"]).expect(0);
    assert!(!found.stderr.contains("--from"), "{found:?}");
    std::fs::write(day.test.path("requirements.txt"), "app\n").expect("a file");
    assert!(day.test.run(&["init", "s.toml"]).expect(0).stderr.contains("init --from requirements.txt"));
}
