//! `man`, `schema` and `self`: what editors, manual readers and bug reports know of the program.

use std::process::Command;

use serde_json::Value;

use crate::support::python::{Venv, reachable};
use crate::support::test::{Outcome, Test};

#[test]
fn manual_pages_are_written_and_rendered() {
    let test = Test::new();
    test.run(&["man", "pages"]).expect(0);
    for (page, words) in [
        ("colab-boot.1", &["colab-boot", "Exit codes"][..]),
        ("colab-boot-export-requirements.1", &["--check"]),
        ("colab-boot-run.1", &["train.py"]),
    ] {
        let path = test.path("pages").join(page);
        let text = std::fs::read_to_string(&path).expect(page);
        assert!(text.contains(".TH"), "{text}");
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", "-P-o"]).arg(&path);
        if groff.output().is_err() {
            continue;
        }
        let shown = Outcome::of(groff);
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{page}");
        for word in words {
            assert!(shown.stdout.contains(word), "{page}: {word}: {}", shown.stdout);
        }
    }
    assert!(!test.path("pages/colab-boot-install-wheels.1").exists());
}

#[test]
fn the_version_names_the_matrix() {
    let test = Test::new();
    let said = test.run(&["self", "version"]).expect(0).stdout;
    assert!(said.starts_with(&format!("colab-boot {} (matrix 20", env!("CARGO_PKG_VERSION"))), "{said}");
}

/// The second half of a profile that is right, and of one that is wrong, by what both readers say.
const GOOD: [&str; 10] = [
    "[packages]\nnumpy = '*'\n",
    "[frameworks]\ntorch = '2.10.*'\njax = { version = '>=0.7', extras = ['cuda12'] }\n",
    "[packages]\na = { path = '../a', editable = true }\nb = { git = 'https://x.example/b', rev = 'main' }\n",
    "[packages]\na = { url = 'file:///x/a-1.0-py3-none-any.whl' }\n",
    "[target]\ncuda = '12.8'\npython = '3.12'\ngpus = ['T4']\n[packages]\na = '>=1,<2'\n",
    "[packages]\na = '~=1.4'\n[constraints]\nb = '<3'\n[overrides]\nc = '==1.0.post1'\n",
    "[packages]\na = '*'\n[[index]]\nname = 'x'\nurl = 'https://x.example/simple'\npackages = ['a']\n",
    "[packages]\na = { version = '*', marker = \"sys_platform == 'win32'\" }\n[apt]\npackages = ['g++', 'ffmpeg']\n",
    "[packages]\na = '*'\n[env]\nX_1 = 'y'\n[determinism]\nseed = 3\n[verify]\nsmoke = ['a']\n",
    "[packages]\na = '*'\n[policy]\nbreakage = 'warn'\nwheels-only = false\nbuild = ['a']\nas-of = 2026-11-01\n",
];
const BAD: [&str; 20] = [
    "[packages]\nnumpy = 3\n",
    "[packages]\nnumpy = 'newest'\n",
    "[packages]\nnumpy = { versions = '*' }\n",
    "[packages]\n'num py' = '*'\n",
    "[package]\nnumpy = '*'\n",
    "[target]\ncuda = 'newest'\n[packages]\na = '*'\n",
    "[target]\npython = '3'\n[packages]\na = '*'\n",
    "[target]\ngpu = ['T4']\n[packages]\na = '*'\n",
    "[packages]\na = { path = 'x', git = 'https://x.example/y' }\n",
    "[packages]\na = { rev = 'main' }\n",
    "[packages]\na = { url = 'https://x.example/a-1.0-py3-none-any.whl' }\n",
    "[packages]\na = { sha256 = '0' }\n",
    "[packages]\na = { path = 'x', editable = 'yes' }\n",
    "[packages]\na = '*'\n[apt]\npackages = ['Big Name']\n",
    "[packages]\na = '*'\n[env]\nX = 1\n",
    "[packages]\na = '*'\n[determinism]\nseed = -1\n",
    "[packages]\na = '*'\n[[index]]\nname = 'x'\npackages = ['a']\n",
    "[packages]\na = '*'\n[policy]\nbreakage = 'no'\n",
    "[packages]\na = '*'\n[policy]\nprune = 'yes'\n",
    "[packages]\na = '*'\n[[accept]]\npackage = 'a'\n",
];

#[test]
fn the_schemas_say_of_profiles_and_locks_what_the_program_says() {
    let test = Test::new();
    for (at, text) in GOOD.iter().chain(&BAD).enumerate() {
        let text = format!("[profile]\nname = 'p'\n{text}");
        std::fs::write(test.path(&format!("{at:02}.toml")), text).expect("a profile");
    }
    let own: Vec<bool> = (0..GOOD.len() + BAD.len())
        .map(|at| {
            let said = test.run(&["lock", &format!("{at:02}.toml"), "--runtime", "bare-3.12", "--offline"]);
            !said.stderr.contains("error[profile-")
        })
        .collect();
    assert_eq!(own, [vec![true; GOOD.len()], vec![false; BAD.len()]].concat());
    for document in ["profile", "lock"] {
        let schema = test.run(&["schema", document]).expect(0).stdout;
        let value: Value = serde_json::from_str(&schema).expect("JSON");
        assert_eq!(value["$schema"], "https://json-schema.org/draft/2020-12/schema");
        std::fs::write(test.path(&format!("{document}.json")), schema).expect("a schema");
    }
    if !reachable() {
        eprintln!("skipped: the package index can't be reached from here");
        return;
    }
    let venv = Venv::new(&test, &["jsonschema"]);
    let root = env!("CARGO_MANIFEST_DIR");
    let script = format!(
        "import glob, json\ntry:\n    import tomllib\nexcept ImportError:\n    \
         from pip._vendor import tomli as tomllib\nfrom jsonschema import Draft202012Validator as Validator\n\
         def valid(schema, path): return Validator(json.load(open(schema))).is_valid(json.loads(json.dumps(tomllib.load(open(path, 'rb')), default=str)))\n\
         print(json.dumps([valid('profile.json', path) for path in sorted(glob.glob('[0-9]*.toml'))]))\n\
         for path in glob.glob('{root}/profiles/*.toml') + ['{root}/src/boot/profile/starter.toml']:\n    \
         assert valid('profile.json', path), path\n\
         for path in glob.glob('{root}/profiles/*.lock'):\n    assert valid('lock.json', path), path\n"
    );
    let mut python = Command::new(&venv.python);
    python.args(["-c", &script]).current_dir(test.path(""));
    let said = Outcome::of(python);
    assert_eq!(
        (said.code, said.stdout.trim()),
        (0, serde_json::to_string(&own).expect("JSON").replace(',', ", ").as_str()),
        "{said:?}"
    );
}
