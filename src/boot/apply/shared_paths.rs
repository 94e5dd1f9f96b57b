//! Files that two distributions both claim, named before anything is installed. The one that is installed later writes
//! them, so afterwards each may have the content that any of them brings.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::machine::record_in;
use crate::boot::planned::Planned;
use crate::boot::resolve::collision_finding;
use crate::core::diag::{Failure, Finding};
use crate::core::inspect::{Entry, files_of, parse_record, shared_line};
use crate::core::model::contents::{Files, clashes, installed_path};
use crate::core::model::{PackageName, Sha256};

/// Paths that several distributions claim, with the digests that these name.
pub(super) type SharedPaths = BTreeMap<String, BTreeSet<Sha256>>;

/// A distribution with the RECORD of its wheel, or of its installation.
pub(super) struct Owner {
    pub name: PackageName,
    pub record: String,
    /// Lines like those of a RECORD for the scripts that are made for it; a wheel's own has none.
    pub scripts: String,
    /// It is about to be installed; what is there already is no news.
    pub new: bool,
}

/// The paths that several of `owners` claim with different content, each with all of their digests, and a finding for
/// each pair that a new one is in.
pub(super) fn shared_paths(owners: &[Owner]) -> (SharedPaths, Vec<Finding>) {
    let all: Vec<Vec<Entry>> = owners.iter().map(|owner| parse_record(&owner.record)).collect();
    let scripts = owners.iter().map(|owner| parse_record(&owner.scripts));
    let files: Vec<Files> =
        all.iter().zip(scripts).map(|(own, scripts)| files_of(own.iter().chain(&scripts))).collect();
    let mut findings = Vec::new();
    for clash in clashes(&files.iter().collect::<Vec<_>>()) {
        let (first, second) = (&owners[clash.first], &owners[clash.second]);
        if first.new || second.new {
            findings.push(collision_finding(&first.name, &second.name, &clash));
        }
    }
    let mut paths = SharedPaths::new();
    for entry in all.into_iter().flatten() {
        if let Some(path) = installed_path(&entry.path) {
            paths.entry(path).or_default().extend(entry.sha256.into_iter().chain(entry.either));
        }
    }
    paths.retain(|_, digests| digests.len() > 1);
    (paths, findings)
}

/// Lines for the scripts of a wheel with these entry points: what calls the same object is the same.
pub(super) fn script_lines(entry_points: &str) -> String {
    let line = |(name, object): (&str, &str)| {
        shared_line(&format!("_.data/scripts/{name}"), &BTreeSet::from([Sha256::of(object.as_bytes())]))
    };
    crate::boot::install::entry_points(entry_points).map(line).collect()
}

/// What is installed and stays, and is not from a wheel of the lock.
pub(super) fn bystanders(planned: &Planned) -> Result<Vec<Owner>, Failure> {
    let all = planned.seen.distributions();
    let mut owners = Vec::new();
    for one in all {
        let Ok(name) = one.name.parse::<PackageName>() else { continue };
        let locked = planned.target.package(&name).is_some_and(|package| package.wheel().is_some());
        if locked || planned.decision.plan.changes.iter().any(|change| change.name == name) {
            continue;
        }
        let record = record_in(&one.folder)?;
        owners.extend(record.map(|record| Owner { name: name.clone(), record, scripts: String::new(), new: false }));
    }
    Ok(owners)
}

/// `record` with all digests of the entries that are in `paths`: each has the content of one or the other.
pub(super) fn with_shared(record: &str, paths: &SharedPaths) -> String {
    if paths.is_empty() {
        return record.to_owned();
    }
    let shared = |line: &str| {
        let entry = parse_record(line).pop()?;
        Some(shared_line(&entry.path, paths.get(&installed_path(&entry.path)?)?))
    };
    record.lines().map(|line| shared(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}
