//! One run of the solver.

use pubgrub::PubGrubError;

use crate::boot::resolve::Question;
use crate::boot::resolve::explain::Unsolved;
use crate::boot::resolve::explain::derivation::{Fact, facts_of};
use crate::boot::resolve::linked::objections;
use crate::boot::resolve::package::{Package, Solution};
use crate::boot::resolve::provider::{Provider, Variation};
use crate::core::model::Version;

/// What one run of the solver gave.
pub(super) enum Run<'a> {
    Solved(Box<Provider<'a>>, Solution),
    Failed(Vec<Fact>),
}

/// Runs the solver on `question` with what is varied, until everything in its answer has what it is linked against.
pub(super) fn run(question: Question<'_>, mut variation: Variation) -> Result<Run<'_>, Unsolved> {
    loop {
        let found = run_once(question, variation.clone())?;
        let Run::Solved(provider, solution) = &found else { return Ok(found) };
        let objections = objections(provider, solution)?;
        if objections.barred.is_empty() && !objections.bound {
            return Ok(found);
        }
        variation.barred.extend(objections.barred);
    }
}

fn run_once(question: Question<'_>, variation: Variation) -> Result<Run<'_>, Unsolved> {
    let provider = Provider::new(question, variation).ok_or_else(|| {
        Unsolved::Target(format!("Python {} has no marker environment", question.target.python.version))
    })?;
    match pubgrub::resolve(&provider, Package::Profile, Version::new([0])) {
        Ok(solution) => {
            let chosen = solution.iter().map(|(package, release)| (package.clone(), release.version.clone()));
            let chosen = chosen.collect();
            Ok(Run::Solved(Box::new(provider), chosen))
        }
        Err(PubGrubError::NoSolution(tree)) => Ok(Run::Failed(facts_of(&tree))),
        Err(
            PubGrubError::ErrorChoosingVersion { source, .. }
            | PubGrubError::ErrorRetrievingDependencies { source, .. }
            | PubGrubError::ErrorInShouldCancel(source),
        ) => Err(source.into()),
    }
}
