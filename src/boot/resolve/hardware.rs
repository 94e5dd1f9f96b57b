//! Which GPU build a version is: by a row of the matrix, else read from its wheel, where that can decide anything.

use std::borrow::Cow;

use crate::boot::resolve::provider::{Known, Provider};
use crate::boot::resolve::{Caveat, Question};
use crate::core::diag::Failure;
use crate::core::matrix::{Aspect, Build, ptx_only};
use crate::core::model::catalog::Candidate;
use crate::core::model::metadata::Metadata;
use crate::core::model::{PackageName, Requirement, Version, WheelName};

impl<'a> Provider<'a> {
    /// The build of a version of a watched package.
    pub(super) fn build(&self, name: &PackageName, version: &Version) -> Result<Option<Cow<'a, Build>>, Failure> {
        let matrix = self.question.matrix;
        match matrix.build(name, version) {
            Some(row) => Ok(Some(Cow::Borrowed(row))),
            None if matrix.is_watched(name, version) => self.read_build(name, version),
            None => Ok(None),
        }
    }

    /// The build of a version of a package that the matrix does not watch, but that asks for CUDA libraries itself, or
    /// is linked against them.
    pub(super) fn unlisted_build(
        &self,
        name: &PackageName,
        version: &Version,
        requires: &[Requirement],
    ) -> Result<Option<Cow<'a, Build>>, Failure> {
        let matrix = self.question.matrix;
        let listed = matrix.build(name, version).is_some() || matrix.is_watched(name, version);
        let is_worth =
            || matrix.is_worth_reading(name, requires, &self.markers) || self.is_linked_to_cuda(name, version);
        if listed || !is_worth() {
            return Ok(None);
        }
        self.read_build(name, version)
    }

    /// Whether a release can't be imported without one of CUDA's libraries: then it has code for GPUs, whatever
    /// METADATA says.
    fn is_linked_to_cuda(&self, name: &PackageName, version: &Version) -> bool {
        let Question { matrix, learned, .. } = self.question;
        let lenient = matrix.linkages.leniency(name).is_some_and(|row| row.without.contains(&Aspect::Libraries));
        if lenient || matrix.is_cuda_library(name) {
            return false;
        }
        let row = matrix.linkages.of(name).and_then(|file| file.row(version)).map(|row| row.linkage.clone());
        row.or_else(|| learned.linkage(name, version)).is_some_and(|linkage| matrix.needs_cuda(&linkage))
    }

    fn read_build(&self, name: &PackageName, version: &Version) -> Result<Option<Cow<'a, Build>>, Failure> {
        if self.question.target.hardware.gpus.is_empty() {
            return Ok(None);
        }
        let key = (name.clone(), version.clone());
        let known = self.builds.borrow().get(&key).cloned();
        let known = match known {
            Some(known) => known,
            None => {
                let listing = self.listing(name)?;
                let Some(candidate) = listing.as_ref().and_then(|listing| listing.get(version)) else {
                    return Ok(None);
                };
                self.inspect(candidate)
            }
        };
        self.builds.borrow_mut().insert(key, known.clone());
        Ok(match known {
            Known::Build(build) => Some(Cow::Owned(*build)),
            Known::Unknown(_) => None,
        })
    }

    /// A wheel that can't be looked into is not refused: a caveat says that nothing was checked.
    fn inspect(&self, candidate: &Candidate) -> Known {
        let Ok(wheel) = candidate.file.parse::<WheelName>() else {
            return Known::Unknown("its file name is not the name of a wheel".to_owned());
        };
        match self.question.catalog.build(candidate) {
            Ok(Some(read)) => {
                if let Some(doubt) = read.doubt() {
                    return Known::Unknown(doubt);
                }
                let build = Build::of_wheel(&wheel, candidate.sha256, &read, &Metadata::default());
                Known::Build(Box::new(build))
            }
            Ok(None) => Known::Unknown("its wheel can't be read offline".to_owned()),
            Err(failure) => Known::Unknown(failure.to_string()),
        }
    }

    /// What is worth telling about the build of a chosen version.
    pub(super) fn build_caveat(&self, name: &PackageName, version: &Version) -> Option<Caveat> {
        let builds = self.builds.borrow();
        let build = match (self.question.matrix.build(name, version), builds.get(&(name.clone(), version.clone()))) {
            (Some(row), _) => row,
            (None, Some(Known::Build(build))) => build,
            (None, Some(Known::Unknown(why))) => {
                let (name, version, why) = (name.clone(), version.clone(), why.clone());
                return Some(Caveat::BuildUnknown { name, version, why });
            }
            (None, None) => return None,
        };
        let gpus = ptx_only(self.question.matrix, build, &self.question.target.hardware);
        let gpus: Vec<String> = gpus.map(|gpu| gpu.name.clone()).collect();
        (!gpus.is_empty()).then(|| Caveat::PtxOnly { name: name.clone(), version: version.clone(), gpus })
    }
}
