//! Which interpreter is meant: environments that are near, active, named; systems that must not be touched.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::stories::{Day, colleague};
use crate::support::python::{Venv, interpreter};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};

const ROWS: &[(&str, &str, &[&str])] = &[("app", "1.0", &[])];

/// A day whose `PATH` has the tests' interpreter, outside every environment.
fn outside() -> Day {
    let day = Day::new(ROWS);
    let folder = interpreter().parent().expect("a folder").display().to_string();
    let path = format!("{folder}:/usr/bin:/bin");
    let Day { test, venv, server } = day;
    let day = Day { test: test.set("PATH", path), venv, server };
    day.profile("p", &["app"], "");
    day
}

fn python_of(outcome: &Outcome) -> String {
    outcome.json()["report"]["python"]["path"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn without_an_environment_nothing_is_planned_for_the_systems_python() {
    let day = outside();
    for verb in ["plan", "apply"] {
        let outcome = day.test.run(&[verb, "p.toml"]).expect(2);
        assert!(outcome.stderr.contains("no virtual environment is active"), "{outcome:?}");
        assert!(outcome.stderr.contains("--system"), "{outcome:?}");
    }
    day.test.run(&["lock", "p.toml"]).expect(0);
    let outcome = day.test.run(&["plan", "p.toml", "--system"]).expect(0);
    assert!(outcome.stdout.contains("(the first on PATH)"), "{outcome:?}");
}

#[test]
fn an_environment_is_found_here_above_and_beside_the_profile() {
    let day = outside();
    let folder = day.test.path("project");
    std::fs::create_dir_all(folder.join("notebooks/deep")).expect("folders");
    std::fs::copy(day.test.path("p.toml"), folder.join("p.toml")).expect("a profile");
    Venv::at(&folder.join(".venv"));
    let own = folder.join(".venv/bin/python").canonicalize().expect("a Python");
    let ask = |working: &std::path::Path, profile: &str| {
        let mut command = day.test.command(&["plan", profile, "--json"]);
        command.current_dir(working);
        let outcome = Outcome::of(command).expect(0);
        assert_eq!(outcome.json()["report"]["python"]["found"], ".venv".replace('.', "dot-"), "{outcome:?}");
        python_of(&outcome)
    };
    for (working, profile) in [
        (folder.clone(), "p.toml".to_owned()),
        (folder.join("notebooks/deep"), "../../p.toml".to_owned()),
        (day.test.folder.path().to_owned(), "project/p.toml".to_owned()),
    ] {
        let python = ask(&working, &profile);
        assert!(python.contains("project/.venv/bin"), "{python}");
        assert_eq!(std::path::Path::new(&python).canonicalize().expect("a Python"), own);
    }
    // An active one comes first.
    let active = day.venv.python.parent().and_then(std::path::Path::parent).expect("a prefix").display().to_string();
    let mut command = day.test.command(&["plan", "p.toml", "--json"]);
    command.current_dir(&folder).env("VIRTUAL_ENV", &active);
    assert!(python_of(&Outcome::of(command).expect(0)).starts_with(&active));
}

#[test]
fn an_interpreter_may_be_named_in_every_usual_way() {
    let day = outside();
    let version = crate::stories::says(interpreter(), "import platform; print(platform.python_version())");
    let minor = version.rsplit_once('.').expect("a version").0.to_owned();
    let venv = day.test.path("venv").display().to_string();
    for (named, system) in [
        (venv.clone(), false),
        (format!("{venv}/bin/python"), false),
        ("venv".to_owned(), false),
        (minor.clone(), true),
        (version.clone(), true),
        (format!("python{minor}"), true),
    ] {
        let more: &[&str] = if system { &["--system"] } else { &[] };
        let outcome = day.test.run(&[&["plan", "p.toml", "--python", &named, "--json"], more].concat()).expect(0);
        let found = outcome.json()["report"]["python"]["version"].as_str().unwrap_or_default().to_owned();
        assert_eq!(found, version, "{named}");
    }
    // A version means the environment that is active, where that has it.
    let mut command = day.test.command(&["plan", "p.toml", "--python", &minor, "--json"]);
    command.env("VIRTUAL_ENV", &venv);
    assert!(python_of(&Outcome::of(command).expect(0)).starts_with(&venv));
    for (wrong, words) in [
        ("9.9", "there is no `9.9`"),
        ("nowhere", "there is no `nowhere`"),
        ("home", "`home` is not a virtual environment"),
    ] {
        let outcome = day.test.run(&["plan", "p.toml", "--python", wrong]).expect(2);
        assert!(outcome.stderr.contains(words), "{wrong}: {outcome:?}");
    }
}

#[test]
fn a_launcher_such_as_pyenvs_stands_for_what_it_starts() {
    let day = outside();
    let shim = day.test.path("bin/python3");
    std::fs::write(&shim, format!("#!/bin/sh\nexec '{}' \"$@\"\n", day.python())).expect("a shim");
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let outcome = day.test.run(&["plan", "p.toml", "--python", &shim.display().to_string(), "--json"]).expect(0);
    assert_eq!(python_of(&outcome), day.python());
}

#[test]
fn a_python_that_the_system_manages_wants_a_word() {
    let day = outside();
    // A whole Python of its own: its standard library is marked, as Debian's is.
    let copy = day.test.path("managed");
    let prefix = crate::stories::says(interpreter(), "import sys; print(sys.base_prefix)");
    for folder in ["bin", "lib"] {
        std::fs::create_dir_all(copy.join(folder)).expect("a folder");
    }
    let library = crate::stories::says(interpreter(), "import sysconfig; print(sysconfig.get_path('stdlib'))");
    let name = std::path::Path::new(&library).file_name().expect("a name").to_owned();
    let own = copy.join("lib").join(&name);
    std::fs::create_dir(&own).expect("a folder");
    for entry in std::fs::read_dir(&library).expect("a library").flatten() {
        if entry.file_name() != "site-packages" && entry.file_name() != "dist-packages" {
            symlink(entry.path(), own.join(entry.file_name())).expect("a link");
        }
    }
    std::fs::create_dir(own.join("site-packages")).expect("a folder");
    std::fs::write(own.join("EXTERNALLY-MANAGED"), "[externally-managed]\nError=no\n").expect("a mark");
    let real = interpreter().canonicalize().expect("a Python");
    std::fs::copy(&real, copy.join("bin/python3")).expect("a copy");
    let python = copy.join("bin/python3").display().to_string();
    let day = Day { test: day.test.set("PYTHONHOME", copy.display().to_string()), ..day };
    if crate::stories::says(std::path::Path::new(&python), "print(1)").is_empty() && prefix.is_empty() {
        return;
    }
    let outcome = day.test.run(&["plan", "p.toml", "--python", &python]);
    if outcome.stderr.contains("returned nothing usable") {
        // This interpreter can't be copied: it is linked against libraries beside it.
        eprintln!("skipped: {}", outcome.stderr);
        return;
    }
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("is managed by the operating system (PEP 668)"), "{outcome:?}");
    day.test.run(&["plan", "p.toml", "--python", &python, "--system"]).expect(0);
}

#[test]
fn several_environments_are_several_lines_and_a_link_is_no_other_one() {
    let day = Day::new(ROWS);
    day.profile("p", &["app"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let other = colleague(&day, "other").display().to_string();
    day.test.run(&["apply", "p.toml", "--python", &other]).expect(0);
    symlink(day.test.path("venv"), day.test.path("link")).expect("a link");
    let link = day.test.path("link/bin/python").display().to_string();
    let outcome = day.test.run(&["apply", "p.toml", "--python", &link]).expect(0);
    assert!(outcome.concludes("ready: 1 package"), "{outcome:?}");
    let one = day.run(&["status"]).expect(0).stdout;
    assert!(one.contains("venv/bin/python") && !one.contains("other/bin/python"), "{one}");
    let status = day.test.run(&["status"]).expect(0).stdout;
    let lines: Vec<&str> = status.lines().filter(|line| line.contains("lock ")).collect();
    assert_eq!(lines.len(), 2, "{status}");
    assert!(status.contains("venv/bin/python") && status.contains("other/bin/python"), "{status}");
    std::fs::remove_dir_all(day.test.path("other")).expect("a folder");
    let status = day.test.run(&["status", "--json"]).expect(0).json();
    let environments = status["report"]["environments"].as_array().expect("environments");
    let gone: Vec<_> = environments.iter().filter(|one| one["exists"] == false).map(|one| &one["python"]).collect();
    assert!(gone.len() == 1 && gone[0].as_str().is_some_and(|path| path.contains("other/bin")), "{status}");
}

#[test]
fn a_bare_world_says_what_is_missing() {
    let test = Test::new();
    let _venv = Venv::bare(&test);
    let empty = test.path("nothing").display().to_string();
    let test = test.set("PATH", empty).file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let outcome = test.run(&["plan", "p.toml", "--index-url", "http://127.0.0.1:9/simple"]).expect(3);
    assert!(outcome.stderr.contains("no usable Python was found"), "{outcome:?}");
}
