//! Libraries that nothing carries, and interfaces that nothing has. What a wheel is linked against must be there when it is loaded, whatever
//! METADATA says. Who carries a library is known when all is chosen, so that this is asked of a whole answer; what can't be in it is left out of
//! the next search.

use crate::diag::{Code, Failure};
use crate::matrix::{Aspect, Linkage, TorchSymbols};
use crate::model::catalog::Candidate;
use crate::model::{PackageName, Version, WheelName};
use crate::resolve::package::{Barred, Package, Solution};
use crate::resolve::provider::Provider;

/// Packed bytes of one wheel's libraries that are read during a solve, and of all.
const WHEEL: u64 = 24 << 20;
const ALL: u64 = 96 << 20;

/// The distributions of an answer.
type Chosen<'a> = Vec<(&'a PackageName, &'a Version)>;

/// The releases that `solution` can't have: for want of CUDA's libraries those in it and all that are linked like them, and those whose
/// libraries ask for another torch or NumPy.
pub(super) fn uncarried(provider: &Provider<'_>, solution: &Solution) -> Result<Barred, Failure> {
    let chosen: Chosen<'_> = solution
        .iter()
        .filter_map(|(package, version)| match package {
            Package::Distribution(name) => Some((name, version)),
            _ => None,
        })
        .collect();
    let mut barred = by_build(provider, &chosen, solution)?;
    let environment = environment(provider, &chosen, solution);
    for (name, version) in new_ones(provider, &chosen) {
        let Some(row) = provider.question.matrix.linkages.of(name).and_then(|file| file.row(version)) else { continue };
        let Some(why) = why_not(provider, name, &row.linkage, &environment) else { continue };
        let alike = provider.listing(name)?;
        let alike = alike.iter().flat_map(|listing| &listing.candidates).map(|one| &one.version);
        let alike = alike.filter(|version| row.first <= **version && **version <= row.last);
        barred.extend(alike.map(|version| ((name.clone(), version.clone()), why.clone())));
        barred.insert((name.clone(), version.clone()), why);
    }
    // Wheels are read for an answer that stands otherwise, and not for the sake of a suggestion.
    if barred.is_empty() && provider.variation.budget.is_none() {
        barred.extend(by_reading(provider, &chosen, &environment)?);
    }
    Ok(barred)
}

/// What is chosen and not there already.
fn new_ones<'c>(
    provider: &Provider<'_>,
    chosen: &'c Chosen<'_>,
) -> impl Iterator<Item = (&'c PackageName, &'c Version)> {
    let is_here = |name: &PackageName, version: &Version| {
        provider.present(name).is_some_and(|present| present.version == *version)
    };
    chosen.iter().copied().filter(move |(name, version)| !is_here(name, version))
}

/// What is chosen, and what is installed and stays.
fn environment<'a>(provider: &Provider<'a>, chosen: &Chosen<'a>, solution: &Solution) -> Chosen<'a> {
    let is_chosen = |name: &PackageName| solution.contains_key(&Package::Distribution(name.clone()));
    let installed = provider.question.target.installed.iter().filter(|(name, _)| !is_chosen(name));
    chosen.iter().copied().chain(installed.map(|(name, present)| (name, &present.version))).collect()
}

/// By the CUDA of build rows, where a `[[link]]` says what a package does without its libraries.
fn by_build(provider: &Provider<'_>, chosen: &Chosen<'_>, solution: &Solution) -> Result<Barred, Failure> {
    let matrix = provider.question.matrix;
    let all = environment(provider, chosen, solution);
    // What is linked carries nothing itself.
    let all: Chosen<'_> = all.into_iter().filter(|(name, _)| matrix.link(name).is_none()).collect();
    let mut barred = Barred::new();
    for (name, version) in new_ones(provider, chosen) {
        let accepted = provider.question.profile.accepts(name, Code::LibraryMissing);
        let Some(link) = matrix.link(name).filter(|_| !accepted) else { continue };
        let carried = matrix.carried(link, all.iter().copied());
        let Some(cuda) = provider.build(name, version)?.and_then(|build| build.cuda) else { continue };
        if carried.is_empty() || carried.contains(&cuda.major) {
            continue;
        }
        let majors: Vec<String> = carried.iter().map(ToString::to_string).collect();
        let why = format!(
            "it is linked against {}, and the environment has the libraries of CUDA {} alone; without that library {}",
            link.soname(cuda.major),
            majors.join(" and "),
            link.without
        );
        let same = matrix.builds_of(name).iter().filter(|row| row.local.is_none());
        let same = same.filter(|row| row.cuda.is_some_and(|other| other.major == cuda.major));
        barred.extend(same.map(|row| ((name.clone(), row.version.clone()), why.clone())));
        barred.insert((name.clone(), version.clone()), why);
    }
    Ok(barred)
}

