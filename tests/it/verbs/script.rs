//! What the script does, proved by fakes that write down what they were asked.

use std::path::Path;
use std::process::Command;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::test::{Test, is_root, observed, snapshot};

const PROFILE: &str = "[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\na = '*'\nb = '*'\n[apt]\npackages = ['ffmpeg', 'g++']\n\
    [env]\nFLAG = \"it's $HOME \\\"quoted\\\" `id`\"\n[[index]]\nname = 'own'\nurl = 'OWN'\npackages = ['b']\n";

fn world() -> (Test, IndexServer, IndexServer) {
    let serve = |name: &str| {
        let mut table = Table::new();
        table.entry(name.into()).or_default().insert("1.0".into(), Release::default());
        IndexServer::start(table, Manner::Good)
    };
    let (default, own) = (serve("a"), serve("b"));
    let test = Test::new().file("p.toml", &PROFILE.replace("OWN", &own.url));
    (test, default, own)
}

/// The script of the plan on the recorded laptop.
fn script(test: &Test, index: &IndexServer) -> String {
    test.run(&[
        "plan",
        "p.toml",
        "--machine",
        &observed("laptop"),
        "--index-url",
        &index.url,
        "--script",
        "install.sh",
    ])
    .expect(0);
    std::fs::read_to_string(test.path("install.sh")).expect("a script")
}

#[test]
fn it_is_bash_that_a_person_can_review() {
    let (test, default, own) = world();
    let text = script(&test, &default);
    let profile = std::fs::read_to_string(test.path("p.toml")).expect("a profile");
    let lock = text.lines().find_map(|line| line.strip_prefix("# Lock sha256: ")).expect("a digest");
    assert!(profile.contains(&own.url));
    snapshot("install.sh", &text.replace(&own.url, "http://own.test/simple").replace(lock, "LOCK"));
    let syntax = Command::new("bash").arg("-n").arg(test.path("install.sh")).status().expect("bash starts");
    assert!(syntax.success());
    match Command::new("shellcheck").arg(test.path("install.sh")).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => eprintln!("skipped: shellcheck: {error}"),
    }
}

/// Runs the script by hand with fake tools; returns its exit code and what the tools were asked.
fn run(test: &Test, failing: &str) -> (i32, Vec<String>) {
    run_where_apt_would(test, failing, "")
}

/// The same, where a simulated apt-get prints `simulation`.
fn run_where_apt_would(test: &Test, failing: &str, simulation: &str) -> (i32, Vec<String>) {
    let log = test.path("asked");
    let status = Command::new("bash")
        .arg(test.path("install.sh"))
        .env_clear()
        .envs(&test.environment)
        .env("FAKE_LOG", &log)
        .env("FAKE_FAIL", failing)
        .env("FAKE_SIMULATION", simulation)
        .env("FAKE_SITE", test.path("site"))
        .env("COLAB_BOOT_PYTHON", test.path("bin/python3"))
        .env("COLAB_BOOT_JOURNAL", test.path("journal"))
        .env("PIP_EXTRA_INDEX_URL", "http://evil.test/simple")
        .env("UV_CONSTRAINT", "/nowhere/constraints")
        .env("LD_PRELOAD_LIKE", "kept")
        .stderr(std::process::Stdio::null())
        .status()
        .expect("bash starts");
    let asked = std::fs::read_to_string(&log).unwrap_or_default();
    (status.code().unwrap_or(-1), asked.lines().map(str::to_owned).collect())
}

/// A world with the script and the fake tools.
fn scripted() -> Test {
    let (test, default, _own) = world();
    script(&test, &default);
    with_tools(test)
}

fn with_tools(test: Test) -> Test {
    let test = ["apt-get", "dpkg", "dpkg-query", "python3", "ldconfig"].into_iter().fold(test, Test::fake);
    std::fs::create_dir(test.path("site")).expect("a folder");
    let path = format!("{}:/usr/bin:/bin", test.path("bin").display());
    test.set("PATH", path)
}

