//! When a search gives up: the time of the solve is over, or a fix takes more than it is worth.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::boot::resolve::provider::Provider;
use crate::core::diag::{Failure, counted};
use crate::core::model::PackageName;

/// Decisions that a budget allows for each release that it allows to look into.
const STEPS: usize = 4;

impl Provider<'_> {
    /// Fails when the time is over or the budget is spent: a fix that needs hundreds of versions looked into, or
    /// thousands of decisions, is not worth the wait. Counts one decision.
    pub(super) fn must_have_time(&self) -> Result<(), Failure> {
        self.steps.set(self.steps.get() + 1);
        let is_spent = |budget: usize| self.edges.borrow().len() >= budget || self.steps.get() >= STEPS * budget;
        let spent = self.variation.budget.is_some_and(is_spent);
        if spent {
            return Err(Failure::world("the time limit is reached"));
        }
        if (self.question.is_over)() { Err(self.out_of_time()) } else { Ok(()) }
    }

    /// That the time is over, with what was found out so far.
    fn out_of_time(&self) -> Failure {
        let conflicts = self.conflicts.borrow();
        let mut worst: BTreeMap<&PackageName, u32> = BTreeMap::new();
        for (package, count) in conflicts.iter() {
            let Some(name) = package.name() else { continue };
            *worst.entry(name).or_default() += count;
        }
        let mut worst: Vec<_> = worst.into_iter().collect();
        worst.sort_by_key(|(name, count)| (Reverse(*count), *name));
        let named: Vec<String> = worst.iter().take(5).map(|(name, count)| format!("{name} ({count})")).collect();
        let looked = self.edges.borrow().len();
        let failure =
            Failure::answer("no solution was found in time").cause(format!("{} tried", counted(looked, "release")));
        let failure =
            if named.is_empty() { failure } else { failure.cause(format!("most in conflict: {}", named.join(", "))) };
        failure.help("narrow these in the profile with an exact version or a range, or raise --solve-timeout")
    }
}
