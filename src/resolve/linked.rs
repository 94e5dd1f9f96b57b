//! Libraries that nothing carries. What a wheel is linked against must be there when it is loaded: CUDA's libraries of the major that it was built
//! for, whatever METADATA says. Who carries them is known when all is chosen, so that this is asked of a whole answer; what can't be in it is
//! left out of the next search.

use crate::diag::Failure;
use crate::model::PackageName;
use crate::resolve::package::{Barred, Package, Solution};
use crate::resolve::provider::Provider;

/// The releases that `solution` has no libraries for: those in it, and all others of the same packages and CUDA. Nothing is said where the
/// environment has no CUDA libraries at all: the machine's own toolkit may have them.
pub(super) fn uncarried(provider: &Provider<'_>, solution: &Solution) -> Result<Barred, Failure> {
    let matrix = provider.question.matrix;
    let chosen = solution.iter().filter_map(|(package, version)| match package {
        Package::Distribution(name) => Some((name, version)),
        _ => None,
    });
    let linked: Vec<_> =
        chosen.clone().filter_map(|(name, version)| Some((name, version, matrix.link(name)?))).collect();
    if linked.is_empty() {
        return Ok(Barred::new());
    }
    let is_chosen = |name: &PackageName| solution.contains_key(&Package::Distribution(name.clone()));
    let installed = provider.question.target.installed.iter().filter(|(name, _)| !is_chosen(name));
    // What is linked carries nothing itself.
    let others = chosen.filter(|(name, _)| matrix.link(name).is_none());
    let all: Vec<_> = others.chain(installed.map(|(name, present)| (name, &present.version))).collect();
    let mut barred = Barred::new();
    for (name, version, link) in linked {
        let carried = matrix.carried(link, all.iter().copied());
        let is_here = provider.present(name).is_some_and(|present| present.version == *version);
        let Some(cuda) = provider.build(name, version)?.and_then(|build| build.cuda) else { continue };
        if is_here || carried.is_empty() || carried.contains(&cuda.major) {
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
