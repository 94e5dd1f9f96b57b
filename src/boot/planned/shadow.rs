//! Older copies of locked packages that Python finds first: in the user's site-packages, on PYTHONPATH, beside the
//! notebook, or wherever the kernel says that it looks first. A restart does not help: every kernel looks there again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::lock::LockedTarget;
use crate::boot::machine::{Home, Layout, find_info, installed_modules};
use crate::boot::notebook::{Loaded, Modules, is_in_module};
use crate::boot::plan::Change;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::files;
use crate::core::host::mounts::{Look, Unreachable, is_elsewhere, list_remote, reach, unreachable};
use crate::core::inspect::Archive;
use crate::core::model::PackageName;
use crate::core::model::wheel_names::metadata_of;

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
    /// Folders without an `__init__`, which come first in namespace packages of their names.
    portions: BTreeMap<String, PathBuf>,
    /// The folders that only this kernel has on its `sys.path`: another one would not look there.
    of_kernel: BTreeSet<PathBuf>,
    /// What the kernel has loaded from elsewhere, though it would not find it there now.
    held: BTreeMap<String, PathBuf>,
    /// Metadata of packages: `importlib.metadata`, and with it pip, takes these for what is installed.
    metadata: BTreeMap<PackageName, PathBuf>,
    /// The folder of packages that the `sys.path` of the kernel does not have.
    not_on_path: Option<PathBuf>,
    /// Folders that it looks into first and that do not answer: every Python that starts would wait for them.
    silent: Vec<PathBuf>,
}

impl Session<'_> {
    /// The folders that every Python has before site-packages.
    pub fn before_site<'a>(&'a self, home: &'a Home) -> BTreeSet<&'a Path> {
        // What is on a mount that is silent was kept from the interpreter when it was asked.
        let set = self.environment.get("PYTHONPATH").map_or("", String::as_str);
        let set = set.split(':').map(Path::new).filter(|folder| folder.is_absolute());
        home.before_site.iter().map(PathBuf::as_path).chain(set).collect()
    }
}

impl InFront {
    /// What lies before `folders`, in which packages are installed, and what the kernel has loaded from there.
    pub fn of(session: &Session<'_>, seen: &Seen, loaded: &Loaded, folders: &[PathBuf]) -> Self {
        let Some(home) = seen.home() else { return Self::default() };
        let is_standard = |folder: &Path| folder.starts_with(&home.stdlib);
        let mut front = Self::default();
        let mut first = session.before_site(home);
        // `.pth` files may put folders first in every Python, and what is in these may change.
        first.extend(before(folders, &home.search));
        // A kernel starts in its folder, and has that first.
        let of_kernel: BTreeSet<&Path> = before(folders, kernels_path(loaded)).collect();
        let begins = std::path::absolute(".").unwrap_or_default();
        front.of_kernel = of_kernel
            .difference(&first)
            .filter(|folder| **folder != begins)
            .map(|folder| folder.to_path_buf())
            .collect();
        first.extend(of_kernel);
        for folder in first.into_iter().filter(|folder| !is_standard(folder)) {
            if reach(folder).is_err() {
                front.silent.push(folder.to_owned());
            } else if !folder.real().is_ok_and(|real| folders.contains(&real)) {
                front.add(folder);
            }
        }
        let Some(layout) = seen.layout() else { return front };
        front.not_on_path = not_on_path(loaded, layout);
        // The standard library is meant to come first, and each of the folders before another one; they may be reached
        // through links.
        let is_meant = |file: &Path| {
            let real = file.real().unwrap_or_else(|_| file.to_owned());
            is_standard(file) || folders.iter().any(|folder| file.starts_with(folder) || real.starts_with(folder))
        };
        let elsewhere = loaded_from_files(loaded).into_iter().filter(|(_, file)| !is_meant(file));
        let names: BTreeSet<String> = elsewhere.clone().map(|(name, _)| name.clone()).collect();
        let first = loaded.shadowing(&names, &layout.purelib);
        for (name, file) in elsewhere {
            let is_first = first.contains_key(name) && file.is_there();
            let found = if is_first { &mut front.modules } else { &mut front.held };
            found.insert(name.clone(), file.clone());
        }
        front
    }

