//! `apply`: wheels given by address, who restarts, what another hand changes, profiles in any order, variables.

use std::process::{Command, Stdio};

use crate::support::address::{Loaded, build, serve};
use crate::support::python::{Running, Venv, first_line};
use crate::support::said::Said as _;
use crate::support::test::Test;

#[test]
fn another_digest_is_another_wheel_and_other_bytes_are_refused() {
    let test = Test::new();
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
    let test = test.set("PATH", path);
    let served = test.path("served");
    std::fs::create_dir(&served).expect("a folder");
    let (_server, url) = serve(&served);
    let venv = Venv::new(&test, &[]);
    let python = venv.python.display().to_string();
    let profile = |digest: &str| {
        let text = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = {{ url = '{url}', sha256 = '{digest}' }}\n"
        );
        std::fs::write(test.path("p.toml"), text).expect("a profile");
    };
    let apply = || test.run(&["apply", "p.toml", "--python", &python]);
    let word = || {
        let output = Command::new(&venv.python)
            .args(["-I", "-c", "import demo; print(demo.word)"])
            .output()
            .expect("Python starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    profile(&build(&served, "first"));
    apply().expect(0);
    assert_eq!(word(), "first");
    assert!(apply().expect(0).concludes("ready"));
    profile(&build(&served, "second"));
    apply().expect(0);
    assert_eq!(word(), "second", "the same version, another digest");
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    profile(&"0".repeat(64));
    let outcome = apply().expect(1);
    assert!(outcome.stderr.contains("is not the locked file"), "{}", outcome.stderr);
    assert_eq!(word(), "second", "nothing was changed");
}

#[test]
fn the_caller_chooses_who_restarts_the_kernel() {
    let world = Loaded::new();
    let kernel = Running::idle();
    let pid = kernel.pid();
    let apply = |word: &str, more: &[&str]| world.apply(word, &pid, more);
    apply("first", &[]).expect(0);
    let outcome = apply("second", &["--restart", "external"]).expect(0);
    assert!(outcome.stderr.contains("restart-pending"), "{}", outcome.stderr);
    apply("second", &[]).expect(10);
    drop(kernel);
    let outcome = apply("third", &["--no-restart"]).expect(0);
    assert!(!outcome.stderr.contains("restart-pending"), "{}", outcome.stderr);
}

#[test]
fn a_foreign_change_is_named_and_undone_each_time() {
    let (world, mut kernel) = Loaded::restarted();
    for _ in 0..4 {
        // Something that runs in the new kernel puts another version back.
        let info = |version: &str| world.venv.layout().join(format!("demo-{version}.dist-info"));
        std::fs::rename(info("1.0"), info("0.9")).expect("a rename");
        std::fs::write(info("0.9").join("METADATA"), "Metadata-Version: 2.1\nName: demo\nVersion: 0.9\n")
            .expect("metadata");
        let outcome = world.apply("second", &kernel.pid(), &[]).expect(10);
        for words in
            ["warning[foreign-change]", "demo 1.0 was replaced with 0.9", "demo is loaded and changes from 0.9 to 1.0"]
        {
            let said = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(info("1.0").exists() && !info("0.9").exists(), "it is as locked again");
        assert_eq!(world.apply("second", &kernel.pid(), &[]).code, 10, "the kernel still holds it");
        // Once it has restarted, never again for that.
        kernel = Running::idle();
        assert!(world.apply("second", &kernel.pid(), &[]).expect(0).concludes("ready"));
    }
}

#[test]
fn profiles_follow_each_other_in_any_order_and_nothing_is_a_dead_end() {
    let world = Loaded::new();
    for (round, word) in ["first", "second", "first", "third", "second", "first"].into_iter().enumerate() {
        let kernel = Running::idle();
        let outcome = world.apply(word, &kernel.pid(), &[]);
        assert_eq!(outcome.code, if round == 0 { 0 } else { 10 }, "{word}: {outcome:?}");
        let next = Running::idle();
        drop(kernel);
        assert!(world.apply(word, &next.pid(), &[]).expect(0).concludes("ready"), "{word}");
    }
}

#[test]
fn two_applies_at_once_take_turns() {
    let world = Loaded::new();
    world.apply("first", &Running::idle().pid(), &[]).expect(0);
    let python = world.venv.python.display().to_string();
    let state = world.test.path("state");
    // As another apply does while it works.
    let held = std::fs::File::open(world.test.state_file("lock")).expect("a lock");
    held.lock().expect("a lock");
    let mut waiting = world.test.command(&["apply", "p.toml", "--python", &python]);
    let mut waiting = Running(waiting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts"));
    let said = first_line(waiting.0.stderr.take());
    assert!(said.contains("another colab-boot is changing this environment"), "{said}");
    assert!(waiting.0.try_wait().expect("a child").is_none(), "it went on under the lock of another");
    held.unlock().expect("a lock");
    assert!(waiting.0.wait().expect("a child").success());
    // Two that start together, from nothing.
    std::fs::remove_dir_all(&state).expect("a folder");
    std::fs::remove_dir_all(world.venv.layout().join("demo-1.0.dist-info")).expect("a folder");
    let start = || {
        let mut command = world.test.command(&["apply", "p.toml", "--python", &python]);
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    };
    for mut one in [start(), start()] {
        assert!(one.0.wait().expect("a child").success());
    }
    world.test.run(&["verify", "p.toml", "--python", &python]).expect(0);
}

#[test]
fn variables_reach_every_python_and_go_with_the_profile() {
    let world = Loaded::new();
    let (python, kernel) = (world.venv.python.display().to_string(), Running::idle());
    let profile = |environment: &str| {
        let digest = build(&world.served, "first");
        let text = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = {{ url = '{}', sha256 = '{digest}' }}\n{environment}",
            world.url
        );
        std::fs::write(world.test.path("p.toml"), text).expect("a profile");
        world.test.run(&[
            "apply",
            "p.toml",
            "--python",
            &python,
            "--kernel-pid",
            &kernel.pid(),
            "--kernel-modules",
            "modules",
        ])
    };
    let code = "import os, subprocess, sys\nprint(os.environ.get('FLAG'))\n\
        subprocess.run([sys.executable, '-c', 'import os; print(os.environ.get(\"FLAG\"))'], env={**os.environ, **dict(a.split('=') for a in sys.argv[1:])})";
    let seen = |more: &[&str]| {
        let output = Command::new(&world.venv.python).arg("-c").arg(code).args(more).output().expect("Python starts");
        String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    profile("[env]\nFLAG = 'on'\n").expect(10);
    assert_eq!(seen(&[]), ["on", "on"]);
    assert_eq!(seen(&["FLAG=mine"]), ["on", "mine"], "what a caller gives its child stays");
    // A plan says what changes, and a verification what is not so.
    let asked = |verb: &str| world.test.run(&[verb, "p.toml", "--python", &python]);
    let text = std::fs::read_to_string(world.test.path("p.toml")).expect("a profile");
    std::fs::write(world.test.path("p.toml"), text.replace("'on'", "'Größe'")).expect("a profile");
    let plan = asked("plan").expect(0);
    assert!(plan.stdout.contains("set       FLAG=Größe") && plan.stdout.contains("was on"), "{plan:?}");
    assert!(plan.stdout.contains("plan: 1 variable to change"), "{plan:?}");
    profile("[env]\nFLAG = 'Größe'\n").expect(10);
    assert_eq!(seen(&[]), ["Größe", "Größe"]);
    let file = world.venv.layout().join("colab-boot-env.pth");
    assert!(std::fs::read(&file).expect("a file").is_ascii(), "whatever the locale is");
    assert!(!asked("verify").stderr.contains("verify-environment"));
    std::fs::remove_file(&file).expect("a file");
    let verified = asked("verify").expect(1);
    assert!(verified.reports("error[verify-environment]") && verified.stderr.contains("FLAG"), "{verified:?}");
    profile("").expect(10);
    assert_eq!(seen(&[]), ["None", "None"]);
}

#[test]
fn two_states_that_share_a_cache_take_turns_with_its_wheels() {
    let world = Loaded::new();
    world.apply("first", &Running::idle().pid(), &[]).expect(0);
    let lock = std::fs::read_to_string(world.test.path("p.lock")).expect("a lock");
    let name = colab_boot::core::model::Sha256::of(lock.as_bytes()).short();
    let wheels = world.test.path("cache/wheels");
    // As an apply under another state folder does while it works.
    let held = std::fs::File::open(wheels.join(format!("{name}.lock"))).expect("a lock");
    held.lock().expect("a lock");
    let other = Venv::bare(&world.test);
    let python = other.python.display().to_string();
    let mut waiting = world.test.command(&["apply", "p.toml", "--python", &python]);
    waiting.env("COLAB_BOOT_STATE_DIR", world.test.path("other-state"));
    let mut waiting = Running(waiting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts"));
    let said = first_line(waiting.0.stderr.take());
    assert!(said.contains("is using the same wheels"), "{said}");
    assert!(waiting.0.try_wait().expect("a child").is_none());
    held.unlock().expect("a lock");
    assert!(waiting.0.wait().expect("a child").success());
}
