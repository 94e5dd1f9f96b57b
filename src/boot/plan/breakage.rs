//! Installed packages whose own requirements the plan would violate. A delta: what is broken already is not our news.

use serde::Serialize;

use crate::boot::machine::Recorded;
use crate::boot::plan::{Basis, Change, Kept, Wish};
use crate::core::diag::{Code, Finding, Subject};
use crate::core::matrix::Overlay;
use crate::core::model::{PackageName, Version, VersionRange};

/// An installed package that would break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breakage {
    /// The package that would break, with its version where it has one of its own.
    pub package: String,
    pub requires: String,
    pub changed: PackageName,
    pub from: Option<Version>,
    pub to: Option<Version>,
    /// Where METADATA does not ask for it: what does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
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
        let own = basis.linked.get(name).into_iter().flatten();
        for Overlay { requirement, why, .. } in basis.matrix.overlays(name, &installed.version).chain(own) {
            let shown = format!("{}{}", requirement.name, requirement.specifiers);
            let breakage = violated(&who, &shown, &requirement.range, changed(&requirement.name));
            found.extend(breakage.map(|breakage| Breakage { because: Some(why.clone()), ..breakage }));
        }
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

/// What would break, as findings: errors unless the profile says otherwise.
pub(super) fn breakage_findings(basis: &Basis<'_>, breakages: &[Breakage]) -> Vec<Finding> {
    breakages.iter().map(|breakage| breakage.to_finding(basis.wish)).collect()
}

impl Breakage {
    fn to_finding(&self, wish: &Wish) -> Finding {
        let becomes = self.to.as_ref().map_or_else(|| "is removed".to_owned(), |to| format!("becomes {to}"));
        let message = format!("{} requires {}, which {becomes}", self.package, self.requires);
        let finding = if wish.breakage_is_error {
            Finding::error(Code::PlanBreakage, message)
        } else {
            Finding::warning(Code::PlanBreakage, message)
        };
        self.because.iter().cloned().fold(finding, Finding::with_note).with_help(wish.help_for_breakage)
    }
}

/// Requirements of locked packages that stay as they are, which nothing will meet: the lock has lost something, or
/// another hand has.
pub(super) fn unmet(basis: &Basis<'_>, changes: &[Change], kept: &[Kept]) -> Vec<Finding> {
    let Some(markers) = basis.machine.python.as_ref().and_then(|python| python.facts.marker_environment()) else {
        return Vec::new();
    };
    let becomes = |name: &PackageName| match changes.iter().find(|change| change.name == *name) {
        Some(change) => change.to.as_ref(),
        None => basis.machine.installed.get(name).map(|one| &one.version),
    };
    let mut findings = Vec::new();
    for Kept { name, version } in kept {
        let installed = basis.machine.installed.get(name);
        let requires = installed.and_then(|one| one.requires.as_ref()).map(Recorded::get).into_iter().flatten();
        for wanted in requires.filter(|one| one.url.is_none() && one.applies(&markers, None)) {
            let shown = format!("{} {}{}", format_args!("{name} {version} requires"), wanted.name, wanted.specifiers);
            let message = match becomes(&wanted.name) {
                Some(version) if wanted.range.contains(version) => continue,
                Some(version) => format!("{shown}, but {} {version} is installed", wanted.name),
                None => format!("{shown}, which is neither locked nor installed"),
            };
            let severe = basis.wish.breakage_is_error;
            let code = Code::RequirementBroken;
            let finding = if severe { Finding::error(code, message) } else { Finding::warning(code, message) };
            let finding = finding.about(Subject::release(name, version)).against(Subject::package(&wanted.name));
            findings.push(finding.with_help("run `colab-boot lock` to update the lock"));
        }
    }
    findings
}

/// The breakage, if `change` ends what was satisfied.
fn violated(who: &str, requires: &str, range: &VersionRange, change: Option<&Change>) -> Option<Breakage> {
    let change = change?;
    let satisfied = |version: &Version| range.contains(version) || range.contains(&version.clone().without_local());
    let before = change.from.as_ref().is_some_and(satisfied);
    let after = change.to.as_ref().is_some_and(satisfied);
    (before && !after).then(|| Breakage {
        package: who.to_owned(),
        requires: requires.to_owned(),
        changed: change.name.clone(),
        from: change.from.clone(),
        to: change.to.clone(),
        because: None,
    })
}
