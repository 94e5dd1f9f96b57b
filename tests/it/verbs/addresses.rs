//! Wheels given by address: pinned by digest, replaced when the digest changes, refused when the bytes do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::python::{Running, Venv, first_line, interpreter, wheel};
use crate::support::test::{Outcome, Test};

/// Serves a folder on loopback and prints the port. It knows no ranges, as some servers don't.
const SERVE: &str = "
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.HTTPServer(('127.0.0.1', 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
";

fn serve(folder: &Path) -> (Running, String) {
    let mut child = Command::new(interpreter())
        .args(["-I", "-c", SERVE])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("Python starts");
    let port = first_line(child.stdout.take());
    (Running(child), format!("http://127.0.0.1:{}/demo-1.0-py3-none-any.whl", port.trim()))
}

fn build(folder: &Path, word: &str) -> String {
    wheel(folder, ("demo", "1.0"), word)
}

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
    assert!(apply().expect(0).stdout.contains("ready"));
    profile(&build(&served, "second"));
    apply().expect(0);
    assert_eq!(word(), "second", "the same version, another digest");
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    profile(&"0".repeat(64));
    let outcome = apply().expect(1);
    assert!(outcome.stderr.contains("is not the file that the lock names"), "{}", outcome.stderr);
    assert_eq!(word(), "second", "nothing was changed");
}

/// A virtual environment whose `demo` comes from an address, and a list of modules that a kernel has loaded it.
struct Loaded {
    test: Test,
    venv: Venv,
    served: PathBuf,
    url: String,
    _server: Running,
}

impl Loaded {
    fn new() -> Self {
        let test = Test::new().file("modules", "demo\n");
        let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
        let mut test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
        // The kernel's stand-in is a process of this machine.
        test.environment.remove("COLAB_BOOT_ROOT");
        let served = test.path("served");
        std::fs::create_dir(&served).expect("a folder");
        let (server, url) = serve(&served);
        let venv = Venv::new(&test, &[]);
        Self { test, venv, served, url, _server: server }
    }

    /// Another wheel was applied under a kernel, which has restarted since: the new one.
    fn restarted() -> (Self, Running) {
        let world = Self::new();
        let first = Running::idle();
        world.apply("first", &first.pid(), &[]).expect(0);
        world.apply("second", &first.pid(), &[]).expect(10);
        drop(first);
        let second = Running::idle();
        assert!(world.apply("second", &second.pid(), &[]).expect(0).stdout.contains("ready: "));
        (world, second)
    }

    /// Applies a profile whose `demo` says `word`, for the kernel `pid`.
    fn apply(&self, word: &str, pid: &str, more: &[&str]) -> Outcome {
        let (url, digest) = (&self.url, build(&self.served, word));
        let text = format!(
            "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = {{ url = '{url}', sha256 = '{digest}' }}\n"
        );
        std::fs::write(self.test.path("p.toml"), text).expect("a profile");
        let python = self.venv.python.display().to_string();
        let base = ["apply", "p.toml", "--python", &python, "--kernel-pid", pid, "--kernel-modules", "modules"];
        self.test.run(&[base.as_slice(), more].concat())
    }
}

#[test]
fn who_restarts_is_the_callers_choice() {
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
fn what_another_hand_changes_is_named_and_put_right_as_often_as_it_happens() {
    let (world, mut kernel) = Loaded::restarted();
    for _ in 0..4 {
        // Something that runs in the new kernel puts another version back.
        let info = |version: &str| world.venv.layout().join(format!("demo-{version}.dist-info"));
        std::fs::rename(info("1.0"), info("0.9")).expect("a rename");
        std::fs::write(info("0.9").join("METADATA"), "Metadata-Version: 2.1\nName: demo\nVersion: 0.9\n")
            .expect("metadata");
        let outcome = world.apply("second", &kernel.pid(), &[]).expect(10);
        for words in
            ["warning[foreign-change]", "demo 1.0 was replaced by 0.9", "demo is loaded and goes from 0.9 to 1.0"]
        {
            let said = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(info("1.0").exists() && !info("0.9").exists(), "it is as locked again");
        assert_eq!(world.apply("second", &kernel.pid(), &[]).code, 10, "the kernel still holds it");
        // Once it has restarted, never again for that.
        kernel = Running::idle();
        assert!(world.apply("second", &kernel.pid(), &[]).expect(0).stdout.contains("ready: "));
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
        assert!(world.apply(word, &next.pid(), &[]).expect(0).stdout.contains("ready: "), "{word}");
    }
}

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
    assert!(world.apply("second", &second.pid(), &[]).expect(0).stdout.contains("ready: "));
}

#[test]
fn a_wheelhouse_is_never_written_to() {
    let world = Loaded::new();
    build(&world.served, "first");
    let house = world.served.display().to_string();
    let (python, test) = (world.venv.python.display().to_string(), &world.test);
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='==1.0'\n";
    std::fs::write(test.path("p.toml"), profile).expect("a profile");
    test.run(&["lock", "p.toml", "--python", &python, "--find-links", &house, "--offline"]).expect(0);
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    let wheel = world.served.join("demo-1.0-py3-none-any.whl");
    let whole = std::fs::read(&wheel).expect("a wheel");
    // As an apply leaves it that is killed while it fetches, whatever it was doing.
    test.run(&["apply", "p.toml", "--python", &python, "--wheelhouse", &house]).expect(0);
    let cache = test.path("cache/wheels").join(lock_folder(&lock));
    for name in ["demo-1.0-py3-none-any.whl.linked", "demo-1.0-py3-none-any.whl"] {
        std::fs::create_dir_all(&cache).expect("a folder");
        std::fs::hard_link(&wheel, cache.join(name)).expect("a link");
        std::fs::remove_file(world.venv.layout().join("demo.py")).expect("a file");
        test.run(&["verify", "p.toml", "--python", &python]).expect(1);
        test.run(&["apply", "p.toml", "--python", &python, "--wheelhouse", &house]).expect(0);
        assert_eq!(std::fs::read(&wheel).expect("a wheel"), whole, "{name}");
        assert!(!cache.exists(), "the folder of the lock is another one");
    }
}

/// The folder of a lock's wheels in the cache.
fn lock_folder(lock: &str) -> String {
    colab_boot::model::Sha256::of(lock.as_bytes()).short()
}

#[test]
fn two_applies_at_once_take_turns() {
    let world = Loaded::new();
    world.apply("first", &Running::idle().pid(), &[]).expect(0);
    let python = world.venv.python.display().to_string();
    let state = world.test.path("state");
    // As another apply does while it works.
    let held = std::fs::File::open(state.join("lock")).expect("a lock");
    held.lock().expect("a lock");
    let mut waiting = world.test.command(&["apply", "p.toml", "--python", &python]);
    let mut waiting = Running(waiting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts"));
    let said = first_line(waiting.0.stderr.take());
    assert!(said.contains("another colab-boot is at work"), "{said}");
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
    profile("").expect(10);
    assert_eq!(seen(&[]), ["None", "None"]);
}

#[test]
fn a_folder_of_wheels_needs_no_network() {
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo = '==1.0'\n");
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", test.path("bin").display());
    let test = test.set("PATH", path).set("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple");
    let folder = test.path("wheels");
    std::fs::create_dir(&folder).expect("a folder");
    build(&folder, "first");
    let venv = Venv::new(&test, &[]);
    // What pip can't uninstall does not stop it.
    let torn = venv.layout().join("demo-0.9.dist-info");
    std::fs::create_dir(&torn).expect("a folder");
    std::fs::write(torn.join("METADATA"), "Metadata-Version: 2.1\nName: demo\nVersion: 0.9\n").expect("metadata");
    let (python, folder) = (venv.python.display().to_string(), folder.display().to_string());
    let more = ["--python", &python, "--find-links", &folder, "--offline"];
    test.run(&[&["lock", "p.toml"], more.as_slice()].concat()).expect(0);
    test.run(&[&["apply", "p.toml"], more.as_slice()].concat()).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    // The same from a wheelhouse; the lock is not asked whose folder it was.
    let fetch = ["fetch", "p.lock", "--into", "house", "--find-links", &folder, "--offline"];
    let refused = test.run(&[fetch.as_slice(), &["--budget", "10B"]].concat()).expect(1);
    assert!(refused.stderr.contains("the budget is 10 B") && refused.stderr.contains("demo 1.0"), "{}", refused.stderr);
    assert!(!test.path("house").exists());
    let fetched = test.run(&fetch).expect(0);
    assert!(fetched.stdout.starts_with("fetched: 1 wheel, "), "{}", fetched.stdout);
    std::fs::remove_file(venv.layout().join("demo.py")).expect("a file");
    test.run(&["verify", "p.toml", "--python", &python]).expect(1);
    test.run(&["apply", "p.toml", "--python", &python, "--wheelhouse", "house"]).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    // Another wheel in its place is refused.
    build(test.path("wheels").as_path(), "second");
    std::fs::remove_file(venv.layout().join("demo.py")).expect("a file");
    test.run(&["verify", "p.toml", "--python", &python]).expect(1);
    let outcome = test.run(&[&["apply", "p.toml"], more.as_slice()].concat()).expect(1);
    assert!(outcome.stderr.contains("is not the file that the lock names"), "{}", outcome.stderr);
}
