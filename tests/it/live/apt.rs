//! A real apt-get and dpkg: a held lock is waited for, an interrupted dpkg is finished.

use std::process::Command;

use crate::adversity::debian;
use crate::support::python::{Venv, first_line};
use crate::support::said::Said as _;
use crate::support::test::{Test, is_root};

/// Holds dpkg's locks as dpkg does (fcntl) for some seconds; says so when it has them.
const HOLD: &str = "
import fcntl, sys, time
files = [open(f'/var/lib/dpkg/{name}', 'a') for name in ('lock-frontend', 'lock')]
for file in files: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print('held', flush=True)
time.sleep(float(sys.argv[1]))
";

fn call(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command.output().is_ok_and(|output| output.status.success())
}

fn status() -> String {
    debian::status("figlet")
}

/// Puts the machine back.
struct Removed;

impl Drop for Removed {
    fn drop(&mut self) {
        call("dpkg", &["--purge", "figlet"]);
    }
}

pub fn a_held_lock_is_waited_for_and_an_interrupted_dpkg_is_finished(test: Test) {
    if !is_root() || status() == "installed" || !call("apt-get", &["update"]) {
        eprintln!("skipped: this needs root, apt-get with its mirrors, and that `figlet` is not installed");
        return;
    }
    let _removed = Removed;
    let venv = Venv::new(&test, &[]);
    let profile = "[profile]\nname='p'\nversion='1.0.0'\n[packages]\nsix='*'\n[apt]\npackages=['figlet']\n";
    let mut test = test.file("p.toml", profile);
    // dpkg's status is that of this machine.
    test.environment.remove("COLAB_BOOT_ROOT");
    let python = venv.python.display().to_string();
    let apply = || test.run(&["apply", "p.toml", "--python", &python]).expect(0);

    let mut holder = Command::new(&venv.python)
        .args(["-I", "-c", HOLD, "6"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("Python starts");
    assert_eq!(first_line(holder.stdout.take()), "held\n");
    apply();
    assert_eq!(
        holder.try_wait().expect("a child").and_then(|status| status.code()),
        Some(0),
        "it went on under the lock"
    );
    assert_eq!(status(), "installed");
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(lock.contains("apt = [{ name = \"figlet\", version = \""), "the version seen is pinned: {lock}");
    assert!(apply().concludes("ready"));

    // As if dpkg had been killed between unpacking and configuring.
    let folder = test.path("debs");
    std::fs::create_dir(&folder).expect("a folder");
    let downloaded = Command::new("apt-get").args(["download", "figlet"]).current_dir(&folder).status();
    assert!(downloaded.expect("apt-get starts").success());
    let package = std::fs::read_dir(&folder).expect("a folder").flatten().next().expect("a package").path();
    assert!(call("dpkg", &["--purge", "figlet"]));
    assert!(call("dpkg", &["--unpack", &package.display().to_string()]));
    assert_eq!(status(), "unpacked");
    apply();
    assert_eq!(status(), "installed");

    // An archive of another day, where this apt-get knows none.
    assert!(call("dpkg", &["--purge", "figlet"]));
    let snapshot = "20260801T000000Z";
    if !call("apt-get", &["--snapshot", snapshot, "indextargets"]) {
        let dated = profile.replace("[apt]", &format!("[apt]\nsnapshot='{snapshot}'"));
        std::fs::write(test.path("p.toml"), dated).expect("a profile");
        let outcome = test.run(&["apply", "p.toml", "--python", &python]).expect(3);
        assert!(outcome.stderr.contains("apt-get knows snapshots since"), "{}", outcome.stderr);
        assert_ne!(status(), "installed");
    }
}
