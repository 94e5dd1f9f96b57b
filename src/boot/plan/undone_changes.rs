//! What colab-boot has put there and the lock no longer wants: it goes, and what was there before comes back.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::ledger::{Before, Hand, Ledger};
use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::machine::{Machine, Recorded};
use crate::boot::plan::{Basis, Change, Kind, kind_of};
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::{PackageName, Version};

/// The distributions whose version of before is wanted again: what the ledger has replaced or taken away, and `target`
/// does not name. Their wheels have to be looked for before a plan can be decided.
///
/// What came from an address is no version of an index, whatever its name.
pub fn wanted_back(
    ledger: &Ledger,
    target: &LockedTarget,
    machine: &Machine,
    broken: &BTreeMap<PackageName, String>,
) -> Vec<(PackageName, Version)> {
    let from_address = |name: &PackageName| before_of(ledger, name).is_some_and(|before| before.direct);
    let replaced = unwanted(ledger, target, machine, broken).filter(|(name, _)| !from_address(name));
    let replaced = replaced.filter_map(|(name, before)| Some((name.clone(), before?.clone())));
    let removed = ledger.removed.iter().filter(|(name, _)| {
        target.package(name).is_none() && !machine.installed.contains_key(*name) && !from_address(name)
    });
    replaced.chain(removed.map(|(name, before)| (name.clone(), before.version.clone()))).collect()
}

/// What colab-boot has put there and `target` does not name, with the version of before.
fn unwanted<'a>(
    ledger: &'a Ledger,
    target: &'a LockedTarget,
    machine: &'a Machine,
    broken: &'a BTreeMap<PackageName, String>,
) -> impl Iterator<Item = (&'a PackageName, Option<&'a Version>)> {
    ledger.distributions.keys().filter(|name| target.package(name).is_none()).filter_map(|name| {
        let installed = machine.installed.get(name).map(|one| &one.version);
        match ledger.hand(name, installed) {
            Hand::Ours(entry) => {
                let before = entry.before.as_ref().map(|before| &before.version);
                // One that is back, though only half of it may be there, comes back again.
                let is_other = before != installed || broken.contains_key(name) || entry.lacks_metadata;
                is_other.then_some((name, before))
            }
            Hand::Other | Hand::Changed(_) => None,
        }
    })
}

/// Removals and returns, and what could not be done.
pub(super) fn prune(basis: &Basis<'_>) -> (Vec<Change>, Vec<Finding>) {
    let (mut changes, mut findings) = (Vec::new(), Vec::new());
    if !basis.prune {
        return (changes, findings);
    }
    let needed = needed_by_others(basis);
    let mut stay: Vec<PackageName> = Vec::new();
    for (name, before) in unwanted(basis.ledger, basis.target, basis.machine, basis.broken) {
        let stripped = basis.ledger.distributions.get(name).filter(|entry| entry.lacks_metadata);
        let from = basis.machine.installed.get(name).map(|one| one.version.clone());
        match before {
            Some(before) => match basis.before.get(name) {
                Some(package) => changes.push(back(package, from)),
                None => findings.push(cannot_come_back(basis, name, before)),
            },
            None if needed.contains(name) => stay.push(name.clone()),
            None => changes.push(Change {
                name: name.clone(),
                kind: Kind::Remove,
                from: from.or_else(|| Some(stripped?.version.clone())),
                to: None,
                package: None,
                reason: Some(match stripped {
                    Some(_) => "its metadata was deleted, but its files are still there".to_owned(),
                    None => "colab-boot installed it, and it is no longer needed".to_owned(),
                }),
            }),
        }
    }
    if !stay.is_empty() {
        let kept: Vec<&str> = stay.iter().map(AsRef::as_ref).collect();
        let message = format!("not removed, because other installed packages need them: {}", kept.join(", "));
        let finding = Finding::note(Code::PlanPruneKept, message);
        findings.push(stay.iter().fold(finding, |finding, name| finding.about(Subject::package(name))));
    }
    let lost =
        basis.ledger.removed.iter().filter(|(name, _)| is_gone(basis, name) && !basis.before.contains_key(*name));
    findings.extend(lost.map(|(name, before)| cannot_come_back(basis, name, &before.version)));
    let returns = returning(basis, &changes);
    changes.extend(returns);
    (changes, findings)
}