/// Why a package that is linked so can't be imported in the environment.
fn why_not(provider: &Provider<'_>, name: &PackageName, linkage: &Linkage, environment: &Chosen<'_>) -> Option<String> {
    let matrix = provider.question.matrix;
    let accepts = |code: Code| provider.question.profile.accepts(name, code);
    let missing = matrix.missing(name, linkage, &environment.iter().copied());
    if let Some(missing) = missing.filter(|_| !accepts(Code::LibraryMissing)) {
        let crate::matrix::Missing { library, instead, .. } = missing;
        return Some(format!(
            "it is linked against {library}, and the environment has {instead}; without that library it can't be imported"
        ));
    }
    if accepts(Code::FamilyBroken) {
        return None;
    }
    let without = matrix.linkages.leniency(name).map(|row| row.without.as_slice()).unwrap_or_default();
    let version =
        |wanted: &str| environment.iter().find(|(name, _)| name.as_ref() == wanted).map(|(_, version)| *version);
    let torch = version("torch").filter(|_| !linkage.torch_parts && !without.contains(&Aspect::Torch));
    if let (Some(torch), Some(range)) = (torch, linkage.torch_range())
        && !range.contains(&torch.clone().without_local())
    {
        let wanted = linkage.torch.as_deref().unwrap_or_default();
        return Some(format!("its libraries ask for symbols that only torch {wanted} has, and torch is {torch}"));
    }
    let numpy = version("numpy").filter(|version| linkage.numpy_1 && **version >= Version::new([2]));
    let numpy = numpy.filter(|_| !without.contains(&Aspect::Numpy))?;
    Some(format!("it was compiled against NumPy 1, and NumPy is {numpy}"))
}

/// By what the wheels say of which the matrix has no row, as far as the budget goes.
fn by_reading(provider: &Provider<'_>, chosen: &Chosen<'_>, environment: &Chosen<'_>) -> Result<Barred, Failure> {
    let matrix = provider.question.matrix;
    let matters = |name: &PackageName| matches!(name.as_ref(), "numpy" | "torch") || matrix.is_cuda_library(name);
    let mut barred = Barred::new();
    if !environment.iter().any(|(name, _)| matters(name)) {
        return Ok(barred);
    }
    let mut wheels: Vec<(&PackageName, Candidate)> = Vec::new();
    for (name, version) in new_ones(provider, chosen) {
        if matrix.is_cuda_library(name) || matrix.brings_cuda(name) || !is_unread(matrix.linkages.of(name), version) {
            continue;
        }
        let listing = provider.listing(name)?;
        let candidate = listing.as_ref().and_then(|listing| listing.get(version)).filter(|one| has_libraries(one));
        wheels.extend(candidate.map(|candidate| (name, candidate.clone())));
    }
    wheels.sort_by_key(|(_, candidate)| candidate.size);
    let mut unread = provider.unread.borrow_mut();
    let mut left = ALL;
    wheels.retain(|(name, candidate)| {
        let rest = left.checked_sub(candidate.size.unwrap_or(WHEEL).min(WHEEL));
        left = rest.unwrap_or(left);
        if rest.is_none() {
            let why = format!("{} MB of other wheels were read before, which is all that a solve reads", ALL >> 20);
            unread.insert((*name).clone(), (candidate.version.clone(), why));
        }
        rest.is_some()
    });
    let symbols = TorchSymbols::bundled().map_err(Failure::bug)?;
    let candidates: Vec<Candidate> = wheels.iter().map(|(_, candidate)| candidate.clone()).collect();
    for ((name, candidate), linking) in wheels.iter().zip(provider.question.catalog.linking(&candidates, WHEEL)) {
        let Ok(wheel) = candidate.file.parse::<WheelName>() else { continue };
        let why = match &linking {
            None => Some("its wheel could not be read".to_owned()),
            Some(linking) => linking.unread.first().cloned(),
        };
        if let Some(why) = why {
            unread.insert((*name).clone(), (candidate.version.clone(), why));
        }
        let Some(linking) = linking else { continue };
        let linkage = Linkage::of(&linking.demands(), &wheel, &symbols);
        if let Some(why) = why_not(provider, name, &linkage, environment) {
            barred.insert(((*name).clone(), candidate.version.clone()), why);
        }
    }
    Ok(barred)
}

/// Whether nothing is known of `version`. Newer ones than were read are taken to be like the last, where that asked for nothing.
fn is_unread(known: Option<&crate::matrix::LinkFile>, version: &Version) -> bool {
    let Some(file) = known else { return true };
    let last = file.rows.last().filter(|row| row.last < *version);
    file.row(version).is_none() && last.is_none_or(|row| !row.linkage.is_empty())
}

/// Whether a wheel may hold compiled code.
fn has_libraries(candidate: &Candidate) -> bool {
    candidate.file.ends_with(".whl") && !candidate.file.ends_with("-any.whl")
}
