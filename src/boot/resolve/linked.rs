//! Libraries that nothing carries, and interfaces that nothing has. What a wheel is linked against must be there when
//! it is loaded, whatever METADATA says. Who carries a library is known when all is chosen, so that this is asked of a
//! whole answer; what can't be in it is left out of the next search.

use crate::boot::profile::CudaWish;
use crate::boot::resolve::package::{Barred, Package, Solution};
use crate::boot::resolve::provider::Provider;
use crate::boot::resolve::{Caveat, Question, Unfound};
use crate::core::diag::{Code, Failure};
use crate::core::matrix::{LinkFile, Linkage, Matrix, MinorSymbols, Missing, Overlay};
use crate::core::model::catalog::Candidate;
use crate::core::model::{PackageName, Requirement, Version, VersionRange, WheelName};

/// Packed bytes of one wheel's libraries that are read during a solve, and of one that the profile names.
pub const WHEEL: u64 = 24 << 20;
const NAMED: u64 = 96 << 20;
/// Of all wheels of a solve.
pub const BUDGET: u64 = 192 << 20;

/// The distributions of an answer.
type Chosen<'a> = Vec<(&'a PackageName, &'a Version)>;

/// What an answer can't have.
#[derive(Default)]
pub(super) struct Objections {
    /// Releases without their libraries.
    pub barred: Barred,
    /// Whether requirements were found that were not known when the search began.
    pub bound: bool,
}

/// What `solution` can't have: for want of CUDA's libraries releases in it, and all that are linked like them; and what
/// they ask of torch and NumPy beside their METADATA.
pub(super) fn objections(provider: &Provider<'_>, solution: &Solution) -> Result<Objections, Failure> {
    let chosen: Chosen<'_> = solution
        .iter()
        .filter_map(|(package, version)| match package {
            Package::Distribution(name) => Some((name, version)),
            _ => None,
        })
        .collect();
    let environment = environment(provider, &chosen, solution);
    let mut objections = Objections { barred: by_build(provider, &chosen, solution)?, bound: false };
    for (name, version) in new_ones(provider, &chosen) {
        if let Some(row) = provider.question.matrix.linkages.of(name).and_then(|file| file.row(version)) {
            let listing = provider.listing(name)?;
            let alike = listing.iter().flat_map(|listing| &listing.candidates).map(|one| one.version.clone());
            let range = row.range();
            let alike = alike.filter(|version| range.contains(version)).chain([version.clone()]).collect();
            let alike = Alike { name, versions: alike, range, linkage: &row.linkage };
            alike.judge(provider, &environment, &mut objections);
        } else if let Some(linkage) = provider.question.learned.linkage(name, version) {
            Alike::one(name, version, &linkage).judge(provider, &environment, &mut objections);
        }
    }
    objections.bound |= outdated(provider, &chosen, &environment)?;
    // Wheels are read for an answer that stands otherwise.
    if objections.barred.is_empty() && !objections.bound {
        for (name, version) in read_more(provider, &chosen, &environment)? {
            let linkage = provider.question.learned.linkage(&name, &version).unwrap_or_default();
            // What it has for GPUs is looked into now, by the next search.
            let has_gpus = !provider.question.target.hardware.gpus.is_empty();
            objections.bound |= has_gpus && provider.question.matrix.needs_cuda(&linkage);
            Alike::one(&name, &version, &linkage).judge(provider, &environment, &mut objections);
        }
    }
    Ok(objections)
}

/// Releases of a package that are linked alike.
struct Alike<'a> {
    name: &'a PackageName,
    versions: Vec<Version>,
    range: VersionRange,
    linkage: &'a Linkage,
}

impl<'a> Alike<'a> {
    fn one(name: &'a PackageName, version: &Version, linkage: &'a Linkage) -> Self {
        let range = VersionRange::singleton(version.clone());
        Self { name, versions: vec![version.clone()], range, linkage }
    }

    /// Adds what the environment has against them.
    fn judge(self, provider: &Provider<'_>, environment: &Chosen<'_>, objections: &mut Objections) {
        let matrix = provider.question.matrix;
        let accepts = |code: Code| provider.question.profile.accepts(self.name, code);
        let missing = matrix.missing(self.name, self.linkage, &environment.iter().copied());
        if let Some(missing) = missing.filter(|_| !accepts(Code::LibraryMissing)) {
            let Missing { library, instead, .. } = missing;
            let why = format!(
                "it is linked against {library}, but the environment has {instead}; without that library its compiled code can't be loaded"
            );
            let barred = self.versions.iter().map(|version| ((self.name.clone(), version.clone()), why.clone()));
            return objections.barred.extend(barred);
        }
        let libc = provider.question.target.python.libc;
        if let Some(glibc) = self.linkage.newer_glibc(libc).filter(|_| !accepts(Code::LibraryMissing)) {
            let why = format!("its libraries need glibc {glibc} despite its tag, but the target has {libc}");
            let barred = self.versions.iter().map(|version| ((self.name.clone(), version.clone()), why.clone()));
            return objections.barred.extend(barred);
        }
        if accepts(Code::FamilyBroken) {
            return;
        }
        // What is there counts, also if only parts of the package need it, or if nothing requires it.
        let linkage = Linkage { numpy_parts: false, ..self.linkage.clone() };
        for overlay in matrix.linkages.asked(self.name, &self.range, &linkage) {
            let overlay = Overlay { if_present: false, ..overlay };
            let Requirement { name, range, .. } = &overlay.requirement;
            let here = environment.iter().find(|(other, _)| *other == name).map(|(_, version)| *version);
            if here.is_some_and(|version| !range.contains(&version.clone().without_local())) {
                objections.bound |= provider.question.learned.bind(overlay);
            }
        }
    }
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
    let installed = provider
        .question
        .target
        .installed
        .iter()
        .filter(|(name, _)| !solution.contains_key(&Package::Distribution((*name).clone())));
    chosen.iter().copied().chain(installed.map(|(name, present)| (name, &present.version))).collect()
}

