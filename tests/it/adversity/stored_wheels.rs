//! The store of unpacked wheels: what a second environment and a way back take from it, and what is never taken.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::adversity::users_files::World;
use crate::support::python::Venv;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, is_root, sample};

/// An apply of `profile` to another environment of this world.
fn apply_to(world: &World, venv: &Venv, profile: &str) -> Outcome {
    let python = venv.python.display().to_string();
    world.test.run(&["apply", profile, "--python", &python, "--find-links", "house", "--offline", "--locked"])
}

fn inode(path: &Path) -> u64 {
    std::fs::metadata(path).expect("a file").ino()
}

/// The entries of the store.
fn entries(world: &World) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(world.test.path("cache/store-1"));
    folder.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// `demo` 1.0 is installed and locked, and its wheel is gone.
fn world() -> World {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    std::fs::remove_file(world.test.path("house/demo-1.0-py3-none-any.whl")).expect("a wheel");
    world
}

/// What `demo` is in an environment, but for its RECORD and the names of its interpreter.
fn demo(venv: &Venv) -> BTreeMap<String, String> {
    let (site, prefix) = (venv.layout(), venv.python.parent().and_then(Path::parent).expect("a prefix").to_owned());
    let mut found = BTreeMap::new();
    for place in ["utils.py", "demo/deep/x.py", "demo-1.0.dist-info/METADATA"].map(|path| site.join(path)) {
        found.insert(place.strip_prefix(&prefix).expect("inside").display().to_string(), read(&place));
    }
    for place in ["bin/mytool", "bin/entry", "etc/app/user.conf"] {
        found.insert(place.to_owned(), read(&prefix.join(place)).replace(&prefix.display().to_string(), "PREFIX"));
    }
    found
}

fn read(path: &Path) -> String {
    let mode = std::fs::metadata(path).expect("a file").permissions().mode();
    format!("{mode:o} {}", std::fs::read_to_string(path).expect("a file"))
}

#[test]
fn a_second_environment_takes_its_files_from_the_store() {
    let world = world();
    let other = Venv::at(&world.test.path("other"));
    assert!(apply_to(&world, &other, "p.toml").expect(0).concludes("applied: 1 package as locked"));
    let python = other.python.display().to_string();
    world.test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    assert_eq!(demo(&world.venv), demo(&other));
    let files = [&world.venv, &other].map(|venv| inode(&venv.layout().join("utils.py")));
    assert_eq!(files[0], files[1], "it is a copy");
    let tool = Outcome::of(Command::new(other.python.with_file_name("mytool")));
    assert_eq!(tool.code, 0, "{tool:?}");
    // What is deleted in one stays in the other.
    world.run(&["restore"]).expect(0);
    world.test.run(&["verify", "p.toml", "--python", &python]).expect(0);
}

/// Start-up files of an image add a company's certificates to such files.
#[test]
fn certificates_are_no_environments_but_ones_own() {
    let world = World::new("");
    world.has("1.0", &[("demo/cacert.pem", "SITE/demo/cacert.pem"), ("utils.py", "SITE/utils.py")]);
    world.run(&["apply", "p.toml"]).expect(0);
    let other = Venv::at(&world.test.path("other"));
    apply_to(&world, &other, "p.toml").expect(0);
    for (file, is_shared) in [("demo/cacert.pem", false), ("utils.py", true)] {
        let files = [&world.venv, &other].map(|venv| inode(&venv.layout().join(file)));
        assert_eq!(files[0] == files[1], is_shared, "{file}");
    }
}

#[test]
fn the_way_back_to_an_earlier_version_needs_no_wheel() {
    let world = world();
    let before = demo(&world.venv);
    world.run(&["apply", "two.toml"]).expect(0);
    let said = world.run(&["apply", "p.toml", "--locked"]).expect(0);
    assert!(said.concludes("applied: 1 package as locked"), "{said:?}");
    assert_eq!(demo(&world.venv), before);
    assert_eq!(entries(&world).len(), 2);
}

