//! Installed packages whose own requirements the plan would violate. A delta: what is broken already is not our news.

use pep508_rs::MarkerEnvironment;
use serde::Serialize;

use crate::model::{PackageName, Requirement, Version};
use crate::plan::{Change, Inputs};

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

pub(super) fn breakages(inputs: Inputs<'_>, changes: &[Change]) -> Vec<Breakage> {
    let Some(markers) = inputs.machine.python.as_ref().and_then(|python| python.facts.marker_environment()) else {
        return Vec::new();
    };
    let changed = |name: &PackageName| changes.iter().find(|change| change.name == *name);
    let mut found = Vec::new();
    for (name, installed) in &inputs.machine.installed {
        // What is itself replaced brings requirements that the solver has already satisfied.
        if changed(name).is_some() || inputs.target.package(name).is_some() {
            continue;
        }
        let who = format!("{name} {}", installed.version);
        for requirement in installed.requires.iter().flatten() {
            found.extend(violated(&who, requirement, &markers, changed(&requirement.name)));
        }
    }
    for pin in &inputs.machine.pins {
        found.extend(violated("google-colab", pin, &markers, changed(&pin.name)));
    }
    found
}

fn violated(
    who: &str,
    requirement: &Requirement,
    markers: &MarkerEnvironment,
    change: Option<&Change>,
) -> Option<Breakage> {
    let change = change.filter(|_| requirement.applies(markers, None))?;
    let satisfied = |version: &Version| requirement.range.contains(version);
    let before = change.from.as_ref().is_some_and(satisfied);
    let after = change.to.as_ref().is_some_and(satisfied);
    (before && !after).then(|| Breakage {
        package: who.to_owned(),
        requires: format!("{}{}", requirement.name, requirement.specifiers),
        changed: requirement.name.clone(),
        from: change.from.clone(),
        to: change.to.clone(),
    })
}
