//! What `pip check` finds: requirements of what is there that nothing there meets, and wheels for another Python or
//! platform.

use std::collections::BTreeMap;

use crate::boot::audit::{Audited, Environment};
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::{PackageName, Requirement, Tags, Version};

/// Findings about the requirements of `subjects`, which are in `environment`. One distribution that is there several
/// times counts as the first, which is the one that is imported.
pub fn requirements<'a>(environment: &Environment, subjects: impl IntoIterator<Item = &'a Audited>) -> Vec<Finding> {
    let Some(python) = &environment.python else {
        return Vec::new();
    };
    let Some(markers) = python.marker_environment() else {
        return Vec::new();
    };
    let mut first: BTreeMap<&PackageName, &Audited> = BTreeMap::new();
    for held in &environment.held {
        first.entry(&held.name).or_insert(held);
    }
    let tags = Tags::of(python);
    let mut findings = Vec::new();
    for held in subjects.into_iter().filter(|held| first.get(&held.name).is_some_and(|one| std::ptr::eq(*one, *held))) {
        let who = format!("{} {}", held.name, held.version);
        if let Some(wanted) = held.requires_python.as_ref().filter(|wanted| !python.satisfies(wanted)) {
            let message = format!("{who} needs Python {wanted}, but this is {}", python.version);
            findings.push(held.placed(Finding::error(Code::RequirementBroken, message).about(held.subject())));
        }
        if !held.tags.is_empty() && !held.tags.iter().any(|tag| fits(&tags, tag)) {
            let message = format!("{who} is a wheel for another Python or platform: {}", held.tags.join(", "));
            findings.push(held.placed(Finding::error(Code::RequirementBroken, message).about(held.subject())));
        }
        for requirement in held.requires.iter().flatten().filter(|one| one.applies(&markers, None)) {
            let found = first.get(&requirement.name).map(|other| &other.version);
            if found.is_none() && environment.vague.contains(&requirement.name) {
                continue;
            }
            findings.extend(broken(held, requirement, found, environment.complete));
        }
    }
    findings
}

fn broken(held: &Audited, requirement: &Requirement, found: Option<&Version>, complete: bool) -> Option<Finding> {
    let who = held.subject();
    let wanted = format!("{}{}", requirement.name, requirement.specifiers);
    let message = match found {
        Some(version) if requirement.range.contains(version) || requirement.url.is_some() => return None,
        Some(version) => format!("{who} requires {wanted}, but {} {version} is installed", requirement.name),
        None if complete => format!("{who} requires {wanted}, which is not installed"),
        None => return None,
    };
    let other = match found {
        Some(version) => Subject::release(&requirement.name, version),
        None => Subject::package(&requirement.name),
    };
    Some(held.placed(Finding::error(Code::RequirementBroken, message).about(who).against(other)))
}

/// Whether a line `cp312-cp312-manylinux_2_17_x86_64` of WHEEL fits; one that makes no sense is passed over.
fn fits(tags: &Tags, line: &str) -> bool {
    let mut parts = line.splitn(3, '-');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(python), Some(abi), Some(platform)) => tags.rank_of(python, abi, platform).is_some(),
        _ => true,
    }
}
