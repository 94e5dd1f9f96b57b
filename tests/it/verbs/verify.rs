//! `verify`, where nothing but files is looked at; `stories/verified.rs` has the rest.

use std::process::Command;
use std::time::Duration;

use crate::support::address::Loaded;
use crate::support::python::wheel;
use crate::support::said::Said as _;

#[test]
fn verifying_another_profile_leaves_this_one_alone() {
    let (world, second) = Loaded::restarted();
    // Never applied here, and its files differ.
    let python = world.venv.python.display().to_string();
    let test = &world.test;
    let other = "[profile]\nname='q'\nversion='1.0.0'\n[packages]\nother='*'\n";
    std::fs::write(test.path("q.toml"), other).expect("a profile");
    let house = test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    wheel(&house, ("other", "1.0"), "other");
    test.run(&["lock", "q.toml", "--python", &python, "--find-links", "house", "--offline"]).expect(0);
    test.run(&["verify", "q.toml", "--python", &python]).expect(1);
    assert!(world.apply("second", &second.pid(), &[]).expect(0).concludes("ready"));
}

/// A profile that was applied, and whose packages are tested by importing them.
fn applied() -> (Loaded, String) {
    let world = Loaded::new();
    let python = world.venv.python.display().to_string();
    let digest = crate::support::address::build(&world.served, "first");
    let text = format!(
        "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = {{ url = '{}', sha256 = '{digest}' }}\n[verify]\nsmoke = ['demo']\n",
        world.url
    );
    std::fs::write(world.test.path("p.toml"), text).expect("a profile");
    world.test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    (world, python)
}

#[test]
fn a_test_that_hangs_ends_with_the_one_who_asked() {
    let (world, python) = applied();
    let module = world.venv.layout().join("demo.py");
    assert!(module.is_file() || world.venv.layout().join("demo").is_dir());
    let module = if module.is_file() { module } else { world.venv.layout().join("demo/__init__.py") };
    std::fs::write(&module, "import time\ntime.sleep(86377)\n").expect("a module");
    for signal in ["-KILL", "-TERM"] {
        let mut verify = world.test.command(&["verify", "p.toml", "--python", &python]).spawn().expect("it starts");
        let pid = verify.id().to_string();
        let children = || {
            let found = Command::new("pgrep").args(["-P", &pid]).output().expect("pgrep").stdout;
            String::from_utf8_lossy(&found).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let is_asleep = |pid: &String| {
            std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("prctl"))
        };
        let mut tests = Vec::new();
        for _ in 0..400 {
            tests = children().into_iter().filter(is_asleep).collect();
            if !tests.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(!tests.is_empty(), "no test was started");
        // Until it has said that it wants to end.
        std::thread::sleep(Duration::from_millis(500));
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
        verify.wait().expect("ended");
        let runs = || tests.iter().any(is_asleep);
        for _ in 0..200 {
            if !runs() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(!runs(), "{signal}: {tests:?} go on");
    }
}

#[test]
fn bytecode_that_a_wheel_brings_is_written_anew_and_no_fault() {
    let (world, python) = applied();
    let site = world.venv.layout();
    std::fs::create_dir_all(site.join("__pycache__")).expect("a folder");
    std::fs::write(site.join("__pycache__/demo.cpython-312.pyc"), "anew").expect("bytecode");
    let record = site.join("demo-1.0.dist-info/RECORD");
    let text = std::fs::read_to_string(&record).expect("RECORD");
    let line = "__pycache__/demo.cpython-312.pyc,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,4\n";
    std::fs::write(&record, format!("{text}{line}")).expect("RECORD");
    // As pip writes it down, and as the wheel does.
    std::fs::remove_dir_all(world.test.path("state")).expect("a state");
    let verified = world.test.run(&["verify", "p.toml", "--python", &python]).expect(1);
    assert!(verified.stdout.contains("1 as in their own RECORD") && verified.concludes("not verified: 1 problem"));
    // Who has installed it is all that is open.
    assert!(verified.stderr.contains("it is unknown whether its files are from the wheel"), "{verified:?}");
}
