//! What is installed, as the judges of `audit` want it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::boot::audit::{Audited, Environment};
use crate::boot::machine::Observed;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::host::files;
use crate::core::inspect::files_of_record;
use crate::core::model::contents::Files;
use crate::core::model::requirement::lenient_specifiers;
use crate::core::model::wheel_names::metadata_of;
use crate::core::model::{PackageName, Requirement, Version};

/// The machine that an environment is on; what is installed is left empty.
pub fn surroundings(seen: &Seen) -> Environment {
    let mut hardware = seen.machine.hardware.clone();
    hardware.gpus.extend(seen.possible_gpus.iter().cloned());
    Environment {
        held: Vec::new(),
        hardware,
        debian: seen.machine.debian.packages().iter().map(|(name, version)| (name.clone(), version.clone())).collect(),
        compat_in_use: seen.observed().is_some_and(Observed::compat_in_use),
        python: seen.machine.python.as_ref().map(|python| python.facts.clone()),
        complete: false,
        vague: vague(seen),
    }
}

/// Names of what lies on the path in other forms than a dist-info that can be read.
fn vague(seen: &Seen) -> BTreeSet<PackageName> {
    let home = seen.home();
    let folders = home.map(|home| home.search.iter().chain(&home.before_site)).into_iter().flatten();
    let name = |entry: &String| metadata_of(entry).or_else(|| entry.strip_suffix(".egg-link")?.parse().ok());
    folders.flat_map(|folder| files::names_if_any(folder)).filter_map(|entry| name(&entry)).collect()
}

/// Every distribution of the machine or image; one that is there twice, twice. What is here and no row knows has its
/// libraries read.
pub fn installed(session: &Session<'_>, seen: &Seen) -> Vec<Audited> {
    let held = |name: PackageName, version: Version, folder: Option<PathBuf>| Audited {
        build: session.matrix.build(&name, &version).cloned(),
        doubt: None,
        files: folder.as_ref().filter(|_| seen.is_here()).and_then(|folder| recorded_files(folder)).map(Arc::new),
        tags: folder.as_ref().filter(|_| seen.is_here()).map(|folder| tags_of(folder)).unwrap_or_default(),
        linkage: folder
            .as_ref()
            .filter(|_| seen.is_here())
            .and_then(|folder| session.linkage_on_disk(&name, &version, folder))
            .map(|(linkage, _)| linkage),
        folder: folder.and_then(|folder| Some(folder.parent()?.display().to_string())),
        ..Audited::new(name, version)
    };
    let described = || {
        let all = seen.machine.installed.iter().map(|(name, one)| held(name.clone(), one.version.clone(), None));
        all.collect()
    };
    let Some(observed) = seen.observed() else {
        return described();
    };
    let raw = observed.distributions.iter().filter_map(|raw| {
        let (name, version) = (raw.name.parse().ok()?, raw.version.parse().ok()?);
        Some(Audited {
            requires: Some(raw.requires.iter().filter_map(|line| Requirement::parse(line).ok()).collect()),
            requires_python: lenient_specifiers(&raw.requires_python),
            ..held(name, version, Some(raw.folder.clone()))
        })
    });
    let mut all: Vec<Audited> = raw.collect();
    // One name stays in the order of the path: the first is the one that is imported.
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The tags that the WHEEL of an installed distribution names.
fn tags_of(info: &Path) -> Vec<String> {
    let text = files::read_optional(&info.join("WHEEL")).ok().flatten().unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("Tag:")).map(|tag| tag.trim().to_owned()).collect()
}

/// The files that an installed distribution says it wrote; `None` where it says nothing.
pub fn recorded_files(dist_info: &std::path::Path) -> Option<Files> {
    files::read_optional(&dist_info.join("RECORD")).ok()?.map(|record| files_of_record(&record))
}
