//! Variables of the living environment, the kernel's and the shell's, as `lock` judges those of a profile.

use std::collections::BTreeMap;

use crate::boot::plan::About;
use crate::core::diag::{Code, Finding, Severity, counted};
use crate::core::matrix::{is_judged, settings};
use crate::health::doctor::vram::installed;
use crate::health::doctor::{Answer, Case, Hit, Judge};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::EnvRefused, |case| judged(case, &|severity| severity == Severity::Error)),
    (Code::EnvIgnored, |case| judged(case, &|severity| severity != Severity::Error)),
];

/// What is wrong with them, of the severity that `is_meant`.
fn judged(case: &Case<'_>, is_meant: &dyn Fn(Severity) -> bool) -> Answer {
    let rows = match settings() {
        Ok(rows) => rows,
        Err(why) => return Answer::Failed(why),
    };
    let version = |name: &str| installed(case, name);
    let at = |code: Code, _: &str, message: String| Some(Finding::error(code, message));
    let mut hits: Vec<Hit> = Vec::new();
    let mut count = 0;
    let environments = environments(case);
    for (place, all) in &environments {
        count = count.max(all.len());
        let found = About { all, version: &version, at: &at }.refusals(rows);
        for finding in found.into_iter().filter(|finding| is_meant(finding.severity)) {
            let hit = Hit::new(finding.severity, finding.message).seen_all(finding.notes).seen_all(finding.help);
            if !hits.iter().any(|one| one.message == hit.message) {
                hits.push(hit.seen(*place));
            }
        }
    }
    if hits.is_empty() {
        Answer::Fine(format!("{} set", counted(count, "framework variable")))
    } else {
        Answer::Found(hits)
    }
}

/// The variables that are judged, by where they are set.
fn environments(case: &Case<'_>) -> Vec<(&'static str, BTreeMap<String, String>)> {
    let shell = case.vitals.environment.clone();
    let mut kernel = case.vitals.kernel_environment.clone();
    for (name, value) in case.facts.iter().flat_map(|facts| &facts.environment) {
        match value {
            Some(value) => drop(kernel.insert(name.clone(), value.clone())),
            None => drop(kernel.remove(name)),
        }
    }
    let mut all = vec![("in the kernel", kernel), ("in this process", shell)];
    for (_, variables) in &mut all {
        variables.retain(|name, _| is_judged(name));
    }
    all
}
