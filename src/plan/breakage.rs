//! Installed packages whose own requirements the plan would violate. A delta: what is broken already is not our news.

use serde::Serialize;

use crate::machine::Recorded;
use crate::model::{PackageName, Version, VersionRange};
use crate::plan::{Basis, Change};

/// An installed package that would break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breakage {
    /// The package that would break, with its version where it has one of its own.
    pub package: String,
    pub requires: String,
    pub changed: PackageName,
    pub from: Option<Version>,
    pub to: Option<Version>,
}

pub(super) fn breakages(basis: &Basis<'_>, changes: &[Change]) -> Vec<Breakage> {
    if changes.is_empty() {
        return Vec::new();
    }
    let Some(markers) = basis.machine.python.as_ref().and_then(|python| python.facts.marker_environment()) else {
        return Vec::new();
    };
    let changed = |name: &PackageName| changes.iter().find(|change| change.name == *name);
    let mut found = Vec::new();
    for (name, installed) in &basis.machine.installed {
        // What is itself replaced brings requirements that the solver has already satisfied.
        if changed(name).is_some() || basis.target.package(name).is_some() {
            continue;
        }
        let who = format!("{name} {}", installed.version);
        for requirement in installed.requires.iter().flat_map(Recorded::get).filter(|one| one.applies(&markers, None)) {
            let shown = format!("{}{}", requirement.name, requirement.specifiers);
            found.extend(violated(&who, &shown, &requirement.range, changed(&requirement.name)));
        }
    }
    for pin in &basis.machine.pins {
        let shown = format!("{}{}", pin.name, pin.specifiers);
        found.extend(violated("google-colab", &shown, &pin.range, changed(&pin.name)));
    }
    found
}

/// The breakage, if `change` ends what was satisfied.
fn violated(who: &str, requires: &str, range: &VersionRange, change: Option<&Change>) -> Option<Breakage> {
    let change = change?;
    let satisfied = |version: &Version| range.contains(version);
    let before = change.from.as_ref().is_some_and(satisfied);
    let after = change.to.as_ref().is_some_and(satisfied);
    (before && !after).then(|| Breakage {
        package: who.to_owned(),
        requires: requires.to_owned(),
        changed: change.name.clone(),
        from: change.from.clone(),
        to: change.to.clone(),
    })
}
