//! The wheels of several targets, and how many bytes they take.

use std::collections::BTreeMap;

use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::core::diag::{Code, Failure, Finding, Kind, bytes};
use crate::core::model::Sha256;

/// Every file once, whatever number of targets has it.
pub fn distinct<'a>(targets: &[&'a LockedTarget]) -> BTreeMap<Sha256, &'a LockedPackage> {
    let packages = targets.iter().flat_map(|target| &target.packages);
    packages.filter_map(|package| Some((package.wheel()?.sha256?, package))).collect()
}

/// An error that names the largest wheels where `known` bytes are more than `budget`.
pub fn within_budget(
    budget: Option<u64>,
    known: u64,
    wheels: &BTreeMap<Sha256, &LockedPackage>,
) -> Result<(), Failure> {
    let Some(budget) = budget.filter(|budget| known > *budget) else {
        return Ok(());
    };
    let mut sizes: Vec<(u64, &LockedPackage)> =
        wheels.values().filter_map(|package| Some((package.wheel()?.size?, *package))).collect();
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let largest: Vec<String> = sizes
        .iter()
        .take(5)
        .map(|(size, package)| format!("{} {}: {}", package.name, package.version, bytes(*size)))
        .collect();
    let message = format!("the wheels take {}, but the budget is {}", bytes(known), bytes(budget));
    let finding = Finding::error(Code::FetchOverBudget, message)
        .with_note(format!("the largest: {}", largest.join(", ")))
        .with_help("nothing was fetched; raise --budget, or fetch fewer targets with --target");
    Err(Failure::from_findings(Kind::Answer, vec![finding]))
}
