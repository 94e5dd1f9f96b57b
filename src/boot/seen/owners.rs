//! Which installed distribution a file with code belongs to, and files that Python takes before those of a locked one.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::boot::files::{Intruder, lexical};
use crate::boot::machine::{RawDistribution, record_in};
use crate::boot::seen::Seen;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::PackageName;
use crate::core::model::contents::is_untidy;

/// Which distribution has each of `files`, by its RECORD. Files of the user's own have none.
pub fn owners<'a>(seen: &Seen, files: impl Iterator<Item = &'a Path>) -> HashMap<&'a Path, PackageName> {
    let mut wanted: HashMap<PathBuf, &Path> = HashMap::new();
    for file in files {
        wanted.insert(file.to_owned(), file);
        // A folder of the path may be a link.
        wanted.extend(file.real().ok().map(|real| (real, file)));
    }
    let mut found = HashMap::new();
    let all = seen.distributions().iter();
    for one in all.take_while(|_| !wanted.is_empty()) {
        let (Ok(name), Some(site)) = (one.name.parse::<PackageName>(), one.folder.parent()) else { continue };
        let real = site.real().unwrap_or_else(|_| site.to_owned());
        for path in recorded_paths(one) {
            let owned = [site.join(&path), real.join(&path)].into_iter().find_map(|place| wanted.get(&place).copied());
            found.extend(owned.map(|file| (file, name.clone())));
        }
    }
    found
}

/// The files with code that an installed distribution names.
pub fn recorded_paths(one: &RawDistribution) -> Vec<String> {
    let record = files::read_optional(&one.folder.join("RECORD")).ok().flatten().unwrap_or_default();
    let paths = parse_record(&record).into_iter().map(|entry| entry.path);
    paths.filter(|path| is_code(path)).collect()
}

/// The places of the files that an installed distribution lists, but for its metadata and what Python has compiled.
pub fn places_of(one: &RawDistribution) -> Result<BTreeSet<PathBuf>, Failure> {
    let Some(site) = one.folder.parent() else { return Ok(BTreeSet::new()) };
    let record = record_in(&one.folder)?.unwrap_or_default();
    let own = parse_record(&record).into_iter().map(|entry| entry.path);
    let own = own.filter(|path| !path.contains(".dist-info/") && !path.contains("__pycache__/"));
    Ok(own.map(|path| lexical(&path, site)).collect())
}

pub fn is_code(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".so")
}

/// An error for each file that comes before one of a distribution: it names the file, and whose it is.
pub fn hidden(seen: &Seen, intruders: &[(PackageName, Intruder)]) -> Vec<Finding> {
    let all = with_owners(seen, intruders);
    let all = all.filter(|((_, one), owner)| owner.is_none() || !one.of_namespace && !is_by_accident(&one.place));
    all.map(|(one, owner)| finding(one, owner)).collect()
}

/// Whether an entry lies at the top of site-packages by accident: packages bring tests and examples there.
fn is_by_accident(place: &Path) -> bool {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let is_top = place.parent().is_some_and(|folder| folder.as_os_str().to_string_lossy().ends_with("-packages"));
    is_top && is_untidy(name.split('.').next().unwrap_or_default())
}

/// The same of those that no installed distribution owns: what one owns may be about to go.
pub fn hidden_by_user(seen: &Seen, intruders: &[(PackageName, Intruder)]) -> Vec<Finding> {
    let unowned = with_owners(seen, intruders).filter(|(_, owner)| owner.is_none());
    unowned.map(|(one, owner)| finding(one, owner)).collect()
}

fn finding((name, intruder): &(PackageName, Intruder), owner: Option<PackageName>) -> Finding {
    let (place, hides) = (intruder.place.display(), intruder.hides.display());
    let file = Subject::file(&intruder.place);
    if let Some(owner) = owner.filter(|owner| owner != name) {
        let message = format!("Python imports `{place}` of {owner} instead of `{hides}` of {name}");
        return Finding::error(Code::FilesCollide, message)
            .about(Subject::package(name))
            .against(Subject::package(&owner))
            .against(file)
            .with_help(format!("{name} and {owner} can't be used together: remove one of them"));
    }
    Finding::error(Code::KernelShadowed, format!("Python imports `{place}` instead of `{hides}` of {name}"))
        .about(Subject::package(name))
        .against(file)
        .with_help("no package owns it: move it to another folder, then run the command again")
}

/// Each intruder with the installed distribution that owns it.
fn with_owners<'a>(
    seen: &Seen,
    intruders: &'a [(PackageName, Intruder)],
) -> impl Iterator<Item = (&'a (PackageName, Intruder), Option<PackageName>)> {
    let entries: Vec<PathBuf> = intruders.iter().map(|(_, one)| entry(&one.place)).collect();
    let owners = owners(seen, entries.iter().map(PathBuf::as_path));
    let owned: Vec<Option<PackageName>> = entries.iter().map(|entry| owners.get(entry.as_path()).cloned()).collect();
    intruders.iter().zip(owned)
}

/// The file that stands for an intruder: of a folder, its `__init__`.
pub fn entry(place: &Path) -> PathBuf {
    let names = files::names_if_any(place);
    names.iter().find(|name| name.starts_with("__init__.")).map_or_else(|| place.to_owned(), |name| place.join(name))
}
