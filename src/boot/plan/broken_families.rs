//! Families of what is installed and stays: what moves must not leave the others behind. The judge is that of `audit`;
//! here is only what the plan itself would bring about.

use crate::boot::audit::{Audited, Environment, judge_families};
use crate::boot::plan::{Basis, Change};
use crate::core::diag::{Finding, Severity};

/// Findings about the environment after `changes` that are not true of it now.
pub(super) fn broken_families(basis: &Basis<'_>, changes: &[Change]) -> Vec<Finding> {
    if changes.is_empty() {
        return Vec::new();
    }
    let now = environment(basis, &[]);
    let known = judge_families(&now, basis.matrix);
    let mut findings = judge_families(&environment(basis, changes), basis.matrix);
    findings.retain(|finding| !known.contains(finding));
    for finding in &mut findings {
        if !basis.wish.breakage_is_error {
            finding.severity = Severity::Warning;
        }
        finding.help.push(basis.wish.help_for_breakage.to_owned());
    }
    findings
}

/// What is installed, after `changes`.
fn environment(basis: &Basis<'_>, changes: &[Change]) -> Environment {
    let installed = basis.machine.installed.iter();
    let stays = installed.filter(|(name, _)| !changes.iter().any(|change| change.name == **name));
    let stays = stays.map(|(name, one)| (name, &one.version));
    let comes = changes.iter().filter_map(|change| Some((&change.name, change.to.as_ref()?)));
    let held = stays.chain(comes).map(|(name, version)| Audited {
        build: basis.matrix.build(name, version).cloned(),
        ..Audited::new(name.clone(), version.clone())
    });
    Environment { held: held.collect(), ..Environment::default() }
}