/// By the CUDA of build rows, where a `[[link]]` says what a package does without its libraries.
fn by_build(provider: &Provider<'_>, chosen: &Chosen<'_>, solution: &Solution) -> Result<Barred, Failure> {
    let matrix = provider.question.matrix;
    let all = environment(provider, chosen, solution);
    // What is linked carries nothing itself.
    let all: Chosen<'_> = all.into_iter().filter(|(name, version)| matrix.link(name, version).is_none()).collect();
    let mut barred = Barred::new();
    for (name, version) in new_ones(provider, chosen) {
        let accepted = provider.question.profile.accepts(name, Code::LibraryMissing);
        let Some(link) = matrix.link(name, version).filter(|link| !accepted && !link.opened) else { continue };
        let carried = matrix.carried(link, all.iter().copied());
        let build = provider.build(name, version)?;
        let Some(major) = matrix.linked_major(link, version, build.as_deref()) else { continue };
        if carried.is_empty() || carried.contains(&major) {
            continue;
        }
        let majors: Vec<String> = carried.iter().map(ToString::to_string).collect();
        let why = format!(
            "it is linked against {}, but the environment has only the libraries of CUDA {}; without that library, {}",
            link.soname(major),
            majors.join(" and "),
            link.without
        );
        let same = matrix.builds_of(name).iter().filter(|row| row.local.is_none());
        let same = same.filter(|row| matrix.linked_major(link, &row.version, Some(row)) == Some(major));
        barred.extend(same.map(|row| ((name.clone(), row.version.clone()), why.clone())));
        barred.insert((name.clone(), version.clone()), why);
    }
    Ok(barred)
}

/// What would find no CUDA when it runs on the target's GPUs. Nothing is said of images, whose own toolkit may have
/// what is looked for.
pub(super) fn unfound(provider: &Provider<'_>, solution: &Solution) -> Vec<Caveat> {
    let Question { matrix, target, .. } = provider.question;
    let is_image = target.runtime.is_some() && !target.installed.is_empty();
    if is_image || target.hardware.gpus.is_empty() {
        return Vec::new();
    }
    let chosen: Chosen<'_> = solution
        .iter()
        .filter_map(|(package, version)| match package {
            Package::Distribution(name) => Some((name, version)),
            _ => None,
        })
        .collect();
    let environment = environment(provider, &chosen, solution);
    chosen
        .iter()
        .filter_map(|(name, version)| {
            let link = matrix.link(name, version)?;
            let major = matrix.linked_major(link, version, None)?;
            let here = matrix.carried(link, environment.iter().copied());
            // What works on the CPU without them is judged with the plan.
            if link.runs_on_cpu && (here.is_empty() || here.contains(&major) || target.cuda == CudaWish::Cpu) {
                return None;
            }
            // What can't be loaded beside another CUDA is not chosen beside it.
            if !link.opened && !here.is_empty() {
                return None;
            }
            let absent = matrix.absent(link, major, &environment.iter().copied());
            (!absent.is_empty()).then(|| {
                Caveat::CudaUnfound(Unfound {
                    name: (*name).clone(),
                    version: (*version).clone(),
                    absent,
                    carrier: link.carrier_of(major),
                    bringer: link.bringer(),
                    without: link.without.clone(),
                    here: here.into_iter().collect(),
                })
            })
        })
        .collect()
}

/// Binds frameworks to the cuDNN and NCCL that they were compiled against, where the environment has older ones. `true`
/// where one was found.
fn outdated(provider: &Provider<'_>, chosen: &Chosen<'_>, environment: &Chosen<'_>) -> Result<bool, Failure> {
    let mut bound = false;
    for (name, version) in chosen.iter().copied() {
        let accepted = provider.question.profile.accepts(name, Code::LibraryTooOld);
        let Some(build) = provider.question.matrix.build(name, version).filter(|_| !accepted) else { continue };
        let Some(cuda) = build.cuda else { continue };
        // TensorFlow and JAX look at cuDNN's version alone; torch is linked against the NCCL that it was compiled with.
        let nccl = build.nccl.as_ref().filter(|_| provider.question.matrix.brings_cuda(name));
        for (library, floor) in [("cudnn", build.cudnn.as_ref()), ("nccl", nccl)] {
            let Some(floor) = floor else { continue };
            let library = format!("nvidia-{library}-cu{}", cuda.major);
            let here = environment.iter().find(|(other, _)| other.as_ref() == library);
            if here.is_none_or(|(_, version)| *version >= floor) {
                continue;
            }
            let requirement = Requirement::parse(&format!("{library}>={floor}")).map_err(Failure::bug)?;
            bound |= provider.question.learned.bind(Overlay {
                package: name.clone(),
                range: VersionRange::singleton(version.clone()),
                requirement,
                why: "it was compiled against that version and refuses older ones".to_owned(),
                source: "METADATA and build files of the wheel".to_owned(),
                narrows: false,
                if_present: false,
                checked_by: None,
            });
        }
    }
    Ok(bound)
}

