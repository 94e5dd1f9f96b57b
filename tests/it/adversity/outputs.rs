//! Where outputs go: devices, pipes, links, files of others, files that the same command reads.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::python::Venv;
use crate::support::test::{Outcome, Test, observed};

const PROFILE: &str = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\na = '*'\n";

struct World {
    test: Test,
    server: IndexServer,
}

impl World {
    fn new() -> Self {
        let mut table = Table::new();
        table.entry("a".into()).or_default().insert("1.0".into(), Release::default());
        Self { test: Test::new().file("p.toml", PROFILE), server: IndexServer::start(table, Manner::Good) }
    }

    fn run(&self, arguments: &[&str]) -> crate::support::test::Outcome {
        let machine = observed("laptop");
        let base = ["--machine", &machine, "--index-url", &self.server.url];
        self.test.run(&[arguments, base.as_slice()].concat())
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.test.path(name)).expect(name)
    }
}

#[test]
fn an_output_is_never_a_file_that_is_read() {
    let world = World::new();
    world.run(&["lock", "p.toml"]).expect(0);
    symlink("p.toml", world.test.path("link.toml")).expect("a link");
    std::fs::hard_link(world.test.path("p.toml"), world.test.path("hard.toml")).expect("a link");
    let lock = world.text("p.lock");
    for arguments in [
        &["lock", "p.toml", "--lock", "p.toml"][..],
        &["lock", "p.toml", "--lock", "./p.toml"],
        &["lock", "p.toml", "--lock", "link.toml"],
        &["lock", "p.toml", "--lock", "hard.toml"],
        &["lock", "p.toml", "--json=p.toml"],
        &["plan", "p.toml", "--script", "p.toml"],
        &["plan", "p.toml", "--json=p.lock"],
        &["plan", "p.toml", "--script", "x", "--json=x"],
        &["plan", "p.toml", "--script=-", "--json"],
        &["audit", "p.lock", "--json=p.lock"],
        &["apply", "p.toml", "--script", "p.lock"],
    ] {
        let outcome = world.run(arguments).expect(2);
        assert!(
            outcome.stderr.contains("overwritten")
                || outcome.stderr.contains("twice")
                || outcome.stderr.contains("stdout"),
            "{arguments:?}: {}",
            outcome.stderr
        );
        assert_eq!((world.text("p.toml").as_str(), world.text("p.lock")), (PROFILE, lock.clone()), "{arguments:?}");
    }
    // Nor the lock of another profile.
    std::fs::write(world.test.path("q.toml"), PROFILE.replace("'p'", "'q'")).expect("a profile");
    for verb in [&["lock"][..], &["lock", "--upgrade"], &["plan"]] {
        let outcome = world.run(&[verb, &["q.toml", "--lock", "p.lock"]].concat()).expect(2);
        assert!(outcome.stderr.contains("is the lock of the profile `p`"), "{verb:?}: {}", outcome.stderr);
        assert_eq!(world.text("p.lock"), lock, "{verb:?}");
    }
    // Nor a file of a folder that is read.
    std::fs::create_dir(world.test.path("notes")).expect("a folder");
    std::fs::write(world.test.path("notes/n.ipynb"), "{}").expect("a notebook");
    std::fs::write(world.test.path("golden.lock"), "version = 1\n").expect("a pin");
    for arguments in [
        &["scrub", "notes", "--sarif", "notes/n.ipynb"][..],
        &["scrub", "notes/n.ipynb", "--json=notes/n.ipynb"],
        &["stage", "notes", "to", "--json=notes/n.ipynb"],
        &["golden", "verify", "--json=golden.lock"],
        &["golden", "list", "--repo", "notes", "--json=notes/n.ipynb"],
        &["fetch", "p.lock", "--into", "w", "--json=p.toml"],
    ] {
        let outcome = world.test.run(arguments).expect(2);
        assert!(outcome.stderr.contains("overwritten"), "{arguments:?}: {}", outcome.stderr);
        let files = (world.text("p.toml"), world.text("notes/n.ipynb"), world.text("golden.lock"));
        assert_eq!((files.0.as_str(), files.1.as_str(), files.2.as_str()), (PROFILE, "{}", "version = 1\n"));
    }
    std::fs::remove_file(world.test.path("golden.lock")).expect("a pin");
    world.test.run(&["scrub", "notes", "--sarif", "notes/out.sarif"]).expect(0);
    world.test.run(&["scrub", "notes", "--sarif", "notes/out.sarif"]).expect(0);
    // A profile that has the lock's name.
    std::fs::write(world.test.path("mine.lock"), PROFILE).expect("a profile");
    world.run(&["lock", "mine.lock"]).expect(2);
    assert_eq!(world.text("mine.lock"), PROFILE);
}

