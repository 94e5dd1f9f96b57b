//! The code that a kernel holds, against the files that are installed: which distributions are stale, and which repairs no kernel notices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::host::mounts::Look;
use crate::host::stamps::Stamp;
use crate::installed::FileFault;
use crate::model::contents::installed_path;
use crate::model::{PackageName, Version};
use crate::notebook::{ChangedModule, CodeMatch, Facts, Loaded, Modules, Stale};
use crate::session::file_check::FileCheck;
use crate::session::machine::Seen;
use crate::session::owners::{is_code, owners};

/// The distributions of which `loaded` holds other code than is installed, or may do so.
pub(super) fn stale_distributions(seen: &Seen, loaded: &Loaded, check: &FileCheck) -> Vec<Stale> {
    let Modules::Reported(facts) = &loaded.modules else { return Vec::new() };
    let Some(changed) = &facts.changed else { return Vec::new() };
    let owners = owners(seen, changed.iter().map(|one| one.file.as_path()));
    let mut found: BTreeMap<&PackageName, Vec<&ChangedModule>> = BTreeMap::new();
    for one in changed {
        let Some(name) = owners.get(one.file.as_path()) else { continue };
        let Some(version) = seen.machine.installed.get(name).map(|one| &one.version) else { continue };
        // The same code may have read other data.
        if one.code == CodeMatch::Same && !check.had_other_than(name, version) {
            continue;
        }
        // The bytes that it was loaded from were those of the wheel, and they are again.
        let was_right = || check.was_right((name, version), &one.file, one.loaded.map(stamp));
        let is_proven = one.code != CodeMatch::Differs && was_right();
        if !is_proven {
            found.entry(name).or_default().push(one);
        }
    }
    let stale = |(name, modules): (&PackageName, Vec<&ChangedModule>)| {
        let first = modules.iter().find(|one| one.code == CodeMatch::Differs).or_else(|| modules.first())?;
        Some(Stale {
            name: name.clone(),
            module: first.name.clone(),
            more: modules.len() - 1,
            is_certain: first.code == CodeMatch::Differs,
            why: match first.code {
                CodeMatch::Same => "another version was installed then, with data of its own".to_owned(),
                _ => first.why.clone(),
            },
        })
    };
    found.into_iter().filter_map(stale).collect()
}

const fn stamp((changed, size): (i64, u64)) -> Stamp {
    Stamp { size, changed }
}

/// The distributions whose broken files no code in the kernel comes from: their repair needs no restart.
pub(super) fn silent_repairs(seen: &Seen, loaded: &Loaded, check: &FileCheck) -> BTreeSet<PackageName> {
    let Modules::Reported(facts) = &loaded.modules else {
        return BTreeSet::new();
    };
    if facts.changed.is_none() {
        return BTreeSet::new();
    }
    let is_silent = |name: &&PackageName| {
        let installed = seen.machine.installed.get(*name);
        let place = installed.and_then(|one| Some((&one.version, one.location.as_ref()?)));
        place.zip(check.faults.get(*name)).is_some_and(|((version, site), faults)| {
            let is_unnoticed = |fault: &FileFault| is_unnoticed((name, version), site, fault, (facts, check));
            faults.iter().all(|fault| is_unnoticed(fault) && !is_mapped(loaded, site, fault))
        })
    };
    check.broken.keys().filter(is_silent).cloned().collect()
}

/// Whether the kernel has mapped the library that is at fault, whichever module has loaded it.
fn is_mapped(loaded: &Loaded, site: &Path, fault: &FileFault) -> bool {
    let Some(file) = fault.path().and_then(installed_path).map(|path| site.join(path)) else { return false };
    loaded.mapped.contains(&file) || file.real().is_ok_and(|real| loaded.mapped.contains(&real))
}

/// Whether no code in memory comes from the file that is at fault.
fn is_unnoticed(
    of: (&PackageName, &Version),
    site: &Path,
    fault: &FileFault,
    (facts, check): (&Facts, &FileCheck),
) -> bool {
    let path = match fault {
        FileFault::NoRecord | FileFault::Unlisted(_) | FileFault::Duplicates(_) => return true,
        FileFault::NotInstalled | FileFault::OtherVersion(_) | FileFault::Unchecked(_) => return false,
        FileFault::Missing(path) | FileFault::Changed(path) | FileFault::Unreadable(path, _) => path,
    };
    // Metadata and scripts are read by other processes.
    if path.contains(".dist-info/") || path.contains(".data/scripts/") || path.starts_with("../") {
        return true;
    }
    let file = site.join(installed_path(path).unwrap_or_default());
    let is_it = |one: &&ChangedModule| one.file == file;
    match facts.changed.iter().flatten().find(is_it) {
        // It was loaded before it was damaged.
        Some(module) => check.was_right(of, &file, module.loaded.map(stamp)),
        // It was loaded since, or not at all; any other file may have been read by any module.
        None if is_code(path) => !facts.names.contains(&module_of(path)),
        None => false,
    }
}

/// `pkg.deep` of `pkg/deep/__init__.py`, `pkg._core` of `pkg/_core.cpython-312-x86_64-linux-gnu.so`.
fn module_of(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or_default();
    let parts = folder.split('/').chain([stem]).filter(|part| !part.is_empty() && *part != "__init__");
    parts.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::module_of;

    #[test]
    fn files_have_the_names_of_their_modules() {
        for (path, module) in [
            ("six.py", "six"),
            ("pkg/__init__.py", "pkg"),
            ("pkg/deep/__init__.py", "pkg.deep"),
            ("pkg/deep/a.py", "pkg.deep.a"),
            ("pkg/_core.cpython-312-x86_64-linux-gnu.so", "pkg._core"),
        ] {
            assert_eq!(module_of(path), module);
        }
    }
}
