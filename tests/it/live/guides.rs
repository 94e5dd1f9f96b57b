//! The commands of the pages of docs/ that are about a task, in their order, as their reader would type them.

use std::path::Path;
use std::process::Command;

use crate::live::world;
use crate::support::index_server::{IndexServer, Looks, Manner, Release, Table};
use crate::support::python::{interpreter, uv};
use crate::support::test::{Outcome, Test, takes_all};

const REQUIREMENTS: &str = "rich>=13,<15  # tables\nhttpx[http2]; python_version >= '3.8'\n-c limits.txt\n";
const PROJECT: &str = "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.8'\ndependencies = ['rich>=13,<15', 'idna']\n\
                       [dependency-groups]\ndev = ['pytest']\n";
const CONDA: &str = "name: x\nchannels: [conda-forge]\ndependencies:\n  - python>=3.8\n  - rich=14\n  - click\n  - ffmpeg\n\
                    \x20 - pip:\n      - idna>=3\n";
const PROFILE: &str = "[profile]\nname = 'data'\n[packages]\nrich = '>=13'\nclick = '*'\n";

/// The blocks of shell commands of the page `name`, below the heading `title` if there is one.
fn blocks(name: &str, title: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    let page = std::fs::read_to_string(page).expect(name);
    let section = page.split("\n## ").find(|section| title.is_empty() || section.starts_with(title)).expect(title);
    let section = if title.is_empty() { page.as_str() } else { section };
    let blocks = section.split("```sh\n").skip(1);
    let blocks: Vec<String> = blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect();
    assert!(!blocks.is_empty(), "{name}: {title}");
    blocks
}

/// Runs them in a folder with these files; what each block printed.
fn live(test: &Test, (page, title): (&str, &str), files: &[(&str, &str)]) -> Vec<Outcome> {
    for (name, text) in files {
        std::fs::write(test.path(name), text).expect(name);
    }
    let program = Path::new(env!("CARGO_BIN_EXE_colab-boot")).parent().expect("a folder");
    let tools = uv().map(|folder| format!(":{}", folder.display())).unwrap_or_default();
    let path = format!("{}{tools}:{}", program.display(), test.environment["PATH"]);
    let run = |block: String| {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-c", &block]).current_dir(test.path("")).env_clear().envs(&test.environment);
        bash.env("PATH", &path).env_remove("COLAB_BOOT_ROOT");
        let said = Outcome::of(bash);
        assert_eq!(said.code, 0, "{page} {title}: {block}\n{said:?}");
        said
    };
    blocks(page, title).into_iter().map(run).collect()
}

#[test]
fn the_page_is_a_day_of_a_user_of_pip_and_one_of_conda() {
    let Some(test) = world() else { return };
    let train = "import sys, rich\nprint('trained', sys.prefix != sys.base_prefix)\n";
    let files = [("requirements.txt", REQUIREMENTS), ("limits.txt", "h11<1\n"), ("train.py", train)];
    let said = live(&test, ("moving.md", "From pip"), &files);
    assert!(said[0].stdout.ends_with("trained True\n"), "{said:?}");
    assert!(said[1].stdout.contains("click 8") && said[1].stdout.contains("h2 "), "{said:?}");
    assert!(std::fs::read_to_string(test.path("pinned.txt")).expect("a file").contains("--hash=sha256:"));
    let Some(test) = world().filter(|_| takes_all()) else { return };
    let said = live(&test, ("moving.md", "From conda"), &[("environment.yml", CONDA)]);
    let profile = std::fs::read_to_string(test.path("profile.toml")).expect("a profile");
    assert!(profile.contains("rich = \"==14.*\"") && profile.contains("# not taken over: environment.yml: ffmpeg"));
    assert!(said[0].stdout.contains("verified"), "{said:?}");
}

#[test]
fn the_page_is_a_day_of_a_user_of_uv() {
    let Some(test) = world() else { return };
    if uv().is_none() {
        eprintln!("skipped: there is no uv");
        return;
    }
    let said = live(
        &test,
        ("moving.md", "From uv"),
        &[("pyproject.toml", PROJECT), ("train.py", "import rich\nprint('trained')\n")],
    );
    assert!(said[0].stdout.contains("trained\n"), "{said:?}");
    let lock = std::fs::read_to_string(test.path("pylock.toml")).expect("a lock");
    assert!(lock.contains("lock-version = \"1.0\""), "{lock}");
}

