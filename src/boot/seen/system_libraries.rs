//! Shared libraries that wheels need from the system and that it does not have.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::boot::lock::LockedTarget;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::matrix::{SystemLibraries, release_of};
use crate::core::model::{PackageName, Version};

/// A package that can't be imported here for want of libraries.
pub struct Lacking {
    pub package: PackageName,
    version: Version,
    libraries: Vec<String>,
    /// Debian packages that have them.
    pub debian: BTreeSet<String>,
}

/// The packages of `target` whose libraries this machine does not have, nor would have with the Debian packages of the
/// lock. Nothing is said of images, of which the system's packages are not known.
pub fn lacking(session: &Session<'_>, seen: &Seen, target: &LockedTarget) -> Result<Vec<Lacking>, Failure> {
    if !seen.is_here() {
        return Ok(Vec::new());
    }
    let known = SystemLibraries::bundled().map_err(Failure::bug)?;
    let system = System::of(session, seen, target, &known);
    let carried = session.matrix.carried.iter().filter(|row| {
        row.by.iter().any(|name| target.package(name).is_some() || seen.machine.installed.contains_key(name))
    });
    let carried: BTreeSet<&str> = carried.map(|row| row.library.as_str()).collect();
    let mut all = Vec::new();
    for package in &target.packages {
        let row = session.matrix.linkages.of(&package.name).and_then(|file| file.row(&package.version));
        let Some(needs) = row.map(|row| &row.linkage.needs).filter(|needs| !needs.is_empty()) else { continue };
        let missing = needs.iter().map(|set| system.missing(set, &carried)).collect::<Vec<_>>();
        // Of several sets one is enough; the smallest is the cheapest to bring.
        let Some(fewest) = missing.into_iter().min_by_key(|missing| (missing.len(), !system.can_bring(missing))) else {
            continue;
        };
        if fewest.is_empty() {
            continue;
        }
        let debian = fewest.iter().filter_map(|library| known.package(library, system.release.as_deref()));
        let debian = debian.map(str::to_owned).collect();
        let (package, version) = (package.name.clone(), package.version.clone());
        all.push(Lacking { package, version, libraries: fewest, debian });
    }
    Ok(all)
}

/// The same as findings.
pub fn without_libraries(session: &Session<'_>, seen: &Seen, target: &LockedTarget) -> Result<Vec<Finding>, Failure> {
    Ok(lacking(session, seen, target)?.iter().map(Lacking::finding).collect())
}

impl Lacking {
    fn finding(&self) -> Finding {
        let (Self { package, version, .. }, libraries) = (self, self.libraries.join(", "));
        let message = format!("{package} {version} needs {libraries}, which this system does not have");
        let debian: Vec<String> = self.debian.iter().map(|name| format!("\"{name}\"")).collect();
        Finding::warning(Code::SystemLibraryMissing, message)
            .about(Subject::release(package, version))
            .with_note("the import fails without it: `cannot open shared object file`")
            .with_help(format!(
                "add `packages = [{}]` under `[apt]` of the profile, or run `colab-boot plan --add-apt`",
                debian.join(", ")
            ))
    }
}

/// What the loader of this system finds.
struct System<'a> {
    folders: Vec<PathBuf>,
    /// Debian packages that are there, or will be.
    packages: BTreeSet<String>,
    release: Option<String>,
    known: &'a SystemLibraries,
}

impl<'a> System<'a> {
    fn of(session: &Session<'_>, seen: &Seen, target: &LockedTarget, known: &'a SystemLibraries) -> Self {
        const FOLDERS: [&str; 9] = [
            "/lib",
            "/usr/lib",
            "/lib64",
            "/usr/lib64",
            "/usr/local/lib",
            "/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu",
            "/lib/aarch64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
        ];
        let root = |path: &str| session.paths.under_root(path);
        let configured = files::names_if_any(&root("/etc/ld.so.conf.d"))
            .into_iter()
            .filter_map(|name| files::read_optional(&root(&format!("/etc/ld.so.conf.d/{name}"))).ok().flatten());
        let configured: Vec<String> =
            configured.flat_map(|text| text.lines().map(str::trim).map(str::to_owned).collect::<Vec<_>>()).collect();
        let configured = configured.iter().filter(|line| line.starts_with('/')).map(|line| root(line));
        let observed = seen.observed();
        let own = observed.iter().flat_map(|observed| &observed.library_path).map(PathBuf::from);
        // conda's Pythons find libraries beside themselves.
        let beside = seen.interpreter().and_then(|path| Some(path.parent()?.parent()?.join("lib")));
        let folders = FOLDERS.iter().map(|path| root(path)).chain(configured).chain(own).chain(beside).collect();
        let installed = seen.machine.debian.packages().keys().cloned();
        let packages = installed.chain(target.apt.iter().map(|one| one.name.clone())).collect();
        Self { folders, packages, release: release_of(&seen.machine.os), known }
    }

    /// The libraries of `set` that are a system's to have, and that neither this one nor a wheel has.
    fn missing(&self, set: &BTreeSet<String>, carried: &BTreeSet<&str>) -> Vec<String> {
        set.iter()
            .filter(|library| {
                if carried.contains(library.as_str()) {
                    return false;
                }
                let Some(package) = self.known.package(library, self.release.as_deref()) else { return false };
                !self.packages.contains(package) && !self.folders.iter().any(|folder| folder.join(library).is_there())
            })
            .cloned()
            .collect()
    }

    /// Whether this release has packages with all of `libraries`.
    fn can_bring(&self, libraries: &[String]) -> bool {
        self.release.as_ref().is_none_or(|release| libraries.iter().all(|library| self.known.has(library, release)))
    }
}
