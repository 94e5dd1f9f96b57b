//! Mistakes: each gets one clear error, the right exit code, and leaves nothing half-written.

use std::path::Path;
use std::process::Command;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test, observed, snapshot};

const GOOD: &str = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\na = '*'\n";

fn index(manner: Manner) -> IndexServer {
    let mut table = Table::new();
    table.entry("a".into()).or_default().insert("1.0".into(), Release::default());
    IndexServer::start(table, manner)
}

/// `lock p.toml` on the recorded laptop.
fn lock(test: &Test, server: &IndexServer) -> Outcome {
    test.run(&["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", &server.url])
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn help_says_what_is_there() {
    let test = Test::new();
    let help = test.run(&["--help"]).expect(0);
    snapshot("help.txt", &help.stdout);
    for verb in ["init", "fingerprint", "lock", "plan", "apply", "verify", "status", "golden", "explain"] {
        assert!(help.stdout.contains(verb), "{verb}");
        test.run(&[verb, "--help"]).expect(0);
    }
    test.run(&["paln"]).expect(2);
    test.run(&[]).expect(2);
}

#[test]
fn init_writes_a_profile_that_works_and_never_overwrites() {
    let test = Test::new();
    test.run(&["init", "p.toml"]).expect(0);
    let text = std::fs::read_to_string(test.path("p.toml")).expect("a profile");
    let outcome = test.run(&["init", "p.toml"]).expect(2);
    assert!(outcome.stderr.contains("exists already"), "{}", outcome.stderr);
    // Its folder comes with it; that of a report, which is a slip of the pen, does not.
    test.run(&["init", "new/team/p.toml", "--json=no/report.json"]).expect(2);
    assert!(!test.path("new").exists() && !test.path("no").exists());
    test.run(&["init", "new/team/p.toml"]).expect(0);
    let printed = test.run(&["init", "-"]).expect(0).stdout;
    assert_eq!(std::fs::read_to_string(test.path("p.toml")).expect("a profile"), printed);
    assert!(!test.path("-").exists());
    assert_eq!(std::fs::read_to_string(test.path("new/team/p.toml")).expect("a profile"), text);
    test.run(&["init", "same.toml", "--json=same.toml"]).expect(2);
    assert!(!test.path("same.toml").exists());
    let mut table = Table::new();
    table.entry("numpy".into()).or_default().insert("2.1.0".into(), Release::default());
    let server = IndexServer::start(table, Manner::Good);
    lock(&test, &server).expect(0);
    assert_eq!(std::fs::read_to_string(test.path("p.toml")).expect("a profile"), text);
}

#[test]
fn faults_of_a_profile_come_all_at_once_with_carets() {
    let text = "[profile]\nname = 'p'\nversion = '1.0.0'\n[target]\ncuda = '12.x'\n[packages]\na = '>='\n[polcy]\n[apt]\npackages = ['bash-']\n";
    let test = Test::new().file("p.toml", text);
    let outcome = test.run(&["plan", "p.toml"]).expect(2);
    snapshot("profile-faults.txt", &outcome.stderr);
    assert_eq!(test.run(&["plan", "p.toml", "--json"]).codes().len(), 4);
    let broken = Test::new().file("p.toml", "[profile\nname = 'p'\n");
    let outcome = broken.run(&["plan", "p.toml"]).expect(2);
    snapshot("profile-syntax.txt", &outcome.stderr);
}

#[test]
fn missing_files_and_unknown_names_are_named() {
    let test = Test::new();
    let outcome = test.run(&["plan", "none.toml"]).expect(2);
    assert!(outcome.stderr.contains("none.toml") && outcome.stderr.contains("init"), "{}", outcome.stderr);
    let test = Test::new().file("p.toml", GOOD);
    let outcome = test.run(&["plan", "p.toml", "--runtime", "colab-1999.01"]).expect(2);
    assert!(outcome.stderr.contains("colab-2026.07"), "{}", outcome.stderr);
    let outcome = test.run(&["plan", "p.toml", "--runtime", "colab-2026.07", "--gpu", "T5"]).expect(2);
    assert!(outcome.stderr.contains("T4"), "{}", outcome.stderr);
    let outcome = test.run(&["plan", "p.toml", "--python", "nowhere/python"]).expect(2);
    assert!(outcome.stderr.contains("there is no `nowhere/python`"), "{}", outcome.stderr);
    let outcome = test.run(&["plan", "p.toml", "--locked", "--runtime", "colab-2026.07"]).expect(1);
    assert!(outcome.reports("error[lock-missing]"), "{}", outcome.stderr);
    test.run(&["explain", "driver-too-olt"]).expect(2);
    assert!(test.run(&["explain", "driver-too-old"]).expect(0).stdout.contains("580.65.06"));
}

#[test]
fn without_python_there_is_one_clear_error() {
    let test = Test::new().file("p.toml", GOOD);
    let path = test.path("bin").display().to_string();
    let test = test.set("PATH", path);
    let outcome = test.run(&["plan", "p.toml"]).expect(3);
    assert!(outcome.stderr.contains("no usable Python was found"), "{}", outcome.stderr);
    let outcome = test.run(&["plan", "p.toml", "--runtime", "colab-2026.07"]).expect(3);
    assert!(outcome.stderr.contains("--index-url"), "{}", outcome.stderr);
}

#[test]
fn a_failing_index_and_a_missing_package_are_two_errors() {
    for (manner, words) in [(Manner::Unavailable, "503"), (Manner::LoginPage, "text/plain")] {
        let server = index(manner);
        let test = Test::new().file("p.toml", GOOD);
        let outcome = lock(&test, &server).expect(3);
        assert!(outcome.stderr.contains(words) && outcome.stderr.contains("/simple/a/"), "{}", outcome.stderr);
        assert_eq!(names(test.folder.path()).iter().filter(|name| name.contains("lock")).count(), 0);
    }
    let unanswered = Test::new().file("p.toml", GOOD);
    let outcome = unanswered
        .run(&["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", "http://127.0.0.1:9/simple"])
        .expect(3);
    assert!(outcome.stderr.contains("127.0.0.1:9"), "{}", outcome.stderr);
}

#[test]
fn credentials_are_never_shown_or_kept() {
    let server = index(Manner::Unavailable);
    let url = server.url.replace("http://", "http://somebody:hunter2@") + "?token=hunter2";
    let test = Test::new().file("p.toml", GOOD);
    let outcome =
        test.run(&["lock", "p.toml", "--json", "--machine", &observed("laptop"), "--index-url", &url]).expect(3);
    assert!(!outcome.stdout.contains("hunter2") && !outcome.stderr.contains("hunter2"), "{outcome:?}");
    let good = index(Manner::Good);
    let url = good.url.replace("http://", "http://somebody:hunter2@");
    test.run(&["lock", "p.toml", "--machine", &observed("laptop"), "--index-url", &url]).expect(0);
    assert!(!std::fs::read_to_string(test.path("p.lock")).expect("a lock").contains("hunter2"));
}

#[test]
fn an_unusable_cache_is_a_warning() {
    let server = index(Manner::Good);
    let test = Test::new().file("p.toml", GOOD).file("cache", "not a folder");
    let outcome = lock(&test, &server).expect(0);
    assert!(outcome.reports("warning[cache-unusable]"), "{}", outcome.stderr);
    let garbled = Test::new().file("p.toml", GOOD);
    lock(&garbled, &server).expect(0);
    let written = std::fs::read_to_string(garbled.path("p.lock")).expect("a lock");
    for entry in walk(&garbled.path("cache")) {
        std::fs::write(entry, "garbage").expect("a write");
    }
    lock(&garbled, &server).expect(0);
    assert_eq!(std::fs::read_to_string(garbled.path("p.lock")).expect("a lock"), written);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn unusable_locks_are_refused_with_the_reason() {
    let server = index(Manner::Good);
    let test = Test::new().file("p.toml", GOOD);
    lock(&test, &server).expect(0);
    let good = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let plan = |text: &str, words: &str| {
        std::fs::write(test.path("p.lock"), text).expect("a write");
        let outcome = test.run(&["plan", "p.toml", "--locked", "--machine", &observed("laptop")]).expect(1);
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    };
    plan(&good.replace("version = 2\n", "version = 99\n"), "error[lock-future]");
    plan("version = 1\nnonsense\n", "error[lock-malformed]");
    plan(&good.replace("3.12.1", "3.11.9"), "error[machine-not-planned]");
    std::fs::write(test.path("p.lock"), &good).expect("a write");
    std::fs::write(test.path("p.toml"), GOOD.replace("1.0.0", "1.0.1")).expect("a write");
    plan(&good, "error[lock-stale]");
    assert_eq!(std::fs::read_to_string(test.path("p.lock")).expect("a lock"), good, "a refused lock is left alone");
}

#[test]
fn a_full_disk_leaves_the_old_lock() {
    const OLD: &str = "# Made by `colab-boot lock`, and damaged since\n";
    let server = index(Manner::Good);
    let test = Test::new().file("p.toml", GOOD);
    let small = test.path("small");
    std::fs::create_dir(&small).expect("a folder");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8k", "tmpfs"]).arg(&small).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no small file system can be mounted here");
        return;
    }
    std::fs::write(small.join("p.lock"), OLD).expect("a write");
    std::fs::write(small.join("filler"), vec![0; 4000]).expect("a write");
    let path = small.join("p.lock").display().to_string();
    let outcome = test.run(&[
        "lock",
        "p.toml",
        "--upgrade",
        "--lock",
        &path,
        "--machine",
        &observed("laptop"),
        "--index-url",
        &server.url,
    ]);
    let (kept, listed) = (std::fs::read_to_string(small.join("p.lock")), names(&small));
    let unmounted = Command::new("umount").arg(&small).status().expect("umount starts");
    assert!(unmounted.success());
    let outcome = outcome.expect(3);
    assert!(outcome.stderr.contains("No space left") && outcome.stderr.contains("p.lock"), "{}", outcome.stderr);
    assert_eq!(kept.expect("the old lock"), OLD);
    assert_eq!(listed, ["filler", "p.lock"], "nothing half-written");
}

