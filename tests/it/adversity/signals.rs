//! SIGINT and SIGTERM while wheels arrive and while they are installed: the end comes at once, with no process left at
//! work, and the next run goes on from there. (While apt is at work: `debian`.)

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::http::{Reply, serve};
use crate::support::python::{Venv, wait_for_installer, wheel};
use crate::support::said::Said as _;
use crate::support::test::Test;

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
}

fn start(test: &Test, arguments: &[&str]) -> Child {
    let mut command = test.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Processes that have `word` in their command lines.
fn at_work(word: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| line.contains(word)).collect()
}

/// Whether this test, and what it starts, is made to ignore a signal: by nohup.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("a mask") >> (signal - 1) & 1 == 1
}

/// A world whose `demo` is to be installed from a folder, and its Python.
fn world(path: &str) -> (Test, String) {
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n";
    let test = Test::new().file("p.toml", profile);
    let test = test.set("PATH", format!("{path}/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"));
    let house = test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    wheel(&house, ("demo", "1.0"), "1.0");
    let python = Venv::new(&test, &[]).python.display().to_string();
    (test, python)
}

#[test]
fn an_installer_at_work_is_ended_first() {
    let (test, python) = world("");
    // However busy the machine is, the signal comes while wheels are installed.
    let path = format!("{}:{}", test.path("bin").display(), test.environment["PATH"]);
    let test = test.fake("bash").set("PATH", path).set("FIRST", "sleep 2");
    let arguments = ["apply", "p.toml", "--python", &python, "--wheelhouse", "house"];
    let signals =
        [("-INT", "SIGINT", 130), ("-TERM", "SIGTERM", 143), ("-HUP", "SIGHUP", 129), ("-QUIT", "SIGQUIT", 131)];
    for (signal, name, code) in signals.into_iter().filter(|(_, _, code)| !is_ignored(code - 128)) {
        // That of the run before.
        let _ = std::fs::remove_file(test.state_file("apply.journal"));
        let mut child = start(&test, &arguments);
        wait_for_installer(&test, &mut child);
        send(signal, &child);
        let outcome = child.wait_with_output().expect("an end");
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert_eq!(outcome.status.code(), Some(code), "{said}");
        assert!(said.contains(&format!("stopped by {name}, in the step `wheels`")), "{said}");
        let left = at_work(&test.folder.path().display().to_string());
        assert!(left.is_empty(), "{left:?}");
        assert!(!test.state_file("apply.process").exists());
        let status = test.run(&["status", "--python", &python]);
        assert!(status.stdout.contains("interrupted"), "{status:?}");
    }
    assert!(test.run(&arguments).expect(0).concludes("applied: 1 package"));
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
}

/// An installer that hears no SIGTERM and waits for a file `go`.
fn deaf() -> (Test, String) {
    let (test, python) = world("");
    let path = format!("{}:{}", test.path("bin").display(), test.environment["PATH"]);
    let folder = test.folder.path().display();
    let first = format!(
        "trap '' TERM; touch {folder}/begun; for _ in $(seq 1200); do [[ -e {folder}/go ]] && break; sleep 0.05; done"
    );
    (test.fake("bash").set("PATH", path).set("FIRST", first), python)
}

