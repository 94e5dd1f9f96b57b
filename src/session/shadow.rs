//! Older copies of locked packages that Python finds first: in the user's site-packages, on PYTHONPATH, beside the notebook, or wherever
//! the kernel says that it looks first. A restart does not help: every kernel looks there again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::diag::{Code, Failure, Finding};
use crate::host::files;
use crate::host::mounts::{Look, Unreachable, is_elsewhere, list_remote, reach, unreachable};
use crate::lock::LockedTarget;
use crate::machine::{Layout, installed_modules};
use crate::model::PackageName;
use crate::notebook::{Loaded, Modules};
use crate::session::Session;
use crate::session::machine::Seen;

/// Folders that every project has for itself, and that wheels bring by accident.
const PROJECTS_OWN: &[&str] = &[
    "benchmarks",
    "doc",
    "docs",
    "example",
    "examples",
    "script",
    "scripts",
    "test",
    "tests",
    "tools",
    "util",
    "utils",
];

/// What Python finds before the packages that were installed: modules, each with its place.
#[derive(Debug, Default)]
pub struct InFront {
    modules: BTreeMap<String, PathBuf>,
    /// Folders that it looks into first and that do not answer: every Python that starts would wait for them.
    silent: Vec<PathBuf>,
}

impl InFront {
    /// What lies before `folders`, in which packages are installed, and what the kernel has loaded from there.
    pub fn of(session: &Session<'_>, seen: &Seen, loaded: &Loaded, folders: &[PathBuf]) -> Self {
        let home = seen.machine.python.as_ref().and_then(|python| python.home.as_ref());
        let Some(home) = home.filter(|_| seen.here) else { return Self::default() };
        let is_standard = |folder: &Path| folder.starts_with(&home.stdlib);
        let mut front = Self::default();
        // What is on a mount that is silent was kept from the interpreter when it was asked.
        let set = session.environment.get("PYTHONPATH").map_or("", String::as_str);
        let set = set.split(':').map(Path::new).filter(|folder| folder.is_absolute());
        let mut first: BTreeSet<&Path> = home.before_site.iter().map(PathBuf::as_path).chain(set).collect();
        first.extend(kernels_first(loaded, folders));
        for folder in first.into_iter().filter(|folder| !is_standard(folder)) {
            if reach(folder).is_err() {
                front.silent.push(folder.to_owned());
            } else if !folder.real().is_ok_and(|real| folders.contains(&real)) {
                front.add(folder);
            }
        }
        let layout = seen.machine.python.as_ref().and_then(|python| python.layout.as_ref());
        let loaded = layout.map(|layout| loaded_from_elsewhere(loaded, layout)).unwrap_or_default();
        // The standard library is meant to come first, and each of the folders before another one.
        let is_meant = |file: &Path| is_standard(file) || folders.iter().any(|folder| file.starts_with(folder));
        front.modules.extend(loaded.into_iter().filter(|(_, file)| !is_meant(file) && file.is_there()));
        front
    }

    /// Adds the modules that lie in `folder`.
    fn add(&mut self, folder: &Path) {
        let entries = if is_elsewhere(folder) {
            list_remote(folder, 1).into_iter().map(|one| one.path).collect()
        } else {
            files::names_if_any(folder)
        };
        for entry in entries {
            let (module, ending) = entry.split_once('.').unwrap_or((&entry, ""));
            let is_module = match ending {
                "" => folder.join(module).join("__init__.py").is_file_there(),
                "py" => true,
                other => other == "so" || other.ends_with(".so"),
            };
            if is_module && !PROJECTS_OWN.contains(&module) {
                self.modules.entry(module.to_owned()).or_insert_with(|| folder.join(&entry));
            }
        }
    }

    /// A finding for each folder that does not answer, and for each package of `target` that is installed and of which another copy comes first.
    pub fn findings(mut self, seen: &Seen, target: &LockedTarget, layout: &Layout) -> Result<Vec<Finding>, Failure> {
        let mut findings: Vec<Finding> = self.silent.iter().filter_map(|folder| silent(folder)).collect();
        // Only what lies in site-packages, too, can be hidden.
        let entries = layout.folders().into_iter().flat_map(|folder| files::names_if_any(folder));
        let installed: BTreeSet<String> =
            entries.filter_map(|entry| entry.split('.').next().map(str::to_owned)).collect();
        self.modules.retain(|module, _| module.split('.').next().is_some_and(|top| installed.contains(top)));
        if self.modules.is_empty() {
            return Ok(findings);
        }
        for package in &target.packages {
            let location = seen.machine.installed.get(&package.name).and_then(|one| one.location.as_ref());
            let modules =
                location.map_or_else(|| Ok(BTreeSet::new()), |folder| installed_modules(&package.name, folder))?;
            findings.extend(self.hiding(&package.name, &modules));
        }
        Ok(findings)
    }

    /// An error where one of `modules`, those of the package `name`, is found elsewhere first.
    pub fn hiding(&self, name: &PackageName, modules: &BTreeSet<String>) -> Option<Finding> {
        let (module, place) = modules.iter().find_map(|module| Some((module, self.modules.get(module)?)))?;
        let message = format!("Python finds `{module}` in `{}` before {name} as it is locked", place.display());
        let help = "remove that copy, or take its folder off PYTHONPATH or `sys.path`; a restart does not help, every kernel \
                    looks there first";
        Some(Finding::error(Code::KernelShadowed, message).with_help(help))
    }
}

/// An error for a folder that Python looks into first, on a mount that does not answer.
fn silent(folder: &Path) -> Option<Finding> {
    let mount = unreachable().into_iter().find(|mount| folder.starts_with(&mount.path))?;
    let Finding { code, notes, .. } = Unreachable::to_finding(&mount);
    let message =
        format!("Python looks into `{}` first, and waits for it: nothing could be imported", folder.display());
    let finding = Finding::error(code, message);
    Some(notes.into_iter().fold(finding, Finding::with_note).with_help("or take the folder off PYTHONPATH"))
}

/// The folders of the kernel's `sys.path` before the first of `folders`.
fn kernels_first<'a>(loaded: &'a Loaded, folders: &[PathBuf]) -> impl Iterator<Item = &'a Path> {
    let path = match &loaded.modules {
        Modules::Reported(facts) => facts.path.as_slice(),
        _ => &[],
    };
    let site = path.iter().position(|folder| folders.contains(folder)).unwrap_or_default();
    path.iter().take(site).map(PathBuf::as_path)
}

/// Modules that the kernel has loaded from a place that comes before that of installed ones.
fn loaded_from_elsewhere(loaded: &Loaded, layout: &Layout) -> BTreeMap<String, PathBuf> {
    let Modules::Reported(facts) = &loaded.modules else {
        return BTreeMap::new();
    };
    let names: BTreeSet<String> = facts.modules.keys().cloned().collect();
    loaded.shadowing(&names, &layout.purelib)
}
