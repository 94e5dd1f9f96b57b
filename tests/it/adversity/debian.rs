//! A real apt-get and dpkg, as root, with an archive of a few packages that only exist here: they fail, wait, are cut
//! down at work, change behind their index. Nothing of the machine's own archives is touched or asked.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use colab_boot::core::model::Sha256;

use crate::support::python::{Running, Venv, first_line, wheel};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test, is_root};

/// Held by tests that change this machine's Debian packages: what one unpacks, another would configure.
pub fn alone() -> MutexGuard<'static, ()> {
    static DPKG: Mutex<()> = Mutex::new(());
    DPKG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What stands for the packages; other machines may have a `figlet`, none has these.
const ONE: &str = "colab-boot-test-one";
const TWO: &str = "colab-boot-test-two";

/// Waits until the test's folder has a file `go`, having said that it has begun.
const WAITS: &str = "touch AT/begun; for i in $(seq 1200); do [ -e AT/go ] && exit 0; sleep 0.05; done; exit 1";
const FAILS: &str = "echo 'no luck today'; [ -e AT/go ]";

struct World {
    test: Test,
    venv: Venv,
    python: String,
    _alone: MutexGuard<'static, ()>,
}

impl World {
    fn new() -> Option<Self> {
        if !is_root() || !Path::new("/usr/bin/dpkg-deb").exists() {
            eprintln!("skipped: this needs root, dpkg-deb and apt-get");
            return None;
        }
        let guard = alone();
        let test = Test::new();
        let at = test.folder.path().display();
        let configuration = format!(
            "Dir::Etc::sourcelist \"{at}/sources.list\";\nDir::Etc::sourceparts \"-\";\nDir::State::lists \"{at}/lists\";\n\
             Dir::Cache \"{at}/apt-cache\";\nAPT::Sandbox::User \"root\";\n"
        );
        let profile =
            format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='*'\n[apt]\npackages=['{ONE}']\n");
        let sources = format!("deb [trusted=yes] copy:{at}/archive ./\n");
        let test = test.file("apt.conf", &configuration).file("sources.list", &sources).file("p.toml", &profile);
        for name in ["lists/partial", "archive", "house"] {
            std::fs::create_dir_all(test.path(name)).expect(name);
        }
        wheel(&test.path("house"), ("demo", "1.0"), "1.0");
        let configured = test.path("apt.conf").display().to_string();
        let mut test = test.set("APT_CONFIG", configured);
        // dpkg's status is that of this machine.
        test.environment.remove("COLAB_BOOT_ROOT");
        let venv = Venv::new(&test, &[]);
        let python = venv.python.display().to_string();
        let world = Self { test, venv, python, _alone: guard };
        // What a test that was killed has left.
        world.clean();
        world.archive(&[(ONE, "1.0", "")]);
        Some(world)
    }

    /// The archive has these packages and no others: name, version, what is done after unpacking.
    fn archive(&self, packages: &[(&str, &str, &str)]) {
        let archive = self.test.path("archive");
        std::fs::remove_dir_all(&archive).expect("a folder");
        // What apt has fetched before would do.
        let _ = std::fs::remove_dir_all(self.test.path("apt-cache"));
        std::fs::create_dir_all(self.test.path("apt-cache/archives/partial")).expect("a folder");
        let mut index = String::new();
        for (name, version, after) in packages {
            let file = self.build((name, version), after);
            let bytes = std::fs::read(&file).expect("a package");
            let name_of = file.file_name().expect("a name").to_string_lossy().into_owned();
            index.extend([format!(
                "{}Filename: ./{name_of}\nSize: {}\nSHA256: {}\n\n",
                control((name, version)),
                bytes.len(),
                Sha256::of(&bytes)
            )]);
        }
        std::fs::write(archive.join("Packages"), index).expect("an index");
    }

