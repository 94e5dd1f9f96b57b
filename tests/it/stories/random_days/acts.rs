//! What a user does by hand: in the notebook, to the profile, to installed files.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stories::random_days::packages::{self, Package, named};
use crate::stories::random_days::player::Player;
use crate::stories::random_days::step::{self, Part, Step};

/// A module of the user's own.
const HIDDEN: &str = "word = 'hidden'\n";

impl Player<'_> {
    /// What the user does in the notebook.
    pub fn in_kernel(&mut self, step: &Step) {
        match *step {
            Step::Import(name) => self.import(named(name), |module, _| format!("import {module}")),
            Step::Keep(name) => {
                self.import(named(name), |module, name| format!("from {module} import word as kept_{name}"));
            }
            Step::Reload(name) => self.import(named(name), |module, _| {
                format!("import importlib, sys\nif '{module}' in sys.modules:\n    importlib.reload(sys.modules['{module}'])")
            }),
            Step::RestartKernel => {
                self.world.notebook.restart(&mut self.kernel);
                self.new_kernel();
            }
            Step::KillKernel => {
                let killed = Command::new("kill").args(["-KILL", &self.kernel.pid.to_string()]).status();
                assert!(killed.expect("kill starts").success());
                self.kernel = self.world.notebook.restarted(&self.kernel);
                self.new_kernel();
            }
            _ => unreachable!("{step:?}"),
        }
    }

    pub fn want(&mut self, name: &'static str, range: Option<&'static str>) {
        let before = self.wishes.clone();
        self.wishes.remove(name);
        self.wishes.extend(range.map(|range| (name, range)));
        if !step::is_solvable(&self.wishes) {
            self.wishes = before;
        }
        self.write_profile();
    }

    pub fn set(&mut self, name: &'static str, value: Option<&'static str>) {
        self.variables.remove(name);
        self.variables.extend(value.map(|value| (name, value)));
        self.write_profile();
    }

    /// Beside the file, then there: who has it open keeps what it was.
    /// Removes the files that no list names any more.
    pub fn move_orphans_away(&mut self) {
        let orphaned = std::mem::take(&mut self.orphaned).into_iter();
        for release in orphaned.flat_map(|name| packages::VERSIONS.map(|version| (name, version))) {
            for (file, _) in packages::files(&self.world.day, release) {
                let _ = std::fs::remove_file(file);
            }
        }
    }

    pub fn edit(&mut self, package: &Package) {
        if !packages::installed(&self.world.day).contains_key(package.name) {
            self.orphaned.insert(package.name);
        }
        let day = &self.world.day;
        let (path, beside) = (day.venv.layout().join(package.file), day.test.path("edited"));
        if path.is_file() {
            std::fs::write(&beside, edited(package, &std::fs::read(&path).expect("a file"))).expect("a write");
            let mode = std::fs::metadata(&path).expect("a mode").permissions();
            std::fs::set_permissions(&beside, mode).expect("a mode");
            std::fs::rename(&beside, &path).expect("a file");
            self.damaged.insert(package.name);
        }
    }

    /// Puts something there that Python takes before the package `name`.
    pub fn hide(&mut self, name: &str) {
        let (site, elsewhere) = (self.world.day.venv.layout(), self.world.day.test.path("elsewhere"));
        let (place, text) = match name {
            "plain" | "opaque" => (site.join(name).join("__init__.py"), HIDDEN.to_owned()),
            "spaced" if site.join("space/spaced").is_dir() => {
                (site.join("space/spaced/inner/__init__.py"), HIDDEN.to_owned())
            }
            "native" if site.join("native").is_dir() => (site.join("native/__init__.so"), HIDDEN.to_owned()),
            "tables" => {
                std::fs::create_dir_all(elsewhere.join("tables")).expect("a folder");
                std::fs::write(elsewhere.join("tables/__init__.py"), HIDDEN).expect("a write");
                let line = format!("import sys; sys.path.insert(0, '{}')\n", elsewhere.display());
                (site.join("own.pth"), line)
            }
            _ => return,
        };
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(&place, text).expect("a write");
        self.hidden.insert(place);
        self.has_hidden = true;
    }

    /// Runs `code` about a module in the kernel; it may fail, as what is damaged does.
    fn import(&mut self, package: &Package, code: impl Fn(&str, &str) -> String) {
        let Some(module) = package.module else { return };
        let code = code(module, package.name).replace('\n', "\n    ");
        self.world.notebook.run(&self.kernel, &format!("try:\n    {code}\nexcept Exception as error:\n    pass"));
        if !self.is_booted {
            self.loaded_unseen.insert(package.name.to_owned());
        }
    }
}

/// Another content for a file, which Python takes.
fn edited(package: &Package, bytes: &[u8]) -> Vec<u8> {
    if package.name == "native" {
        let versions = packages::VERSIONS.map(|version| {
            crate::support::object::object(if version == "2.0" { "says:two defines:word" } else { "defines:word" })
        });
        let [one, two] = versions;
        return if bytes == one { two } else { one };
    }
    String::from_utf8_lossy(bytes).replace(['1', '2'], "7").into_bytes()
}

pub fn remove(site: &Path, package: &Package, part: Part) {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(site).expect("site-packages").flatten().map(|entry| entry.path()).collect();
    let infos = entries.iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!("{}-", package.name)) && name.ends_with(".dist-info")
    });
    let file = site.join(package.file);
    match part {
        Part::File => drop(std::fs::remove_file(&file)),
        Part::Modules if package.file.contains("..") => drop(std::fs::remove_file(&file)),
        Part::Modules => match file.strip_prefix(site).ok().and_then(|rest| rest.iter().next()) {
            Some(first) if file.parent() != Some(site) => drop(std::fs::remove_dir_all(site.join(first))),
            _ => drop(std::fs::remove_file(&file)),
        },
        Part::Metadata => infos.for_each(|info| std::fs::remove_dir_all(info).expect("a removal")),
        Part::Record => infos.for_each(|info| drop(std::fs::remove_file(info.join("RECORD")))),
    }
}
