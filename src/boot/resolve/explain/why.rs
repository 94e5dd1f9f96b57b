//! Why a package is in a solution at its version: who asks for it, what keeps it from being newer, what a newer one
//! would take.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::resolve::Question;
use crate::boot::resolve::explain::conflict::{Conflict, Unsolved};
use crate::boot::resolve::explain::contradiction::contradiction;
use crate::boot::resolve::package::{Package, Solution};
use crate::boot::resolve::provider::{Provider, Variation};
use crate::boot::resolve::search::{Run, run};
use crate::core::diag::Failure;
use crate::core::model::catalog::Admission;
use crate::core::model::version::describe;
use crate::core::model::{PackageName, Version, VersionRange};

/// The reasons for one package.
#[derive(Clone, Debug)]
pub struct Why {
    pub version: Version,
    /// From a package of the profile down to this one, each with its version; this one alone where the profile asks for
    /// it.
    pub chain: Vec<(PackageName, Version)>,
    /// Who asks for it, in order; the profile first.
    pub askers: Vec<Asker>,
    /// The newest release that the target could have, where it is newer.
    pub newest: Option<Version>,
    pub newer: Newer,
}

/// One requirement on the package.
#[derive(Clone, Debug)]
pub struct Asker {
    /// `None`: the profile.
    pub package: Option<(PackageName, Version)>,
    /// `>=2.0,<3`, or `any version`.
    pub range: String,
    /// It does not let the newest release in.
    pub caps: bool,
}

/// What the newest release would take.
#[derive(Clone, Debug)]
pub enum Newer {
    /// It is the newest.
    No,
    /// These would move, from and to; `None` where a package would come or go.
    Moves(Vec<(PackageName, Option<Version>, Option<Version>)>),
    Impossible(Box<Conflict>),
}

/// Solves `question` and tells why `name` is in the answer; `None` where it is not.
pub fn why(question: Question<'_>, name: &PackageName) -> Result<Option<Why>, Unsolved> {
    let (provider, solution) = match run(question, Variation::default())? {
        Run::Solved(provider, solution) => (provider, solution),
        Run::Failed(facts) => {
            return Err(Unsolved::Conflict(Box::new(contradiction(question, facts, &Variation::default())?)));
        }
    };
    let Some(version) = solution.get(&Package::Distribution(name.clone())).cloned() else {
        return Ok(None);
    };
    let newest = newest(&provider, name)?.filter(|newest| *newest > version);
    let askers = askers(&provider, &solution, name, newest.as_ref());
    let newer = match &newest {
        None => Newer::No,
        Some(newest) => with_version(question, name, newest, &solution)?,
    };
    Ok(Some(Why { chain: chain(&provider, &solution, name, &version), version, askers, newest, newer }))
}

/// The newest release that the target could have if nothing else mattered.
fn newest(provider: &Provider<'_>, name: &PackageName) -> Result<Option<Version>, Failure> {
    let listing = provider.listing(name)?;
    let newest = listing.as_ref().and_then(|listing| {
        listing.choose(&VersionRange::full(), Admission { yanked: false, ..provider.admission(name) })
    });
    Ok(newest.map(|candidate| candidate.version.clone()))
}

/// The distributions of a solution.
fn versions(solution: &Solution) -> BTreeMap<PackageName, Version> {
    solution
        .iter()
        .filter_map(|(package, version)| match package {
            Package::Distribution(name) => Some((name.clone(), version.clone())),
            _ => None,
        })
        .collect()
}

/// Every requirement on `name` in the solution.
fn askers(provider: &Provider<'_>, solution: &Solution, name: &PackageName, newest: Option<&Version>) -> Vec<Asker> {
    let edges = provider.edges.borrow();
    let mut found: BTreeMap<Option<(PackageName, Version)>, VersionRange> = BTreeMap::new();
    for (package, version) in solution {
        let asker = package.name().map(|parent| (parent.clone(), version.clone()));
        if package.name() == Some(name) {
            continue;
        }
        for (child, range) in edges.get(&(package.clone(), version.clone())).into_iter().flatten() {
            if child.name() == Some(name) {
                let known = found.entry(asker.clone()).or_insert_with(VersionRange::full);
                *known = known.intersection(range);
            }
        }
    }
    found
        .into_iter()
        .map(|(package, range)| Asker {
            package,
            caps: newest.is_some_and(|newest| !range.contains(newest)),
            range: describe(&range),
        })
        .collect()
}

/// The shortest way from the profile to `name`.
fn chain(
    provider: &Provider<'_>,
    solution: &Solution,
    name: &PackageName,
    version: &Version,
) -> Vec<(PackageName, Version)> {
    let versions = versions(solution);
    let needed_by = crate::boot::resolve::solve::needed_by(provider, solution);
    let roots: BTreeSet<&PackageName> = provider.wanted().map(|wanted| &wanted.name).collect();
    let mut open = vec![vec![name.clone()]];
    let mut seen: BTreeSet<PackageName> = BTreeSet::new();
    while !open.is_empty() {
        if let Some(way) = open.iter().find(|way| way.last().is_some_and(|last| roots.contains(last))) {
            return way.iter().rev().filter_map(|name| Some((name.clone(), versions.get(name)?.clone()))).collect();
        }
        let mut next = Vec::new();
        for way in open {
            for parent in way.last().and_then(|last| needed_by.get(last)).into_iter().flatten() {
                if seen.insert(parent.clone()) {
                    next.push(way.iter().cloned().chain([parent.clone()]).collect());
                }
            }
        }
        open = next;
    }
    vec![(name.clone(), version.clone())]
}

/// What would be different with `newest`.
fn with_version(
    question: Question<'_>,
    name: &PackageName,
    newest: &Version,
    solution: &Solution,
) -> Result<Newer, Unsolved> {
    let ranges = [(name.clone(), VersionRange::singleton(newest.clone()))].into();
    let supposed = Variation { ranges, ..Variation::default() };
    match run(question, supposed.clone())? {
        Run::Solved(_, other) => {
            let (before, after) = (versions(solution), versions(&other));
            let names: BTreeSet<&PackageName> = before.keys().chain(after.keys()).collect();
            let moved = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
            let moves = moved.map(|name| (name.clone(), before.get(name).cloned(), after.get(name).cloned()));
            Ok(Newer::Moves(moves.collect()))
        }
        Run::Failed(facts) => {
            // Beside what the profile's other packages are now: that is what the user would see move.
            let mut beside = supposed.clone();
            let current = versions(solution);
            let wanted = question.profile.wanted.iter().filter(|one| one.name != *name);
            beside.ranges.extend(
                wanted.filter_map(|one| {
                    Some((one.name.clone(), VersionRange::singleton(current.get(&one.name)?.clone())))
                }),
            );
            let names = beside.ranges.keys().cloned().collect();
            let conflict = match run(question, beside)? {
                Run::Failed(facts) => Conflict { facts, fixes: Vec::new(), supposed: names },
                Run::Solved(..) => contradiction(question, facts, &supposed)?,
            };
            Ok(Newer::Impossible(Box::new(conflict)))
        }
    }
}
