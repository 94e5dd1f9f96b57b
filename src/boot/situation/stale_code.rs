//! The code that a kernel holds, against the files that are installed: which distributions are stale, and which repairs
//! no kernel notices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::files::{FileFault, version_of};
use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::notebook::{ChangedModule, CodeMatch, Facts, Loaded, Modules, Stale};
use crate::boot::seen::{Seen, is_code, owners, recorded_paths};
use crate::boot::situation::file_check::FileCheck;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::model::contents::installed_path;
use crate::core::model::{PackageName, Version};

/// The distributions of which `loaded` holds other code than is installed, or may do so.
pub(super) fn stale_distributions(seen: &Seen, loaded: &Loaded, check: &FileCheck) -> Vec<Stale> {
    let Modules::Reported(facts) = &loaded.modules else { return Vec::new() };
    let Some(changed) = &facts.changed else { return Vec::new() };
    let owners = owners(seen, changed.iter().map(|one| one.file.as_path()));
    let gone: BTreeSet<&str> = changed
        .iter()
        .filter(|one| one.now.is_none() && !owners.contains_key(one.file.as_path()))
        .map(|one| one.name.as_str())
        .collect();
    let successors = successors(seen, &gone);
    let mut found: BTreeMap<&PackageName, Vec<&ChangedModule>> = BTreeMap::new();
    for one in changed {
        let Some(name) = owners.get(one.file.as_path()) else {
            // Its file is gone, and a distribution has another one for the module, or its package.
            if let Some(name) = successors.get(&one.name).filter(|_| gone.contains(one.name.as_str())) {
                found.entry(name).or_default().push(one);
            }
            continue;
        };
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
    found
        .into_iter()
        .filter_map(|(name, modules)| {
            let first = modules.iter().find(|one| one.code == CodeMatch::Differs).or_else(|| modules.first())?;
            Some(Stale {
                name: name.clone(),
                module: first.name.clone(),
                more: modules.len() - 1,
                is_certain: first.code == CodeMatch::Differs,
                why: match first.code {
                    CodeMatch::Same => "another version, with different data files, was installed then".to_owned(),
                    _ => first.why.clone(),
                },
            })
        })
        .collect()
}

/// The distribution that has a file for each of `modules`, or for a package that it is in: another version had it.
fn successors(seen: &Seen, modules: &BTreeSet<&str>) -> BTreeMap<String, PackageName> {
    let mut found = BTreeMap::new();
    let all = seen.distributions().iter();
    for one in all.filter(|_| !modules.is_empty()) {
        let Ok(name) = one.name.parse::<PackageName>() else { continue };
        let own: BTreeSet<String> = recorded_paths(one).iter().map(|path| module_of(path)).collect();
        let its = modules.iter().filter(|module| packages_above(module).any(|package| own.contains(package)));
        found.extend(its.map(|module| ((*module).to_owned(), name.clone())));
    }
    found
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
    check
        .broken
        .keys()
        .filter(|name| {
            let installed = seen.machine.installed.get(*name);
            let place = installed.and_then(|one| Some((&one.version, one.location.as_ref()?)));
            place.zip(check.faults.get(*name)).is_some_and(|((version, site), faults)| {
                let is_unnoticed = |fault: &FileFault| is_unnoticed((name, version), site, fault, (facts, check));
                faults.iter().all(|fault| is_unnoticed(fault) && !is_mapped(loaded, site, fault))
                // What has no list of its files is installed again as a whole.
                && (faults.iter().all(|fault| fault.path().is_some()) || !check.maps_some(name, loaded))
            })
        })
        .cloned()
        .collect()
}

/// The packages of `target` that are not installed, and that the kernel holds as this apply will install them: each
/// file of theirs that is there, and each that it has loaded, was seen to be that of the same wheel.
pub(super) fn returning(
    seen: &Seen,
    target: &LockedTarget,
    loaded: &Loaded,
    check: &FileCheck,
) -> BTreeSet<PackageName> {
    let Modules::Reported(facts) = &loaded.modules else { return BTreeSet::new() };
    let Some(changed) = &facts.changed else { return BTreeSet::new() };
    let missing = target.packages.iter().filter(|one| !seen.machine.installed.contains_key(&one.name));
    let is_silent = |package: &&LockedPackage| {
        let Some(sha256) = package.wheel().and_then(|wheel| wheel.sha256) else { return false };
        let Some(files) = check.files_of(&package.name, &package.version, sha256) else { return false };
        let of = (&package.name, &package.version);
        !check.maps_some(&package.name, loaded)
            && !has_others(changed, &files)
            && files.iter().all(|file| returns_unnoticed(file, of, (facts, changed), check))
    };
    missing.filter(is_silent).map(|package| package.name.clone()).collect()
}

/// Whether no kernel notices that `file` of the distribution `of` is written: it is there and right, or is not there
/// and was right when it was loaded, or nothing loads it.
fn returns_unnoticed(
    file: &Path,
    of: (&PackageName, &Version),
    (facts, changed): (&Facts, &[ChangedModule]),
    check: &FileCheck,
) -> bool {
    if file.is_there() {
        return check.was_right(of, file, Some(Stamp::of(file)));
    }
    let text = file.display().to_string();
    if [".pyi", "/py.typed"].iter().any(|end| text.ends_with(end)) || text.contains(".dist-info/") {
        return true;
    }
    let loaded = changed.iter().find(|one| one.file == *file);
    let was_right =
        loaded.is_some_and(|one| one.code != CodeMatch::Differs && check.was_right(of, file, one.loaded.map(stamp)));
    is_code(&text) && (!is_loaded(facts, &text) || was_right)
}

/// Whether a module of which the file is gone lies in a package of `files` and is none of them: another version had it.
fn has_others(changed: &[ChangedModule], files: &[PathBuf]) -> bool {
    let own: BTreeSet<String> = files.iter().map(|file| module_of(below_site(&file.to_string_lossy()))).collect();
    let mut gone = changed.iter().filter(|one| one.now.is_none() && !files.contains(&one.file));
    gone.any(|one| packages_above(&one.name).any(|package| own.contains(package)))
}

/// A module, and the packages that it is in: `a.b.c`, `a.b`, `a`.
fn packages_above(module: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(module), |name| name.rsplit_once('.').map(|(package, _)| package))
}