#[test]
fn a_file_that_was_edited_through_a_link_is_never_installed() {
    let ways = [
        ("edited", "printf '# mine\\n' >>FILE"),
        ("of the same size", "printf X | dd of=FILE conv=notrunc status=none"),
        ("with its time", "cp --preserve=timestamps FILE t; printf XY >FILE; touch -r t FILE"),
        (
            "of the same size, with its time",
            "cp -p FILE t; printf X | dd of=FILE conv=notrunc status=none; touch -r t FILE",
        ),
        ("executable", "chmod +x FILE"),
        ("gone", "rm STORE/*/0"),
        ("replaced", "old=$(echo STORE/*/0); cp $old t; rm $old; mv t $old"),
        ("cut", "for list in STORE/*/index; do printf x >$list; done"),
        ("empty", "for list in STORE/*/index; do : >$list; done"),
    ];
    for (what, change) in sample(ways, 5) {
        let world = world();
        let (file, store) = (world.place("SITE/utils.py"), world.test.path("cache/store-1"));
        let script = change.replace("FILE", &file.display().to_string()).replace("STORE", &store.display().to_string());
        let done = Command::new("sh").args(["-c", &script]).current_dir(world.test.path("")).status();
        assert!(done.expect("sh starts").success());
        let other = Venv::at(&world.test.path("other"));
        // Neither the store nor a folder has it.
        let said = apply_to(&world, &other, "p.toml").expect(3);
        assert!(!other.layout().join("utils.py").exists(), "{what}: {said:?}");
        let is_link = !["cut", "empty"].contains(&what);
        assert_eq!(said.stderr.contains("environments share its files"), is_link, "{what}: {said:?}");
        world.has("1.0", &[]);
        assert!(entries(&world).is_empty(), "{what}");
    }
}

#[test]
fn the_store_has_a_limit_and_can_be_emptied() {
    let world = world();
    let bad = World { test: world.test.set("COLAB_BOOT_STORE_LIMIT", "much"), venv: world.venv };
    let said = bad.run(&["apply", "two.toml"]).expect(2);
    assert!(said.stderr.contains("COLAB_BOOT_STORE_LIMIT: "), "{said:?}");
    let world = World { test: bad.test.set("COLAB_BOOT_STORE_LIMIT", "1"), venv: bad.venv };
    // What was used a moment ago stays, whatever the limit is: another run may need it now.
    world.run(&["apply", "two.toml"]).expect(0);
    assert_eq!(entries(&world).len(), 2);
    for entry in entries(&world) {
        let old = Command::new("touch").args(["-d", "2020-01-01"]).arg(entry).status();
        assert!(old.expect("touch starts").success());
    }
    world.run(&["restore"]).expect(0);
    assert_eq!(entries(&world).len(), 0);
    let world = World { test: world.test.set("COLAB_BOOT_STORE_LIMIT", "0"), ..world };
    world.run(&["apply", "two.toml"]).expect(0);
    assert!(entries(&world).is_empty());
}

/// Runs a script in a mount namespace of its own.
fn mounted(world: &World, script: &str) {
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", script]).env_clear().envs(&world.test.environment);
    command.env("BINARY", env!("CARGO_BIN_EXE_colab-boot")).env("PYTHON", &world.venv.python);
    command.current_dir(world.test.path(""));
    Outcome::of(command).expect(0);
}

#[test]
fn on_another_file_system_nothing_is_kept_and_what_is_taken_is_copied() {
    let mounts = || Command::new("unshare").args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status();
    if !is_root() || !mounts().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this needs root, and leave to mount");
        return;
    }
    let world = world();
    let script = r#"
set -eu
apply() { "$BINARY" apply p.toml --locked --python "$1" --find-links house --offline; }
mkdir other && mount -t tmpfs none other
"$PYTHON" -m venv --without-pip other/venv
apply other/venv/bin/python
[[ $(stat -c %h other/venv/lib/*/site-packages/utils.py) == 1 ]]
"$BINARY" verify p.toml --python other/venv/bin/python
"#;
    mounted(&world, script);
    let world = World::new("");
    let script = r#"
set -eu
mkdir -p cache && mount -t tmpfs -o mode=700 none cache
"$BINARY" apply p.toml --python "$PYTHON" --find-links house --offline
[[ -z $(ls cache/store-1) ]]
"#;
    mounted(&world, script);
}

#[test]
fn pruning_leaves_what_an_environment_has() {
    let world = world();
    world.run(&["apply", "two.toml"]).expect(0);
    let said = world.test.run(&["cache", "prune"]).expect(0);
    assert!(said.stdout.starts_with("removed 1 unpacked wheel; "), "{said:?}");
    assert_eq!(entries(&world).len(), 1);
    let python = world.venv.python.display().to_string();
    // Others may keep things in that folder.
    let others = ["cache/notes.txt", "cache/wheels/mine/x.whl", "cache/models-v2/x"].map(|path| world.test.path(path));
    for path in &others {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, "mine\n").expect("a file");
    }
    let said = world.test.run(&["cache", "clean"]).expect(0);
    assert!(others.iter().all(|path| path.exists()), "{said:?}");
    assert!(said.stdout.starts_with("removed 1 unpacked wheel; "), "{said:?}");
    assert_eq!(world.test.run(&["cache", "clean"]).expect(0).stdout, "nothing to remove\n");
    world.test.run(&["verify", "two.toml", "--python", &python]).expect(0);
}
