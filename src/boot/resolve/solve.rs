//! Runs the solver, turns its answer into a [`Resolution`], and a "no" into the facts and fixes that explain it.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::resolve::collision::collisions;
use crate::boot::resolve::explain::contradiction;
use crate::boot::resolve::held_back::held_back;
use crate::boot::resolve::linked::unfound;
use crate::boot::resolve::package::{Package, Solution};
use crate::boot::resolve::provider::{Provider, Variation};
use crate::boot::resolve::search::{Run, run};
use crate::boot::resolve::{Caveat, Pick, PickSource, Present, Question, Resolution, Unsolved};
use crate::core::diag::Failure;
use crate::core::model::{PackageName, Version, VersionRange};

/// Solves `question`.
pub fn resolve(question: Question<'_>) -> Result<Resolution, Unsolved> {
    match run(question, Variation::default())? {
        Run::Solved(provider, solution) => Ok(collect(&provider, &solution)?),
        Run::Failed(facts) => Err(Unsolved::Conflict(Box::new(contradiction(question, facts, &Variation::default())?))),
    }
}

pub(super) fn collect(provider: &Provider<'_>, solution: &Solution) -> Result<Resolution, Failure> {
    let needed_by = needed_by(provider, solution);
    let mut chosen: Vec<(&PackageName, &Version)> = solution
        .iter()
        .filter_map(|(package, version)| match package {
            Package::Distribution(name) => Some((name, version)),
            _ => None,
        })
        .collect();
    chosen.sort();
    let mut resolution = Resolution { picks: Vec::new(), caveats: Vec::new() };
    let (mut variants, mut skipped) = (0, 0);
    for (name, version) in chosen {
        resolution.caveats.extend(provider.build_caveat(name, version));
        let in_profile = provider.wanted_as(name).next().is_some();
        let present = provider.keepable(name, &VersionRange::singleton(version.clone()));
        let (source, caveats) = match present {
            Some(present) => wheel_of_present(provider, name, present)?,
            None => wheel_of(provider, name, version)?,
        };
        resolution.caveats.extend(caveats);
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
    resolution.caveats.extend(unfound(provider, solution));
    for (package, version) in solution {
        let Package::Extra(name, extra) = package else { continue };
        let (name, extra, version) = (name.clone(), extra.clone(), version.clone());
        let known = provider.without_extra.borrow().get(&(name.clone(), extra.clone())).cloned();
        resolution.caveats.extend(known.map(|known| Caveat::ExtraUnknown { name, version, extra, known }));
    }
    let held = held_back(provider, solution)?;
    resolution.caveats.extend((!held.is_empty()).then_some(Caveat::HeldBack(held)));
    let unread = std::mem::take(&mut *provider.unread.borrow_mut()).into_iter();
    let unread = unread.map(|(name, (version, why))| Caveat::LinkingUnread { name, version, why });
    resolution.caveats.extend(unread);
    resolution.caveats.extend(unreadable(provider));
    resolution.caveats.extend(collisions(provider.question.catalog, &resolution.picks));
    if skipped > 0 {
        resolution.caveats.push(Caveat::NamesUnreadable { count: skipped });
    }
    if variants > 0 {
        resolution.caveats.push(Caveat::VariantsSkipped { count: variants });
    }
    Ok(resolution)
}

/// The wheel of what the target has already, as far as the listing alone tells: nothing is fetched for it, for nothing
/// of it will be installed there. What was installed from an address is known by that address alone, unless the profile
/// says who serves it.
fn wheel_of_present(
    provider: &Provider<'_>,
    name: &PackageName,
    present: &Present,
) -> Result<(PickSource, Vec<Caveat>), Failure> {
    let question = &provider.question;
    let is_served = !present.direct || question.profile.index_of(name).is_some();
    let listing = if is_served { provider.listing(name)? } else { None };
    let Some((listing, candidate)) = listing.as_ref().and_then(|all| Some((all, all.get(&present.version)?))) else {
        return Ok((PickSource::ImageOnly, Vec::new()));
    };
    // A folder lists no digests, and its files are at hand.
    let (sha256, size) = match &candidate.folder {
        Some(_) => question.catalog.digest(candidate).map_or((None, None), |(sha256, size)| (Some(sha256), Some(size))),
        None => (candidate.sha256, candidate.size),
    };
    if sha256.is_none() {
        return Ok((PickSource::ImageOnly, Vec::new()));
    }
    let index = candidate.folder.clone().unwrap_or_else(|| listing.index.clone());
    let yanked = candidate.yanked.clone();
    let caveat = yanked.map(|reason| Caveat::Yanked { name: name.clone(), version: present.version.clone(), reason });
    let source = PickSource::Wheel { candidate: Box::new(candidate.clone()), index, sha256, size, metadata: None };
    Ok((source, caveat.into_iter().collect()))
}

fn wheel_of(
    provider: &Provider<'_>,
    name: &PackageName,
    version: &Version,
) -> Result<(PickSource, Vec<Caveat>), Failure> {
    let missing = || {
        Failure::world(format!("`{name}` {version} was chosen but its wheel is no longer listed"))
            .help("run the command again")
    };
    let listing = provider.listing(name)?.ok_or_else(missing)?;
    let candidate = listing.get(version).ok_or_else(missing)?.clone();
    let mut caveats = Vec::new();
    if let Some(reason) = &candidate.yanked {
        caveats.push(Caveat::Yanked { name: name.clone(), version: version.clone(), reason: reason.clone() });
    }
    let is_own = provider.wanted_as(name).any(|one| one.origin.is_some());
    if version.any_prerelease() && !is_own {
        caveats.push(Caveat::Prerelease { name: name.clone(), version: version.clone() });
    }
    // Of a folder or a repository, nothing else can be had.
    if candidate.is_source() && !is_own {
        caveats.push(Caveat::FromSource { name: name.clone(), version: version.clone() });
    }
    let index = candidate.folder.clone().unwrap_or_else(|| listing.index.clone());
    if let Some(alone) = &listing.of_folder_alone {
        let (name, version, index) = (name.clone(), version.clone(), index.clone());
        caveats.push(Caveat::TwoSources { name, version, index, alone: alone.clone() });
    }
    let catalog = provider.question.catalog;
    let (mut sha256, mut size) = (candidate.sha256, candidate.size);
    if sha256.is_none() {
        match catalog.digest(&candidate) {
            Ok((digest, length)) => {
                (sha256, size) = (Some(digest), Some(length));
                let weak = candidate.stated.as_ref().filter(|stated| stated.kind.is_weak());
                caveats.extend(weak.map(|stated| Caveat::Weak {
                    name: name.clone(),
                    version: version.clone(),
                    kind: stated.kind,
                }));
            }
            Err(failure) => {
                let why = failure.to_string();
                caveats.push(Caveat::Unhashed { name: name.clone(), version: version.clone(), why });
            }
        }
    } else if size.is_none() && !candidate.is_source() {
        size = catalog.size(&candidate)?;
    }
    let metadata = if candidate.is_source() { None } else { Some(catalog.metadata(&candidate)?.digest.clone()) };
    Ok((PickSource::Wheel { candidate: Box::new(candidate), index, sha256, size, metadata }, caveats))
}

/// Releases that were passed over for what can't be parsed, by package.
fn unreadable(provider: &Provider<'_>) -> Vec<Caveat> {
    let mut found: BTreeMap<PackageName, (usize, String)> = BTreeMap::new();
    for ((name, _), line) in provider.unreadable.borrow().iter() {
        let entry = found.entry(name.clone()).or_insert_with(|| (0, line.clone()));
        entry.0 += 1;
    }
    found.into_iter().map(|(name, (count, line))| Caveat::Unreadable { name, count, line }).collect()
}

pub(super) fn needed_by(provider: &Provider<'_>, solution: &Solution) -> BTreeMap<PackageName, BTreeSet<PackageName>> {
    let edges = provider.edges.borrow();
    let mut needed: BTreeMap<PackageName, BTreeSet<PackageName>> = BTreeMap::new();
    for (package, version) in solution {
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
