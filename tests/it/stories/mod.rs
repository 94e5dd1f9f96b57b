//! Days of a user: several verbs, edits and accidents in a row, in real virtual environments with wheels of a real
//! index on loopback, and in real kernels. `docs/stories.md` lists them with what each one shows.

mod accidents;
mod audited;
mod claims;
mod deaths;
mod extension;
mod files;
mod fitness;
mod fitness_scenes;
mod golden;
mod golden_cells;
mod held_code;
mod kernels;
mod keepers;
mod lab;
mod linked;
mod locks;
mod lost_keys;
mod mounts;
pub mod notebook;
mod orphans;
mod other_version;
mod outside;
pub mod page;
mod profiles;
mod projects;
mod random_days;
mod rotations;
mod second_day;
mod second_looks;
mod signed;
mod targets;
mod team;
mod two_years;
mod unseen;
mod verified;
mod vouched;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::index_server::{Digests, IndexServer, Looks, Manner, Release, Table};
use crate::support::python::Venv;
use crate::support::test::{Outcome, Test};

/// A release of a package with these files: path in the wheel, text.
pub fn release(files: &[(&str, &str)]) -> Release {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Release { files, ..Release::default() }
}

/// A user with a virtual environment and an index.
pub struct Day {
    pub test: Test,
    pub venv: Venv,
    pub server: IndexServer,
}

impl Day {
    /// With the packages of `rows`: name, version, what it needs. Each has one module of its name that knows its
    /// version.
    pub fn new(rows: &[(&str, &str, &[&str])]) -> Self {
        Self::of_table(table(rows))
    }

    /// With all packages of `table`, in an environment of its own.
    pub fn of_table(table: Table) -> Self {
        let mut test = Test::new();
        let venv = Venv::new(&test, &[]);
        // Kernels and their clocks are of this machine.
        test.environment.remove("COLAB_BOOT_ROOT");
        Self::of(test, venv, table)
    }

    pub fn with(test: Test, venv: Venv, rows: &[(&str, &str, &[&str])]) -> Self {
        Self::of(test, venv, table(rows))
    }

    /// With all packages of `table`.
    pub fn of(test: Test, venv: Venv, table: Table) -> Self {
        let looks = Looks { digests: Digests::True, json: true, ..Looks::default() };
        let server = IndexServer::with(table, Manner::Good, looks);
        let test = test.set("COLAB_BOOT_INDEX_URL", server.url.clone());
        Self { test, venv, server }
    }

    /// Writes a profile `PATH.toml` that is called like its file and asks for `packages`; `more` are further tables.
    pub fn profile(&self, path: &str, packages: &[&str], more: &str) {
        let name = path.rsplit('/').next().expect("a name");
        let lines: String = packages
            .iter()
            .map(|one| match one.split_once(' ') {
                Some((package, range)) => format!("{package} = '{range}'\n"),
                None => format!("{one} = '*'\n"),
            })
            .collect();
        let text = format!("[profile]\nname = '{name}'\nversion = '1.0.0'\n[packages]\n{lines}{more}");
        std::fs::write(self.test.path(&format!("{path}.toml")), text).expect("a profile");
    }

    /// The folder of the virtual environment.
    pub fn prefix(&self) -> PathBuf {
        self.venv.python.parent().and_then(Path::parent).expect("a prefix").to_owned()
    }

    pub fn python(&self) -> String {
        self.venv.python.display().to_string()
    }

    /// Runs a verb for the virtual environment.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        let python = self.python();
        self.test.run(&[arguments, &["--python", &python]].concat())
    }

    /// What pip in the environment does, with the day's index.
    pub fn pip(&self, arguments: &[&str]) {
        let done = Command::new(&self.venv.python)
            .args(["-m", "pip", "--disable-pip-version-check", "--quiet"])
            .args(arguments)
            .env("PIP_INDEX_URL", &self.server.url)
            .env("PIP_NO_CACHE_DIR", "1")
            .status()
            .expect("pip starts");
        assert!(done.success(), "pip {arguments:?}");
    }

    /// The versions that are installed, by name.
    pub fn installed(&self) -> BTreeMap<String, String> {
        let infos = self.venv.site_packages().into_iter().filter_map(|entry| {
            let (name, version) = entry.strip_suffix(".dist-info")?.split_once('-')?;
            Some((name.to_owned(), version.to_owned()))
        });
        infos.filter(|(name, _)| name != "pip" && name != "setuptools").collect()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.test.path(name)).expect(name)
    }
}

/// The index of `rows`.
pub fn table(rows: &[(&str, &str, &[&str])]) -> Table {
    let mut table = Table::new();
    for (name, version, requires) in rows {
        let module = format!("{}.py", name.replace('-', "_"));
        let text = format!("__version__ = word = '{version}'\n");
        let requires = requires.iter().map(|one| (*one).to_owned()).collect();
        let release = Release { requires, files: [(module, text)].into(), ..Release::default() };
        table.entry((*name).to_owned()).or_default().insert((*version).to_owned(), release);
    }
    table
}

/// `name` → `version`, for comparisons.
pub fn these(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}

/// Another virtual environment beside the day's.
pub fn colleague(day: &Day, name: &str) -> PathBuf {
    let folder = day.test.path(name);
    Venv::at(&folder);
    folder
}

/// What `python` prints for `code`, as a kernel's Python would: not isolated.
pub fn says(python: &Path, code: &str) -> String {
    let output = Command::new(python).args(["-c", code]).current_dir("/").output().expect("Python starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