    /// Adds the modules that lie in `folder`.
    fn add(&mut self, folder: &Path) {
        let is_zip = folder.is_file_there();
        let entries = if is_zip {
            names_in_zip(folder)
        } else if is_elsewhere(folder) {
            list_remote(folder, 1).into_iter().map(|one| one.path).collect()
        } else {
            files::names_if_any(folder)
        };
        for entry in entries {
            if let Some(name) = metadata_of(&entry) {
                self.metadata.entry(name).or_insert_with(|| folder.join(&entry));
                continue;
            }
            let (module, ending) = entry.split_once('.').unwrap_or((&entry, ""));
            let is_module = match ending {
                "" if is_package(&folder.join(module)) => true,
                "" => {
                    if folder.join(module).is_folder_there() {
                        self.portions.entry(module.to_owned()).or_insert_with(|| folder.join(module));
                    }
                    false
                }
                "py" | "pyc" => true,
                other => other == "so" || other.ends_with(".so"),
            };
            if is_module && !PROJECTS_OWN.contains(&module) {
                let place = if is_zip { folder.to_owned() } else { folder.join(&entry) };
                self.modules.entry(module.to_owned()).or_insert(place);
            }
        }
    }

    /// A finding for each folder that does not answer, and for each package of `target` that is installed and of which
    /// another copy comes first. What the kernel holds of one that `changes` is judged by the change; what is `known`
    /// is not said twice.
    pub fn findings(
        mut self,
        seen: &Seen,
        target: &LockedTarget,
        (layout, changes): (&Layout, &[Change]),
        known: &[Finding],
    ) -> Result<Vec<Finding>, Failure> {
        let mut findings: Vec<Finding> = self.silent.iter().filter_map(|folder| silent(folder)).collect();
        findings.extend(self.not_on_path.as_deref().filter(|_| !target.packages.is_empty()).map(unreachable_packages));
        // Only what lies in site-packages, too, can be hidden.
        let entries = layout.folders().into_iter().flat_map(|folder| files::names_if_any(folder));
        let installed: BTreeSet<String> =
            entries.filter_map(|entry| entry.split('.').next().map(str::to_owned)).collect();
        let is_installed = |module: &String| module.split('.').next().is_some_and(|top| installed.contains(top));
        let is_known = |module: &str| {
            let subject = Subject::module(module);
            known.iter().any(|one| one.code == Code::KernelShadowed && one.about.contains(&subject))
        };
        self.modules.retain(|module, _| is_installed(module) && !is_known(module));
        self.held.retain(|module, _| is_installed(module));
        self.portions.retain(|module, _| layout.folders().iter().any(|site| is_portion(&site.join(module))));
        let is_empty = self.modules.is_empty() && self.held.is_empty() && self.portions.is_empty();
        if is_empty && self.metadata.is_empty() {
            return Ok(findings);
        }
        for package in &target.packages {
            let location = seen.machine.installed.get(&package.name).and_then(|one| one.location.as_ref());
            let modules =
                location.map_or_else(|| Ok(BTreeSet::new()), |folder| installed_modules(&package.name, folder))?;
            let hiding = self.hiding(&package.name, &modules);
            let is_kept = !changes.iter().any(|change| change.name == package.name);
            findings.extend(
                hiding
                    .or_else(|| self.held_of(&package.name, &modules).filter(|_| is_kept))
                    .or_else(|| self.metadata_of(&package.name, layout)),
            );
        }
        Ok(findings)
    }

    /// Where `module` comes first: itself, a package in the place of the namespace that it lies in, or another portion
    /// of that namespace.
    fn place_of(&self, module: &str) -> Option<PathBuf> {
        let Some((top, rest)) = module.split_once('.') else { return self.modules.get(module).cloned() };
        if let Some(place) = self.modules.get(top) {
            return Some(place.clone());
        }
        let mut place = self.portions.get(top)?.clone();
        for part in rest.split('.') {
            let file = place.join(format!("{part}.py"));
            place.push(part);
            if is_package(&place) {
                return Some(place);
            }
            if file.is_file_there() {
                return Some(file);
            }
        }
        None
    }

    /// An error where one of `modules`, those of the package `name`, is found elsewhere first.
    pub fn hiding(&self, name: &PackageName, modules: &BTreeSet<String>) -> Option<Finding> {
        let (module, place) = modules.iter().find_map(|module| Some((module, self.place_of(module)?)))?;
        let message = format!("Python finds `{module}` in `{}` before the locked {name}", place.display());
        let help = if place.parent().is_some_and(|folder| self.of_kernel.contains(folder)) {
            "restart the kernel, then run the command again; if this happens again, remove the line that adds that folder to `sys.path`"
        } else {
            "remove that copy, or remove its folder from PYTHONPATH or `sys.path`; a restart does not help, because every kernel searches there first"
        };
        let finding = Finding::error(Code::KernelShadowed, message).about(Subject::package(name));
        Some(finding.about(Subject::module(module)).against(Subject::file(&place)).with_help(help))
    }
}

