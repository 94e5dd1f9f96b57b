//! The days of users who come from pip, uv and conda: the commands of docs/moving.md, in their order.

use std::process::Command;

use crate::live::world;
use crate::support::python::uv;
use crate::support::test::{Outcome, Test};

const REQUIREMENTS: &str = "rich>=13,<15  # tables\nhttpx[http2]; python_version >= '3.8'\n-c limits.txt\n";
const PROJECT: &str = "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.8'\ndependencies = ['rich>=13,<15', 'idna']\n\
                       [dependency-groups]\ndev = ['pytest']\n";
const CONDA: &str = "name: x\nchannels: [conda-forge]\ndependencies:\n  - python>=3.8\n  - rich=14\n  - click\n  - ffmpeg\n\
                     \x20 - pip:\n      - idna>=3\n";

/// The blocks of shell commands below the heading `title`.
fn blocks(title: &str) -> Vec<String> {
    let page = include_str!("../../../docs/moving.md");
    let section = page.split("\n## ").find(|section| section.starts_with(title)).expect(title);
    let blocks = section.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Runs them in a folder with these files; what the last one printed.
fn live(test: &Test, title: &str, files: &[(&str, &str)]) -> Vec<Outcome> {
    for (name, text) in files {
        std::fs::write(test.path(name), text).expect(name);
    }
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_colab-boot")).parent().expect("a folder");
    let tools = uv().map(|folder| format!(":{}", folder.display())).unwrap_or_default();
    let path = format!("{}{tools}:{}", program.display(), test.environment["PATH"]);
    let run = |block: String| {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-c", &block]).current_dir(test.path("")).env_clear().envs(&test.environment);
        bash.env("PATH", &path).env_remove("COLAB_BOOT_ROOT");
        let said = Outcome::of(bash);
        assert_eq!(said.code, 0, "{title}: {block}\n{said:?}");
        said
    };
    blocks(title).into_iter().map(run).collect()
}

#[test]
fn the_page_is_a_day_of_a_user_of_pip_and_one_of_conda() {
    let Some(test) = world() else { return };
    let train = "import sys, rich\nprint('trained', sys.prefix != sys.base_prefix)\n";
    let files = [("requirements.txt", REQUIREMENTS), ("limits.txt", "h11<1\n"), ("train.py", train)];
    let said = live(&test, "From pip", &files);
    assert!(said[0].stdout.ends_with("trained True\n"), "{said:?}");
    assert!(said[1].stdout.contains("click 8") && said[1].stdout.contains("h2 "), "{said:?}");
    assert!(std::fs::read_to_string(test.path("pinned.txt")).expect("a file").contains("--hash=sha256:"));
    let Some(test) = world() else { return };
    let said = live(&test, "From conda", &[("environment.yml", CONDA)]);
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
    let said = live(&test, "From uv", &[("pyproject.toml", PROJECT), ("train.py", "import rich\nprint('trained')\n")]);
    assert!(said[0].stdout.contains("trained\n"), "{said:?}");
    let lock = std::fs::read_to_string(test.path("pylock.toml")).expect("a lock");
    assert!(lock.contains("lock-version = \"1.0\""), "{lock}");
}
