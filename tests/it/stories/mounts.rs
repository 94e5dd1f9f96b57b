//! Mounts that do not answer: nothing hangs, whichever verb looks, and from wherever.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::stories::Day;
use crate::support::python::interpreter;
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test, is_root};

/// What the scene says of `lines`; `None` where it can't be had.
fn scene(day: &Day, lines: &str) -> Option<String> {
    let test = &day.test;
    let has = |program: &str| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_root() || !has("bindfs") || !Path::new("/dev/fuse").exists() {
        eprintln!("skipped: it needs root, bindfs and /dev/fuse");
        return None;
    }
    let mut command = Command::new("unshare");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stories/mounts.py");
    command.arg("--mount").arg(interpreter()).arg(script).arg(lines).current_dir(test.folder.path());
    command.env_clear().envs(&test.environment).env("COLAB_BOOT", env!("CARGO_BIN_EXE_colab-boot"));
    command.env("COLAB_BOOT_BINARY", env!("CARGO_BIN_EXE_colab-boot")).env("PYTHON", &day.venv.python);
    let outcome = Outcome::of(command);
    if outcome.code != 0 && outcome.stderr.contains("unshare") {
        eprintln!("skipped: no mount namespace can be made here");
        return None;
    }
    Some(outcome.stdout)
}

