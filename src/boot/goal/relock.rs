//! A lock made anew for all targets of a profile: what an earlier one chose stays where it fits, unless it is to move.

use std::collections::BTreeMap;
use std::path::Path;

use crate::boot::goal::lock_or_solve::secrets_set;
use crate::boot::goal::{Request, Upgrade};
use crate::boot::index::Traffic;
use crate::boot::lock::Lock;
use crate::boot::machine::Python;
use crate::boot::plan::variables_for;
use crate::boot::profile::Profile;
use crate::boot::project::ProjectSearch;
use crate::boot::resolve::caveats;
use crate::boot::retrieval::Asked;
use crate::boot::session::Session;
use crate::core::diag::{Failure, Finding};
use crate::core::host::files;
use crate::core::model::{PackageName, Version};

/// A lock that was made, with what was noticed.
pub struct Made {
    pub lock: Lock,
    /// The interpreters of this machine that targets were seen through.
    pub pythons: Vec<String>,
    pub findings: Vec<Finding>,
    pub traffic: Traffic,
}

/// An error where the file at `path` never was a lock, damaged or not: it is the user's.
fn must_be_a_lock(path: &Path) -> Result<(), Failure> {
    let text = files::read_optional(path)?.unwrap_or_default();
    if text.trim().is_empty() || text.contains("colab-boot lock") || text.contains("\nmatrix = ") {
        return Ok(());
    }
    Err(Failure::input(format!("`{}` is not a lock and would be overwritten", path.display()))
        .help("move it, or choose another file with --lock"))
}

/// Whether there is nothing but blanks in the file.
fn is_empty(path: &Path) -> bool {
    files::read_optional(path).is_ok_and(|text| text.is_some_and(|text| text.trim().is_empty()))
}

impl Session<'_> {
    /// The lock that is there. One that can't be read is an error, for its versions would be lost, unless nothing of it
    /// is to stay (`renews`).
    pub fn earlier_lock(&self, path: &Path, renews: bool) -> Result<Option<Lock>, Failure> {
        match self.read_lock(path) {
            Err(_) if renews || is_empty(path) => must_be_a_lock(path).map(|()| None),
            Err(failure) => match must_be_a_lock(path) {
                Err(other) => Err(other),
                Ok(()) => Err(failure.help("to write a new lock with the newest versions, add --upgrade")),
            },
            Ok(lock) => Ok(lock),
        }
    }

    /// Solves for each target.
    pub fn relock(
        &self,
        (path, profile): (&Path, &Profile),
        (old, upgrade): (Option<&Lock>, &Upgrade),
        request: &Request,
    ) -> Result<Made, Failure> {
        let named = request.machine.runtime.is_some() || request.machine.record.is_some();
        let runtimes: Vec<Option<String>> = if named || profile.target.runtimes.is_empty() {
            vec![request.machine.runtime.clone()]
        } else {
            profile.target.runtimes.iter().cloned().map(Some).collect()
        };
        let (mut targets, mut pythons) = (Vec::new(), Vec::new());
        let mut findings: Vec<_> = self.cache_finding().into_iter().collect();
        let (mut traffic, mut located) = (Traffic::default(), None);
        for runtime in runtimes {
            let mut machine = request.machine.clone();
            machine.runtime = runtime;
            let seen = self.machine_near(&machine, Some(path))?;
            let moves = |name: &PackageName| upgrade.has(name);
            let known = ProjectSearch {
                machine: Some(&seen.machine),
                settings: &request.index,
                lock: old,
                moves: &moves,
                again: true,
                unchanged: false,
            };
            // The projects are the same on every target.
            let profile = match &mut located {
                Some(located) => &*located,
                none => none.insert(self.with_projects(profile, known)?),
            };
            let mut target = self.target(profile, &seen)?;
            // What is to move must not be held by what the image has.
            target.installed.retain(|name, present| present.protected || !upgrade.has(name));
            let preferred = preferred(upgrade, old, &target.name);
            let asked = Asked { profile, target: &target, machine: &seen.machine, preferred: &preferred };
            let (resolution, used) = self.solve(asked, &request.index)?;
            findings.extend(seen.findings.clone());
            pythons.extend(seen.machine.python.as_ref().filter(|_| seen.is_here()).map(Python::describe));
            findings.extend(self.weighed(caveats(&resolution), &profile.accepted));
            let locked = self.locked_target(profile, &target, &seen, &resolution);
            let about = variables_for(profile, &locked).findings.into_iter();
            // Of several targets one says it.
            let new: Vec<Finding> = about.filter(|finding| !findings.contains(finding)).collect();
            findings.extend(new);
            targets.push(locked);
            traffic = traffic.and(used);
        }
        findings.extend(secrets_set(profile)?);
        Ok(Made { lock: self.lock_of(profile, targets), pythons, findings, traffic })
    }
}

/// What an earlier lock chose and the user did not ask to move.
fn preferred(upgrade: &Upgrade, old: Option<&Lock>, target: &str) -> BTreeMap<PackageName, Version> {
    if upgrade.all {
        return BTreeMap::new();
    }
    let mut preferred = old.map(|old| old.versions(target)).unwrap_or_default();
    preferred.retain(|name, _| !upgrade.packages.contains(name));
    preferred
}
