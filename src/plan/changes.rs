//! What to do with each distribution.

use crate::lock::LockedPackage;
use crate::machine::Installed;
use crate::matrix::Matrix;
use crate::model::{PackageName, Version};
use crate::plan::{Change, Inputs, Kept, Kind};

pub(super) fn changes(inputs: Inputs<'_>) -> (Vec<Change>, Vec<Kept>) {
    let removals = collisions(inputs);
    let mut changes = removals.clone();
    let mut kept = Vec::new();
    for package in &inputs.target.packages {
        let installed = inputs.machine.installed.get(&package.name);
        let shared = removals.iter().find(|removal| shares_files(inputs.matrix, removal, package));
        let reason = if inputs.broken.contains(&package.name) {
            Some("its files are not known to be those of the wheel".to_owned())
        } else {
            shared.map(|removal| format!("{} takes files of it along", removal.name))
        };
        match change(package, installed, reason) {
            Some(change) => changes.push(change),
            None => kept.push(Kept { name: package.name.clone(), version: package.version.clone() }),
        }
    }
    changes.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    (changes, kept)
}

/// Whether what is removed owns files of `package`.
fn shares_files(matrix: &Matrix, removal: &Change, package: &LockedPackage) -> bool {
    let Some(version) = &removal.from else {
        return false;
    };
    let mut owned = matrix.owned(&package.name, &package.version);
    owned
        .any(|(at, _)| matrix.collisions[at].hard && matrix.owned(&removal.name, version).any(|(other, _)| other == at))
}

/// `None`: the machine has it. A package that the lock keeps, having no wheel for it, can only be left alone.
fn change(package: &LockedPackage, installed: Option<&Installed>, reason: Option<String>) -> Option<Change> {
    package.wheel.as_ref()?;
    let from = installed.map(|installed| installed.version.clone());
    let kind = match &from {
        None => Kind::Install,
        Some(from) if *from == package.version && reason.is_none() => return None,
        Some(from) if same_public(from, &package.version) => Kind::Replace,
        Some(from) if *from < package.version => Kind::Upgrade,
        Some(_) => Kind::Downgrade,
    };
    Some(Change {
        name: package.name.clone(),
        kind,
        from,
        to: Some(package.version.clone()),
        package: Some(package.clone()),
        reason,
    })
}

/// `2.11.0` and `2.11.0+cu128`: the local label is another build, neither newer nor older.
fn same_public(a: &Version, b: &Version) -> bool {
    a.clone().without_local() == b.clone().without_local()
}

/// Installed distributions that own a path (`nvidia/cudnn/lib/libcudnn.so.9`) which one to be installed will own.
/// They go first: removed afterwards they would take the new files with them.
fn collisions(inputs: Inputs<'_>) -> Vec<Change> {
    let matrix = inputs.matrix;
    let incoming: Vec<(usize, &PackageName)> = inputs
        .target
        .packages
        .iter()
        .filter(|package| package.wheel.is_some())
        .flat_map(|package| matrix.owned(&package.name, &package.version).map(|(at, _)| (at, &package.name)))
        .filter(|(at, _)| matrix.collisions[*at].hard)
        .collect();
    let mut removals = Vec::new();
    for (name, installed) in &inputs.machine.installed {
        let owned: Vec<usize> = matrix.owned(name, &installed.version).map(|(at, _)| at).collect();
        let other = incoming.iter().find(|(at, other)| owned.contains(at) && *other != name);
        if let Some((_, other)) = other.filter(|_| inputs.target.package(name).is_none()) {
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
