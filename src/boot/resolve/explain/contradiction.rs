//! The shortest contradiction that can be found, and fixes that were solved.

use std::collections::BTreeSet;

use crate::boot::resolve::explain::conflict::Conflict;
use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::explain::fixes::{fixes, newest_only};
use crate::boot::resolve::package::Package;
use crate::boot::resolve::provider::{Provider, Variation};
use crate::boot::resolve::search::{Run, run};
use crate::boot::resolve::{Question, Unsolved};
use crate::core::model::PackageName;

/// The shortest facts we can find, and fixes that were solved.
///
/// A second solve allows only the newest version of each package of the profile: its contradiction is about what the
/// user expects to get, and ten times shorter. Where that is solvable the whole contradiction is shown. `forced` are
/// ranges that are a supposition, to which there are no fixes.
pub(in crate::boot::resolve) fn contradiction(
    question: Question<'_>,
    full: Vec<Fact>,
    forced: &Variation,
) -> Result<Conflict, Unsolved> {
    let conflict = shortest(question, full, forced)?;
    let fixes = if forced.ranges.is_empty() { fixes(question, &conflict.facts) } else { Vec::new() };
    Ok(Conflict { fixes, ..conflict })
}

/// The same without fixes.
pub(in crate::boot::resolve) fn shortest(
    question: Question<'_>,
    full: Vec<Fact>,
    forced: &Variation,
) -> Result<Conflict, Unsolved> {
    let newest = match Provider::new(question, Variation::default()) {
        Some(provider) => newest_only(&provider)?,
        None => Variation::default(),
    };
    let mut newest = newest;
    newest.ranges.extend(forced.ranges.clone());
    let facts = match run(question, newest)? {
        Run::Failed(facts) if facts.len() <= full.len() && same_lines(&facts, &full) => facts,
        _ => full,
    };
    let supposed = forced.ranges.keys().cloned().collect();
    Ok(Conflict { facts, fixes: Vec::new(), supposed })
}

/// Whether two explanations lead back to the same lines of the profile: a shorter one that leaves a line out may be
/// about versions that the profile does not insist on.
fn same_lines(short: &[Fact], full: &[Fact]) -> bool {
    profile_lines(short).is_superset(&profile_lines(full))
}

/// The packages that the profile names, among those that `facts` are about.
fn profile_lines(facts: &[Fact]) -> BTreeSet<&PackageName> {
    let named = facts.iter().filter_map(|fact| match fact {
        Fact::Needs { package: Package::Profile, needed, .. } => needed.name(),
        _ => None,
    });
    named.collect()
}
