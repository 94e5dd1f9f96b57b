//! Environments in which something is broken: start-up files, installed metadata, pipes where files should be. None of
//! it ends the program or makes it wait.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::python::Venv;
use crate::support::test::{Outcome, Test};

struct World {
    test: Test,
    venv: Venv,
    server: IndexServer,
}

impl World {
    fn new() -> Self {
        let mut table = Table::new();
        table.entry("a".into()).or_default().insert("1.0".into(), Release::default());
        let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
        let test = test.set("PATH", "/usr/bin:/bin");
        let venv = Venv::new(&test, &[]);
        Self { test, venv, server: IndexServer::start(table, Manner::Good) }
    }

    fn plan(&self, more: &[&str]) -> Outcome {
        let python = self.venv.python.display().to_string();
        self.test.run(&[&["plan", "p.toml", "--python", &python, "--index-url", &self.server.url], more].concat())
    }

    fn site(&self, name: &str) -> std::path::PathBuf {
        self.venv.layout().join(name)
    }
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[test]
fn a_start_up_file_may_print_fail_or_leave_a_daemon() {
    let world = World::new();
    for (line, warns) in [
        ("import sys; print('hello'); sys.stderr.write('hello')", false),
        ("import subprocess; subprocess.Popen(['sleep', '120'])", false),
        ("import os; os._exit(3)", true),
        ("import os; print('{\"path\": 1}', flush=True); os.kill(os.getpid(), 9)", true),
    ] {
        std::fs::write(world.site("start.pth"), format!("{line}\n")).expect("a file");
        let started = Instant::now();
        let outcome = world.plan(&["--json"]).expect(0);
        assert!(started.elapsed() < Duration::from_mins(1), "{line}: it waited for the daemon");
        let report = outcome.json();
        assert!(
            report["report"]["python"]["path"].as_str().is_some_and(|path| path.contains("venv")),
            "{line}: {report}"
        );
        assert_eq!(outcome.codes().contains(&"machine-unreadable".to_owned()), warns, "{line}: {:?}", outcome.codes());
        let facts = world.test.run(&["fingerprint", "--python", &world.venv.python.display().to_string(), "--json"]);
        assert!(facts.stdout.contains("/python/lib/python3"), "{line}: {}", facts.stdout);
    }
}

#[test]
fn one_bad_installed_package_is_a_finding_at_most() {
    let world = World::new();
    let marker = format!("{}os_name == 'posix'{}", "(".repeat(10_000), ")".repeat(10_000));
    let pairs: Vec<String> = (0..40).map(|at| format!("(extra == 'a{at}' and extra == 'b{at}')")).collect();
    let names: Vec<String> = (0..5_000).map(|at| format!("Requires-Dist: x{at} ; extra == 'e{at}'")).collect();
    for (name, lines) in [
        ("deep", format!("Requires-Dist: x ; {marker}")),
        ("wide", format!("Requires-Dist: x ; {}", pairs.join(" or "))),
        ("many", names.join("\n")),
        ("odd", "Requires-Dist: x ; python_version > '3' \u{1f600}\nRequires-Python: \u{e9}".to_owned()),
    ] {
        let info = world.site(&format!("{name}-1.0.dist-info"));
        std::fs::create_dir(&info).expect("a folder");
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{lines}\n");
        std::fs::write(info.join("METADATA"), text).expect("a file");
    }
    world.plan(&[]).expect(0);
    let python = world.venv.python.display().to_string();
    let audit = world.test.run(&["audit", "--python", &python, "--index-url", &world.server.url]);
    assert!([0, 1].contains(&audit.code), "{audit:?}");
}

#[test]
fn a_pipe_where_a_file_should_be_is_an_error() {
    let world = World::new();
    let info = world.site("piped-1.0.dist-info");
    std::fs::create_dir(&info).expect("a folder");
    fifo(&info.join("METADATA"));
    fifo(&world.site("module.py"));
    world.plan(&[]).expect(0);
    world.plan(&["--lock", "p.lock"]).expect(0);
    fifo(&world.test.path("p.lock"));
    for arguments in [&["--locked"][..], &[], &["--machine", "p.lock"], &["--kernel-modules", "p.lock"]] {
        let outcome = world.plan(arguments);
        assert!([1, 2, 3].contains(&outcome.code), "{arguments:?}: {outcome:?}");
        assert!(!outcome.stderr.is_empty());
    }
    let audit = world.test.file("r.txt", "-r p.lock\n").run(&["audit", "r.txt", "--index-url", &world.server.url]);
    assert_eq!(audit.code, 2, "{audit:?}");
}

#[test]
fn what_a_parent_leaves_to_its_children_does_no_harm() {
    let world = World::new();
    let python = world.venv.python.display().to_string();
    let inherited = |code: &str, arguments: &[&str]| {
        let program = format!("import os, resource, signal, sys\n{code}\nos.execv(sys.argv[1], sys.argv[1:])");
        let binary = world.test.command(&[]).get_program().to_owned();
        let mut command = Command::new(&world.venv.python);
        command.arg("-c").arg(program).arg(binary).args(arguments);
        let as_is = world.test.command(&[]);
        command.current_dir(as_is.get_current_dir().expect("a folder")).env_clear();
        command.envs(as_is.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Outcome::of(command)
    };
    let plan = ["plan", "p.toml", "--python", &python, "--index-url", &world.server.url];
    // As the children of some daemons.
    inherited("signal.signal(signal.SIGCHLD, signal.SIG_IGN)", &plan).expect(0);
    // `ulimit -f`: a write that fails, not the end of the program.
    let lock = ["lock", "p.toml", "--python", &python, "--index-url", &world.server.url];
    let small = inherited("resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))", &lock).expect(3);
    assert!(small.stderr.contains("p.lock") && small.stderr.contains("File too large"), "{}", small.stderr);
    assert!(!world.test.path("p.lock").exists());
}

#[test]
fn folders_may_be_named_from_here() {
    let world = World::new();
    let test = world.test.set("COLAB_BOOT_STATE_DIR", "state").set("COLAB_BOOT_CACHE_DIR", "cache");
    let python = world.venv.python.display().to_string();
    let index = world.server.url;
    test.run(&["lock", "p.toml", "--python", &python, "--index-url", &index]).expect(0);
    test.run(&["plan", "p.toml", "--python", &python, "--index-url", &index]).expect(0);
    assert!(test.path("cache").is_dir());
    let report = test.run(&["status", "--json"]).expect(0);
    assert!(!report.stdout.is_empty());
}