#[test]
fn a_first_notebook() {
    let Some(test) = world() else { return };
    let said = live(&test, ("first-notebook.md", ""), &[("requirements.txt", "rich>=13\ntransformers\ntorch\n")]);
    assert!(said[0].stdout.contains("Tesla T4") && said[0].stdout.contains("torch 2.11.0+cu128"), "{said:?}");
    assert!(said[1].stdout.contains("install   bitsandbytes"), "{said:?}");
    let lock = std::fs::read_to_string(test.path("profile.lock")).expect("a lock");
    assert!(lock.contains("colab-2026.07"), "the lock is for the image");
    let names = std::fs::read_dir(test.path("")).expect("a folder").flatten();
    assert_eq!(names.filter(|one| one.path().extension().is_some_and(|end| end == "ipynb")).count(), 1);
}

#[test]
fn a_team() {
    let Some(test) = world() else { return };
    let minor = Command::new(interpreter()).args(["-c", "import sys; print(sys.version_info[1])"]).output();
    let minor = String::from_utf8(minor.expect("Python starts").stdout).expect("a number");
    let profile = format!("{PROFILE}[target]\nruntimes = ['bare-3.{}']\n", minor.trim());
    let said = live(&test, ("team.md", "For the maintainer"), &[("data.toml", &profile)]);
    assert!(said[0].stdout.contains("data: 1 current"), "{said:?}");
    for file in ["data.toml", "data.lock"] {
        std::fs::remove_file(test.path(file)).expect(file);
    }
    let said = live(&test, ("team.md", "For the users"), &[]);
    assert!(said[0].stdout.contains("added data@") && said[0].stdout.contains("packages as locked"), "{said:?}");
}

#[test]
#[ignore = "whole"]
fn without_a_network() {
    let Some(test) = world() else { return };
    let test = test.file("profile.toml", PROFILE);
    let said = live(&test, ("offline.md", ""), &[]);
    assert!(said[1].stdout.contains("verified"), "{said:?}");
    // Nothing but the folder was needed.
    std::fs::remove_dir_all(test.path("cache")).expect("a cache");
    let test = test.set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
    std::fs::remove_dir_all(test.path(".venv")).expect("an environment");
    Command::new(interpreter()).args(["-m", "venv"]).arg(test.path(".venv")).status().expect("Python starts");
    test.run(&["apply", "--wheelhouse", "wheels"]).expect(0);
}

#[test]
fn an_index_of_a_company() {
    let page = blocks("enterprise.md", "").concat();
    let value = |name: &str| page.split(&format!("{name}=")).nth(1).and_then(|rest| rest.split_whitespace().next());
    let login = format!("{}:{}", value("_USERNAME").expect("a name"), value("_PASSWORD").expect("a password"));
    let own = Table::from([("our-lib".to_owned(), [("1.0".to_owned(), Release::default())].into())]);
    let own = IndexServer::with(own, Manner::Good, Looks { login: Some(login), ..Looks::default() });
    let others = Table::from([("our-lib".to_owned(), [("99.0".to_owned(), Release::default())].into())]);
    let others = IndexServer::start(others, Manner::Good);
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/enterprise.md")).expect("the page");
    let table = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a table");
    let table = table.replace("https://wheels.example.com/simple", &own.url);
    let profile = format!("[profile]\nname = 'data'\n[packages]\nour-lib = '*'\n{table}");
    let test = Test::new().file("profile.toml", &profile).set("COLAB_BOOT_INDEX_URL", others.url.clone());
    let test = test.set("COLAB_BOOT_RUNTIME", "bare-3.12");
    live(&test, ("enterprise.md", ""), &[]);
    let lock = std::fs::read_to_string(test.path("profile.lock")).expect("a lock");
    assert!(lock.contains("our_lib-1.0") && !lock.contains("open-sesame"), "{lock}");
}

#[test]
#[ignore = "whole"]
fn a_repository_against_colab() {
    let Some(test) = world() else { return };
    let project = "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n\
                   [project]\nname = 'ours'\nversion = '1'\ndependencies = ['click>=8']\n[tool.setuptools]\npy-modules = ['ours']\n";
    let own_test = "import click, ours\ndef test_it():\n    assert ours.word == 'ours'\n";
    let files = [("pyproject.toml", project), ("ours.py", "word = 'ours'\n"), ("test_it.py", own_test)];
    let said = live(&test, ("testing-against-colab.md", ""), &files);
    assert!(said[0].stdout.contains("1 passed"), "{said:?}");
}

#[test]
fn an_error() {
    let Some(test) = world() else { return };
    let log = "Traceback (most recent call last):\nRuntimeError: operator torchvision::nms does not exist\n";
    let test = test.set("COLAB_BOOT_RUNTIME", "bare-3.12").file("profile.toml", PROFILE);
    test.run(&["lock"]).expect(0);
    let said = live(&test, ("reading-an-error.md", ""), &[("train.log", log)]);
    let words = ["gpu-not-covered", "family-broken", "", "driver", "your profile -> click"];
    for (said, word) in said.iter().zip(words) {
        assert!(said.stdout.contains(word), "{word}: {said:?}");
    }
    assert_eq!(said.len(), words.len());
}