fn wait_for(test: &Test, name: &str) {
    let started = Instant::now();
    while !test.path(name).exists() {
        assert!(started.elapsed() < Duration::from_mins(1), "{name} never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_second_signal_kills_an_installer_that_ignores_the_first() {
    let (test, python) = deaf();
    let mut child = start(&test, &["apply", "p.toml", "--python", &python, "--wheelhouse", "house"]);
    wait_for(&test, "begun");
    send("-TERM", &child);
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().expect("a child").is_none(), "it left its installer alone");
    assert!(test.state_file("apply.process").exists());
    let asked_again = Instant::now();
    send("-TERM", &child);
    let outcome = child.wait_with_output().expect("an end");
    assert!(asked_again.elapsed() < Duration::from_secs(10), "it had its twenty seconds");
    assert_eq!(outcome.status.code(), Some(143), "{}", String::from_utf8_lossy(&outcome.stderr));
    let left = at_work(&test.folder.path().display().to_string());
    assert!(left.is_empty() && !test.state_file("apply.process").exists(), "{left:?}");
}

#[test]
fn the_next_run_waits_for_what_the_killed_one_started() {
    let (test, python) = deaf();
    let arguments = ["apply", "p.toml", "--python", &python, "--wheelhouse", "house"];
    let mut first = start(&test, &arguments);
    wait_for(&test, "begun");
    // The script ends at once, its installer ignores the signal, and no parent is left to kill it.
    send("-TERM", &first);
    std::thread::sleep(Duration::from_secs(1));
    send("-KILL", &first);
    first.wait().expect("an end");
    std::fs::remove_file(test.path("bin/bash")).expect("a link");
    let mut second = start(&test, &arguments);
    std::thread::sleep(Duration::from_secs(2));
    assert!(second.try_wait().expect("a child").is_none(), "it did not wait");
    std::fs::write(test.path("go"), "").expect("a file");
    let outcome = second.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(outcome.status.success() && said.contains("waiting for the installer of an earlier run"), "{said}");
}

#[test]
fn what_nohup_wants_ignored_is() {
    let (test, python) = deaf();
    let plain = test.command(&["apply", "p.toml", "--python", &python, "--wheelhouse", "house"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(&test.environment).current_dir(test.folder.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_for(&test, "begun");
    send("-HUP", &child);
    std::fs::write(test.path("go"), "").expect("a file");
    let outcome = child.wait_with_output().expect("an end");
    assert_eq!(outcome.status.code(), Some(0), "{}", String::from_utf8_lossy(&outcome.stderr));
}

#[test]
fn a_download_is_gone_on_with() {
    let house = tempfile::tempdir().expect("a folder");
    let digest = wheel(house.path(), ("demo", "1.0"), &"long ".repeat(20_000));
    let file = "demo-1.0-py3-none-any.whl";
    let bytes = std::fs::read(house.path().join(file)).expect("a wheel");
    let (total, link) = (bytes.len() as u64, format!("<a href=\"/{file}#sha256={digest}\">{file}</a>"));
    // Slow from the beginning of the file, and at once from anywhere else.
    let from_start: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&from_start);
    let url = serve(Duration::ZERO, move |asked| match asked.path.as_str() {
        path if !path.ends_with(".whl") => Reply::new("text/html", link.clone()),
        _ => {
            let whole = Reply::new("application/zip", bytes.clone()).part_of(asked, 0, total);
            let slow = asked.header("range").is_none();
            count.fetch_add(usize::from(slow), Ordering::SeqCst);
            Reply { drip: slow.then_some(Duration::from_millis(20)), ..whole }
        }
    });
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n";
    let test = Test::new().file("p.toml", profile);
    test.run(&["lock", "p.toml", "--index-url", &url]).expect(0);
    let arguments = ["fetch", "p.lock", "--into", "house", "--index-url", &url];
    let child = start(&test, &arguments);
    let part = test.path("house").join(format!("{file}.part"));
    let (started, arrived) = (Instant::now(), || std::fs::metadata(&part).map_or(0, |data| data.len()));
    while arrived() == 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "nothing arrived");
        std::thread::sleep(Duration::from_millis(5));
    }
    send("-TERM", &child);
    let outcome = child.wait_with_output().expect("an end");
    assert_eq!(outcome.status.signal(), Some(15), "{}", String::from_utf8_lossy(&outcome.stderr));
    assert!(arrived() > 0 && !test.path("house").join(file).exists());
    test.run(&arguments).expect(0);
    assert_eq!(std::fs::metadata(test.path("house").join(file)).expect("a wheel").len(), total);
    assert_eq!(from_start.load(Ordering::SeqCst), 1, "the second began anew");
}

#[test]
fn the_check_after_the_last_step_is_ended_too() {
    let (test, _) = world("");
    let venv = Venv::new(&test, &[]);
    let (site, python, begun) = (venv.layout(), venv.python.display().to_string(), test.path("begun"));
    let info = site.join("demo-1.0.dist-info");
    let line = format!("import os, time; os.path.exists({info:?}) and (open({begun:?}, 'w').close(), time.sleep(3))\n");
    std::fs::write(site.join("slow.pth"), line).expect("a file");
    let arguments = ["apply", "p.toml", "--python", &python, "--wheelhouse", "house"];
    let child = start(&test, &arguments);
    wait_for(&test, "begun");
    send("-INT", &child);
    let outcome = child.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert_eq!(outcome.status.code(), Some(130), "{said}");
    assert!(said.contains("stopped by SIGINT") && said.contains("run the same command again"), "{said}");
    let names = std::fs::read_dir(&site).expect("a folder").flatten().map(|entry| entry.file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".colab-boot-staged")).collect();
    assert!(left.is_empty() && !info.exists(), "{left:?}");
    let status = test.run(&["status", "--python", &python]).expect(0).stdout;
    assert!(status.contains("has installed or replaced 0 packages"), "{status}");
    std::fs::remove_file(site.join("slow.pth")).expect("a file");
    assert!(test.run(&arguments).expect(0).concludes("applied: 1 package"));
}
