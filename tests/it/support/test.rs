//! A test's own world: a folder with home, cache, state, a root for machine files and a `PATH` of fakes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// The world.
pub struct Test {
    pub folder: TempDir,
    pub environment: BTreeMap<String, String>,
}

/// What a run left.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Runs a command to its end; the code of one that was killed is -1.
    pub fn of(mut command: Command) -> Self {
        let output = command.output().expect("the program starts");
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The JSON envelope on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The codes of the findings in the envelope.
    pub fn codes(&self) -> Vec<String> {
        let findings = self.json()["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().filter_map(|finding| finding["code"].as_str().map(str::to_owned)).collect()
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that `text` stands in what it printed.
    pub fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text) || self.stderr.contains(text), "`{text}` is not in {self:?}");
        self
    }
}

impl Test {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).display().to_string();
        for name in ["home", "bin", "root"] {
            std::fs::create_dir(folder.path().join(name)).expect(name);
        }
        let environment = [
            ("HOME", at("home")),
            ("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", at("bin"))),
            ("COLAB_BOOT_ROOT", at("root")),
            ("COLAB_BOOT_CACHE_DIR", at("cache")),
            ("COLAB_BOOT_STATE_DIR", at("state")),
            ("NO_COLOR", "1".to_owned()),
        ];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { folder, environment }
    }

    /// A file in the state of the one environment that has some.
    pub fn state_file(&self, name: &str) -> PathBuf {
        let all =
            std::fs::read_dir(self.path("state/python")).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut all: Vec<PathBuf> = all.collect();
        assert!(all.len() < 2, "several environments have state: {all:?}");
        all.pop().unwrap_or_else(|| self.path("state/python/none")).join(name)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with its folders.
    pub fn file(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect(name);
        std::fs::write(path, text).expect(name);
        self
    }

    pub fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// Puts a committed fake on `PATH`. A link: a fresh executable could be "busy" while other tests fork. One of an
    /// installer is the one that is used.
    pub fn fake(mut self, name: &str) -> Self {
        if name == "uv" {
            self = self.set("COLAB_BOOT_INSTALLER", "uv");
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes").join(name);
        std::os::unix::fs::symlink(script, self.path("bin").join(name)).expect(name);
        self
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colab-boot"));
        command.args(arguments).env_clear().envs(&self.environment).current_dir(self.folder.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments))
    }
}

/// Whether this test may change the system.
pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Whether every case is taken (`CASES=all`), and no sample.
pub fn takes_all() -> bool {
    std::env::var("CASES").is_ok_and(|value| value == "all")
}

/// One of `stride` cases, from the first on; every case with `CASES=all`.
pub fn sample<T>(cases: impl IntoIterator<Item = T>, stride: usize) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if takes_all() { 1 } else { stride })
}

/// A committed machine record.
pub fn observed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/observed").join(format!("{name}.json"));
    path.display().to_string()
}

/// Compares with a committed file; `SNAPSHOTS=overwrite` writes it instead.
#[track_caller]
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect(name);
        std::fs::write(&path, text).expect(name);
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; SNAPSHOTS=overwrite cargo test, then read the diff");
}