/// The command line names none of them for reading: a list includes one, NETRC leads to one, two are the environment's.
#[test]
fn an_output_is_no_file_that_was_read_without_being_named() {
    let world = World::new();
    let test = &world.test;
    std::fs::write(test.path("list.txt"), "-r more.txt\n").expect("a list");
    std::fs::write(test.path("more.txt"), "a==1.0\n").expect("a list");
    std::fs::write(test.path("netrc"), "machine 127.0.0.1 login me password x\n").expect("a netrc");
    let netrc = test.path("netrc").display().to_string();
    let mut command = test.command(&["plan", "p.toml", "--json=netrc", "--index-url", &world.server.url]);
    command.args(["--machine", &observed("laptop")]).env("NETRC", netrc);
    let outcomes = [world.run(&["audit", "list.txt", "--json=more.txt"]), Outcome::of(command)];
    for (outcome, file) in outcomes.into_iter().zip(["more.txt", "netrc"]) {
        let said = outcome.expect(2).stderr;
        assert!(said.contains(&format!("`{file}` would be overwritten, but the command read it")), "{said}");
    }
    assert!(world.text("more.txt").contains("a==1.0") && world.text("netrc").contains("login"));
    // The interpreter, which is run, and a file of a package, which is looked at.
    let venv = Venv::new(test, &[]);
    let python = venv.python.display().to_string();
    let installed = venv.layout().join("pip/__init__.py");
    for file in [&venv.python, &installed] {
        let before = std::fs::read(file).expect("a file");
        let json = format!("--json={}", file.display());
        let outcome = test.run(&["status", "--python", &python, &json]).expect(2);
        assert!(outcome.stderr.contains("would be overwritten"), "{outcome:?}");
        assert!(std::fs::read(file).expect("a file") == before, "{}", file.display());
    }
    // A program of another environment, and what colab-boot keeps.
    let other = Venv::at(&test.path("other"));
    let program = std::fs::canonicalize(&other.python).expect("a program").display().to_string();
    let pinned = test.path("other/pyvenv.cfg").display().to_string();
    for file in [&program, &pinned] {
        let outcome = test.run(&[
            "plan",
            "p.toml",
            "--machine",
            &observed("laptop"),
            "--index-url",
            &world.server.url,
            "--script",
            file,
        ]);
        assert!(outcome.code == 2 && outcome.stderr.contains("but it is a program"), "{outcome:?}");
    }
    // What the command itself writes.
    world.run(&["lock", "p.toml"]).expect(0);
    std::fs::create_dir(test.path("cells")).expect("a folder");
    let outcome = test.run(&["export", "notebook", "p.toml", "--out", "cells", "--json=cells/p.ipynb"]).expect(3);
    assert!(outcome.stderr.contains("was changed while the command ran"), "{outcome:?}");
    test.run(&["export", "notebook", "p.toml", "--out", "cells", "--check"]).expect(0);
    // A report of the run before may be read, and is written again.
    for _ in 0..2 {
        test.run(&["scrub", ".", "--json=report.json", "--sarif", "log.sarif"]).expect(0);
    }
}

#[test]
fn a_link_an_owner_and_a_mode_are_kept() {
    let world = World::new();
    world.run(&["lock", "p.toml"]).expect(0);
    let (lock, real) = (world.test.path("p.lock"), world.test.path("real.lock"));
    std::fs::rename(&lock, &real).expect("a rename");
    symlink("real.lock", &lock).expect("a link");
    let old = world.text("p.lock").replace("1.0.0", "0.9.9");
    std::fs::write(&real, old).expect("a lock");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let root = rustix_is_root();
    if root {
        std::os::unix::fs::chown(&real, Some(12345), Some(12345)).expect("an owner");
    }
    world.run(&["lock", "p.toml"]).expect(0);
    assert!(lock.symlink_metadata().expect("a link").is_symlink());
    let data = real.metadata().expect("a lock");
    assert_eq!(data.mode() & 0o7777, 0o640);
    assert_eq!(data.uid() == 12345, root);
    assert!(world.text("real.lock").contains("1.0.0"));
    // A link that leads nowhere yet is filled where it leads.
    symlink("later.json", world.test.path("j.json")).expect("a link");
    world.run(&["plan", "p.toml", "--json=j.json"]).expect(0);
    assert!(world.test.path("later.json").is_file());
    symlink("loop", world.test.path("loop")).expect("a link");
    assert!(world.run(&["plan", "p.toml", "--json=loop"]).code != 0);
}

