//! The files of a locked target: what `verify` says of them.

use crate::boot::apply::leftovers;
use crate::boot::files::{finding_of, ghosts};
use crate::boot::machine::Layout;
use crate::boot::planned::Planned;
use crate::core::diag::{Code, Failure, Finding};

/// What is wrong with the files of the locked packages: those that are there and are not the locked ones, those that an
/// apply would install again, and what a killed installer has left.
pub fn file_findings(planned: &Planned, layout: &Layout) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for (name, faults) in &planned.files.faults {
        let version = planned.target.package(name).map(|package| &package.version);
        findings.extend(version.and_then(|version| finding_of(name, version, &faults[..faults.len().min(3)])));
    }
    findings.extend(planned.decision.plan.changes.iter().filter_map(|change| {
        let (package, reason) = (change.package.as_ref()?, change.reason.as_ref()?);
        let is_seen = change.from.as_ref() != Some(&package.version) || planned.files.faults.contains_key(&change.name);
        let message = format!("{} {} is not the one that is locked: {reason}", change.name, package.version);
        let finding = Finding::error(Code::VerifyFiles, message).with_help("`colab-boot apply` installs that one");
        (!is_seen).then_some(finding)
    }));
    let left = leftovers(&layout.purelib)?;
    if !left.is_empty() {
        let message = format!("a killed installer left {}", left.join(", "));
        findings.push(Finding::error(Code::VerifyFiles, message).with_help("run `colab-boot apply` to remove them"));
    }
    let others: Vec<String> = ghosts(layout).into_iter().filter(|name| !name.starts_with('~')).collect();
    if !others.is_empty() && planned.files.faults.is_empty() {
        findings.push(Finding::warning(Code::VerifyFiles, format!("installed more than once: {}", others.join(", "))));
    }
    Ok(findings)
}