/// What was taken away to make room, where nothing wants the room any more.
fn returning(basis: &Basis<'_>, changes: &[Change]) -> Vec<Change> {
    let matrix = basis.matrix;
    let stays = basis
        .machine
        .installed
        .iter()
        .filter(|(name, _)| !changes.iter().any(|change| change.name == **name && change.kind == Kind::Remove))
        .map(|(name, one)| (name, &one.version));
    let comes = basis.target.packages.iter().map(|package| (&package.name, &package.version));
    let others: Vec<_> = stays.chain(comes).collect();
    let is_in_the_way = |package: &LockedPackage| {
        let own: Vec<usize> = matrix.owned(&package.name, &package.version).map(|(at, _)| at).collect();
        others.iter().flat_map(|(name, version)| matrix.owned(name, version)).any(|(at, _)| own.contains(&at))
    };
    let gone = basis.ledger.removed.keys().filter(|name| is_gone(basis, name));
    let packages = gone.filter_map(|name| basis.before.get(name));
    packages.filter(|package| !is_in_the_way(package)).map(|package| back(package, None)).collect()
}

fn is_gone(basis: &Basis<'_>, name: &PackageName) -> bool {
    basis.target.package(name).is_none() && !basis.machine.installed.contains_key(name)
}

fn back(package: &LockedPackage, from: Option<Version>) -> Change {
    Change {
        name: package.name.clone(),
        kind: kind_of(from.as_ref(), &package.version),
        from,
        to: Some(package.version.clone()),
        package: Some(package.clone()),
        reason: Some("as before the first apply".to_owned()),
    }
}

fn cannot_come_back(basis: &Basis<'_>, name: &PackageName, before: &Version) -> Finding {
    let is_direct = before_of(basis.ledger, name).is_some_and(|before| before.direct);
    let (why, help) = if is_direct {
        ("it was installed from a file or a URL", "reinstall it from there")
    } else if basis.offline {
        (
            "no index was asked",
            "run the command without `--offline`, or name a folder that has it with `--find-links FOLDER`",
        )
    } else {
        (
            "no index has a wheel of it",
            "name a folder that has it with `--find-links FOLDER`, or start on a new machine (Runtime > Disconnect and delete runtime)",
        )
    };
    let message = format!("{name} {before}, which was installed before the first apply, can't be restored: {why}");
    Finding::warning(Code::PlanPruneKept, message).about(Subject::release(name, before)).with_help(help)
}

/// What distributions need that are not colab-boot's to remove, as they will be: what the lock names needs nothing
/// else, and what comes back needs what it needed before.
fn needed_by_others(basis: &Basis<'_>) -> BTreeSet<PackageName> {
    let Some(markers) = basis.machine.python.as_ref().and_then(|python| python.facts.marker_environment()) else {
        return BTreeSet::new();
    };
    let mut leaving: BTreeSet<&PackageName> =
        unwanted(basis.ledger, basis.target, basis.machine, basis.broken).map(|(name, _)| name).collect();
    let before = basis.before.keys().filter_map(|name| before_of(basis.ledger, name));
    let returning: Vec<Recorded> = before.map(|before| Recorded::new(before.requires.clone())).collect();
    let mut needed = BTreeSet::new();
    loop {
        let stays = |name: &PackageName| {
            !leaving.contains(name) && basis.target.package(name).is_none() && !basis.before.contains_key(name)
        };
        let staying = basis.machine.installed.iter().filter(|(name, _)| stays(name));
        let all = staying.filter_map(|(_, one)| one.requires.as_ref()).chain(&returning).flat_map(Recorded::get);
        let applying = all.filter(|one| one.applies(&markers, None)).map(|one| one.name.clone());
        let found: BTreeSet<PackageName> = applying.filter(|name| leaving.contains(name)).collect();
        if found.is_empty() {
            return needed;
        }
        leaving.retain(|name| !found.contains(*name));
        needed.extend(found);
    }
}

/// What was there of `name` before the first apply.
fn before_of<'a>(ledger: &'a Ledger, name: &PackageName) -> Option<&'a Before> {
    let ours = ledger.distributions.get(name).and_then(|entry| entry.before.as_ref());
    ours.or_else(|| ledger.removed.get(name))
}
