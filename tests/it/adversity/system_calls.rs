//! colab-boot under strace: killed at its system calls, or made to fail because the disk is full, broken or read-only.
//! Whatever happens, the next runs finish the work, and the kernel restarts once.
//!
//! A sample runs with every test; `CASES=all` takes every call of both runs, which is some three thousand cases.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::python::{Running, Venv, uv, wheel};
use crate::support::test::{Outcome, Test, sample};

/// A virtual environment with `demo 1.0` and a wheelhouse with what comes next. Idle processes stand for the kernels.
struct Rig {
    test: Test,
    venv: Venv,
}

/// Where the restart was not asked for yet, and where it has just happened.
const BEFORE: &str = "before";
const RESTARTED: &str = "restarted";

/// The variable changes, too: what is written last is missed first.
fn profile(demo: &str, more: &str) -> String {
    format!("[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\ndemo = '=={demo}'\n{more}[env]\nFLAG = '{demo}'\n")
}

impl Rig {
    fn new() -> Self {
        let test = Test::new().file("modules", "demo\n").file("p.toml", &profile("1.0", ""));
        let installers = uv().map(|folder| format!("{}:", folder.display())).unwrap_or_default();
        let mut test = test.set("PATH", format!("{installers}/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"));
        // The kernel's stand-ins are processes of this machine.
        test.environment.remove("COLAB_BOOT_ROOT");
        let house = test.path("house");
        std::fs::create_dir(&house).expect("a folder");
        for (name, version) in [("demo", "1.0"), ("demo", "2.0"), ("other", "1.0")] {
            wheel(&house, (name, version), version);
        }
        let venv = if uv().is_some() { Venv::bare(&test) } else { Venv::new(&test, &[]) };
        let rig = Self { test, venv };
        let python = rig.venv.python.display().to_string();
        let start = ["apply", "p.toml", "--python", &python, "--wheelhouse", "house", "--no-restart"];
        rig.test.run(&start).expect(0);
        std::fs::write(rig.test.path("p.toml"), profile("2.0", "other = '*'\n")).expect("a profile");
        rig.test.run(&["lock", "p.toml", "--python", &python, "--find-links", "house", "--offline"]).expect(0);
        // Long ago, so that what is remembered of the interpreter holds from the first case on.
        call(
            "find",
            &[
                &rig.test.path("venv").display().to_string(),
                "-newermt",
                "-1 day",
                "-exec",
                "touch",
                "-d",
                "-1 day",
                "{}",
                "+",
            ],
        );
        rig.test.run(&["status", "--python", &python]).expect(0);
        rig.keep(BEFORE);
        rig.apply(&Running::idle(), None).expect(10);
        rig.keep(RESTARTED);
        rig
    }

    /// What a case changes.
    fn parts(&self) -> [(PathBuf, &'static str); 3] {
        [(self.venv.layout(), "site"), (self.test.path("state"), "state"), (self.test.path("cache"), "cache")]
    }

    fn keep(&self, name: &str) {
        let folder = self.test.path(name);
        std::fs::create_dir(&folder).expect("a folder");
        for (part, kept) in self.parts() {
            call("cp", &["-a", &part.display().to_string(), &folder.join(kept).display().to_string()]);
        }
    }

    fn put_back(&self, name: &str) {
        for (part, kept) in self.parts() {
            let kept = self.test.path(name).join(kept).display().to_string();
            let part = part.display().to_string();
            call("rm", &["-rf", &part]);
            call("cp", &["-a", &kept, &part]);
        }
    }

    /// One apply in a kernel; `injected` is what strace does to it.
    fn apply(&self, kernel: &Running, injected: Option<&str>) -> Outcome {
        let (python, pid) = (self.venv.python.display().to_string(), kernel.pid());
        let arguments = ["apply", "p.toml", "--python", &python, "--wheelhouse", "house"];
        let arguments = [&arguments[..], &["--kernel-pid", &pid, "--kernel-modules", "modules"]].concat();
        let Some(injected) = injected else {
            return self.test.run(&arguments);
        };
        let plain = self.test.command(&arguments);
        let mut command = Command::new("strace");
        command.args(["-qq", "-o", "trace", "-e", injected]).arg(plain.get_program()).args(plain.get_args());
        command.env_clear().envs(&self.test.environment).current_dir(self.test.folder.path());
        Outcome::of(command)
    }

    /// The calls of a run by name, and all of them.
    fn calls(&self, from: &str) -> BTreeMap<String, usize> {
        self.put_back(from);
        self.apply(&Running::idle(), Some("trace=all"));
        let trace = std::fs::read_to_string(self.test.path("trace")).expect("a trace");
        let mut calls = BTreeMap::new();
        for name in trace.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name) {
            *calls.entry(name.to_owned()).or_default() += 1;
            *calls.entry("all".to_owned()).or_default() += 1;
        }
        calls
    }

