//! Older copies of locked packages that Python finds first: in the user's site-packages, on PYTHONPATH, or where the kernel says that it
//! has loaded them from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::diag::{Code, Failure, Finding};
use crate::host::files;
use crate::host::mounts::Look;
use crate::machine::{Layout, Machine, installed_modules};
use crate::model::PackageName;
use crate::notebook::Modules;
use crate::session::Planned;

/// A finding for each locked package of which another copy comes first.
pub fn shadowed(planned: &Planned, layout: &Layout) -> Result<Vec<Finding>, Failure> {
    let mut suspects = in_front(&planned.seen.machine);
    suspects.extend(loaded_from_elsewhere(planned, layout));
    // Only what lies in site-packages, too, can be hidden.
    suspects.retain(|module, _| layout.folders().iter().any(|folder| has_module(folder, module)));
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    for package in &planned.target.packages {
        let location = planned.seen.machine.installed.get(&package.name).and_then(|one| one.location.as_ref());
        let modules =
            location.map_or_else(|| Ok(BTreeSet::new()), |folder| installed_modules(&package.name, folder))?;
        let hidden = modules.iter().find_map(|module| Some((module, suspects.get(module)?)));
        findings.extend(hidden.map(|(module, place)| finding(&package.name, module, place)));
    }
    Ok(findings)
}

fn finding(name: &PackageName, module: &str, place: &Path) -> Finding {
    let message = format!("Python finds `{module}` in `{}` before {name} as it is locked", place.display());
    Finding::error(Code::KernelShadowed, message)
        .with_help("remove that copy, or unset PYTHONPATH; a restart does not help, every kernel looks there first")
}

/// Modules in the folders that come before site-packages in every kernel, each with the place.
fn in_front(machine: &Machine) -> BTreeMap<String, PathBuf> {
    let home = machine.python.as_ref().and_then(|python| python.home.as_ref());
    let folders = home.map(|home| home.before_site.as_slice()).unwrap_or_default();
    let mut found = BTreeMap::new();
    for folder in folders {
        for entry in files::names_if_any(folder) {
            let module = entry.split('.').next().unwrap_or_default().to_owned();
            if has_module(folder, &module) {
                found.entry(module).or_insert_with(|| folder.join(entry));
            }
        }
    }
    found
}

/// Modules that the kernel has loaded from a place that comes before site-packages.
fn loaded_from_elsewhere(planned: &Planned, layout: &Layout) -> BTreeMap<String, PathBuf> {
    let Modules::Reported(facts) = &planned.loaded.modules else {
        return BTreeMap::new();
    };
    let names: BTreeSet<String> = facts.modules.keys().cloned().collect();
    let elsewhere = planned.loaded.shadowing(&names, &layout.purelib);
    let home = planned.seen.machine.python.as_ref().and_then(|python| python.home.as_ref());
    // The standard library is meant to come first.
    let standard = home.map(|home| home.stdlib.clone());
    let meant = |file: &PathBuf| planned.folders.iter().chain(&standard).any(|folder| file.starts_with(folder));
    elsewhere.into_iter().filter(|(_, file)| !meant(file)).collect()
}

/// Whether `import module` finds something in `folder`.
fn has_module(folder: &Path, module: &str) -> bool {
    let package = folder.join(module.replace('.', "/"));
    package.join("__init__.py").is_file_there() || package.with_extension("py").is_file_there()
}
