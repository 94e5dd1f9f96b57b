//! Libraries that a package asks for and an environment does not have.

use std::collections::BTreeSet;

use crate::core::matrix::carriers::{carrier_for, is_carrier};
use crate::core::matrix::{Aspect, Build, Linkage, Matrix, Soname};
use crate::core::model::{CudaVersion, PackageName, Version};

/// A library that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// `libcudart.so.12`.
    pub library: String,
    /// What is there instead: `only the libraries of CUDA 13`.
    pub instead: String,
    /// The package that would bring it: `nvidia-cuda-runtime-cu12`, where it is known.
    pub carrier: String,
}

impl Matrix {
    /// The library for want of which a package that is linked so can't be imported beside `all`; `None` where it can,
    /// or where nothing there says which CUDA it is: the machine's own toolkit may have what is needed.
    pub fn missing<'a>(
        &self,
        package: &PackageName,
        linkage: &Linkage,
        all: &(impl Iterator<Item = (&'a PackageName, &'a Version)> + Clone),
    ) -> Option<Missing> {
        let lenient = self.linkages.leniency(package).is_some_and(|row| row.without.contains(&Aspect::Libraries));
        if lenient || linkage.needs.is_empty() {
            return None;
        }
        let lacking: Vec<Missing> = linkage
            .needs
            .iter()
            .map_while(|set| set.iter().find_map(|library| self.lacking(library, all.clone())))
            .collect();
        // Of several sets one is enough.
        if lacking.len() == linkage.needs.len() { lacking.into_iter().next() } else { None }
    }

    /// Whether the wheels of a release were read, and hold neither code for GPUs nor a library that is linked against
    /// CUDA's.
    pub(super) fn is_of_no_cuda(&self, package: &PackageName, version: &Version) -> bool {
        let row = self.linkages.of(package).and_then(|file| file.row(version));
        let has_code = self.build(package, version).is_some_and(Build::is_gpu);
        row.is_some_and(|row| {
            !has_code
                && !row
                    .linkage
                    .needs
                    .iter()
                    .flatten()
                    .chain(&row.linkage.some)
                    .any(|library| self.sonames.iter().any(|row| library.starts_with(row.library.as_str())))
        })
    }

    /// Whether nothing of what is linked so can be loaded without one of CUDA's libraries.
    pub fn needs_cuda(&self, linkage: &Linkage) -> bool {
        !linkage.needs.is_empty()
            && linkage.needs.iter().all(|set| set.iter().any(|library| self.carrier_of(library).is_some()))
    }

    /// The package whose wheels have `library`, where it is one of CUDA's.
    pub fn carrier_of(&self, library: &str) -> Option<&str> {
        self.soname_of(library).map(|(row, _)| row.carrier.as_str())
    }

    /// The row of `library`, where it is one of CUDA's, and the number at its end: `12` of `libcublas.so.12`.
    pub fn soname_of<'l>(&self, library: &'l str) -> Option<(&Soname, &'l str)> {
        self.sonames.iter().find_map(|row| Some((row, library.strip_prefix(row.library.as_str())?.strip_prefix('.')?)))
    }

    /// `library`, where it is one of CUDA's and `all` have another CUDA's alone.
    fn lacking<'a>(&self, library: &str, all: impl Iterator<Item = (&'a PackageName, &'a Version)>) -> Option<Missing> {
        let (row, number) = self.soname_of(library)?;
        let wanted: u32 = if row.by_version { number.parse().ok()? } else { *row.cuda.get(number)? };
        let here: BTreeSet<u32> = all.filter_map(|(name, version)| self.carries(row, name, version)).collect();
        if here.is_empty() || here.contains(&wanted) {
            return None;
        }
        let majors: Vec<String> = here.iter().map(ToString::to_string).collect();
        let instead = if row.by_version {
            format!("only {} {}", row.carrier, majors.join(" and "))
        } else {
            format!("only the libraries of CUDA {}", majors.join(" and "))
        };
        let carrier = if row.by_version { row.carrier.clone() } else { carrier_for(&row.carrier, wanted) };
        Some(Missing { library: library.to_owned(), instead, carrier })
    }

    /// The number for which `package` has the library of `row`.
    fn carries(&self, row: &Soname, package: &PackageName, version: &Version) -> Option<u32> {
        if is_carrier(&row.carrier, package) {
            return if row.by_version {
                version.release().first().and_then(|major| u32::try_from(*major).ok())
            } else {
                self.library_cuda(package, version).map(|library| library.major)
            };
        }
        // A labelled build of torch has its CUDA's libraries from elsewhere.
        let label = CudaVersion::of_label(version).filter(|_| self.brings_cuda(package) && !row.by_version);
        label.map(|cuda| cuda.major)
    }
}
