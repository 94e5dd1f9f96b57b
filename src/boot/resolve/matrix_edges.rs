//! What the matrix adds to a distribution's own requirements: driver floor, CUDA major, GPU coverage, families.

use crate::boot::profile::CudaWish;
use crate::boot::resolve::Question;
use crate::boot::resolve::package::Package;
use crate::core::diag::Code;
use crate::core::matrix::{Build, ByCuda, LibraryCuda, Overlay, coverage, forward_level};
use crate::core::model::version::release;
use crate::core::model::{CudaVersion, PackageName, Version, VersionRange};

/// A requirement with the reason it exists.
pub(super) type Edge = (Package, VersionRange);

/// Requirements of `name` at `version`, built as `build` says, that follow from hardware and matrix; `Err` says why the
/// version can't be used at all.
pub(super) fn hardware_edges(
    question: Question<'_>,
    name: &PackageName,
    version: &Version,
    build: Option<&Build>,
) -> Result<Vec<Edge>, String> {
    let Question { matrix, target, .. } = question;
    let accepts = |code: Code| question.profile.accepts(name, code);
    let mut edges = Vec::new();
    let mut belongs_to = |library: LibraryCuda| -> Result<(), String> {
        if !accepts(Code::CudaMixedMajors) {
            allowed(library, target.cuda)?;
            edges.extend(major_edge(question, library.major));
        }
        Ok(())
    };
    let library = matrix.library_cuda(name, version);
    if let Some(library) = library {
        belongs_to(library)?;
    }
    let link = matrix.link(name, version).filter(|link| !link.opened);
    // What its metadata says too, for a wheel of the default index; for a build of another index it is all there is.
    let decides = |build: &&Build| build.local.is_some() || matrix.brings_cuda(name) || link.is_some();
    if let Some(cuda) = build.filter(decides).and_then(|build| build.cuda) {
        belongs_to(LibraryCuda { major: cuda.major, exact: Some(cuda) })?;
    }
    // Its METADATA names no CUDA, nor does its build, but its libraries do.
    let linked = link.filter(|_| build.is_none_or(|build| build.cuda.is_none()));
    if let Some(major) = linked.and_then(|link| matrix.linked_major(link, version, build)) {
        belongs_to(LibraryCuda { major, exact: None })?;
    }
    // A label says it where nothing else does: of a build that only an image has.
    let labelled = CudaVersion::of_label(version).filter(|_| build.is_none_or(|build| build.cuda.is_none()));
    if let Some(cuda) = labelled {
        belongs_to(LibraryCuda { major: cuda.major, exact: Some(cuda) })?;
    }
    let exact = library.and_then(|library| library.exact).filter(|_| !accepts(Code::DriverTooOld));
    edges.extend(exact.and_then(|cuda| driver_edge(question, cuda)));
    if let Some(build) = build {
        edges.extend(code_edges(question, name, build));
    }
    if let Some((anchor, range)) = matrix.family(name, version).filter(|_| !accepts(Code::FamilyBroken)) {
        edges.push((Package::Distribution(anchor.clone()), range));
    }
    let by_cuda = matrix.by_cuda(name, version).filter(|_| !accepts(Code::LibraryMissing));
    edges.extend(by_cuda.and_then(|row| by_cuda_edge(question, row)));
    let owned = matrix.owned(name, version).filter(|(at, _)| matrix.collisions[*at].hard);
    for (at, owner) in owned.filter(|_| !accepts(Code::FilesCollide)) {
        edges.push((Package::Owner(at), VersionRange::singleton(Version::new([owner as u64]))));
    }
    let learned = question.learned.overlays_of(name);
    let learned = learned.iter().filter(|overlay| overlay.range.contains(version));
    let stated = matrix.overlays(name, version).filter(|overlay| !overlay.narrows);
    let counts = |overlay: &&Overlay| !overlay.if_present || is_there(question, &overlay.requirement.name);
    for overlay in stated.chain(learned).filter(counts).filter(|_| !accepts(Code::FamilyBroken)) {
        edges.push((Package::Distribution(overlay.requirement.name.clone()), overlay.requirement.range.clone()));
    }
    Ok(edges)
}

/// Whether `name` is installed or asked for: what is checked only if it is there, counts then.
fn is_there(question: Question<'_>, name: &PackageName) -> bool {
    question.target.installed.contains_key(name) || question.profile.wants(name)
}

/// What has a library for each CUDA bars the releases of another package for whose CUDA it has none. Nothing where all
/// that are known are fit.
fn by_cuda_edge(question: Question<'_>, row: &ByCuda) -> Option<Edge> {
    let listing = question.catalog.listing(&row.of).ok().flatten();
    let listed = listing.iter().flat_map(|listing| &listing.candidates).map(|candidate| &candidate.version);
    let here = question.target.installed.get(&row.of).map(|present| &present.version);
    let cuda = |version: &Version| question.matrix.cuda_of(&row.of, version);
    let unfit = listed.chain(here).filter(|version| cuda(version).is_some_and(|cuda| !row.has(cuda)));
    let barred = unfit.fold(VersionRange::empty(), |all, one| all.union(&VersionRange::singleton(one.clone())));
    (!barred.is_empty()).then(|| (Package::Distribution(row.of.clone()), barred.complement()))
}

