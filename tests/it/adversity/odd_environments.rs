//! Environments in a state that no installer leaves: packages are off the path, metadata is no text, a virtual
//! environment has lost what makes it one.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::adversity::users_files::World;
use crate::support::test::{Outcome, is_root};

fn info(world: &World) -> std::path::PathBuf {
    world.place("SITE/demo-1.0.dist-info")
}

#[test]
fn packages_that_no_python_can_import_are_not_as_locked() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let start = world.place("SITE/zz.pth");
    fs::write(&start, "import sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]\n").expect("a file");
    let python = world.venv.python.display().to_string();
    let verified = world.test.run(&["verify", "p.toml", "--python", &python]).expect(1);
    assert!(!verified.stdout.starts_with("verified"), "{verified:?}");
    for verb in [&["apply", "p.toml"][..], &["restore"]] {
        let refused = world.run(verb).expect(1);
        assert!(refused.stderr.contains("is not on this Python's `sys.path`"), "{refused:?}");
    }
    let doctor = world.test.run(&["doctor", "path-order", "--python", &python]);
    assert!(doctor.code == 1 || doctor.stderr.contains("path-order"), "{doctor:?}");
    // Its content counts, not only its name.
    fs::write(&start, "import sys\n").expect("a file");
    assert!(world.run(&["apply", "p.toml"]).expect(0).stdout.starts_with("ready"));
    let said = world.run(&["restore"]).expect(0);
    let left: Vec<_> = world.tree().into_keys().filter(|path| path.starts_with(world.place("SITE/demo"))).collect();
    assert!(left.is_empty(), "{left:?}: {said:?}");
}

#[test]
fn metadata_that_is_no_text_is_repaired_whatever_has_its_name() {
    let latin: &dyn Fn(&Path) = &|path| fs::write(path, b"Author: J\xe4rg\n").expect("a file");
    let folder: &dyn Fn(&Path) = &|path| fs::create_dir(path).expect("a folder");
    let to_itself: &dyn Fn(&Path) = &|path| symlink(path.file_name().expect("a name"), path).expect("a link");
    let pipe: &dyn Fn(&Path) = &|path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    };
    for (name, kinds) in [
        ("METADATA", vec![("latin", latin)]),
        ("RECORD", vec![("latin", latin), ("folder", folder), ("to itself", to_itself), ("pipe", pipe)]),
    ] {
        let world = World::new("");
        for (kind, make) in kinds {
            world.run(&["apply", "p.toml"]).expect(0);
            let file = info(&world).join(name);
            fs::remove_file(&file).expect("a file");
            make(&file);
            let said = world.run(&["apply", "p.toml"]);
            assert_eq!(said.code, 0, "{name} {kind}: {said:?}");
            assert!(world.run(&["apply", "p.toml"]).stdout.starts_with("ready"), "{name} {kind}: {said:?}");
            let said = world.run(&["restore"]);
            assert_eq!(said.code, 0, "{name} {kind}: {said:?}");
        }
    }
}

#[test]
fn a_module_that_is_a_link_to_itself_is_repaired() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let module = world.place("SITE/utils.py");
    fs::remove_file(&module).expect("a file");
    symlink("utils.py", &module).expect("a link");
    world.run(&["apply", "p.toml"]).expect(0);
    assert_eq!(fs::read_to_string(&module).expect("a file"), "# 1.0\n");
}

#[test]
fn what_was_a_virtual_environment_is_not_changed_without_being_asked() {
    let world = World::new("");
    let folder = world.venv.python.parent().and_then(Path::parent).expect("a folder").to_owned();
    fs::remove_file(folder.join("pyvenv.cfg")).expect("a file");
    let test = world.test.set("VIRTUAL_ENV", folder.display().to_string());
    let refused = test.run(&["apply", "p.toml", "--find-links", "house", "--offline"]).expect(2);
    assert!(refused.stderr.contains("is in no virtual environment"), "{refused:?}");
}

#[test]
fn a_file_that_every_start_of_python_rewrites_is_named_and_needs_no_repair_again() {
    let world = World::new("");
    let start = "import os, sysconfig; p = os.path.join(sysconfig.get_path('purelib'), 'utils.py'); \
                 os.path.exists(p) and 'company' not in open(p).read() and open(p, 'a').write('# of the company\\n')\n";
    fs::write(world.place("SITE/zz.pth"), start).expect("a file");
    let sentence = "except 1 file that Python rewrites at startup";
    for word in ["applied: 1 package", "ready: 1 package", "ready: 1 package"] {
        let said = world.run(&["apply", "p.toml"]).expect(0);
        assert!(said.stdout.starts_with(word) && said.stdout.contains(sentence), "{word}: {said:?}");
        assert!(said.stderr.contains("files-rewritten") && said.stderr.contains("utils.py"), "{word}: {said:?}");
    }
    let python = world.venv.python.display().to_string();
    let verified = world.test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    assert!(verified.stdout.contains(sentence), "{verified:?}");
    // An edit of somebody's own is none of it, and another version has no such file.
    fs::write(world.place("SITE/utils.py"), "# company, and mine\n").expect("a file");
    assert!(world.run(&["apply", "p.toml"]).expect(0).stdout.starts_with("applied"));
    fs::write(world.place("SITE/zz.pth"), "import sys\n").expect("a file");
    let other = world.run(&["apply", "two.toml"]).expect(0);
    assert!(!other.stdout.contains(sentence) && !other.stderr.contains("files-rewritten"), "{other:?}");
    world.run(&["restore"]).expect(0);
}

