//! What a plan is decided from besides profile, lock and machine: what the kernel has loaded, which modules change,
//! what the environment file says, which wheels bring back what was there before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::files::lexical;
use crate::boot::machine::{Layout, MachineRequest, installed_modules};
use crate::boot::notebook::{Facts, Loaded, Module, Modules, observe_loaded};
use crate::boot::script::ENVIRONMENT_FILE;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::situation::file_check::FileCheck;
use crate::boot::situation::stale_code::stale_distributions;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::{Entry, parse_record};
use crate::core::model::PackageName;
use crate::core::model::contents::installed_path;
use crate::core::model::modules::modules_among;

/// What the kernel of `seen` has loaded. A described notebook image is taken for one with a fresh kernel.
pub fn loaded(
    session: &Session<'_>,
    seen: &Seen,
    request: &MachineRequest,
    files: &FileCheck,
) -> Result<Loaded, Failure> {
    let preloaded = || session.matrix.kernel.preloaded.iter().cloned().collect::<BTreeSet<PackageName>>();
    if let Some(kernel) = &seen.machine.kernel {
        let preloaded = seen.machine.host.preloads.then(preloaded);
        let facts = request.kernel_modules.as_deref();
        let site = folders(seen);
        let with_libraries: Vec<PathBuf> = site.iter().cloned().chain(library_folder(seen)).collect();
        let mut loaded = observe_loaded(kernel, facts, preloaded, &with_libraries)?;
        loaded.mapped_outside = mapped_outside(seen, &loaded, &site);
        loaded.stale = stale_distributions(seen, &loaded, files);
        return Ok(loaded);
    }
    if let Some(pid) = request.kernel_pid.filter(|_| seen.is_here() && !request.no_kernel) {
        return Err(Failure::input(format!("--kernel-pid: there is no process {pid}"))
            .help("pass the PID of the notebook's kernel: run `os.getpid()` in a cell"));
    }
    if request.kernel_modules.is_some() && seen.is_here() {
        return Err(
            Failure::input("--kernel-modules was given but no kernel was found").help("pass its PID with --kernel-pid")
        );
    }
    let fresh = seen.machine.runtime.is_some() && seen.machine.host.preloads;
    let names = if fresh { preloaded() } else { BTreeSet::new() };
    let modules = names.iter().map(|name| (name.as_ref().replace('-', "_"), Module::default()));
    let facts = Facts { modules: modules.collect(), ..Facts::default() };
    let modules = if fresh { Modules::Reported(Box::new(facts)) } else { Modules::Unknown };
    Ok(Loaded { modules, ..Loaded::default() })
}

/// Where wheels put libraries that lie outside of site-packages (`.data/data/lib`). What lies in the system's own is
/// not theirs.
fn library_folder(seen: &Seen) -> Option<PathBuf> {
    let layout = seen.layout()?;
    (layout.data != Path::new("/usr")).then(|| layout.data.join("lib"))
}

/// The distributions with a file outside of `site`, the folders of modules, that the kernel has mapped.
fn mapped_outside(seen: &Seen, loaded: &Loaded, site: &[PathBuf]) -> BTreeSet<PackageName> {
    let files: BTreeSet<&PathBuf> =
        loaded.mapped.iter().filter(|file| !site.iter().any(|folder| file.starts_with(folder))).collect();
    let all = seen.distributions().iter().filter(|_| !files.is_empty());
    all.filter(|one| {
        let Some(folder) = one.folder.parent() else { return false };
        let record = files::read_optional(&one.folder.join("RECORD")).ok().flatten().unwrap_or_default();
        // An image has thousands of lines of modules: those are not read.
        let outside = record.lines().filter(|line| line.trim_start_matches('"').starts_with("../"));
        let mut places = outside.flat_map(parse_record).map(|entry| lexical(&entry.path, folder));
        places.any(|place| files.contains(&place))
    })
    .filter_map(|one| one.name.parse().ok())
    .collect()
}

/// The folders that modules are installed to, under each name that a path may have.
pub(super) fn folders(seen: &Seen) -> Vec<PathBuf> {
    let layout = seen.layout();
    let own = layout.map(Layout::folders).unwrap_or_default().into_iter().cloned();
    // Debian's packages lie in folders of their own, where an apply shadows them.
    let elsewhere = seen.machine.installed.values().filter_map(|one| one.location.clone());
    let all: BTreeSet<PathBuf> = own.chain(elsewhere).collect();
    let real = all.iter().filter_map(|folder| folder.real().ok());
    all.iter().cloned().chain(real).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The modules of those of `names` that are installed.
pub fn modules(
    seen: &Seen,
    names: impl IntoIterator<Item = PackageName>,
) -> Result<BTreeMap<PackageName, BTreeSet<String>>, Failure> {
    let mut found = BTreeMap::new();
    for name in names {
        let location = seen.machine.installed.get(&name).and_then(|one| one.location.as_ref());
        let modules = location.map_or_else(|| Ok(BTreeSet::new()), |folder| installed_modules(&name, folder))?;
        if !modules.is_empty() {
            found.insert(name, modules);
        }
    }
    Ok(found)
}

/// The modules that a wheel brings whose RECORD has these `entries`.
pub fn modules_of(entries: &[Entry]) -> BTreeSet<String> {
    let paths: Vec<String> = entries.iter().filter_map(|entry| installed_path(&entry.path)).collect();
    modules_among(paths.iter().map(String::as_str))
}

/// The line of the environment file that is there.
pub(super) fn environment_file(seen: &Seen) -> Result<Option<String>, Failure> {
    let layout = seen.layout();
    let text = layout.map_or(Ok(None), |layout| files::read_optional(&layout.purelib.join(ENVIRONMENT_FILE)))?;
    Ok(text.map(|text| text.trim_end().to_owned()))
}
