//! Whether the kernel has to restart. Only if code that it has loaded is replaced, or its environment changes.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::model::PackageName;
use crate::plan::Plan;

/// The decision, with its reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Restart {
    pub needed: bool,
    pub because: Vec<String>,
}

/// The installed distributions whose files the plan would replace or remove: only these can be alive in a kernel.
pub fn disturbed(plan: &Plan) -> impl Iterator<Item = &PackageName> {
    plan.changes.iter().filter(|change| change.from.is_some()).map(|change| &change.name)
}

/// Decides. `loaded` are distributions that the live kernel has imported; `None` where there is no kernel.
/// `environment_changes` says that the environment file differs from what the plan wants.
pub fn decide_restart(plan: &Plan, loaded: Option<&BTreeSet<PackageName>>, environment_changes: bool) -> Restart {
    let Some(loaded) = loaded else {
        return Restart::default();
    };
    let mut because: Vec<String> = plan
        .changes
        .iter()
        .filter(|change| change.from.is_some() && loaded.contains(&change.name))
        .map(|change| match (&change.from, &change.to) {
            (Some(from), Some(to)) if from == to => format!("{} {from} is loaded and is installed again", change.name),
            (Some(from), Some(to)) => format!("{} is loaded and goes from {from} to {to}", change.name),
            (Some(from), None) => format!("{} {from} is loaded and is removed", change.name),
            _ => format!("{} is loaded", change.name),
        })
        .collect();
    if environment_changes {
        let names: Vec<&str> = plan.environment.keys().map(String::as_str).collect();
        let names = if names.is_empty() { "what was set before goes".to_owned() } else { names.join(", ") };
        because.push(format!("the kernel's environment changes: {names}"));
    }
    Restart { needed: !because.is_empty(), because }
}
