//! What the packages of a notebook image require, from the METADATA of their releases on the index: lists of images
//! hold versions alone.

use std::collections::BTreeMap;

use crate::boot::reading::WheelReader;
use crate::core::diag::Failure;
use crate::core::matrix::Matrix;
use crate::core::model::catalog::{Candidate, Catalog};
use crate::core::model::{CudaVersion, PackageName, Requirement, Version};

/// So many listings are asked for together.
const TOGETHER: usize = 200;

impl WheelReader<'_> {
    /// The requirements of `packages`: those of their releases as far as they apply to this Python. A build with a
    /// label has those of the public release, with the CUDA libraries that are installed in place of the named
    /// ones. What the index does not have is left out; fails where it answers for none.
    pub fn requirements(
        &self,
        packages: &BTreeMap<PackageName, Version>,
        beside: &BTreeMap<PackageName, Version>,
        matrix: &Matrix,
    ) -> Result<BTreeMap<PackageName, Vec<String>>, Failure> {
        let names: Vec<PackageName> = packages.keys().cloned().collect();
        let answers: Vec<_> = names.chunks(TOGETHER).map(|some| self.catalog.listings(some).err()).collect();
        if let Some(Some(failure)) = answers.first().filter(|_| answers.iter().all(Option::is_some)) {
            return Err(failure.clone());
        }
        let mut found: Vec<(&PackageName, &Version, Candidate)> = Vec::new();
        for (name, version) in packages {
            let Ok(Some(listing)) = self.catalog.listing(name) else { continue };
            let candidate = listing.get(version).or_else(|| listing.get(&version.clone().without_local()));
            found.extend(candidate.map(|candidate| (name, version, candidate.clone())));
        }
        self.catalog.expect_metadata(&found.iter().map(|(.., candidate)| candidate.clone()).collect::<Vec<_>>());
        let markers = self.python.marker_environment().ok_or_else(|| Failure::bug("no marker environment"))?;
        let mut requirements = BTreeMap::new();
        for (name, version, candidate) in &found {
            let Ok(metadata) = self.catalog.metadata(candidate) else { continue };
            let applying = metadata.requires.iter().filter(|one| one.applies(&markers, None));
            let kept = applying.filter(|one| !(version.is_local() && is_of_cuda(matrix, &one.name)));
            let mut requires: Vec<String> = kept.map(Requirement::written).collect();
            if let Some(cuda) = CudaVersion::of_label(version).filter(|_| matrix.brings_cuda(name)) {
                requires.extend(own_libraries(beside, cuda));
            }
            requirements.insert((*name).clone(), requires);
        }
        Ok(requirements)
    }
}

/// The installed packages with libraries of this CUDA, as requirements of a build that was installed with them.
fn own_libraries(packages: &BTreeMap<PackageName, Version>, cuda: CudaVersion) -> impl Iterator<Item = String> {
    let suffix = format!("-cu{}", cuda.major);
    let own = packages.iter().filter(move |(name, _)| {
        let name = name.as_ref();
        name.starts_with("nvidia-") && name.ends_with(&suffix)
    });
    own.map(|(name, version)| format!("{name}=={version}"))
}

/// Whether a build with a label brings another one of these than the public release says.
fn is_of_cuda(matrix: &Matrix, name: &PackageName) -> bool {
    matrix.is_cuda_library(name) || name.as_ref().starts_with("nvidia-") || name.as_ref().starts_with("cuda-")
}
