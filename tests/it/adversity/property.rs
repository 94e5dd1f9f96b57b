//! No input of 64 kB makes a verb crash, or take more than 512 MB or ten seconds: files of every kind that verbs read,
//! changed at random, always in the same way. `CASES=all` tries fifty times as many.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::numbers::Numbers;
use crate::support::test::{Test, observed, takes_all};

const LARGEST: usize = 64 << 10;
const REQUIREMENTS: &str = "torch==2.11.0 ; python_version > '3.8' and sys_platform == 'linux'\nnumpy[x]>=1,<2\n-r other.txt\na @ https://h.test/a-1.0-py3-none-any.whl\n";
const PYPROJECT: &str = "[project]\nname = 'p'\nversion = '1'\ndependencies = ['a>=1', \"b ; os_name == 'posix'\"]\n[project.optional-dependencies]\nx = ['c']\n";
const PYLOCK: &str = "lock-version = '1.0'\ncreated-by = 'x'\nrequires-python = '>=3.9'\n[[packages]]\nname = 'a'\nversion = '1.0'\nmarker = \"python_version > '3'\"\n";
const UV: &str = "version = 1\nrequires-python = '>=3.9'\n[[package]]\nname = 'p'\nversion = '0.1'\nsource = { virtual = '.' }\ndependencies = [{ name = 'a', marker = \"os_name == 'posix'\" }]\n[[package]]\nname = 'a'\nversion = '1.0'\n";
const NOTEBOOK: &str = r#"{"cells": [{"cell_type": "code", "source": ["!pip install a==1.0 'b[x]>=2'\n", "%pip install -r r.txt"]}], "nbformat": 4}"#;
const CONDA: &str = "name: x\ndependencies:\n  - python=3.12\n  - numpy=1.26\n  - pip:\n    - a==1.0\n";

/// What is put in, some of it many times.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "\n",
    " ",
    ",",
    "=",
    "==",
    "~=",
    ">=9999999999999999999999",
    "\u{e9}",
    "\u{1f600}",
    "\0",
    " and ",
    " or ",
    "(extra == 'a' and extra == 'b') or ",
    "extra == 'a' or ",
    "-r x\n",
    "[[package]]\n",
    "a = [",
    "{\"cells\": [",
    "- ",
    "&a [*a,*a]\n",
    "1!",
    "+",
    ".",
    "\u{feff}",
    "#",
    ";",
    "@",
    "9",
];

fn changed(seed: &str, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seed.as_bytes().to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        match numbers.below(5) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] = u8::try_from(numbers.below(256)).expect("a byte"),
            2 => {
                let end = at + numbers.below(bytes.len() - at);
                let part = bytes[at..end].to_vec();
                let times = LARGEST / part.len().max(64);
                bytes.splice(at..at, part.repeat(numbers.below(times)));
            }
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())];
                let times = if numbers.below(2) == 0 { 1 } else { numbers.below(LARGEST / piece.len()) };
                bytes.splice(at..at, piece.repeat(times).into_bytes());
            }
        }
        bytes.truncate(LARGEST);
    }
    bytes
}

#[test]
fn no_small_input_takes_much() {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |name: &str| std::fs::read_to_string(format!("{root}/profiles/{name}")).expect("a file");
    let (profile, lock) = (read("pytorch.toml"), read("jax.lock"));
    let kinds: [(&str, &str, &[&str]); 8] = [
        ("r.txt", REQUIREMENTS, &["audit", "r.txt"]),
        ("pyproject.toml", PYPROJECT, &["audit", "pyproject.toml"]),
        ("pylock.toml", PYLOCK, &["audit", "pylock.toml"]),
        ("uv.lock", UV, &["audit", "uv.lock"]),
        ("n.ipynb", NOTEBOOK, &["audit", "n.ipynb"]),
        ("environment.yml", CONDA, &["audit", "environment.yml"]),
        ("p.toml", &profile, &["plan", "p.toml"]),
        ("p.lock", &lock, &["fetch", "p.lock", "--into", "house"]),
    ];
    let rounds = if takes_all() { 400 } else { 5 };
    let test = Test::new();
    let (machine, mut numbers) = (observed("laptop"), Numbers(11));
    for round in 0..rounds {
        for (name, seed, verb) in &kinds {
            let input = changed(seed, &mut numbers);
            std::fs::write(test.path(name), &input).expect("a file");
            let kept =
                || format!("round {round}: {name}: {:?}", String::from_utf8_lossy(&input[..input.len().min(300)]));
            let mut arguments: Vec<&str> = [verb, ["--offline"].as_slice()].concat();
            if verb[0] != "fetch" {
                arguments.extend(["--machine", machine.as_str(), "--index-url", "http://127.0.0.1:9/simple"]);
            }
            let line = format!("ulimit -v 524288; exec '{}' \"$@\"", env!("CARGO_BIN_EXE_colab-boot"));
            let mut command = Command::new("bash");
            command.args(["-c", &line, "colab-boot"]).args(&arguments).current_dir(test.path("."));
            command.env_clear().envs(&test.environment).stdin(Stdio::null()).stdout(Stdio::null());
            let started = Instant::now();
            let output = command.stderr(Stdio::piped()).output().expect("bash");
            assert!(started.elapsed() < Duration::from_secs(10), "it took long: {}", kept());
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(code.is_some_and(|code| code < 4), "{code:?}: {}\n{said}", kept());
        }
    }
}
