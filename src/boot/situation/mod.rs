//! What a plan depends on besides its answer: the files, what the kernel holds, what was changed before, what can be
//! brought back.

mod file_check;
mod known_looks;
mod stale_code;
mod loaded_code;
mod other_kernels;
mod start_up;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::boot::goal::{Answer, Request};
use crate::boot::ledger::Notes;
use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::marker::{Marker, Touched};
use crate::boot::notebook::Loaded;
use crate::boot::plan::wanted_back;
use crate::boot::seen::{Seen, places_of, without_libraries};
use crate::boot::session::Session;
use crate::boot::situation::loaded_code::{environment_file, folders};
use crate::boot::situation::stale_code::{returning, silent_repairs};
use crate::boot::state::State;
use crate::core::diag::{Failure, Finding};
use crate::core::matrix::Overlay;
use crate::core::model::PackageName;

pub use file_check::{FileCheck, Reading, Scene, held, is_of_another_script, known_wheel};
pub use loaded_code::{loaded, modules, modules_of};
pub use other_kernels::{OtherKernel, kernels_of, other_kernels};
pub use start_up::Importable;

/// All of it.
pub struct Situation {
    pub marker: Option<Marker>,
    pub notes: Notes,
    pub files: FileCheck,
    /// What is wrong with them, and which libraries the system lacks.
    pub findings: Vec<Finding>,
    /// Wheels of what was there before the first apply and is wanted back.
    pub before: BTreeMap<PackageName, LockedPackage>,
    pub loaded: Loaded,
    pub silent: BTreeSet<PackageName>,
    pub folders: Vec<PathBuf>,
    pub environment_file: Option<String>,
    pub linked: BTreeMap<PackageName, Vec<Overlay>>,
    /// For each distribution that may be removed, the others that have a file at one of its places.
    pub sharing: BTreeMap<PackageName, BTreeSet<PackageName>>,
    /// Modules of installed distributions that change.
    pub modules: BTreeMap<PackageName, BTreeSet<String>>,
}

impl Situation {
    /// What an apply that did not end was to change.
    pub fn doubted(&self) -> &[PackageName] {
        self.marker.as_ref().map(Marker::doubted).unwrap_or_default()
    }

    /// What was changed since this machine started.
    pub fn history(&self, boot_id: &str) -> &[Touched] {
        let known = self.marker.as_ref().filter(|marker| marker.boot_id == boot_id);
        known.map(|marker| marker.touched.as_slice()).unwrap_or_default()
    }
}

/// Looks at what a plan for `answer` depends on.
pub fn observe_situation(
    answer: &Answer,
    request: &Request,
    session: &Session<'_>,
    reading: Reading,
) -> Result<Situation, Failure> {
    let Answer { goal, wish, seen, target, .. } = answer;
    let layout = seen.layout();
    let state = layout.map(|layout| State::of(&session.paths.state, layout));
    let marker = state.as_ref().map_or(Ok(None), State::marker)?;
    let scene = layout.zip(state.as_ref()).map(|(layout, state)| Scene {
        layout,
        state,
        target,
        seen,
        marker: marker.as_ref(),
        indexes: goal.profile().map(|profile| profile.indexes.as_slice()).unwrap_or_default(),
    });
    let check = scene.map_or_else(|| Ok(FileCheck::default()), |scene| session.check_files(scene, reading))?;
    let broken = &check.broken;
    let wanted = if wish.prune { wanted_back(&seen.ledger, target, &seen.machine, broken) } else { Vec::new() };
    let before = session.wheels_back(&wanted, &request.index, seen);
    // A restoration without the index would be none; another apply goes on, and says what stays.
    let before = if goal.is_restore() { before? } else { before.unwrap_or_default() };
    let loaded = loaded(session, seen, &request.machine, &check)?;
    let findings = [check.findings.clone(), without_libraries(session, seen, target)?].concat();
    Ok(Situation {
        silent: &silent_repairs(seen, &loaded, &check) | &returning(seen, target, &loaded, &check),
        folders: folders(seen),
        environment_file: environment_file(seen)?,
        linked: session.linked_here(seen),
        sharing: sharing(seen, target)?,
        modules: modules(seen, moving(seen, target, broken))?,
        notes: state.as_ref().map(State::notes).unwrap_or_default(),
        marker,
        files: check,
        findings,
        before,
        loaded,
    })
}

/// For each distribution that colab-boot has installed and the lock does not have, the others that have a file at one
/// of its places: an installer that removes it takes that file along.
fn sharing(seen: &Seen, target: &LockedTarget) -> Result<BTreeMap<PackageName, BTreeSet<PackageName>>, Failure> {
    let may_leave = |name: &PackageName| seen.ledger.distributions.contains_key(name) && target.package(name).is_none();
    let mut found: BTreeMap<PackageName, BTreeSet<PackageName>> = BTreeMap::new();
    if !seen.machine.installed.keys().any(may_leave) {
        return Ok(found);
    }
    let mut all = BTreeMap::new();
    for one in seen.distributions() {
        let Ok(name) = one.name.parse::<PackageName>() else { continue };
        let location = seen.machine.installed.get(&name).and_then(|one| one.location.as_deref());
        // The copy that counts.
        if location.is_some() && location == one.folder.parent() && !all.contains_key(&name) {
            all.insert(name, places_of(one)?);
        }
    }
    for (name, own) in all.iter().filter(|(name, _)| may_leave(name)) {
        let others = all.iter().filter(|(other, places)| *other != name && !own.is_disjoint(places));
        let others: BTreeSet<PackageName> = others.map(|(other, _)| other.clone()).collect();
        if !others.is_empty() {
            found.insert(name.clone(), others);
        }
    }
    Ok(found)
}

/// What may change: the modules of these are looked at.
fn moving(seen: &Seen, target: &LockedTarget, broken: &BTreeMap<PackageName, String>) -> Vec<PackageName> {
    let owned = seen.ledger.distributions.keys().chain(seen.ledger.removed.keys());
    target
        .packages
        .iter()
        .filter(|package| {
            let installed = seen.machine.installed.get(&package.name);
            installed.is_some_and(|one| one.version != package.version) || broken.contains_key(&package.name)
        })
        .map(|package| &package.name)
        .chain(owned)
        .cloned()
        .collect()
}
