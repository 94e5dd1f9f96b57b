//! What is installed, as the judges of `audit` want it.

use std::collections::BTreeSet;
use std::path::Path;
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
    let Some(observed) = seen.observed() else {
        let all = seen.machine.installed.iter();
        return all.map(|(name, one)| of_matrix(session, name.clone(), one.version.clone())).collect();
    };
    let raw = observed.distributions.iter().filter_map(|raw| {
        let (name, version) = (raw.name.parse().ok()?, raw.version.parse().ok()?);
        let one = Audited {
            requires: Some(raw.requires.iter().filter_map(|line| Requirement::parse(line).ok()).collect()),
            requires_python: lenient_specifiers(&raw.requires_python),
            folder: raw.folder.parent().map(|folder| folder.display().to_string()),
            ..of_matrix(session, name, version)
        };
        Some(if seen.is_here() { with_files(session, one, &raw.folder) } else { one })
    });
    let mut all: Vec<Audited> = raw.collect();
    // One name stays in the order of the path: the first is the one that is imported.
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// A distribution, with what the matrix knows of its build.
fn of_matrix(session: &Session<'_>, name: PackageName, version: Version) -> Audited {
    Audited { build: session.matrix.build(&name, &version).cloned(), ..Audited::new(name, version) }
}

/// `one`, with what its `.dist-info` folder on this machine and its libraries say.
fn with_files(session: &Session<'_>, one: Audited, info: &Path) -> Audited {
    Audited {
        files: recorded_files(info).map(Arc::new),
        tags: tags_of(info),
        linkage: session.linkage_on_disk(&one.name, &one.version, info).map(|(linkage, _)| linkage),
        ..one
    }
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
