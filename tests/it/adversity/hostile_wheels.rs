//! Wheels that would write over what is not theirs, and what a user keeps in site-packages.

use std::collections::BTreeMap;

use crate::support::index_server::Release;
use crate::support::python::Venv;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};
use crate::support::wheel::wheel;

struct World {
    test: Test,
    venv: Venv,
}

impl World {
    /// A folder of wheels with `demo` 1.0, which has these `files`.
    fn new(files: &[(&str, &str)]) -> Self {
        let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n");
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
        let test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
        let venv = Venv::new(&test, &[]);
        std::fs::create_dir(test.path("house")).expect("a folder");
        let world = Self { test, venv };
        world.has(files);
        world
    }

    fn has(&self, files: &[(&str, &str)]) {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let release = Release { files, ..Release::default() };
        let name = "demo-1.0-py3-none-any.whl";
        let bytes = wheel("demo", name, &BTreeMap::from([("1.0".to_owned(), release)])).expect("a wheel");
        std::fs::write(self.test.path("house").join(name), bytes).expect("a wheel");
        let _ = std::fs::remove_file(self.test.path("p.lock"));
    }

    fn apply(&self) -> Outcome {
        let python = self.venv.python.display().to_string();
        self.test.run(&["apply", "p.toml", "--python", &python, "--find-links", "house", "--offline"])
    }
}

#[test]
fn the_interpreter_is_not_overwritten() {
    let world = World::new(&[]);
    let python = std::fs::canonicalize(&world.venv.python).expect("an interpreter");
    for (path, text) in [
        ("demo-1.0.data/scripts/python", "#!/bin/sh\n"),
        ("demo-1.0.data/scripts/python3", "#!/bin/sh\n"),
        ("demo-1.0.data/scripts/activate", "#!/bin/sh\n"),
        ("demo-1.0.data/data/pyvenv.cfg", "home = /\n"),
        ("colab-boot-env.pth", "import os; os.environ['X'] = '1'\n"),
        (".colab-boot-id", "x\n"),
        ("demo-1.0.data/data/bin/python", "#!/bin/sh\n"),
        ("demo-1.0.dist-info/entry_points.txt", "[console_scripts]\npython = demo:main\n"),
    ] {
        world.has(&[(path, text)]);
        let outcome = world.apply().expect(1);
        assert!(outcome.reports("error[wheel-overwrites]"), "{path}: {}", outcome.stderr);
        assert!(!world.venv.layout().join("demo").exists(), "{path}: nothing is installed");
        assert_eq!(std::fs::canonicalize(&world.venv.python).expect("an interpreter"), python);
    }
    world.has(&[("demo-1.0.data/scripts/python-demo", "#!/bin/sh\n"), ("demo/x.py", "")]);
    world.apply().expect(0);
}

#[test]
fn a_link_in_site_packages_is_not_written_through() {
    let world = World::new(&[("demo/__init__.py", "installed"), ("demo/deep/x.py", "installed")]);
    let checkout = world.test.path("checkout");
    std::fs::create_dir_all(checkout.join("deep")).expect("a folder");
    std::fs::write(checkout.join("__init__.py"), "mine").expect("a file");
    let link = world.venv.layout().join("demo");
    std::os::unix::fs::symlink(&checkout, &link).expect("a link");
    let outcome = world.apply().expect(1);
    assert!(outcome.stderr.contains("are behind the link"), "{}", outcome.stderr);
    assert_eq!(std::fs::read_to_string(checkout.join("__init__.py")).expect("a file"), "mine");
    std::fs::remove_file(&link).expect("a link");
    world.apply().expect(0);
    assert_eq!(std::fs::read_to_string(link.join("__init__.py")).expect("a file"), "installed");
}

#[test]
fn notes_of_a_user_are_no_leftovers() {
    let world = World::new(&[("demo/__init__.py", "")]);
    let site = world.venv.layout();
    let notes = site.join("~notes.txt");
    std::fs::write(&notes, "mine").expect("a file");
    std::os::unix::fs::symlink(world.test.path("house"), site.join("~link")).expect("a link");
    std::fs::create_dir_all(site.join("~emo/x")).expect("a leftover");
    std::fs::create_dir(site.join("~mine")).expect("a folder");
    std::fs::write(site.join("~mine/code.py"), "mine").expect("a file");
    world.apply().expect(0);
    assert_eq!(std::fs::read_to_string(&notes).expect("a file"), "mine");
    assert!(site.join("~link").exists() && !site.join("~emo").exists());
    assert_eq!(std::fs::read_to_string(site.join("~mine/code.py")).expect("a file"), "mine");
}