    /// A case: something happens to the run from `from`; then the kernel restarts once, if it has not, and all is as
    /// locked.
    fn case(&self, (from, injected): &(&'static str, String)) -> Result<(), String> {
        self.put_back(from);
        let first = *from == BEFORE;
        let kernel = Running::idle();
        let mut hit = self.apply(&kernel, Some(injected));
        // No file: what wakes a thread can't fail. Where it does, that is our bug, and reported as one.
        let trace = std::fs::read_to_string(self.test.path("trace")).unwrap_or_default();
        let waking = |line: &str| line.contains("INJECTED") && line.contains("\"\\1\\0\\0\\0\\0\\0\\0\\0\"");
        if hit.code == 4 && trace.lines().any(waking) {
            hit.code = 3;
        }
        let said = hit.stderr.contains("error") || [0, 10, -1].contains(&hit.code);
        if ![-1, 0, 1, 2, 3, 10].contains(&hit.code) || !said || (!first && hit.code == 10) {
            return Err(format!("it ended so: {hit:?}"));
        }
        let expect = |outcome: Outcome, code: i32, what: &str| {
            if outcome.code == code { Ok(outcome) } else { Err(format!("{what}: {outcome:?}; before: {hit:?}")) }
        };
        if first {
            expect(self.apply(&kernel, None), 10, "the next apply")?;
        }
        let kernel = if first {
            drop(kernel);
            Running::idle()
        } else {
            kernel
        };
        let last = expect(self.apply(&kernel, None), 0, "the apply after the restart")?;
        if !last.stdout.starts_with("ready: ") {
            return Err(format!("not ready: {last:?}; before: {hit:?}"));
        }
        let verify = self.test.run(&["verify", "p.toml", "--python", &self.venv.python.display().to_string()]);
        expect(verify, 0, "verify")?;
        self.nothing_is_left()
    }

    fn nothing_is_left(&self) -> Result<(), String> {
        let site = self.venv.site_packages();
        let infos: Vec<&String> = site.iter().filter(|name| name.ends_with(".dist-info")).collect();
        let ours = infos.iter().filter(|name| !name.starts_with("pip-") && !name.starts_with("setuptools-")).count();
        let odd: Vec<&String> =
            site.iter().filter(|name| name.starts_with(['~', '.']) || name.ends_with(".new")).collect();
        let temporary = Command::new("find").arg(self.test.path("state")).args(["-name", ".colab-boot-*"]).output();
        let temporary = String::from_utf8_lossy(&temporary.expect("find starts").stdout).into_owned();
        if ours == 2 && odd.is_empty() && temporary.is_empty() {
            return Ok(());
        }
        Err(format!("left: {infos:?} {odd:?} {temporary}"))
    }
}

fn call(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().expect("it starts");
    assert!(status.success(), "{program} {arguments:?}");
}

/// Whether strace works here: containers may forbid it.
pub(super) fn strace_works() -> bool {
    let tried = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "-e", "inject=all:signal=KILL:when=60000", "true"])
        .output();
    let works = tried.is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: strace is not here, or may not trace");
    }
    works
}

/// Runs the cases, two at a time: each of them with `CASES=all`, else one of `stride`.
fn run(rigs: &[Rig], cases: &[(&'static str, String)], stride: usize) {
    let chosen: Vec<_> = sample(cases, stride).collect();
    let at = AtomicUsize::new(0);
    let worker = |rig: &Rig| {
        let next = || chosen.get(at.fetch_add(1, Ordering::SeqCst));
        let tried = std::iter::from_fn(next).map(|case| rig.case(case).map_err(|why| format!("{case:?}: {why}")));
        tried.filter_map(Result::err).collect::<Vec<String>>()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = rigs.iter().map(|rig| scope.spawn(|| worker(rig))).collect();
        workers.into_iter().flat_map(|one| one.join().expect("a worker")).collect()
    });
    eprintln!("{} of {} cases, {} wrong", chosen.len(), cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(5)].join("\n"));
}

/// The cases of `inject` at each of the calls that are `wanted`, counted by name.
fn cases(rig: &Rig, wanted: &[&str], inject: impl Fn(&str, usize) -> String) -> Vec<(&'static str, String)> {
    let mut cases = Vec::new();
    for from in [BEFORE, RESTARTED] {
        let calls = rig.calls(from);
        for name in wanted {
            let count = calls.get(*name).copied().unwrap_or(0);
            cases.extend((1..=count).map(|at| (from, inject(name, at))));
        }
    }
    cases
}

#[test]
fn killed_at_any_system_call_the_next_run_finishes() {
    if !strace_works() {
        return;
    }
    let rigs = [Rig::new(), Rig::new()];
    // What changes the disk or starts a process, more often than all the rest.
    let changing = ["write", "fsync", "rename", "renameat", "mkdir", "unlink", "unlinkat", "fchmod", "clone3", "flock"];
    let kill = |name: &str, at: usize| format!("inject={name}:signal=KILL:when={at}");
    run(&rigs, &cases(&rigs[0], &changing, kill), 29);
    let any = |_: &str, at: usize| format!("inject=all:signal=KILL:when={at}");
    run(&rigs, &cases(&rigs[0], &["all"], any), 613);
}

#[test]
fn a_disk_that_is_full_broken_or_read_only_stops_it_and_the_next_run_finishes() {
    if !strace_works() {
        return;
    }
    let rigs = [Rig::new(), Rig::new()];
    let calls = ["openat", "write", "rename", "renameat", "fsync", "mkdir"];
    for error in ["ENOSPC", "EIO", "EROFS"] {
        let inject = |name: &str, at: usize| format!("inject={name}:error={error}:when={at}");
        run(&rigs, &cases(&rigs[0], &calls, inject), 197);
    }
}
