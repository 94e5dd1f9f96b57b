//! A golden notebook in a real Jupyter server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::live::profile;
use crate::live_python::{Running, Venv};
use crate::test::Test;

const TOKEN: &str = "a-token-of-this-test";

fn start(test: &Test, venv: &Venv) -> (Running, String) {
    let runtime = test.path("runtime");
    let mut environment = test.environment.clone();
    environment.remove("COLAB_BOOT_ROOT");
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
            .find_map(|file| {
                let value: Value = serde_json::from_str(&std::fs::read_to_string(file.path()).ok()?).ok()?;
                Some(value["url"].as_str()?.to_owned())
            });
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

/// Locked, applied and verified through the generated notebook, with two cells queued behind the first.
pub fn a_golden_notebook_restarts_its_kernel_exactly_once(test: Test) {
    let venv = Venv::new(&test, &["jupyter_server", "ipykernel", "websocket-client", "numpy==2.2.6"]);
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let apt = root && Path::new("/usr/bin/apt-get").exists();
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
    let (_server, url) = start(&test, &venv);
    let witness = test.path("witness");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/live/notebook.py");
    let output = Command::new(&venv.python)
        .arg(driver)
        .arg(test.path("cells/live.ipynb"))
        .arg(&witness)
        .env("JUPYTER_URL", url)
        .env("JUPYTER_TOKEN", TOKEN)
        .output()
        .expect("the driver starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let seen: Value = serde_json::from_str(stdout.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{stdout}\n{}", String::from_utf8_lossy(&output.stderr)));
    check(&seen);
    if apt {
        let status = Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", "hello"]).output();
        assert!(status.is_ok_and(|output| output.stdout == b"installed"), "{seen:#}");
        let journal = std::fs::read_to_string(test.path("state/apply.journal")).expect("a journal");
        assert!(journal.starts_with("begin apt\nend apt\nbegin wheels\n"), "{journal}");
    }
    let verified = test.run(&["verify", "live.toml", "--python", &python]);
    assert!(verified.stderr.contains("no GPU here") || verified.stdout.contains("GPU"), "{verified:?}");
}

fn check(seen: &Value) {
    let told = |step: &str, at: usize| seen[step][1][at].as_str().unwrap_or_default().to_owned();
    assert_eq!(seen["before"][0][0], "ok", "{seen:#}");
    assert_eq!(seen["first"][0], serde_json::json!(["error", "aborted", "aborted"]), "{seen:#}");
    assert!(told("first", 0).contains("numpy is loaded and goes from 2.2.6"), "{seen:#}");
    assert!(told("first", 0).contains("restarts now, once"), "{seen:#}");
    assert!(!told("first", 0).contains("Traceback"), "one line, no traceback: {seen:#}");
    assert_eq!(seen["second"][0][0], "ok", "{seen:#}");
    assert!(told("second", 0).contains("ready: "), "{seen:#}");
    assert!(seen["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{seen:#}");
    assert_eq!(seen["rest"][0], serde_json::json!(["ok", "ok"]), "{seen:#}");
    assert!(told("rest", 1).contains("verified"), "{seen:#}");
    assert_eq!(seen["third"][0], serde_json::json!(["ok", "ok"]), "{seen:#}");
    assert!(told("third", 0).contains("ready: "), "{seen:#}");
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
