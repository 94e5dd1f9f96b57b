//! Packages that another tool has changed after colab-boot did.

use crate::boot::ledger::{Before, Hand, Ledger};
use crate::boot::machine::Machine;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::{PackageName, Version};

/// What another tool has changed after colab-boot did: undoing colab-boot's changes does not make it what it was before
/// the first apply.
pub fn changed_by_others(ledger: &Ledger, machine: &Machine) -> Vec<Finding> {
    let installed = |name: &PackageName| machine.installed.get(name).map(|one| &one.version);
    let changed = ledger.distributions.iter().filter_map(|(name, entry)| {
        matches!(ledger.hand(name, installed(name)), Hand::Changed(_)).then_some((name, entry.before.as_ref()))
    });
    let removed = ledger
        .removed
        .iter()
        .filter(|(name, before)| {
            !ledger.distributions.contains_key(*name)
                && installed(name).is_some_and(|version| *version != before.version)
        })
        .map(|(name, before)| (name, Some(before)));
    changed.chain(removed).map(|(name, before)| stays(name, installed(name), before)).collect()
}

fn stays(name: &PackageName, installed: Option<&Version>, before: Option<&Before>) -> Finding {
    let was = before.map_or_else(|| "not installed".to_owned(), |before| format!("version {}", before.version));
    let message = match installed {
        Some(version) => format!(
            "{name} {version} stays: another tool installed it after colab-boot. Before the first apply it was {was}"
        ),
        None => format!(
            "{name} was removed by another tool after colab-boot changed it. Before the first apply it was {was}"
        ),
    };
    let help = match before {
        Some(before) => format!("to restore that version, run `pip install {name}=={}`", before.version),
        None => format!("to remove it, run `pip uninstall {name}`"),
    };
    Finding::warning(Code::PlanPruneKept, message).about(Subject::package(name)).with_help(help)
}