/// What the GPU code of `build` asks for, where it has any: its driver, and that every target GPU is covered.
pub(super) fn code_edges(question: Question<'_>, name: &PackageName, build: &Build) -> Vec<Edge> {
    let hardware = &question.target.hardware;
    if !build.is_gpu() {
        return Vec::new();
    }
    let accepts = |code: Code| question.profile.accepts(name, code);
    let count = if accepts(Code::GpuNotCovered) { 0 } else { hardware.gpus.len() };
    let covered = coverage(question.matrix, build, hardware);
    let gpus = (0..count).map(|at| (Package::Gpu(at), covered.clone()));
    let cuda = build.cuda.filter(|_| !accepts(Code::DriverTooOld));
    gpus.chain(cuda.and_then(|cuda| driver_edge(question, cuda))).collect()
}

/// Whether the profile's `cuda` lets a library or build of `cuda` in.
fn allowed(cuda: LibraryCuda, wish: CudaWish) -> Result<(), String> {
    let is = cuda.exact.map_or_else(|| cuda.major.to_string(), |exact| exact.to_string());
    let refuse = |wish: String| Err(format!("it is for CUDA {is}, but the target is `cuda = \"{wish}\"`"));
    match wish {
        CudaWish::Cpu => refuse("cpu".to_owned()),
        CudaWish::Major(major) if cuda.major != major => refuse(major.to_string()),
        CudaWish::Exact(wish) if cuda.major != wish.major || cuda.exact.is_some_and(|exact| exact != wish) => {
            refuse(wish.to_string())
        }
        _ => Ok(()),
    }
}

fn major_edge(question: Question<'_>, major: u32) -> Option<Edge> {
    let only = release(&Version::new([u64::from(major)]));
    question.profile.policy.one_cuda_major.then_some((Package::CudaMajor, only))
}

/// A driver floor, where there is a driver and no forward-compatibility package lifts it.
fn driver_edge(question: Question<'_>, cuda: CudaVersion) -> Option<Edge> {
    let hardware = &question.target.hardware;
    hardware.driver.as_ref()?;
    if forward_level(question.matrix, hardware).is_some_and(|level| level >= cuda) {
        return None;
    }
    let floor = question.matrix.driver_floor(cuda)?;
    Some((Package::Driver, VersionRange::higher_than(floor.as_version())))
}

/// What an installed build of unknown requirements holds in place: the CUDA libraries it was installed with. Moving
/// them under it would break it without a word.
pub(super) fn opaque_edges(question: Question<'_>, name: &PackageName, version: &Version) -> Vec<Edge> {
    let Some(build) = question.matrix.build(name, version).filter(|build| build.local.is_some()) else {
        return Vec::new();
    };
    let installed = &question.target.installed;
    let libraries = installed.iter().filter(|(library, present)| {
        library.as_ref().starts_with("nvidia-")
            && question
                .matrix
                .library_cuda(library, &present.version)
                .is_some_and(|cuda| Some(cuda.major) == build.cuda.map(|own| own.major))
    });
    libraries.map(|(library, present)| (Package::Distribution(library.clone()), release(&present.version))).collect()
}

/// `range` without the releases of `name` that driver, GPUs and the profile's CUDA rule out: they need not be asked
/// for. Where an extra of the profile settles the CUDA major (`jax[cuda12]`), that counts too.
pub(super) fn plausible(question: Question<'_>, name: &PackageName, range: &VersionRange) -> VersionRange {
    let Question { profile, matrix, target, .. } = question;
    if matrix.builds_of(name).is_empty() {
        return range.clone();
    }
    let mut extras = profile.wanted.iter().flat_map(|one| &one.extras);
    let major = extras.find_map(|extra| extra.as_ref().strip_prefix("cuda")?.parse::<u64>().ok());
    let fits = |(package, range): &Edge| match package {
        Package::Driver => target.hardware.driver.as_ref().is_none_or(|driver| range.contains(&driver.as_version())),
        Package::Gpu(at) => {
            target.hardware.gpus.get(*at).is_none_or(|gpu| range.contains(&gpu.capability.as_version()))
        }
        Package::CudaMajor => major.is_none_or(|major| range.contains(&Version::new([major]))),
        _ => true,
    };
    let rows = matrix.builds_of(name).iter().filter(|row| row.local.is_none() && range.contains(&row.version));
    let ruled_out = rows.filter(|row| {
        hardware_edges(question, name, &row.version, Some(row)).map_or(true, |edges| !edges.iter().all(fits))
    });
    ruled_out.fold(range.clone(), |range, row| range.intersection(&release(&row.version).complement()))
}