/// Whether a module in memory is called as one of the file at `path` would be.
fn is_loaded(facts: &Facts, path: &str) -> bool {
    facts.names.contains(&module_of(below_site(path)))
}

/// A path as seen from the site-packages that it is in.
fn below_site(path: &str) -> &str {
    path.rsplit_once("-packages/").map_or(path, |(_, below)| below)
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
        // Its files were compared with nothing.
        FileFault::NoRecord | FileFault::Unlisted(_) => return is_as_seen(of, facts, check),
        // Of two versions, either may have brought the files.
        FileFault::Duplicates(infos) => {
            return infos.iter().all(|info| version_of(Path::new(info)).as_ref() == Some(of.1));
        }
        FileFault::NotInstalled | FileFault::OtherVersion(_) | FileFault::Unchecked(_) => return false,
        FileFault::Missing(path)
        | FileFault::Changed(path)
        | FileFault::Unreadable(path, _)
        | FileFault::NotExecutable(path) => path,
    };
    // Metadata and scripts are read by other processes.
    if path.contains(".dist-info/") || path.contains(".data/scripts/") || path.starts_with("../") {
        return true;
    }
    let file = site.join(installed_path(path).unwrap_or_default());
    match facts.changed.iter().flatten().find(|one| one.file == file) {
        // It was loaded before it was damaged.
        Some(module) => check.was_right(of, &file, module.loaded.map(stamp)),
        // It was loaded since, or not at all; any other file may have been read by any module.
        None if is_code(path) => !facts.names.contains(&module_of(path)),
        None => false,
    }
}

/// Whether each file that earlier looks have seen of the distribution is right now, or was when the kernel loaded it,
/// or is code that the kernel does not hold.
fn is_as_seen(of: (&PackageName, &Version), facts: &Facts, check: &FileCheck) -> bool {
    let files = check.seen_files(of.0);
    !files.is_empty()
        && files.iter().all(|file| {
            let text = file.display().to_string();
            match facts.changed.iter().flatten().find(|one| one.file == *file) {
                Some(module) => check.was_right(of, file, module.loaded.map(stamp)),
                None => {
                    text.contains(".dist-info/")
                        || check.was_right(of, file, Some(Stamp::of(file)))
                        || is_code(&text) && !is_loaded(facts, &text)
                }
            }
        })
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
