//! Rows of the matrix from the wheels of an index, through the program.

#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test starts programs and reads files")]

#[path = "../../tests/it/support"]
#[expect(dead_code, unreachable_pub, reason = "shared with other tests, which use more of it")]
mod support {
    pub mod http;
    pub mod index_server;
    pub mod object;
    pub mod wheel;
}

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use support::index_server::{IndexServer, Manner, Release, Table};

/// An index with watched packages: one release with a row, one without.
fn watched() -> IndexServer {
    let release = |code: &[&str]| Release {
        code: code.iter().map(|&name| name.to_owned()).collect(),
        files: [("xgboost/__init__.py".to_owned(), String::new())].into(),
        ..Release::default()
    };
    let mut table = Table::new();
    for name in ["torch", "torchvision", "torchaudio", "triton", "tensorflow", "jax-cuda12-plugin", "jax-cuda13-plugin"]
    {
        table.insert(name.to_owned(), BTreeMap::new());
    }
    table.insert(
        "xgboost".to_owned(),
        [("1.0".to_owned(), release(&["sm_50"])), ("9.0".to_owned(), release(&["sm_75", "compute_90"]))].into(),
    );
    IndexServer::start(table, Manner::Good)
}

/// A folder to run upkeep in, and the index that it reads.
struct Desk {
    folder: tempfile::TempDir,
    server: IndexServer,
}

impl Desk {
    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let home = Path::new(self.folder.path());
        let mut command = Command::new(env!("CARGO_BIN_EXE_upkeep"));
        command.args(arguments).args(["--index-url", &self.server.url]).current_dir(home);
        command.env("HOME", home).env("COLAB_BOOT_CACHE_DIR", home.join("cache")).output().expect("upkeep starts")
    }

    /// What a run with this exit code wrote to stdout.
    fn stdout(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// What a refused run wrote to stderr.
    fn stderr(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

#[test]
fn new_releases_become_rows_and_a_second_run_continues() {
    let desk = Desk { folder: tempfile::tempdir().expect("a folder"), server: watched() };
    let refresh = ["refresh", "--package", "xgboost", "--overlay", "new.toml"];
    assert_eq!(desk.stdout(&[refresh.as_slice(), &["--check"]].concat(), 1), "xgboost 9.0\n");
    assert!(!desk.path("new.toml").exists(), "--check writes nothing");
    assert_eq!(desk.stdout(&refresh, 0), "xgboost 9.0\n", "1.0 is older than what is watched");
    let rows = std::fs::read_to_string(desk.path("new.toml")).expect("an overlay");
    for line in
        ["package = \"xgboost\"", "sass = [\"sm_75\"]", "ptx = [\"compute_90\"]", "ptx-isa = \"8.0\"", "sha256 = \""]
    {
        assert!(rows.contains(line), "{line}: {rows}");
    }
    assert_eq!(desk.stdout(&refresh, 0), "", "nothing is new");
    assert_eq!(desk.stdout(&[refresh.as_slice(), &["--again"]].concat(), 0), "xgboost 9.0\n");
    assert!(desk.stderr(&["refresh", "--package", "xgbost", "--check"]).contains("is not watched"));
    assert!(desk.stderr(&["refresh", "--package", "xgboost"]).contains("--overlay FILE"));
    // The rows of this overlay equal their wheels; the bundled ones are not on this index.
    let check = ["check", "--package", "xgboost", "--matrix", "new.toml"];
    let checked = desk.stdout(&check, 1);
    assert!(checked.contains("xgboost 3.4.1: the index no longer has this release"), "{checked}");
    assert!(checked.contains("1 rows equal their wheels\n"), "{checked}");
    std::fs::write(desk.path("new.toml"), rows.replace("sm_75", "sm_70")).expect("a write");
    let checked = desk.stdout(&check, 1);
    assert!(checked.contains("xgboost 9.0: sass: sm_70 in the matrix, sm_75 in the wheel"), "{checked}");
}
