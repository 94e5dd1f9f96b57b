//! What to do with each distribution.

use crate::boot::ledger::Hand;
use crate::boot::lock::LockedPackage;
use crate::boot::machine::Installed;
use crate::boot::plan::undone_changes::prune;
use crate::boot::plan::{Basis, Change, Kept, Kind, kind_of};
use crate::core::diag::{Code, Finding};
use crate::core::model::PackageName;

/// What happens to each distribution, and what could not.
pub(super) struct Changed {
    pub changes: Vec<Change>,
    pub kept: Vec<Kept>,
    pub findings: Vec<Finding>,
}

pub(super) fn changes(basis: &Basis<'_>) -> Changed {
    let removals = collisions(basis);
    let (mut changes, mut findings) = prune(basis);
    findings.extend(basis.target.packages.iter().filter_map(|package| image_gone(basis, package)));
    changes.retain(|change| !removals.iter().any(|removal| removal.name == change.name));
    changes.extend(removals.iter().cloned());
    let mut kept = Vec::new();
    for package in &basis.target.packages {
        let installed = basis.machine.installed.get(&package.name);
        let mut gone = changes.iter().filter(|change| change.package.is_none());
        let shared = gone.find(|removal| shares_files(basis, removal, package));
        let reason = if let Some(why) = basis.broken.get(&package.name) {
            Some(why.clone())
        } else if is_another_file(basis, package, installed) {
            Some("another wheel of this version was installed".to_owned())
        } else if let Some(other) = built_with_another(basis, package, installed) {
            Some(other)
        } else {
            shared.map(|removal| format!("removing {} deletes files that both packages own", removal.name))
        };
        match change(package, installed, reason) {
            Some(change) => changes.push(change),
            None => kept.push(Kept { name: package.name.clone(), version: package.version.clone() }),
        }
    }
    changes.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    Changed { changes, kept, findings }
}

/// A version that no index has and that is not here: nothing can install it.
fn image_gone(basis: &Basis<'_>, package: &LockedPackage) -> Option<Finding> {
    let installed = basis.machine.installed.get(&package.name);
    let image = package.image_only().filter(|_| installed.is_none_or(|one| one.version != package.version))?;
    let message = format!("{} {} exists only in `{image}` and is not installed here", package.name, package.version);
    let finding = Finding::error(Code::MachineNotPlanned, message);
    Some(
        finding.with_help("run `colab-boot lock`, or start on a new machine (Runtime > Disconnect and delete runtime)"),
    )
}

/// Whether colab-boot has installed this version from another file than the lock names.
fn is_another_file(basis: &Basis<'_>, package: &LockedPackage, installed: Option<&Installed>) -> bool {
    match basis.ledger.hand(&package.name, installed.map(|one| &one.version)) {
        Hand::Ours(entry) => {
            let wanted = package.wheel().and_then(|wheel| wheel.sha256);
            entry.version == package.version && entry.sha256.zip(wanted).is_some_and(|(is, wanted)| is != wanted)
        }
        Hand::Other | Hand::Changed(_) => false,
    }
}

/// Why this version is built again: what its build saw changes.
fn built_with_another(basis: &Basis<'_>, package: &LockedPackage, installed: Option<&Installed>) -> Option<String> {
    let Hand::Ours(entry) = basis.ledger.hand(&package.name, installed.map(|one| &one.version)) else { return None };
    let becomes = |name: &PackageName| basis.target.package(name).map(|one| &one.version);
    let (name, was) = entry.built_with.iter().find(|(name, was)| becomes(name).is_some_and(|new| new != *was))?;
    package.wheel().filter(|wheel| wheel.is_source())?;
    Some(format!("it was built with {name} {was}"))
}

/// Whether what is removed owns files of `package`.
fn shares_files(basis: &Basis<'_>, removal: &Change, package: &LockedPackage) -> bool {
    if basis.sharing.get(&removal.name).is_some_and(|names| names.contains(&package.name)) {
        return true;
    }
    let Some(version) = &removal.from else {
        return false;
    };
    let matrix = basis.matrix;
    let mut owned = matrix.owned(&package.name, &package.version);
    owned
        .any(|(at, _)| matrix.collisions[at].hard && matrix.owned(&removal.name, version).any(|(other, _)| other == at))
}

/// `None`: the machine has it. A package that the lock keeps, having no wheel for it, can only be left alone.
fn change(package: &LockedPackage, installed: Option<&Installed>, reason: Option<String>) -> Option<Change> {
    package.wheel()?;
    let from = installed.map(|installed| installed.version.clone());
    if from.as_ref() == Some(&package.version) && reason.is_none() {
        return None;
    }
    let kind = kind_of(from.as_ref(), &package.version);
    Some(Change {
        name: package.name.clone(),
        kind,
        from,
        to: Some(package.version.clone()),
        package: Some(package.clone()),
        reason,
    })
}

/// Installed distributions that own a path (`nvidia/cudnn/lib/libcudnn.so.9`) which one to be installed will own.
/// They go first: removed afterwards they would take the new files with them.
fn collisions(basis: &Basis<'_>) -> Vec<Change> {
    let matrix = basis.matrix;
    let incoming: Vec<(usize, &PackageName)> = basis
        .target
        .packages
        .iter()
        .filter(|package| package.wheel().is_some())
        .flat_map(|package| matrix.owned(&package.name, &package.version).map(|(at, _)| (at, &package.name)))
        .filter(|(at, _)| matrix.collisions[*at].hard)
        .collect();
    let mut removals = Vec::new();
    for (name, installed) in &basis.machine.installed {
        let owned: Vec<usize> = matrix.owned(name, &installed.version).map(|(at, _)| at).collect();
        let other = incoming.iter().find(|(at, other)| owned.contains(at) && *other != name);
        if let Some((_, other)) = other.filter(|_| basis.target.package(name).is_none()) {
            removals.push(Change {
                name: name.clone(),
                kind: Kind::Remove,
                from: Some(installed.version.clone()),
                to: None,
                package: None,
                reason: Some(format!("it owns the same files as {other}")),
            });
        }
    }
    removals
}
