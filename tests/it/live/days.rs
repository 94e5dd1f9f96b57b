//! The days of a user of pip, one of uv and one of conda: their files become a profile, a real notebook applies it and
//! a change, and what is exported is installed by the tool that they came with.

use std::path::Path;
use std::process::Command;

use crate::live::world;
use crate::stories::notebook::{Notebook, Stack};
use crate::support::python::{Venv, kept, uv};
use crate::support::test::{Outcome, Test, sample};

const REQUIREMENTS: &str = "-c limits.txt\nrich>=13,<15\nhttpx; python_version >= '3.8'\n";
const PROJECT: &str = "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.8'\n\
                       dependencies = ['rich>=13,<15', 'httpx', 'ours']\n\
                       [tool.uv.sources]\nours = { path = 'ours-1.0-py3-none-any.whl' }\n";
const CONDA: &str = "name: x\nchannels: [conda-forge]\ndependencies:\n  - rich=14\n  - pip:\n      - httpx\n";

/// What a user has, and what they export for.
struct User {
    file: &'static str,
    text: &'static str,
    format: &'static str,
    exported: &'static str,
}

const USERS: [User; 3] = [
    User { file: "requirements.txt", text: REQUIREMENTS, format: "requirements", exported: "pinned.txt" },
    User { file: "environment.yml", text: CONDA, format: "requirements", exported: "pinned.txt" },
    User { file: "pyproject.toml", text: PROJECT, format: "pylock", exported: "pylock.toml" },
];

/// Installs what was exported with the user's own tool, into an environment that has nothing.
fn at_home(test: &Test, user: &User) -> Venv {
    let fresh = Venv::at(&test.path("fresh"));
    let python = fresh.python.display().to_string();
    let mut command = if user.format == "pylock" {
        let mut command = Command::new(uv().expect("uv").join("uv"));
        command.args(["pip", "install", "--quiet", "--python", &python, "-r", user.exported]);
        command
    } else {
        let mut command = Command::new(kept(&[]).expect("an environment").python);
        command.args(["-m", "pip", "--python", &python, "install", "--quiet", "--no-deps", "-r", user.exported]);
        command
    };
    command.current_dir(test.path("")).env_clear().envs(&test.environment);
    Outcome::of(command).expect(0);
    fresh
}

#[test]
#[ignore = "whole"]
fn files_in_a_notebook_a_change_and_files_out() {
    // The last brings most.
    for user in sample(USERS.into_iter().rev(), 3) {
        if user.format == "pylock" && uv().is_none() {
            eprintln!("skipped: there is no uv");
            continue;
        }
        let Some(test) = world() else { return };
        let program = Path::new(env!("CARGO_BIN_EXE_colab-boot")).parent().expect("a folder");
        let path = format!("{}:{}", program.display(), test.environment["PATH"]);
        let mut test = test.set("PATH", path).file(user.file, user.text).file("limits.txt", "h11<1\n");
        test.environment.remove("COLAB_BOOT_ROOT");
        if user.format == "pylock" {
            crate::support::python::wheel(&test.path(""), ("ours", "1.0"), "ours");
        }
        let venv = Venv::new(&test, &[]);
        let mut notebook = Notebook::of(&test, &venv, Stack::Current).expect("the index");
        let kernel = notebook.kernel();
        let mut cell = |text: &str, says: &str| {
            let said = notebook.run(&kernel, text);
            assert!(said.contains(says), "{}: {text}: {said}", user.file);
        };
        let folder = test.path("").display().to_string();
        cell(&format!("%cd {folder}"), "");
        cell(&format!("!colab-boot init --from {}", user.file), "plan: ");
        cell("!colab-boot apply", "packages as locked");
        cell("import rich, httpx; print(httpx.__version__ > '0')", "True");
        cell("!colab-boot add click", "click");
        cell("!colab-boot apply", "as locked");
        cell("import click; print('imported')", "imported");
        cell("!colab-boot verify", "verified");
        if user.format == "pylock" {
            // What lies in a folder stays at home.
            cell("!colab-boot remove ours", "removed");
        }
        cell(&format!("!colab-boot export {} -o {}", user.format, user.exported), "");
        let fresh = at_home(&test, &user);
        let mut python = Command::new(fresh.python);
        python.args(["-c", "import rich, httpx, click"]);
        Outcome::of(python).expect(0);
    }
}
