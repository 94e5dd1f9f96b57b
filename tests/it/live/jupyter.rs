//! A golden notebook in a real Jupyter server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::live::profile;
use crate::support::python::{Running, Venv, wheel};
use crate::support::test::{Test, is_root};

const TOKEN: &str = "a-token-of-this-test";

/// A server whose kernels get `more` in their environment; its address.
fn start(test: &Test, venv: &Venv, more: &[(&str, String)]) -> (Running, String) {
    let runtime = test.path("runtime");
    let mut environment = test.environment.clone();
    environment.remove("COLAB_BOOT_ROOT");
    environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    environment.insert("COLAB_BOOT_BINARY".into(), env!("CARGO_BIN_EXE_colab-boot").into());
    environment.insert("JUPYTER_RUNTIME_DIR".into(), runtime.display().to_string());
    let child = Command::new(&venv.python)
        .args(["-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"])
        .arg(format!("--IdentityProvider.token={TOKEN}"))
        .env_clear()
        .envs(&environment)
        .current_dir(test.folder.path())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(test.path("server.log")).expect("a log"))
        .spawn()
        .expect("the server starts");
    let server = Running(child);
    let started = Instant::now();
    loop {
        let files = std::fs::read_dir(&runtime).into_iter().flatten().flatten();
        let url = files
            .filter(|file| {
                file.file_name().to_string_lossy().starts_with("jpserver-")
                    && file.path().extension().is_some_and(|end| end == "json")
            })
            .find_map(|file| Some(record(&file.path())?["url"].as_str()?.to_owned()));
        if let Some(url) = url {
            return (server, url);
        }
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "{}",
            std::fs::read_to_string(test.path("server.log")).unwrap_or_default()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What the server says of itself, for those who look for it.
fn record(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Runs the notebook of profile `name` through the server at `url`, with two cells queued behind the first, and returns what was
/// seen; `attribute` is what the cells look at.
fn drive(test: &Test, venv: &Venv, (url, name): (&str, &str), arguments: &[&str]) -> Value {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/live/notebook.py");
    let output = Command::new(&venv.python)
        .arg(driver)
        .arg(test.path("cells").join(format!("{name}.ipynb")))
        .arg(test.path("witness"))
        .args(arguments)
        .env("JUPYTER_URL", url)
        .env("JUPYTER_TOKEN", TOKEN)
        .output()
        .expect("the driver starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(stdout.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{stdout}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Locked, applied and verified through the generated notebook, with two cells queued behind the first.
pub fn a_golden_notebook_restarts_its_kernel_exactly_once(test: Test) {
    let venv = Venv::new(&test, &["jupyter_server", "ipykernel", "websocket-client", "numpy==2.2.6"]);
    let apt = is_root() && Path::new("/usr/bin/apt-get").exists();
    if !apt {
        eprintln!("skipped: the apt part needs root and apt-get");
    }
    if apt {
        // Not there before, so that apt-get has something to do.
        let purged =
            Command::new("apt-get").args(["-o", "DPkg::Lock::Timeout=120", "purge", "--yes", "hello"]).output();
        assert!(purged.is_ok_and(|output| output.status.success()), "apt-get can't purge `hello`");
    }
    let asked = if apt { "[apt]\npackages = ['hello']\n" } else { "" };
    let rest = format!("[packages]\neinops = '*'\ntqdm = '*'\n{asked}[env]\nLIVE_FLAG = 'set by colab-boot'\n");
    let mut test = test.file("live.toml", &profile("numpy = '>=2.3'\njax = '*'", &rest));
    test.environment.remove("COLAB_BOOT_ROOT");
    let python = venv.python.display().to_string();
    test.run(&["lock", "live.toml", "--python", &python]).expect(0);
    test.run(&["golden", "build", "live.toml", "--out", "cells"]).expect(0);
    test.run(&["golden", "build", "live.toml", "--out", "cells", "--check"]).expect(0);
    let (_server, url) = start(&test, &venv, &[]);
    let seen = drive(&test, &venv, (&url, "live"), &["numpy.__version__"]);
    check(&seen);
    if apt {
        let status = Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", "hello"]).output();
        assert!(status.is_ok_and(|output| output.stdout == b"installed"), "{seen:#}");
        let journal = std::fs::read_to_string(test.state_file("apply.journal")).expect("a journal");
        assert!(journal.starts_with("begin apt\nend apt\nbegin wheels\n"), "{journal}");
    }
    let verified = test.run(&["verify", "live.toml", "--python", &python]);
    assert!(verified.stderr.contains("no GPU here") || verified.stdout.contains("GPU"), "{verified:?}");
}

/// How the cell comes to its restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The server is asked.
    Asked,
    /// The server refuses, and the kernel is ended.
    Refused,
    /// No server is to be found, and the kernel ends itself.
    Unknown,
    /// The test restarts the kernel, as a user would.
    External,
}

/// Colab's notebook stack, and the current one.
pub const STACKS: [&[&str]; 2] = [
    &[
        "ipython==7.34.0",
        "ipykernel==6.17.1",
        "jupyter_client==7.4.9",
        "jupyter_server",
        "websocket-client",
        "setuptools<81",
    ],
    &["ipykernel", "jupyter_server", "websocket-client"],
];

/// Every way on both stacks, with cells queued: the kernel restarts once, and nothing queued runs before it has.
pub fn every_way_to_restart(world: &dyn Fn() -> Test) {
    let profile = |version: &str| format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='=={version}'\n");
    for stack in STACKS {
        let mut test = world().file("p.toml", &profile("2.0")).file("before.toml", &profile("1.0"));
        test.environment.remove("COLAB_BOOT_ROOT");
        let venv = Venv::new(&test, stack);
        let house = test.path("house");
        std::fs::create_dir(&house).expect("a folder");
        for version in ["1.0", "2.0"] {
            wheel(&house, ("demo", version), version);
        }
        let (python, house) = (venv.python.display().to_string(), house.display().to_string());
        test.run(&["lock", "p.toml", "--python", &python, "--find-links", &house]).expect(0);
        test.run(&["golden", "build", "p.toml", "--out", "cells"]).expect(0);
        for way in [Way::Asked, Way::Refused, Way::Unknown, Way::External] {
            // Another machine, as far as the marker can tell: a lock has one restart on each.
            let state = test.path(&format!("state-{way:?}")).display().to_string();
            test.environment.insert("COLAB_BOOT_STATE_DIR".into(), state);
            test.run(&["apply", "before.toml", "--python", &python, "--find-links", &house]).expect(0);
            let _ = std::fs::remove_file(test.path("witness"));
            let _ = std::fs::remove_dir_all(test.path("runtime"));
            restart((&test, &venv), way, &house);
        }
    }
}

fn restart((test, venv): (&Test, &Venv), way: Way, house: &str) {
    let external = if way == Way::External { "external" } else { "" };
    let more = [("COLAB_BOOT_WHEELHOUSE", house.to_owned()), ("COLAB_BOOT_RESTART", external.to_owned())];
    let (_server, url) = start(test, venv, &more);
    let files = std::fs::read_dir(test.path("runtime")).expect("a folder").flatten().map(|file| file.path());
    let said =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).find(|path| record(path).is_some());
    let said = said.expect("the server's record");
    match way {
        Way::Refused => {
            let text = std::fs::read_to_string(&said).expect("a record");
            std::fs::write(&said, text.replace(TOKEN, "another")).expect("a write");
        }
        Way::Unknown => std::fs::remove_file(&said).expect("a file"),
        Way::Asked | Way::External => {}
    }
    let seen = drive(test, venv, (&url, "p"), &["demo.word", external]);
    let shown = format!("{way:?}: {seen:#}");
    assert_eq!(seen["first"][0], serde_json::json!(["error", "aborted", "aborted"]), "{shown}");
    assert!(seen["second"][1][0].as_str().is_some_and(|text| text.contains("ready: ")), "{shown}");
    assert_eq!(seen["rest"][0], serde_json::json!(["ok", "ok"]), "{shown}");
    let lines: Vec<&str> = seen["witness"].as_array().expect("a witness").iter().filter_map(Value::as_str).collect();
    let pids: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(pids.len(), 2, "one restart: {shown}");
    let last: Vec<&str> = lines.last().expect("a line").split(' ').collect();
    assert_eq!((last[0], last[2]), ("again", "2.0"), "{shown}");
    assert!(!lines.iter().any(|line| line.starts_with("queued")), "nothing queued ran in the old kernel: {shown}");
}

fn check(seen: &Value) {
    let said = |step: &str, at: usize| seen[step][1][at].as_str().unwrap_or_default().to_owned();
    assert_eq!(seen["before"][0][0], "ok", "{seen:#}");
    assert_eq!(seen["first"][0], serde_json::json!(["error", "aborted", "aborted"]), "{seen:#}");
    assert!(said("first", 0).contains("numpy is loaded and goes from 2.2.6"), "{seen:#}");
    assert!(said("first", 0).contains("restarts now, once"), "{seen:#}");
    assert!(!said("first", 0).contains("Traceback"), "one line, no traceback: {seen:#}");
    assert_eq!(seen["second"][0][0], "ok", "{seen:#}");
    assert!(said("second", 0).contains("ready: "), "{seen:#}");
    assert!(seen["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{seen:#}");
    assert_eq!(seen["rest"][0], serde_json::json!(["ok", "ok"]), "{seen:#}");
    assert!(said("rest", 1).contains("verified"), "{seen:#}");
    assert_eq!(seen["third"][0], serde_json::json!(["ok", "ok"]), "{seen:#}");
    assert!(said("third", 0).contains("ready: "), "{seen:#}");
    // Who ran where: nothing queued ran in the old kernel, and there are exactly two kernels.
    let lines: Vec<Vec<String>> = seen["witness"]
        .as_array()
        .expect("a witness")
        .iter()
        .map(|line| line.as_str().unwrap_or_default().split(' ').map(str::to_owned).collect())
        .collect();
    let steps: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(steps, ["before", "after", "again"], "{seen:#}");
    assert_ne!(lines[0][1], lines[1][1], "the kernel is another process: {seen:#}");
    assert_eq!(lines[1][1], lines[2][1], "and restarted once only: {seen:#}");
    assert_eq!(lines[0][2], "2.2.6");
    assert_ne!(lines[1][2], "2.2.6");
}