impl InFront {
    /// An error where the kernel has loaded one of `modules` from elsewhere, though it would not find it there now.
    fn held_of(&self, name: &PackageName, modules: &BTreeSet<String>) -> Option<Finding> {
        let (module, place) =
            self.held.iter().find(|(held, _)| modules.iter().any(|module| is_in_module(held, module)))?;
        let message =
            format!("the kernel has loaded `{module}` from `{}`, not from the locked {name}", place.display());
        let finding = Finding::error(Code::KernelShadowed, message).about(Subject::package(name));
        let finding = finding.about(Subject::module(module)).against(Subject::file(place));
        let help = "restart the kernel, then run the command again; if this happens again, a `.pth` file or a cell puts that folder first";
        Some(finding.with_help(help))
    }

    /// An error where the metadata of an installed package is hidden by that of another copy.
    fn metadata_of(&self, name: &PackageName, layout: &Layout) -> Option<Finding> {
        let place = self.metadata.get(name)?;
        let is_installed = layout.folders().iter().any(|site| find_info(site, name).is_ok_and(|info| info.is_some()));
        let message = format!("`{}` hides the metadata of the locked {name}", place.display());
        let help =
            "remove it, or remove its folder from PYTHONPATH or `sys.path`: pip and `importlib.metadata` read it first";
        let finding = Finding::error(Code::KernelShadowed, message).about(Subject::package(name));
        is_installed.then(|| finding.against(Subject::file(place)).with_help(help))
    }
}

/// The folder of packages, where the kernel says what its `sys.path` is and has no such folder on it.
fn not_on_path(loaded: &Loaded, layout: &Layout) -> Option<PathBuf> {
    let path = kernels_path(loaded);
    (!path.is_empty()
        && !path.iter().any(|entry| *entry == layout.purelib || entry.real().ok() == layout.purelib.real().ok()))
    .then(|| layout.purelib.clone())
}

fn unreachable_packages(site: &Path) -> Finding {
    let message = format!("`{}` is not on this Python's `sys.path`: packages in it can't be imported", site.display());
    Finding::error(Code::KernelShadowed, message)
        .about(Subject::file(site))
        .with_help("start it without `-S`, or restart the kernel if a cell has changed `sys.path`")
}

/// An error for a folder that Python looks into first, on a mount that does not answer.
fn silent(folder: &Path) -> Option<Finding> {
    let mount = unreachable().into_iter().find(|mount| folder.starts_with(&mount.path))?;
    let Finding { code, notes, .. } = Unreachable::to_finding(&mount);
    let message = format!("Python searches `{}` first, but it does not answer: imports would hang", folder.display());
    let finding = Finding::error(code, message);
    Some(
        notes
            .into_iter()
            .fold(finding, Finding::with_note)
            .with_help("or remove the folder from PYTHONPATH and `sys.path`"),
    )
}

/// The kernel's `sys.path`.
fn kernels_path(loaded: &Loaded) -> &[PathBuf] {
    match &loaded.modules {
        Modules::Reported(facts) => facts.path.as_slice(),
        _ => &[],
    }
}

/// What `path`, a `sys.path`, has before the first of `folders`.
fn before<'a>(folders: &[PathBuf], path: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    let site = path.iter().position(|folder| folders.contains(folder)).unwrap_or_default();
    path.iter().take(site).map(PathBuf::as_path)
}

/// The top-level modules that the kernel has loaded from files.
fn loaded_from_files(loaded: &Loaded) -> Vec<(&String, &PathBuf)> {
    match &loaded.modules {
        Modules::Reported(facts) => {
            facts.modules.iter().filter_map(|(name, module)| Some((name, module.file.as_ref()?))).collect()
        }
        _ => Vec::new(),
    }
}

fn is_package(folder: &Path) -> bool {
    ["__init__.py", "__init__.pyc"].iter().any(|own| folder.join(own).is_file_there())
}

/// Whether a folder is a part of a namespace package.
fn is_portion(folder: &Path) -> bool {
    folder.is_folder_there() && !is_package(folder)
}

/// The entries of a zip file that Python imports from, those of its first folder.
fn names_in_zip(path: &Path) -> Vec<String> {
    let archive = files::open(path).and_then(Archive::open);
    let members = archive.map(|archive| archive.files().members.iter().map(|one| one.path.clone()).collect::<Vec<_>>());
    members
        .unwrap_or_default()
        .iter()
        .map(|path| match path.strip_suffix("/__init__.py").or_else(|| path.strip_suffix("/__init__.pyc")) {
            Some(package) => format!("{package}.py"),
            None => path.clone(),
        })
        .filter(|path| !path.contains('/'))
        .collect()
}
