//! The default index is the one that pip itself would use: its own files are read, and pip's option parser is asked for
//! the truth.

use std::path::Path;
use std::process::Command;

use crate::support::python::{Venv, interpreter, interpreters};
use crate::support::test::Test;

/// What pip's own `install` command takes for its index.
const TRUTH: &str = "from pip._internal.commands import create_command
options, _ = create_command('install').parser.parse_args([])
print(options.index_url)";

/// pip's answer on `python`, in the test's environment.
fn truth(test: &Test, python: &Path) -> String {
    let output = Command::new(python)
        .args(["-c", TRUTH])
        .env_clear()
        .envs(&test.environment)
        .current_dir(test.folder.path())
        .output()
        .expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn ours(test: &Test, python: &Path) -> String {
    let outcome = test.run(&["status", "--json", "--python", &python.display().to_string()]).expect(0);
    outcome.json()["report"]["index"].as_str().unwrap_or("none").to_owned()
}

#[test]
#[ignore = "whole"]
fn every_interpreter_has_the_index_of_its_own_pip() {
    let test = Test::new();
    let all = interpreters();
    assert!(!all.is_empty());
    for python in all {
        assert_eq!(ours(&test, &python), truth(&test, &python), "{}", python.display());
    }
}

#[test]
fn a_venv_without_pip_has_the_default_of_the_pip_it_would_get() {
    let test = Test::new();
    let venv = Venv::bare(&test);
    assert_eq!(ours(&test, &venv.python), truth(&test, interpreter()));
}

/// What it is about, the files with their texts, variables.
type Case<'a> = (&'a str, &'a [(&'a str, String)], &'a [(&'a str, &'a str)]);

#[test]
fn configuration_counts_as_it_does_for_pip() {
    let user = "home/.config/pip/pip.conf";
    let index = |name: &str| format!("[global]\nindex-url = https://{name}.example/simple\n");
    let cases: &[Case<'_>] = &[
        ("the user's", &[(user, index("user"))], &[]),
        ("the older user's loses", &[(user, index("new")), ("home/.pip/pip.conf", index("old"))], &[]),
        ("the environment's wins", &[(user, index("user")), ("venv/pip.conf", index("venv"))], &[]),
        (
            "`install` before `global`",
            &[(user, format!("{}[install]\nindex_url: https://i.example/s\n", index("g")))],
            &[],
        ),
        ("an empty value is none", &[(user, index("user")), ("venv/pip.conf", "[global]\nindex-url =\n".into())], &[]),
        ("a value on the next line", &[(user, "[global]\nindex-url =\n    https://n.example/simple\n".into())], &[]),
        ("a comment behind a value is none", &[(user, "[global]\nindex-url = https://c.example/s;x\n".into())], &[]),
        ("another section is not asked", &[(user, "[list]\nindex-url = https://l.example/simple\n".into())], &[]),
        ("DEFAULT", &[(user, "[DEFAULT]\nindex-url = https://d.example/simple\n[global]\n".into())], &[]),
        (
            "a named file replaces the user's",
            &[(user, index("user")), ("named.conf", index("named"))],
            &[("PIP_CONFIG_FILE", "named.conf")],
        ),
        ("a named file that is not there", &[(user, index("user"))], &[("PIP_CONFIG_FILE", "nowhere.conf")]),
        (
            "no file at all",
            &[(user, index("user")), ("venv/pip.conf", index("venv"))],
            &[("PIP_CONFIG_FILE", "/dev/null")],
        ),
        ("the variable wins", &[(user, index("user"))], &[("PIP_INDEX_URL", "https://variable.example/simple")]),
        (
            "XDG_CONFIG_HOME",
            &[("xdg/pip/pip.conf", index("xdg")), (user, index("user"))],
            &[("XDG_CONFIG_HOME", "xdg")],
        ),
        ("XDG_CONFIG_DIRS", &[("dirs/pip/pip.conf", index("dirs"))], &[("XDG_CONFIG_DIRS", "dirs")]),
    ];
    let shared = Test::new();
    let venv = Venv::new(&shared, &[]);
    for (about, files, variables) in cases {
        let _ = std::fs::remove_file(shared.path("venv/pip.conf"));
        let mut test = Test::new();
        for (path, text) in *files {
            if path.starts_with("venv/") {
                std::fs::write(shared.path(path), text).expect(about);
            } else {
                test = test.file(path, text);
            }
        }
        for (name, value) in *variables {
            let inside = test.path(value);
            let place = *name == "XDG_CONFIG_HOME" || *name == "XDG_CONFIG_DIRS" || inside.exists();
            test = test.set(name, if place { inside.display().to_string() } else { (*value).to_owned() });
        }
        assert_eq!(ours(&test, &venv.python), truth(&test, &venv.python), "{about}");
    }
}

#[test]
fn a_configuration_that_pip_refuses_is_refused_with_its_place() {
    let test = Test::new().file("home/.config/pip/pip.conf", "[global]\nnonsense\n");
    let test = test.file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let venv = Venv::bare(&test);
    let outcome = test.run(&["lock", "p.toml", "--python", &venv.python.display().to_string()]).expect(2);
    assert!(outcome.stderr.contains("pip.conf`: line 2 is not valid pip configuration"), "{outcome:?}");
}
