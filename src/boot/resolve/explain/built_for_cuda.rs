//! What a conflict says of CUDA: for which one wheels were built, and which driver they ask for.

use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::explain::wording::Wording;
use crate::boot::resolve::package::Package;
use crate::core::diag::listed;
use crate::core::model::version::describe;
use crate::core::model::{CudaVersion, PackageName, VersionRange};

impl Wording<'_> {
    /// The CUDA versions that two packages of the profile were built for, where they differ and `leaf` is one of the
    /// libraries that come with CUDA itself: the leaf is then only the first of many that disagree.
    pub(super) fn built_apart(
        &self,
        facts: &[Fact],
        names: &[&PackageName],
        leaf: &PackageName,
    ) -> Option<(CudaVersion, CudaVersion)> {
        if !self.question.matrix.is_part_of_cuda(leaf) {
            return None;
        }
        let (one, other) = (self.cuda_in(facts, names.first()?)?, self.cuda_in(facts, names.get(1)?)?);
        (one != other).then_some((one, other))
    }

    /// The CUDA that the newest of the releases of `name` in `facts` was built for.
    fn cuda_in(&self, facts: &[Fact], name: &PackageName) -> Option<CudaVersion> {
        let versions = facts.iter().find_map(|fact| match fact {
            Fact::Needs { package, versions, .. } if package.name() == Some(name) => Some(versions),
            _ => None,
        })?;
        let rows = self.question.matrix.builds_of(name).iter().filter(|row| versions.contains(&row.version));
        rows.filter_map(|row| row.cuda).next_back()
    }

    /// Where a driver is asked for by a build, the CUDA that asks.
    pub(super) fn built_for(&self, package: &Package, versions: &VersionRange, needed: &Package) -> String {
        let rows = package.name().map(|name| self.question.matrix.builds_of(name)).unwrap_or_default().iter();
        let row = rows.filter(|_| *needed == Package::Driver).rfind(|row| versions.contains(&row.version));
        row.and_then(|row| row.cuda).map(|cuda| format!("is built for CUDA {cuda} and ")).unwrap_or_default()
    }

    /// `has libraries for CUDA 11.8 and 12.1 only, and torch must be built for one of these`, where that is why a
    /// package bars releases of another.
    pub(super) fn other_cudas(&self, package: &Package, versions: &VersionRange, needed: &Package) -> Option<String> {
        let (Package::Distribution(name), Package::Distribution(of)) = (package, needed) else { return None };
        let listing = self.listing(name)?;
        let newest = listing.candidates.iter().map(|one| &one.version).filter(|one| versions.contains(one)).max()?;
        let row = self.question.matrix.by_cuda(name, newest).filter(|row| row.of == *of)?;
        let known: Vec<String> = row.cuda.iter().map(ToString::to_string).collect();
        Some(format!("has libraries for CUDA {} only, and {of} must be built for one of these", listed(&known)))
    }

    /// The floor as NVIDIA writes it; in the solver's numbers `580.65.06` has lost a zero.
    pub(super) fn driver_floor(&self, range: &VersionRange) -> String {
        let floors = self.question.matrix.toolkits.iter().map(|row| &row.minor_compat_driver);
        let exact = floors.into_iter().find(|floor| *range == VersionRange::higher_than(floor.as_version()));
        exact.map_or_else(|| describe(range), ToString::to_string)
    }
}