#[test]
fn json_says_the_same_on_stdout_or_in_a_file() {
    let server = index(Manner::Good);
    let test = Test::new().file("p.toml", GOOD);
    let machine = observed("laptop");
    let arguments = ["plan", "p.toml", "--machine", &machine, "--index-url", &server.url];
    let both = test.run(&[arguments.as_slice(), &["--json=report.json"]].concat()).expect(0);
    assert!(both.stdout.contains("plan: 1 to install"), "{}", both.stdout);
    let file: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(test.path("report.json")).expect("a report")).expect("JSON");
    let alone = test.run(&[arguments.as_slice(), &["--json"]].concat()).expect(0).json();
    assert_eq!((&file["schema"], &file["command"]), (&2.into(), &"plan".into()));
    assert_eq!(file["report"]["targets"], alone["report"]["targets"]);
}

#[test]
fn wheels_that_cannot_be_read_say_why_and_where() {
    let test = Test::new().file("x-1.0-py3-none-any.whl", "no archive at all, but long enough to be searched for one");
    for (spec, code, words) in [
        ("nope.whl", 2, "NAME-VERSION-PYTHON-ABI-PLATFORM.whl"),
        ("gone-1.0-py3-none-any.whl", 2, "could not read"),
        ("x-1.0-py3-none-any.whl", 2, "not a zip file, or truncated (at byte"),
        ("!!", 2, "write `torch==2.15.0`"),
    ] {
        let outcome = test.run(&["matrix", "inspect", spec, "--index-url", "http://127.0.0.1:9/simple"]).expect(code);
        assert!(outcome.stderr.contains(words), "{spec}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty());
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure_and_a_full_disk_is_one() {
    let test = Test::new();
    let to = |stdout: &str, stderr: &str| {
        let line = format!("exec \"$BINARY\" matrix show --json - {stdout} {stderr}");
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &line]).env_clear().envs(&test.environment).env("BINARY", env!("CARGO_BIN_EXE_colab-boot"));
        Outcome::of(command)
    };
    assert_eq!(to(">&-", "").code, 0);
    assert_eq!(to("| true", "").code, 0);
    let full = to(">/dev/full", "");
    assert_eq!(full.code, 3);
    assert!(full.stderr.contains("could not write to stdout"), "{}", full.stderr);
    assert_eq!(to(">/dev/full", "2>/dev/full").code, 3);
    assert_eq!(to(">/dev/full", "2>&-").code, 3);
}

#[test]
fn each_verbosity_says_what_it_promises() {
    let server = index(Manner::Good);
    let test = Test::new().file("p.toml", GOOD).set("COLAB_BOOT_INDEX_URL", server.url.clone());
    let lock = |more: &[&str]| {
        let machine = observed("laptop");
        let outcome = test.run(&[&["lock", "p.toml", "--machine", &machine], more].concat()).expect(0);
        std::fs::remove_file(test.path("p.lock")).expect("a lock");
        outcome.stderr
    };
    let loudest = lock(&["-vv", "--refresh"]);
    assert!(loudest.contains("GET http://127.0.0.1") && loudest.contains("/simple/a/ -> 200 OK"), "{loudest}");
    let again = lock(&["-vv"]);
    assert!(again.contains("cache: the page of a is fresh"), "{again}");
    let loud = lock(&["-v"]);
    assert!(loud.contains("colab-boot: index: http://127.0.0.1") && loud.contains("requests,"), "{loud}");
    assert!(!loud.contains("GET "), "{loud}");
    let usual = lock(&[]);
    assert!(usual.contains("p.lock written") && !usual.contains("index:"), "{usual}");
    assert_eq!(lock(&["-q"]), "");
    // What was asked for is printed all the same; what was done is not said.
    assert!(test.run(&["init", "-", "-q"]).expect(0).stdout.contains("[profile]"));
    let quiet = test.run(&["init", "quiet.toml", "-q"]).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    test.run(&["lock", "p.toml", "-q", "-v"]).expect(2);
    let wrong = test.run(&["lock", "nowhere.toml", "-q"]).expect(2);
    assert!(wrong.stderr.contains("error: "), "{wrong:?}");
}