#[test]
fn apt_comes_before_pip_and_the_environment_last() {
    if !Path::new("/proc/self/status").exists() || !is_root() {
        eprintln!("skipped: the script's apt step needs root");
        return;
    }
    let test = scripted();
    let (code, asked) = run(&test, "");
    assert_eq!(code, 0, "{asked:?}");
    let at = |words: &str| {
        asked.iter().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {asked:#?}"))
    };
    assert!(at("DPkg::Lock::Timeout=120") <= at("force-confold update"), "{asked:#?}");
    assert!(at("force-confold update") < at("install --simulate") && at("install --simulate") < at("install --yes"));
    assert!(at("-- ffmpeg g++") < at("pip install"), "{asked:#?}");
    assert!(at("--index-url") > at("default.txt") && at("own.txt") > 0, "{asked:#?}");
    assert!(
        asked
            .iter()
            .filter(|line| line.contains("pip install"))
            .all(|line| line.contains("--require-hashes") && line.contains("--no-deps"))
    );
    assert!(!asked.iter().any(|line| line.contains("evil.test") || line.contains("UV_CONSTRAINT")), "{asked:#?}");
    let journal = std::fs::read_to_string(test.path("journal")).expect("a journal");
    assert_eq!(
        journal,
        "begin apt\nend apt\nbegin wheels\nend wheels\nbegin environment\nend environment\nend script\n"
    );
    let line = std::fs::read_to_string(test.path("site/colab-boot-env.pth")).expect("the environment file");
    assert!(line.contains(r#""FLAG":"it's $HOME \"quoted\" `id`""#), "{line}");
}

#[test]
fn a_step_that_fails_stops_the_script_and_the_next_run_goes_on() {
    if !is_root() {
        eprintln!("skipped: the script's apt step needs root");
        return;
    }
    let test = scripted();
    let (code, asked) = run(&test, "install --yes");
    assert_eq!(code, 100);
    assert!(!asked.iter().any(|line| line.contains("pip install")), "nothing after a failed apt: {asked:#?}");
    let (code, _) = run(&test, "pip install");
    assert_ne!(code, 0);
    assert!(!test.path("site/colab-boot-env.pth").exists());
    assert_eq!(run(&test, "").0, 0);
    assert!(test.path("site/colab-boot-env.pth").exists());
}

#[test]
fn a_snapshot_is_asked_for_in_every_call_and_goes_without_versions() {
    if !is_root() {
        eprintln!("skipped: the script's apt step needs root");
        return;
    }
    let (test, default, _own) = world();
    let profile = std::fs::read_to_string(test.path("p.toml")).expect("a profile");
    let with_snapshot = profile.replace("[apt]", "[apt]\nsnapshot = '20261101T000000Z'");
    let test = with_tools(test.file("p.toml", &with_snapshot));
    script(&test, &default);
    let (code, asked) = run(&test, "");
    assert_eq!(code, 0, "{asked:?}");
    let calls: Vec<&String> = asked.iter().filter(|line| line.starts_with("apt-get ")).collect();
    assert!(calls.len() >= 4 && calls.iter().all(|line| line.contains("--snapshot 20261101T000000Z")), "{asked:#?}");
    std::fs::remove_file(test.path("asked")).expect("a file");
    let (code, asked) = run(&test, "indextargets");
    assert!(code == 100 && !asked.iter().any(|line| line.contains("install --yes")), "an apt-get that knows none");
}

#[test]
fn apt_may_not_upgrade_what_was_not_asked_for_nor_touch_the_driver() {
    if !is_root() {
        eprintln!("skipped: the script's apt step needs root");
        return;
    }
    let test = scripted();
    for (simulation, allowed) in [
        ("Inst libflac12 (1.4.2 Debian:12 [amd64])\nInst ffmpeg (7:5.1 Debian:12 [amd64])", true),
        ("Inst g++ [4:11] (4:12 Debian:12 [amd64])", true),
        ("Inst libflac12 [1.3] (1.4.2 Debian:12 [amd64])\nInst ffmpeg (7:5.1 Debian:12 [amd64])", false),
        ("Inst libcuda1:amd64 (535.1 Debian:12 [amd64])", false),
        ("Inst nvidia-driver-535 (535.1 Debian:12 [amd64])", false),
    ] {
        let _ = std::fs::remove_file(test.path("asked"));
        let (code, asked) = run_where_apt_would(&test, "", simulation);
        let installed = asked.iter().any(|line| line.contains("install --yes"));
        assert_eq!((code == 0, installed), (allowed, allowed), "{simulation}: {asked:#?}");
    }
}