fn rustix_is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id");
    output.stdout.starts_with(b"0\n")
}

#[test]
fn devices_and_pipes_are_written_through() {
    let world = World::new();
    // Not the machine's own: a test that fails must not break it.
    let null = world.test.path("null");
    let made = Command::new("mknod").arg(&null).args(["c", "1", "3"]).status().is_ok_and(|status| status.success());
    if made && std::fs::write(&null, "x").is_ok() {
        world.run(&["plan", "p.toml", "--json=null", "--script", "null2"]).expect(0);
        world.run(&["lock", "p.toml", "--lock", "null"]);
        assert!(null.metadata().expect("a device").file_type().is_char_device(), "the device is a device still");
    } else {
        eprintln!("skipped: no device can be made here");
    }
    let fifo = world.test.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let outcome = world.run(&["plan", "p.toml", "--json=fifo"]).expect(3);
    assert!(outcome.stderr.contains("the pipe has no reader"), "{}", outcome.stderr);
    let reader = Command::new("cat").arg(&fifo).stdout(std::process::Stdio::piped()).spawn().expect("cat");
    // The reader has opened it once `cat` waits in open; until then the same error may come.
    let written = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        world.run(&["plan", "p.toml", "--json=fifo"]).code == 0
    });
    assert!(written);
    let read = reader.wait_with_output().expect("cat").stdout;
    assert!(String::from_utf8_lossy(&read).contains("\"command\": \"plan\""));
    assert!(fifo.metadata().expect("a pipe").file_type().is_fifo());
    // A file descriptor of the shell, as `>(…)` gives one.
    let binary = env!("CARGO_BIN_EXE_colab-boot");
    let line = format!(
        "'{binary}' plan p.toml --machine '{}' --index-url '{}' --script /dev/stdout --json=/dev/fd/3 3>three >one 2>/dev/null",
        observed("laptop"),
        world.server.url
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(world.test.path("."));
    assert!(shell.envs(&world.test.environment).status().expect("bash").success());
    assert!(world.text("three").contains("\"command\": \"plan\""));
    assert!(world.text("one").contains("#!/usr/bin/env bash"));
}

#[test]
fn a_dash_is_stdout() {
    let world = World::new();
    let outcome = world.run(&["plan", "p.toml", "--script", "-"]).expect(0);
    assert!(
        outcome.stdout.starts_with("#!/usr/bin/env bash") && !outcome.stdout.contains("plan:"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("plan: "), "{}", outcome.stderr);
    let outcome = world.run(&["lock", "p.toml", "--lock", "-"]).expect(0);
    assert!(outcome.stdout.contains("[[target]]"), "{}", outcome.stdout);
    assert!(!world.test.path("-").exists() && !world.test.path("p.lock").exists());
}

#[test]
fn what_a_killed_run_left_is_removed_when_it_is_old() {
    let world = World::new();
    let (old, young) = (world.test.path(".colab-boot-old"), world.test.path(".colab-boot-young"));
    for path in [&old, &young] {
        std::fs::write(path, "half").expect("a file");
    }
    assert!(Command::new("touch").args(["-d", "2 hours ago"]).arg(&old).status().expect("touch").success());
    world.run(&["lock", "p.toml"]).expect(0);
    assert!(!old.exists() && young.exists());
}

#[test]
fn a_path_that_is_no_utf8_is_a_path() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new();
    let name = std::ffi::OsString::from_vec(b"p\xff.toml".to_vec());
    let folder = world.test.path(".");
    std::fs::write(folder.join(&name), PROFILE).expect("a profile");
    for verb in ["lock", "plan", "init"] {
        let mut command = world.test.command(&[verb]);
        command.arg(if verb == "init" { std::ffi::OsString::from_vec(b"new\xff.toml".to_vec()) } else { name.clone() });
        if verb != "init" {
            command.args(["--machine", &observed("laptop"), "--index-url", &world.server.url]);
        }
        let output = command.arg("--json").output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{verb}: {}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(report["report"].is_object(), "{report}");
    }
}
