//! Whether the kernel has to restart: what the plan touches, and what else speaks for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::boot::marker::{Given, Touched, because};
use crate::boot::notebook::{Loaded, Modules};
use crate::boot::plan::variables::VariablesAfter;
use crate::boot::plan::{Basis, Change, Plan};
use crate::core::model::PackageName;

/// The decision, with its reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Restart {
    pub needed: bool,
    pub because: Vec<String>,
}

/// What `plan` touches; `modules` are those of the distributions that change, of the installed version and of the new
/// one. What no kernel notices is left out: `silent` are distributions of which only files are repaired that the kernel
/// does not hold.
pub fn touched(
    plan: &Plan,
    modules: &BTreeMap<PackageName, BTreeSet<String>>,
    silent: &BTreeSet<PackageName>,
) -> Vec<Touched> {
    plan.changes.iter().filter(|change| !silent.contains(&change.name)).map(|change| touch(change, modules)).collect()
}

fn touch(change: &Change, modules: &BTreeMap<PackageName, BTreeSet<String>>) -> Touched {
    Touched {
        name: Some(change.name.clone()),
        what: match (&change.from, &change.to) {
            (Some(from), Some(to)) if from == to => format!("{from} is reinstalled"),
            (Some(from), Some(to)) => format!("changes from {from} to {to}"),
            (Some(from), None) => format!("{from} is removed"),
            (None, Some(to)) => format!("is replaced with {to}"),
            (None, None) => "changes".to_owned(),
        },
        modules: modules.get(&change.name).cloned().unwrap_or_else(|| [guessed_module(&change.name)].into()),
        existed: change.from.is_some(),
        starts: false,
        given: Given::default(),
        ended: None,
        clean: Vec::new(),
    }
}

/// Says of those of `touched` that are new and among `starting` that a Python which starts reads a file of theirs.
/// Which other wheels have one is known once they are here.
pub(super) fn expect_starts(touched: &mut [Touched], starting: &[PackageName]) {
    for one in touched.iter_mut().filter(|one| !one.existed) {
        one.starts = one.name.as_ref().is_some_and(|name| starting.contains(name));
    }
}

/// The module that a distribution of this name probably has.
fn guessed_module(name: &PackageName) -> String {
    name.as_ref().replace(['-', '.'], "_")
}

/// The entry of the environment file, for kernels that do not report their variables.
pub(super) fn environment_touched(environment: &VariablesAfter, loaded: &Loaded) -> Option<Touched> {
    let reported = matches!(loaded.modules, Modules::Reported(_));
    let what = environment.because.first().filter(|_| !reported)?.clone();
    Some(Touched {
        name: None,
        what,
        modules: BTreeSet::new(),
        existed: true,
        starts: false,
        given: Given::default(),
        ended: None,
        clean: Vec::new(),
    })
}

/// Why the kernel must restart whatever changes now.
pub(super) fn evidence(basis: &Basis<'_>, plan: &Plan, environment: &VariablesAfter) -> Vec<String> {
    let reported = matches!(basis.loaded.modules, Modules::Reported(_));
    let mut evidence: Vec<String> = if reported { environment.because.clone() } else { Vec::new() };
    if let Some(first) = basis.loaded.replaced.first() {
        let others = basis.loaded.replaced.len() - 1;
        let text = match others {
            0 => format!("`{}` was replaced on disk while the kernel has it loaded", first.display()),
            _ => format!(
                "`{}` and {others} more were replaced on disk while the kernel has them loaded",
                first.display()
            ),
        };
        evidence.push(text);
    }
    // What this plan replaces is judged by what it replaces.
    let is_replaced = |name: &PackageName| plan.changes.iter().any(|change| change.name == *name);
    let stale = basis.loaded.stale.iter().filter(|stale| !is_replaced(&stale.name));
    evidence.extend(stale.map(ToString::to_string));
    evidence
}

/// Whether the kernel must restart, for what is `touched`, for what earlier applies have left open, or for the
/// `evidence`.
pub(super) fn restart(basis: &Basis<'_>, touched: &[Touched], evidence: &[String]) -> Restart {
    let Some(kernel) = &basis.machine.kernel else {
        return described_restart(basis, touched);
    };
    let open = basis.history.iter().filter(|known| !touched.iter().any(|one| one.name == known.name));
    let mut reasons = because(open.chain(touched), kernel, basis.loaded, basis.folders);
    reasons.extend(evidence.iter().filter(|reason| !reasons.contains(reason)).cloned().collect::<Vec<_>>());
    Restart { needed: !reasons.is_empty(), because: reasons }
}

/// On a described notebook image there is no kernel, but a fresh one would have loaded what such images preload.
fn described_restart(basis: &Basis<'_>, touched: &[Touched]) -> Restart {
    if basis.machine.runtime.is_none() {
        return Restart::default();
    }
    let fresh = crate::boot::machine::Kernel { pid: 0, start_time: 0 };
    let reasons = because(touched, &fresh, basis.loaded, basis.folders);
    Restart { needed: !reasons.is_empty(), because: reasons }
}
