//! What the matrix adds to a distribution's own requirements: driver floor, CUDA major, GPU coverage, families.

use crate::matrix::{LibraryCuda, coverage};
use crate::model::version::release;
use crate::model::{CudaVersion, PackageName, Version, VersionRange};
use crate::profile::CudaWish;
use crate::resolve::Question;
use crate::resolve::package::Package;

/// A requirement with the reason it exists.
pub(super) type Edge = (Package, VersionRange);

/// Requirements of `name` at `version` that follow from hardware and matrix; `Err` says why the version can't be used at all.
pub(super) fn hardware_edges(
    question: Question<'_>,
    name: &PackageName,
    version: &Version,
) -> Result<Vec<Edge>, String> {
    let Question { matrix, target, .. } = question;
    let mut edges = Vec::new();
    if let Some(library) = matrix.library_cuda(name, version) {
        allowed(library, target.cuda)?;
        edges.extend(major_edge(question, library.major));
        edges.extend(library.exact.and_then(|cuda| driver_edge(question, cuda)));
    }
    if let Some(build) = matrix.build(name, version) {
        if build.local.is_some() || matrix.brings_cuda(name) {
            // What its metadata says too, for a wheel of the default index; for a build of another index it is all there is.
            edges.extend(major_edge(question, build.cuda.major));
            edges.extend(driver_edge(question, build.cuda));
        }
        let covered = coverage(matrix, build, &target.hardware);
        edges.extend((0..target.hardware.gpus.len()).map(|at| (Package::Gpu(at), covered.clone())));
    }
    for overlay in matrix.overlays(name, version) {
        edges.push((Package::Distribution(overlay.requirement.name.clone()), overlay.requirement.range.clone()));
    }
    Ok(edges)
}

fn allowed(library: LibraryCuda, wish: CudaWish) -> Result<(), String> {
    match (wish, library.exact) {
        (CudaWish::Cpu, _) => Err("it is a CUDA library, and the target is `cuda = \"cpu\"`".to_owned()),
        (CudaWish::Exact(wish), Some(cuda)) if cuda != wish => {
            Err(format!("it is CUDA {cuda}, and the target is `cuda = \"{wish}\"`"))
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
    if hardware.compat.iter().any(|level| *level >= cuda) {
        return None;
    }
    let floor = question.matrix.driver_floor(cuda)?;
    Some((Package::Driver, VersionRange::higher_than(floor.as_version())))
}

/// What an installed build of unknown requirements holds in place: the CUDA libraries it was installed with. Moving them under
/// it would break it without a word.
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
                .is_some_and(|cuda| cuda.major == build.cuda.major)
    });
    libraries.map(|(library, present)| (Package::Distribution(library.clone()), release(&present.version))).collect()
}