/// What the scene says after `line`.
fn said_of(scene: &str, line: &str) -> String {
    let start = scene.find(&format!(" {line}\n")).unwrap_or_else(|| panic!("{line}: {scene}"));
    let lines = scene[start..].split('\n').skip(1).take_while(|line| line.starts_with("  "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_verb_hangs_on_a_mount_that_does_not_answer() {
    let day = Day::new(&[("app", "1.0", &[])]);
    let lines = "\
        :doctor\n:doctor --after-crash\n:fingerprint\n:status\n:doctor --data dead/x\n:stage silent to\n:stage dead to\n\
        :probe storage silent\n:scrub dead\nsilent:doctor\nsilent:fingerprint\nsilent:status\nsilent:restore --dry-run\n\
        silent:plan p.toml\nsilent:audit\nsilent:scrub .\n\
        :PATH=@/silent:/usr/bin:/bin doctor\n:HOME=@/silent status\n:VIRTUAL_ENV=@/silent/v plan p.toml\n:VIRTUAL_ENV=@/silent/v doctor\n\
        :status --python @/silent/v/bin/python\n:doctor --python @/pth\n:apply p.toml --python @/pth\n:fingerprint --python @/pth\n\
        :COLAB_BOOT_STATE_DIR=@/silent/s doctor\n:COLAB_BOOT_STATE_DIR=@/silent/s status\n:COLAB_BOOT_CACHE_DIR=@/silent/s doctor\n\
        :TMPDIR=@/silent doctor\n:stage deep/below to\n:scrub deep\n:plan deep/below/p.toml\n:golden sign --repo deep/below --key k\n\
        :stage one to2\n:probe storage deep\n:doctor --data deep\n\
        :doctor --data over\n:stage over to3\n:plan held/p.toml\n:doctor --data held\n:doctor --data slow\n\
        :SSL_CERT_FILE=@/silent/c.pem plan p.toml --python @/venv\n:PYTHONPATH=@/silent plan p.toml --python @/venv";
    day.profile("p", &["app"], "");
    let Some(said) = scene(&day, lines) else { return };
    assert!(!said.contains("HANGS"), "{said}");
    let of = |line: &str| said_of(&said, line);
    let doctor = of(": doctor");
    assert!(doctor.reports("error[mount-hangs]") && doctor.contains("silent (fuse); `umount -l "), "{doctor}");
    assert!(doctor.reports("error[mount-dead]") && doctor.contains("dead (fuse): not connected"), "{doctor}");
    assert!(of("silent: doctor").reports("error[mount-hangs]"), "{said}");
    assert!(!of(": doctor --data dead/x").contains("--data: there is no"), "{said}");
    assert!(doctor.contains("over (overlay)"), "{doctor}");
    for line in
        [": stage silent to", ": stage over to3", ": probe storage silent", "silent: plan p.toml", "silent: scrub ."]
    {
        assert!(of(line).reports("error[mount-hangs]") && of(line).contains("`umount -l "), "{line}: {said}");
    }
    for line in [
        ": VIRTUAL_ENV=@/silent/v plan p.toml",
        ": VIRTUAL_ENV=@/silent/v doctor",
        ": status --python @/silent/v/bin/python",
        ": COLAB_BOOT_STATE_DIR=@/silent/s doctor",
        ": stage deep/below to",
        ": plan deep/below/p.toml",
        ": scrub deep",
        ": SSL_CERT_FILE=@/silent/c.pem plan p.toml --python @/venv",
        ": PYTHONPATH=@/silent plan p.toml --python @/venv",
    ] {
        let said = of(line);
        let named = said.contains("mount-hangs") || said.contains("does not answer");
        assert!(named && said.contains("`umount -l ") && !said.contains("there is no `"), "{line}: {said}");
    }
    assert!(
        of(": PYTHONPATH=@/silent plan p.toml --python @/venv").contains("does not answer: imports would hang"),
        "{said}"
    );
    assert!(of(": COLAB_BOOT_STATE_DIR=@/silent/s doctor").contains("doctor: "), "{said}");
    assert!(of(": plan held/p.toml").reports("error[mount-hangs]"), "{said}");
    assert!(doctor.contains("held (fuse.server)") && !said.contains("slow (fuse.server)"), "{said}");
    // Not one that was asked first: its server falls silent while the run reads from it.
    assert!(of(": stage one to2").contains("the run was stopped: it waits for `"), "{said}");
    for line in [": stage dead to", ": scrub dead"] {
        assert!(of(line).reports("error[mount-dead]"), "{line}: {said}");
    }
}

#[test]
fn the_boot_cell_leaves_out_what_does_not_answer() {
    let day = Day::new(&[("app", "1.0", &[])]);
    day.profile("q", &["app"], "");
    day.run(&["lock", "q.toml"]).expect(0);
    day.run(&["apply", "q.toml"]).expect(0);
    day.test.run(&["export", "notebook", "q.toml", "--out", "cells"]).expect(0);
    let lines =
        ":PATH=@/silent:/usr/bin:/bin cell\n:TMPDIR=@/silent cell\n:COLAB_BOOT_CACHE_DIR=@/silent cell\nsilent:cell";
    let Some(said) = scene(&day, lines) else { return };
    assert!(!said.contains("HANGS"), "{said}");
    let of = |line: &str| said_of(&said, line);
    for line in [": PATH=@/silent:/usr/bin:/bin cell", ": TMPDIR=@/silent cell", "silent: cell"] {
        assert!(of(line).concludes("ready: 1 package"), "{line}: {said}");
    }
    assert!(of(": PATH=@/silent:/usr/bin:/bin cell").contains("is left out: its mount does not answer"), "{said}");
    let refused = of(": COLAB_BOOT_CACHE_DIR=@/silent cell");
    assert!(refused.contains("can't be reached: its mount does not answer; unmount it, or "), "{said}");
}

#[test]
fn an_nvidia_smi_that_hangs_is_a_finding_within_seconds() {
    let test = Test::new();
    let hanging = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/hanging");
    std::os::unix::fs::symlink(hanging, test.path("bin/nvidia-smi")).expect("a link");
    let began = Instant::now();
    let doctor = test.run(&["doctor"]).expect(1);
    assert!(doctor.reports_about("error[gpu-lost]", "does not answer"), "{doctor:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "it was asked again and again");
}

#[test]
fn an_nvidia_smi_that_crashes_is_a_finding() {
    let test = Test::new();
    let program = test.path("bin/nvidia-smi");
    std::fs::write(&program, "#!/bin/sh\nkill -SEGV $$\n").expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let doctor = test.run(&["doctor"]).expect(1);
    assert!(doctor.reports_about("error[gpu-lost]", "SIGSEGV"), "{doctor:?}");
}
