//! Installers as images and `python -m venv` have them, years behind the newest: each installs, replaces and removes.

use std::path::Path;
use std::process::Command;

use crate::live::world;
use crate::support::python::{Venv, interpreters, uv_in};
use crate::support::test::{Test, sample};

/// What pip learned the options of today's scripts after, and the one of Ubuntu 22.04.
const PIPS: [&str; 2] = ["20.0.2", "22.0.2"];

fn with_profiles(test: Test) -> Test {
    let profile =
        |six: &str| format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\nsix='=={six}'\nidna='==3.10'\n");
    test.file("one.toml", &profile("1.16.0")).file("two.toml", &profile("1.15.0"))
}

/// The whole way, in an environment where nothing else can install.
fn applies(test: &Test, python: &Path, what: &str) {
    let python = python.display().to_string();
    let said = |arguments: &[&str]| {
        let outcome = test.run(&[arguments, &["--python", &python]].concat());
        assert_eq!(outcome.code, 0, "{what}: {outcome:?}");
        outcome.stdout
    };
    for (arguments, word) in [
        (&["apply", "one.toml"][..], "applied"),
        (&["apply", "two.toml"], "applied"),
        (&["apply", "two.toml"], "ready"),
        (&["restore"], "restored"),
    ] {
        let stdout = said(arguments);
        assert!(stdout.starts_with(word), "{what}: {stdout}");
    }
}

#[test]
#[ignore = "whole"]
fn an_old_pip_does_it() {
    let Some(test) = world() else { return };
    let test = with_profiles(test).set("PATH", "/usr/bin:/bin");
    let is_old = "import sys, venv, ensurepip; assert sys.version_info < (3, 12)";
    let all = interpreters();
    let is_usable = |python: &&std::path::PathBuf| {
        Command::new(python).args(["-c", is_old]).status().is_ok_and(|status| status.success())
    };
    // Newer ones can't start a pip of that age.
    let Some(old) = all.iter().find(is_usable) else { return eprintln!("skipped: no CPython before 3.12 is here") };
    for version in sample(PIPS, 2) {
        let folder = test.path(&format!("venv-{version}"));
        assert!(Command::new(old).args(["-m", "venv"]).arg(&folder).status().expect("venv starts").success());
        let python = folder.join("bin/python");
        let pip = format!("pip=={version}");
        let done = Command::new(&python).args(["-m", "pip", "install", "--quiet", "--force-reinstall", &pip]).status();
        assert!(done.expect("pip starts").success());
        applies(&test, &python, &pip);
    }
}

#[test]
#[ignore = "whole"]
fn an_old_uv_does_it() {
    let Some(test) = world() else { return };
    let folder = uv_in(&test, "uv==0.8.24").expect("uv");
    let venv = Venv::bare(&test);
    let test = with_profiles(test).set("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    applies(&test, &venv.python, "uv 0.8.24");
}