    fn build(&self, (name, version): (&str, &str), after: &str) -> PathBuf {
        let tree = self.test.path("tree");
        let _ = std::fs::remove_dir_all(&tree);
        std::fs::create_dir_all(tree.join("DEBIAN")).expect("a folder");
        std::fs::create_dir_all(self.test.path("archive")).expect("a folder");
        std::fs::write(tree.join("DEBIAN/control"), control((name, version))).expect("a control file");
        let script = tree.join("DEBIAN/postinst");
        let after = after.replace("AT", &self.test.folder.path().display().to_string());
        std::fs::write(&script, format!("#!/bin/sh\n{after}\n")).expect("a script");
        let file = self.test.path("archive").join(format!("{name}_{version}_all.deb"));
        call(Command::new("chmod").arg("755").arg(&script));
        call(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&tree).arg(&file));
        file
    }

    fn arguments(&self) -> [&str; 6] {
        ["apply", "p.toml", "--python", &self.python, "--wheelhouse", "house"]
    }

    fn apply(&self) -> Outcome {
        self.test.run(&self.arguments())
    }

    fn start(&self) -> Child {
        self.test.command(&self.arguments()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// Starts an apply and waits until its package is being configured.
    fn start_and_wait(&self) -> Child {
        let mut child = self.start();
        let started = Instant::now();
        while !self.test.path("begun").exists() {
            assert!(started.elapsed() < Duration::from_mins(1), "the package was never configured");
            assert!(child.try_wait().expect("a child").is_none(), "it has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        child
    }

    fn touch(&self, name: &str) {
        std::fs::write(self.test.path(name), "").expect(name);
    }

    /// All is as it should be; then the machine is as before.
    fn is_finished(&self, what: &str) {
        assert_eq!(status(ONE), "installed", "{what}");
        let outcome = self.test.run(&["verify", "p.toml", "--python", &self.python]);
        assert_eq!(outcome.code, 0, "{what}: {outcome:?}");
        let outcome = self.apply();
        assert!(outcome.concludes("ready"), "{what}: {outcome:?}");
        self.clean();
    }

    fn clean(&self) {
        self.touch("go");
        // A dpkg that a test has left at work ends now.
        for _ in 0..100 {
            let _ = Command::new("dpkg").args(["--purge", "--force-all", ONE, TWO]).output();
            if [ONE, TWO].iter().all(|name| status(name).is_empty()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        for name in ["go", "begun"] {
            let _ = std::fs::remove_file(self.test.path(name));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.clean();
    }
}

fn control((name, version): (&str, &str)) -> String {
    format!(
        "Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: for a test\n"
    )
}

fn call(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What dpkg says of a package; nothing where it knows none.
pub fn status(name: &str) -> String {
    let output = Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", name]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Sends `signal` to processes by name and argument, of this test alone.
fn signal(signal: &str, pattern: &str) {
    call(Command::new("pkill").args([signal, "--full", pattern]));
}

#[test]
fn a_failing_package_is_named_and_the_next_run_goes_on() {
    let Some(world) = World::new() else { return };
    world.archive(&[(ONE, "1.0", FAILS)]);
    let outcome = world.apply().expect(3);
    for words in ["the step `apt` of the install script failed", "no luck today", ONE] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert!(!world.venv.layout().join("demo.py").exists(), "wheels come after the packages");
    // dpkg is in the middle of it, and stays there as long as the cause does.
    assert!(world.apply().expect(3).stderr.contains("no luck today"));
    world.touch("go");
    world.apply().expect(0);
    world.is_finished("it failed");
    // A question gets no answer, and the package does not wait.
    world.archive(&[(ONE, "1.0", "read answer || echo nobody answers")]);
    world.apply().expect(0);
    world.is_finished("it asked");
    // Somebody else's package is in the middle of it.
    world.archive(&[(ONE, "1.0", ""), (TWO, "1.0", FAILS)]);
    let other = world.test.path("archive").join(format!("{TWO}_1.0_all.deb"));
    let stopped = Command::new("dpkg").arg("--install").arg(other).output().expect("dpkg starts");
    assert!(!stopped.status.success());
    let outcome = world.apply().expect(3);
    assert!(outcome.stderr.contains(TWO) && outcome.stderr.contains("no luck today"), "{}", outcome.stderr);
    world.touch("go");
    world.apply().expect(0);
    world.is_finished("another was in the middle");
}

#[test]
fn apt_killed_at_work_is_finished_by_the_next_run() {
    let Some(world) = World::new() else { return };
    world.archive(&[(ONE, "1.0", WAITS)]);
    let at = world.test.folder.path().display().to_string();

    // With all that it has started.
    let child = world.start_and_wait();
    signal("-KILL", &format!("{at}|dpkg.*{ONE}|apt-get.*{ONE}"));
    let _ = child.wait_with_output();
    assert_ne!(status(ONE), "installed");
    world.touch("go");
    world.apply().expect(0);
    world.is_finished("all were killed");

    // apt-get alone: what it has started is ended with it.
    let child = world.start_and_wait();
    signal("-KILL", &format!("apt-get.*install --yes.*{ONE}"));
    assert_eq!(child.wait_with_output().expect("an end").status.code(), Some(3));
    world.touch("go");
    world.apply().expect(0);
    world.is_finished("apt-get was killed");

    // Another hand's dpkg is at work, and has the lock.
    let archived = world.test.path("archive").join(format!("{ONE}_1.0_all.deb"));
    let mut other = Command::new("dpkg").arg("--install").arg(archived).spawn().expect("dpkg starts");
    let started = Instant::now();
    while !world.test.path("begun").exists() {
        assert!(started.elapsed() < Duration::from_mins(1), "the package was never configured");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut next = world.start();
    let log = world.test.state_file("apply.log");
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("waiting for the dpkg that is at work")) {
        assert!(next.try_wait().expect("a child").is_none(), "it did not wait for dpkg");
        assert!(started.elapsed() < Duration::from_mins(1), "it never came to dpkg");
        std::thread::sleep(Duration::from_millis(20));
    }
    world.touch("go");
    let outcome = next.wait_with_output().expect("an end");
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    assert!(other.wait().expect("an end").success());
    world.is_finished("another dpkg was at work");

    // Somebody asks it to stop.
    let child = world.start_and_wait();
    call(Command::new("kill").args(["-TERM", &child.id().to_string()]));
    let outcome = child.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert_eq!(outcome.status.code(), Some(143), "{said}");
    assert!(said.contains("stopped by SIGTERM, in the step `apt`"), "{said}");
    world.touch("go");
    world.apply().expect(0);
    world.is_finished("it was stopped");
}

#[test]
fn a_changed_archive_is_a_finding() {
    let Some(world) = World::new() else { return };
    // Where apt knows what there is, the lock does.
    let configured = &world.test.environment["APT_CONFIG"];
    call(Command::new("apt-get").arg("update").env("APT_CONFIG", configured));
    world.apply().expect(0);
    let lock = std::fs::read_to_string(world.test.path("p.lock")).expect("a lock");
    assert!(lock.contains(&format!("name = \"{ONE}\", version = \"1.0\"")), "{lock}");
    world.is_finished("well");
    // The version of the lock is gone.
    world.archive(&[(ONE, "2.0", "")]);
    let outcome = world.apply().expect(3);
    assert!(outcome.stderr.contains(&format!("{ONE}: the lock has 1.0, apt offers 2.0")), "{}", outcome.stderr);
    assert_eq!(status(ONE), "");
    // The file is another than its index says.
    world.archive(&[(ONE, "1.0", "")]);
    let index = std::fs::read(world.test.path("archive/Packages")).expect("an index");
    world.archive(&[(ONE, "1.0", "true")]);
    std::fs::write(world.test.path("archive/Packages"), index).expect("an index");
    let outcome = world.apply().expect(3);
    assert!(outcome.stderr.contains("apt"), "{}", outcome.stderr);
    assert_eq!(status(ONE), "");
    // No archive answers: an error where it is needed, nothing where all is there.
    world.archive(&[(ONE, "1.0", "")]);
    world.apply().expect(0);
    std::fs::write(world.test.path("sources.list"), "deb [trusted=yes] http://127.0.0.1:9/ ./\n").expect("sources");
    let _ = std::fs::remove_dir_all(world.test.path("lists"));
    world.is_finished("no archive, and all is there");
    let outcome = world.apply().expect(3);
    assert!(outcome.stderr.contains("the step `apt` of the install script failed"), "{}", outcome.stderr);
}

#[test]
fn without_root_debian_packages_are_skipped_with_a_warning() {
    let Some(world) = World::new() else { return };
    let plain = world.test.command(&world.arguments());
    // A user who owns nothing, with the files of another.
    let mut command = Command::new("unshare");
    command.arg("--user").arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(&world.test.environment).current_dir(world.test.folder.path());
    let outcome = Outcome::of(command);
    if outcome.stderr.contains("unshare failed") {
        eprintln!("skipped: this needs leave to make a user namespace");
        return;
    }
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for words in ["plan-apt-skipped", "needs root", ONE] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert_eq!(status(ONE), "");
    // With root they come.
    world.apply().expect(0);
    world.is_finished("without root, then with");
}

#[test]
fn a_lock_that_apt_does_not_know_is_no_lock() {
    let Some(world) = World::new() else { return };
    let hold = "import fcntl, time\nfile = open('/var/lib/dpkg/lock-frontend')\nfcntl.flock(file, fcntl.LOCK_EX)\n\
                print('held', flush=True)\ntime.sleep(600)";
    let holder = Command::new(&world.python).args(["-I", "-c", hold]).stdout(Stdio::piped()).spawn();
    let mut holder = Running(holder.expect("Python starts"));
    assert_eq!(first_line(holder.0.stdout.take()), "held\n");
    world.apply().expect(0);
    world.is_finished("flock");
}

#[test]
fn a_debian_package_removed_by_hand_is_missed_and_comes_back() {
    let Some(world) = World::new() else { return };
    world.test.run(&["lock", "p.toml", "--python", &world.python, "--find-links", "house", "--offline"]).expect(0);
    world.apply().expect(0);
    let verify = || world.test.run(&["verify", "p.toml", "--python", &world.python]);
    verify().expect(0);
    call(Command::new("dpkg").args(["--remove", ONE]));
    let outcome = verify().expect(1);
    assert!(outcome.reports("error[verify-debian]") && outcome.stderr.contains(ONE), "{outcome:?}");
    world.apply().expect(0);
    verify().expect(0);
    // What apt has installed is never taken away again, and said.
    let restored = world.test.run(&["restore", "--python", &world.python, "--offline"]).expect(0);
    assert!(restored.stderr.contains(&format!("Debian packages are not removed: {ONE}")), "{restored:?}");
}

#[test]
fn a_file_that_dpkg_lists_is_kept_aside_unasked_and_comes_back() {
    let Some(world) = World::new() else { return };
    let place = world.venv.layout().join("demo.py");
    let tree = world.test.path("tree-of-two");
    let inside = tree.join(place.strip_prefix("/").expect("an absolute path"));
    for folder in [inside.parent().expect("a folder"), &tree.join("DEBIAN")] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    std::fs::write(&inside, "of Debian\n").expect("a file");
    std::fs::write(tree.join("DEBIAN/control"), control((TWO, "1.0"))).expect("a control file");
    let file = world.test.path("two.deb");
    call(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&tree).arg(&file));
    call(Command::new("dpkg").arg("--install").arg(&file));
    let applied = world.apply().expect(0);
    let said = format!("{}{}", applied.stdout, applied.stderr);
    assert!(said.contains("moved `") && said.contains("demo.py"), "{said}");
    assert_ne!(std::fs::read_to_string(&place).expect("the wheel's"), "of Debian\n");
    world.test.run(&["restore", "--python", &world.python]).expect(0);
    assert_eq!(std::fs::read_to_string(&place).expect("Debian's"), "of Debian\n");
}
