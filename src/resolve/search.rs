//! One run of the solver.

use std::collections::HashMap;

use pubgrub::PubGrubError;

use crate::model::Version;
use crate::resolve::Question;
use crate::resolve::explain::Unsolved;
use crate::resolve::explain::derivation::{Fact, facts_of};
use crate::resolve::package::Package;
use crate::resolve::provider::{Provider, Variation};

/// The version of each package.
pub(super) type Solution = HashMap<Package, Version>;

/// What one run of the solver gave.
pub(super) enum Run<'a> {
    Solved(Box<Provider<'a>>, Solution),
    Failed(Vec<Fact>),
}

/// Runs the solver on `question` with what is varied.
pub(super) fn run(question: Question<'_>, variation: Variation) -> Result<Run<'_>, Unsolved> {
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
