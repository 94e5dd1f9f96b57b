//! What somebody has put in the place of a package that colab-boot installed: another build of the same version, edits.

use std::collections::BTreeMap;

use crate::adversity::users_files::World as Lists;
use crate::support::address::build;
use crate::support::index_server::Release;
use crate::support::python::{Venv, wheel};
use crate::support::test::Test;
use crate::support::wheel;

struct World {
    test: Test,
    venv: Venv,
}

impl World {
    /// `demo` 1.0 is applied.
    fn new() -> Self {
        let profile = |version: &str| format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='=={version}'\n");
        let test = Test::new().file("p.toml", &profile("1.0")).file("two.toml", &profile("2.0"));
        for folder in ["wheels", "other"] {
            std::fs::create_dir(test.path(folder)).expect("a folder");
        }
        build(&test.path("wheels"), "first");
        wheel(&test.path("wheels"), ("demo", "2.0"), "second");
        build(&test.path("other"), "mine");
        let venv = Venv::new(&test, &[]);
        let world = Self { test, venv };
        world.run(&["apply", "p.toml"]);
        world
    }

    fn run(&self, arguments: &[&str]) -> String {
        let (python, wheels) = (self.venv.python.display().to_string(), self.test.path("wheels").display().to_string());
        let more = ["--python", &python, "--find-links", &wheels, "--offline"];
        let outcome = self.test.run(&[arguments, more.as_slice()].concat()).expect(0);
        format!("{}{}", outcome.stdout, outcome.stderr)
    }

    /// How many files kept aside have `text` in them.
    fn kept(&self, text: &str) -> usize {
        let state = self.test.state_file("aside");
        let mut folders = vec![state];
        let mut found = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found += usize::from(std::fs::read_to_string(path).is_ok_and(|content| content.contains(text)));
                }
            }
        }
        found
    }
}

#[test]
fn a_build_of_ones_own_in_the_same_version_is_kept() {
    for verb in [&["restore"][..], &["apply", "two.toml"]] {
        let world = World::new();
        let own = world.test.path("other/demo-1.0-py3-none-any.whl").display().to_string();
        let install = ["-I", "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--force-reinstall", &own];
        let done = std::process::Command::new(&world.venv.python).args(install).status().expect("pip starts");
        assert!(done.success());
        let said = world.run(verb);
        assert!(said.contains("kept your edited `demo.py`"), "{said}");
        assert_eq!(world.kept("mine"), 1, "{said}");
    }
}

/// An editor, or `cp`, writes into the file that was edited; what was kept of it stays as it was.
#[test]
fn what_was_kept_is_no_second_name_of_the_file() {
    let world = World::new();
    let file = world.venv.layout().join("demo.py");
    let first = std::fs::read_to_string(&file).expect("a file");
    std::fs::write(&file, format!("{first}# precious\n")).expect("an edit");
    // The install fails once the edit is kept.
    let world = World { test: world.test.fake("bash").set("FIRST", "exit 2"), ..world };
    let (python, wheels) = (world.venv.python.display().to_string(), world.test.path("wheels").display().to_string());
    let apply = ["apply", "two.toml", "--python", &python, "--find-links", &wheels, "--offline"];
    let failed = world.test.run(&apply).expect(3);
    assert!(failed.stderr.contains("the Python packages are as before"), "{failed:?}");
    assert_eq!(world.kept("precious"), 1, "{failed:?}");
    std::fs::write(&file, &first).expect("a write in place");
    let world = World { test: world.test.set("FIRST", ""), ..world };
    world.run(&["apply", "two.toml"]);
    assert_eq!(world.kept("precious"), 1);
}

/// pip reads the list of commands to uninstall, and would end with a traceback.
#[test]
fn an_edited_list_of_commands_stops_no_upgrade() {
    let world = Lists::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let list = world.place("SITE/demo-1.0.dist-info/entry_points.txt");
    let text = std::fs::read_to_string(&list).expect("a list");
    std::fs::write(&list, format!("{text}no sense\n")).expect("an edit");
    let done = world.run(&["apply", "two.toml"]).expect(0);
    assert!(done.stdout.starts_with("applied"), "{done:?}");
    assert!(done.stderr.contains("entry_points.txt` as `"), "{done:?}");
}

/// Each build has a module where the other one has a package: the files of the one that goes are removed, and kept.
#[test]
fn another_build_with_other_files_is_replaced_whole() {
    let world = World::new();
    let files = [("demo/__init__.py", "word = 'mine'\n"), ("more.py", "word = 'more'\n")];
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let release = Release { files, ..Release::default() };
    let name = "demo-1.0-py3-none-any.whl";
    let bytes = wheel::wheel("demo", name, &BTreeMap::from([("1.0".to_owned(), release)])).expect("a wheel");
    let own = world.test.path("other").join(name);
    std::fs::write(&own, bytes).expect("a wheel");
    let install = ["-I", "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--force-reinstall"];
    let done = std::process::Command::new(&world.venv.python).args(install).arg(&own).status().expect("pip starts");
    assert!(done.success());
    let site = world.venv.layout();
    assert!(site.join("demo/__init__.py").exists() && site.join("more.py").exists());
    let said = world.run(&["apply", "p.toml"]);
    assert!(said.starts_with("applied: 1 package as locked"), "{said}");
    assert!(!site.join("demo/__init__.py").exists() && !site.join("more.py").exists(), "{said}");
    assert_eq!((world.kept("'mine'"), world.kept("'more'")), (1, 1), "{said}");
    assert!(world.run(&["apply", "p.toml"]).starts_with("ready"));
}