#[test]
fn two_records_of_one_environment_do_not_forget_each_other() {
    let world = World::new("");
    let before: Vec<_> = world.tree().into_keys().collect();
    let python = world.venv.python.display().to_string();
    let other = |verb: &[&str]| {
        let options = ["--python", &python, "--find-links", "house", "--offline"];
        let mut command = world.test.command(&[verb, &options].concat());
        command.env("COLAB_BOOT_STATE_DIR", world.test.path("other"));
        Outcome::of(command)
    };
    world.run(&["apply", "p.toml"]).expect(0);
    fs::remove_file(world.place("SITE/utils.py")).expect("a file");
    other(&["apply", "p.toml"]).expect(0);
    let said = other(&["restore"]).expect(0);
    assert!(said.stderr.contains("also has a record") && said.stdout.contains("except"), "{said:?}");
    assert!(world.run(&["apply", "p.toml"]).expect(0).code == 0);
    let said = world.run(&["restore"]).expect(0);
    let after: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(after, before, "{said:?}");
}

/// `command` as a user who may not write where the permissions say so: root without what sets it apart.
fn as_owner_without_override(command: &Command) -> Command {
    let mut held = Command::new(if is_root() { "setpriv" } else { "env" });
    if is_root() {
        held.args(["--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]);
    }
    held.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    held.arg(command.get_program()).args(command.get_args());
    held.current_dir(command.get_current_dir().expect("a folder"));
    held
}

#[test]
fn folders_that_the_user_cannot_change_stop_an_apply_before_its_first_change() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let before = world.tree();
    let python = world.venv.python.display().to_string();
    let run = |verb: &[&str]| {
        let options = ["--python", &python, "--find-links", "house", "--offline"];
        Outcome::of(as_owner_without_override(&world.test.command(&[verb, &options].concat())))
    };
    let change = |mode| fs::set_permissions(info(&world), Permissions::from_mode(mode)).expect("a folder");
    change(0o555);
    for verb in [&["apply", "two.toml"][..], &["restore"]] {
        let refused = run(verb).expect(3);
        assert!(refused.stderr.contains("demo-1.0.dist-info") && refused.stderr.contains("sudo chown"), "{refused:?}");
    }
    assert_eq!(world.tree(), before);
    // Nothing of it changes: nothing to be asked for.
    assert!(run(&["apply", "p.toml"]).expect(0).stdout.starts_with("ready"));
    change(0o755);
    run(&["apply", "two.toml"]).expect(0);
    run(&["restore"]).expect(0);
}

#[test]
fn an_environment_that_was_moved_away_has_its_record_when_it_is_back() {
    let world = World::new("");
    let place = world.venv.python.parent().and_then(Path::parent).expect("an environment");
    let (first, second) = (world.test.path("first"), world.test.path("second"));
    let copied = Command::new("cp").arg("-a").arg(place).arg(&second).status().expect("cp starts");
    assert!(copied.success());
    let swap = |from: &Path, to: &Path| fs::rename(from, to).expect("an environment");
    let before = world.tree();
    world.run(&["apply", "p.toml"]).expect(0);
    swap(place, &first);
    swap(&second, place);
    world.run(&["apply", "two.toml"]).expect(0);
    swap(place, &second);
    for one in [&first, &second] {
        swap(one, place);
        let said = world.run(&["restore"]).expect(0);
        assert!(said.stdout.starts_with("restored: all changes"), "{said:?}");
        assert_eq!(world.tree(), before, "{said:?}");
        swap(place, one);
    }
}

#[test]
fn a_command_that_no_shell_can_start_is_repaired() {
    let world = World::new("");
    world.run(&["apply", "p.toml"]).expect(0);
    let command = world.place("bin/entry");
    let change = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o644)).expect("a mode");
    change(&command);
    let repaired = world.run(&["apply", "p.toml"]).expect(0);
    assert!(repaired.stdout.starts_with("applied"), "{repaired:?}");
    assert_ne!(fs::metadata(&command).expect("a file").permissions().mode() & 0o111, 0);
    // The wheel itself says what may be started of what it brings.
    change(&world.place("bin/mytool"));
    assert!(world.run(&["apply", "p.toml"]).expect(0).stdout.starts_with("ready"));
}

#[test]
fn a_pipe_among_the_metadata_stops_no_run_for_ever() {
    let world = World::new("");
    for name in ["SITE/demo-1.0.dist-info/direct_url.json", "SITE/other.egg-link"] {
        world.run(&["apply", "p.toml"]).expect(0);
        let pipe = world.place(name);
        let _ = fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        world.run(&["restore"]).expect(0);
        let _ = fs::remove_file(&pipe);
    }
}
