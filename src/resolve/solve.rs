//! Runs the solver, turns its answer into a [`Resolution`], and a "no" into the facts and fixes that explain it.

use std::collections::{BTreeMap, BTreeSet};

use pubgrub::{PubGrubError, SelectedDependencies};

use crate::model::catalog::Trouble;
use crate::model::{PackageName, Version, VersionRange};
use crate::resolve::collide::collisions;
use crate::resolve::explain::Conflict;
use crate::resolve::fixes::{fixes, newest_only};
use crate::resolve::package::Package;
use crate::resolve::provider::{Provider, Variation};
use crate::resolve::reasons::{Fact, facts_of};
use crate::resolve::{Pick, PickSource, Present, Question, Remark, Resolution};

/// Why there is no resolution.
#[derive(Debug)]
pub enum Unsolved {
    /// An index did not answer.
    Trouble(Trouble),
    /// There is no solution.
    Conflict(Box<Conflict>),
    /// The target's Python makes no marker environment.
    Target(String),
}

impl From<Trouble> for Unsolved {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

pub(super) type Solution = SelectedDependencies<Package, Version>;

/// What one run of the solver gave.
pub(super) enum Run<'a> {
    Solved(Box<Provider<'a>>, Solution),
    Failed(Vec<Fact>),
}

/// Solves `question`.
pub fn resolve(question: Question<'_>) -> Result<Resolution, Unsolved> {
    match run(question, Variation::default())? {
        Run::Solved(provider, solution) => Ok(collect(&provider, &solution)?),
        Run::Failed(facts) => Err(Unsolved::Conflict(Box::new(conflict(question, facts, &Variation::default())?))),
    }
}

pub(super) fn run(question: Question<'_>, variation: Variation) -> Result<Run<'_>, Unsolved> {
    let provider = Provider::new(question, variation).ok_or_else(|| {
        Unsolved::Target(format!("Python {} has no marker environment", question.target.python.version))
    })?;
    match pubgrub::resolve(&provider, Package::Profile, Version::new([0])) {
        Ok(solution) => Ok(Run::Solved(Box::new(provider), solution)),
        Err(PubGrubError::NoSolution(tree)) => Ok(Run::Failed(facts_of(&tree))),
        Err(
            PubGrubError::ErrorChoosingVersion { source, .. }
            | PubGrubError::ErrorRetrievingDependencies { source, .. }
            | PubGrubError::ErrorInShouldCancel(source),
        ) => Err(source.into()),
    }
}

/// The shortest facts we can find, and fixes that were solved.
///
/// A second solve allows only the newest version of each package of the profile: its contradiction is about what the user
/// expects to get, and ten times shorter. Where that is solvable the whole contradiction is told. `forced` are ranges that are a
/// supposition, to which there are no fixes.
pub(super) fn conflict(question: Question<'_>, full: Vec<Fact>, forced: &Variation) -> Result<Conflict, Unsolved> {
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
    let fixes = if forced.ranges.is_empty() { fixes(question, &facts) } else { Vec::new() };
    let supposed = forced.ranges.keys().cloned().collect();
    Ok(Conflict { facts, fixes, supposed })
}

/// Whether two explanations lead back to the same lines of the profile: a shorter one that leaves a line out may be about versions that
/// nobody insists on.
fn same_lines(short: &[Fact], full: &[Fact]) -> bool {
    let lines = |facts: &[Fact]| -> BTreeSet<PackageName> {
        let line = |fact: &Fact| match fact {
            Fact::Needs { package: Package::Profile, needed, .. } => needed.name().cloned(),
            _ => None,
        };
        facts.iter().filter_map(line).collect()
    };
    lines(short).is_superset(&lines(full))
}

fn collect(provider: &Provider<'_>, solution: &Solution) -> Result<Resolution, Trouble> {
    let needed_by = needed_by(provider, solution);
    let mut chosen: Vec<(&PackageName, &Version)> = solution
        .iter()
        .filter_map(|(package, version)| match package {
            Package::Distribution(name) => Some((name, version)),
            _ => None,
        })
        .collect();
    chosen.sort();
    let mut resolution = Resolution { picks: Vec::new(), remarks: Vec::new() };
    let (mut variants, mut skipped) = (0, 0);
    for (name, version) in chosen {
        resolution.remarks.extend(provider.build_remark(name, version));
        let in_profile = provider.wanted_as(name).next().is_some();
        let present = provider.keepable(name, &VersionRange::singleton(version.clone()));
        let (source, remarks) = match present {
            Some(present) => wheel_of_present(provider, name, present)?,
            None => wheel_of(provider, name, version)?,
        };
        resolution.remarks.extend(remarks);
        if present.is_none() {
            let listing = provider.listing(name)?;
            variants += listing.as_ref().map_or(0, |listing| listing.variants);
            skipped += listing.as_ref().map_or(0, |listing| listing.skipped);
        }
        resolution.picks.push(Pick {
            name: name.clone(),
            version: version.clone(),
            source,
            needed_by: needed_by.get(name).cloned().unwrap_or_default().into_iter().collect(),
            in_profile,
            present: present.is_some(),
        });
    }
    resolution.remarks.extend(unreadable(provider));
    resolution.remarks.extend(collisions(provider.question.catalog, &resolution.picks));
    if skipped > 0 {
        resolution.remarks.push(Remark::NamesUnreadable { count: skipped });
    }
    if variants > 0 {
        resolution.remarks.push(Remark::VariantsSkipped { count: variants });
    }
    Ok(resolution)
}

/// The wheel of what the target has already, as far as the listing alone tells: nothing of it is read, for nothing of it will be
/// installed there. What was installed from an address is known by that address alone.
fn wheel_of_present(
    provider: &Provider<'_>,
    name: &PackageName,
    present: &Present,
) -> Result<(PickSource, Vec<Remark>), Trouble> {
    let listing = if present.direct { None } else { provider.listing(name)? };
    let found = listing.as_ref().and_then(|listing| Some((listing, listing.get(&present.version)?)));
    let Some((listing, candidate)) = found.filter(|(_, candidate)| candidate.sha256.is_some()) else {
        return Ok((PickSource::ImageOnly, Vec::new()));
    };
    let (sha256, size) = (candidate.sha256, candidate.size);
    let index = candidate.folder.clone().unwrap_or_else(|| listing.index.clone());
    let yanked = candidate.yanked.clone();
    let remark = yanked.map(|reason| Remark::Yanked { name: name.clone(), version: present.version.clone(), reason });
    let source = PickSource::Wheel { candidate: Box::new(candidate.clone()), index, sha256, size };
    Ok((source, remark.into_iter().collect()))
}

fn wheel_of(
    provider: &Provider<'_>,
    name: &PackageName,
    version: &Version,
) -> Result<(PickSource, Vec<Remark>), Trouble> {
    let missing = || Trouble {
        message: format!("`{name}` {version} was chosen but its wheel is gone from the listing"),
        causes: Vec::new(),
        help: vec!["run the command again".to_owned()],
    };
    let listing = provider.listing(name)?.ok_or_else(missing)?;
    let candidate = listing.get(version).ok_or_else(missing)?.clone();
    let mut remarks = Vec::new();
    if let Some(reason) = &candidate.yanked {
        remarks.push(Remark::Yanked { name: name.clone(), version: version.clone(), reason: reason.clone() });
    }
    if version.any_prerelease() {
        remarks.push(Remark::Prerelease { name: name.clone(), version: version.clone() });
    }
    if candidate.is_source() {
        remarks.push(Remark::FromSource { name: name.clone(), version: version.clone() });
    }
    let catalog = provider.question.catalog;
    let (mut sha256, mut size) = (candidate.sha256, candidate.size);
    if sha256.is_none() {
        match catalog.digest(&candidate) {
            Ok((digest, length)) => (sha256, size) = (Some(digest), Some(length)),
            Err(trouble) => {
                let why = format!("{}: {}", trouble.message, trouble.causes.join(": "));
                remarks.push(Remark::Unhashed { name: name.clone(), version: version.clone(), why });
            }
        }
    } else if size.is_none() {
        size = catalog.size(&candidate)?;
    }
    let index = candidate.folder.clone().unwrap_or_else(|| listing.index.clone());
    Ok((PickSource::Wheel { candidate: Box::new(candidate), index, sha256, size }, remarks))
}

/// Releases that were passed over for what nobody can read, by package.
fn unreadable(provider: &Provider<'_>) -> Vec<Remark> {
    let mut found: BTreeMap<PackageName, (usize, String)> = BTreeMap::new();
    for ((name, _), line) in provider.unreadable.borrow().iter() {
        let entry = found.entry(name.clone()).or_insert_with(|| (0, line.clone()));
        entry.0 += 1;
    }
    found.into_iter().map(|(name, (count, line))| Remark::Unreadable { name, count, line }).collect()
}

pub(super) fn needed_by(provider: &Provider<'_>, solution: &Solution) -> BTreeMap<PackageName, BTreeSet<PackageName>> {
    let edges = provider.edges.borrow();
    let mut needed: BTreeMap<PackageName, BTreeSet<PackageName>> = BTreeMap::new();
    for (package, version) in solution.iter() {
        let Some(parent) = package.name() else {
            continue;
        };
        let of_this = edges.get(&(package.clone(), version.clone())).into_iter().flatten();
        for child in of_this.filter_map(|(child, _)| child.name()).filter(|child| *child != parent) {
            needed.entry(child.clone()).or_default().insert(parent.clone());
        }
    }
    needed
}
