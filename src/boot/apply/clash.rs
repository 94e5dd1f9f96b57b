//! Files that two distributions both claim, named before anything is installed. The one that is installed later writes
//! them, so afterwards neither is checked for them.

use std::collections::BTreeSet;

use crate::boot::planned::Planned;
use crate::boot::resolve::collision_finding;
use crate::core::diag::{Failure, Finding};
use crate::core::host::files;
use crate::core::inspect::{files_of_record, parse_record};
use crate::core::model::PackageName;
use crate::core::model::contents::{Files, clashes, installed_path};

/// A distribution with the RECORD of its wheel, or of its installation.
pub(super) struct Owner {
    pub name: PackageName,
    pub record: String,
    /// It is about to be installed; what is there already is no news.
    pub new: bool,
}

/// The paths that several of `owners` claim with different content, and a finding for each pair that a new one is in.
pub(super) fn shared_paths(owners: &[Owner]) -> (BTreeSet<String>, Vec<Finding>) {
    let files: Vec<Files> = owners.iter().map(|owner| files_of_record(&owner.record)).collect();
    let mut paths = BTreeSet::new();
    let mut findings = Vec::new();
    for clash in clashes(&files.iter().collect::<Vec<_>>()) {
        let (first, second) = (&owners[clash.first], &owners[clash.second]);
        if first.new || second.new {
            findings.push(collision_finding(&first.name, &second.name, &clash));
        }
        paths.extend(clash.paths);
    }
    (paths, findings)
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
        let record = files::read_optional(&one.folder.join("RECORD"))?;
        owners.extend(record.map(|record| Owner { name: name.clone(), record, new: false }));
    }
    Ok(owners)
}

/// `record` with no digest of the entries that are in `paths`: each is there, with the content of one or the other. A
/// size tells them from entries that a wheel names and lacks.
pub(super) fn without(record: &str, paths: &BTreeSet<String>) -> String {
    let is_shared = |line: &str| {
        let entries = parse_record(line);
        entries.iter().filter_map(|entry| installed_path(&entry.path)).any(|path| paths.contains(&path))
    };
    record
        .lines()
        .map(|line| {
            if is_shared(line) {
                format!("{},,1\n", line.rsplitn(3, ',').nth(2).unwrap_or(line).to_owned())
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}
