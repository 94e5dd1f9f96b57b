//! All that keeps requirements from being met, one cause after another: what a cause is about is left out, and the rest
//! is solved.

use std::collections::BTreeSet;

use crate::boot::profile::Profile;
use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::explain::{Conflict, Hindrance, contradiction, explain, shortest};
use crate::boot::resolve::provider::Variation;
use crate::boot::resolve::search::{Run, run};
use crate::boot::resolve::solve::collect;
use crate::boot::resolve::{Question, Resolution, Unsolved};
use crate::core::diag::{Finding, Kind};
use crate::core::model::PackageName;

/// So many causes are looked for.
const CAUSES: usize = 6;

/// What can be met of requirements, and what can't.
#[derive(Debug)]
pub struct Rest {
    pub causes: Vec<Cause>,
    /// An answer for all but what was left out; `None` where there are more causes than were looked for.
    pub resolution: Option<Resolution>,
}

/// Why requirements can't be met together.
#[derive(Debug)]
pub struct Cause {
    pub finding: Finding,
    /// The requirement without which the rest is free of it.
    pub left_out: PackageName,
    /// All packages that play a part.
    pub names: BTreeSet<PackageName>,
    pub hindrance: Hindrance,
}

/// Solves `question` without the requirements that can't be met.
pub fn resolve_rest(question: Question<'_>) -> Result<Rest, Unsolved> {
    let mut profile = question.profile.clone();
    let mut causes: Vec<Cause> = Vec::new();
    loop {
        let reduced = Question { profile: &profile, ..question };
        let facts = match run(reduced, Variation::default()) {
            Ok(Run::Solved(provider, solution)) => {
                return Ok(Rest { causes, resolution: Some(collect(&provider, &solution)?) });
            }
            Ok(Run::Failed(facts)) => facts,
            // The time is over; what was found out counts.
            Err(Unsolved::Failure(failure)) if failure.kind == Kind::Answer && !causes.is_empty() => {
                return Ok(Rest { causes, resolution: None });
            }
            Err(unsolved) => return Err(unsolved),
        };
        let conflict = match alone(reduced, &facts)? {
            Some(conflict) => conflict,
            None => contradiction(reduced, facts, &Variation::default())?,
        };
        let Some(left_out) = culprit(&conflict, &profile) else {
            return Err(Unsolved::Conflict(Box::new(conflict)));
        };
        causes.push(Cause {
            finding: explain(&conflict, reduced, &|_| None),
            names: conflict.names(),
            hindrance: conflict.hindrance(reduced),
            left_out: left_out.clone(),
        });
        profile.wanted.retain(|one| one.name != left_out);
        if profile.wanted.is_empty() {
            return Ok(Rest { causes, resolution: Some(Resolution::default()) });
        }
        if causes.len() == CAUSES {
            return Ok(Rest { causes, resolution: None });
        }
    }
}

/// Why one of the requirements that play a part can't be met by itself: then the others have no part in it.
fn alone(question: Question<'_>, facts: &[Fact]) -> Result<Option<Conflict>, Unsolved> {
    let names: BTreeSet<&PackageName> = facts.iter().flat_map(Fact::names).collect();
    if question.profile.wanted.len() < 2 {
        return Ok(None);
    }
    for wanted in question.profile.wanted.iter().filter(|one| names.contains(&one.name)) {
        let profile = Profile { wanted: vec![wanted.clone()], ..question.profile.clone() };
        let single = Question { profile: &profile, ..question };
        let Run::Failed(facts) = run(single, Variation::default())? else { continue };
        // Fixes would be of this one alone.
        return shortest(single, facts, &Variation::default()).map(Some);
    }
    Ok(None)
}

/// The requirement to leave out: one without which the rest was solved, else one that plays a part; where a package has
/// no release for the target, that which leads to it.
fn culprit(conflict: &Conflict, profile: &Profile) -> Option<PackageName> {
    let names = conflict.names();
    let mut wanted = profile.wanted.iter().map(|one| &one.name);
    conflict.without().or_else(|| wanted.find(|name| names.contains(*name))).cloned()
}