/// Reads wheels that the matrix has no row for, as far as the budget goes. Returns which.
fn read_more(
    provider: &Provider<'_>,
    chosen: &Chosen<'_>,
    environment: &Chosen<'_>,
) -> Result<Vec<(PackageName, Version)>, Failure> {
    let Question { matrix, catalog, learned, .. } = provider.question;
    if !environment.iter().any(|(name, _)| is_linked_against(matrix, name)) {
        return Ok(Vec::new());
    }
    let mut wheels: Vec<(&PackageName, Candidate)> = Vec::new();
    for (name, version) in new_ones(provider, chosen) {
        // For the sake of a suggestion only those are read of which another release was found to be linked.
        let is_wanted = provider.variation.budget.is_none() || learned.is_linked(name);
        if learned.linkage(name, version).is_some() || !is_wanted {
            continue;
        }
        let listing = provider.listing(name)?;
        let candidate = listing.as_ref().and_then(|listing| listing.get(version));
        let candidate = candidate.filter(|one| is_worth_reading(matrix, name, one));
        wheels.extend(candidate.map(|candidate| (name, candidate.clone())));
    }
    let is_named = |name: &PackageName| provider.wanted_as(name).next().is_some();
    let limit = |name: &PackageName| if is_named(name) { NAMED } else { WHEEL };
    wheels.sort_by_key(|(name, candidate)| (!is_named(name), candidate.size));
    let mut unread = provider.unread.borrow_mut();
    let mut left = BUDGET;
    wheels.retain(|(name, candidate)| {
        let is_read = is_within(&mut left, candidate, limit(name));
        if !is_read {
            let why = format!("{} MB of other wheels were already read, the limit for one solve", BUDGET >> 20);
            unread.insert((*name).clone(), (candidate.version.clone(), why));
        }
        is_read
    });
    let symbols = MinorSymbols::bundled().map_err(Failure::bug)?;
    let to_read: Vec<(Candidate, u64)> = wheels.iter().map(|(name, one)| (one.clone(), limit(name))).collect();
    for ((name, candidate), linking) in wheels.iter().zip(catalog.linking(&to_read)) {
        let Ok(wheel) = candidate.file.parse::<WheelName>() else { continue };
        let why = match &linking {
            None => Some("its wheel could not be read".to_owned()),
            Some(linking) => linking.unread.first().cloned(),
        };
        if let Some(why) = why {
            unread.insert((*name).clone(), (candidate.version.clone(), why));
        }
        let linkage = linking.map(|linking| Linkage::of(&linking.demands(), &wheel, &symbols));
        learned.keep(name, &candidate.version, linkage.unwrap_or_default());
    }
    Ok(wheels.into_iter().map(|(name, candidate)| (name.clone(), candidate.version)).collect())
}

/// Whether wheels without a row are read where `name` is there, because they may be linked against it.
pub fn is_linked_against(matrix: &Matrix, name: &PackageName) -> bool {
    matches!(name.as_ref(), "numpy" | "torch") || matrix.is_cuda_library(name)
}

/// Takes what reading `wheel` may cost, `limit` at most, from what is `left` of a [`BUDGET`]. Whether it is enough.
pub fn is_within(left: &mut u64, wheel: &Candidate, limit: u64) -> bool {
    let rest = left.checked_sub(wheel.size.unwrap_or(WHEEL).min(limit));
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// Whether what a wheel of `name` is linked against is in no row, and may matter.
pub fn is_worth_reading(matrix: &Matrix, name: &PackageName, wheel: &Candidate) -> bool {
    has_libraries(wheel)
        && is_unread(matrix.linkages.of(name), &wheel.version)
        && !matrix.is_cuda_library(name)
        && !matrix.brings_cuda(name)
}

/// Whether nothing is known of `version`. Newer ones than were read are taken to be like the last, where that asked for
/// nothing.
fn is_unread(known: Option<&LinkFile>, version: &Version) -> bool {
    let Some(file) = known else { return true };
    let last = file.rows.last().filter(|row| row.last < *version);
    file.row(version).is_none() && last.is_none_or(|row| !row.linkage.is_empty())
}

/// Whether a wheel may hold compiled code.
fn has_libraries(candidate: &Candidate) -> bool {
    candidate.file.ends_with(".whl") && !candidate.file.ends_with("-any.whl")
}
