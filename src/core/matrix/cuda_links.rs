//! What the libraries of a package ask of the CUDA of an environment, where its METADATA does not.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::core::matrix::carriers::{carrier_for, is_carrier};
use crate::core::matrix::{Build, Matrix, deserializing};
use crate::core::model::version::VersionRange;
use crate::core::model::{CudaVersion, PackageName, Version};

/// Releases of a package whose libraries are linked against CUDA's, or look for them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub package: PackageName,
    #[serde(default = "VersionRange::full", deserialize_with = "deserializing::range")]
    pub releases: VersionRange,
    /// The CUDA major, where neither a build row nor what was read of the wheel says it.
    pub major: Option<u32>,
    /// `libcudart.so`: what is asked for, followed by the CUDA major.
    pub library: String,
    /// Whose wheels have it, with `-cuNN` behind or not.
    pub carrier: String,
    /// `libcudnn.so`: libraries without which it is as without the first.
    #[serde(default)]
    pub also: Vec<String>,
    /// The extra of the package that brings all of them.
    pub extra: Option<String>,
    /// What happens without it.
    pub without: String,
    /// It is looked for when the package runs: without it nothing fails.
    #[serde(default)]
    pub opened: bool,
    /// Without it the package works, on the CPU.
    #[serde(default, rename = "runs-on-cpu")]
    pub runs_on_cpu: bool,
    pub source: String,
}

impl Link {
    /// `libcudart.so.13`.
    pub fn soname(&self, major: u32) -> String {
        // CUDA 11's runtime library alone has its minor in its name.
        let minor = if major == 11 && self.library == "libcudart.so" { ".0" } else { "" };
        format!("{}.{major}{minor}", self.library)
    }

    /// The wheel that has the library of CUDA `major`: without a suffix since CUDA 13.
    pub fn carrier_of(&self, major: u32) -> String {
        carrier_for(&self.carrier, major)
    }

    /// What helps: the extra that brings all libraries, where the package has one.
    pub fn bringer(&self) -> Option<String> {
        self.extra.as_ref().map(|extra| format!("`{}[{extra}]` installs all that it needs", self.package))
    }

    /// The CUDA major of `soname`, where it is the library of this row.
    fn major_of(&self, soname: &str) -> Option<u32> {
        soname.strip_prefix(&self.library)?.strip_prefix('.')?.split('.').next()?.parse().ok()
    }
}

/// Releases of a package that have a library for each CUDA, and load the one for the CUDA of another package.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByCuda {
    pub package: PackageName,
    #[serde(deserialize_with = "deserializing::range")]
    pub releases: VersionRange,
    /// Whose CUDA counts: `torch`.
    pub of: PackageName,
    /// What there are libraries for.
    pub cuda: Vec<CudaVersion>,
    /// One for another minor of the same major is loaded, too.
    #[serde(default)]
    pub nearest: bool,
    /// What happens where there is none.
    pub without: String,
    pub source: String,
}

impl ByCuda {
    /// Whether there is a library for `cuda`.
    pub fn has(&self, cuda: CudaVersion) -> bool {
        self.cuda.iter().any(|one| *one == cuda || self.nearest && one.major == cuda.major)
    }
}

impl Matrix {
    /// What `package` at `version` is linked against, though its METADATA does not ask for it.
    pub fn link(&self, package: &PackageName, version: &Version) -> Option<&Link> {
        self.links.iter().find(|row| row.package == *package && row.releases.contains(version))
    }

    /// Whether releases of `package` can't be loaded beside another CUDA than theirs.
    pub fn is_linked(&self, package: &PackageName) -> bool {
        self.links.iter().any(|row| row.package == *package && !row.opened)
    }

    /// The CUDA major that `link` means for `version` of its package: that of its build, where this is known, else that
    /// of the library that it was seen to be linked against.
    pub fn linked_major(&self, link: &Link, version: &Version, build: Option<&Build>) -> Option<u32> {
        let built = build.and_then(|build| build.cuda).or_else(|| self.cuda_of(&link.package, version));
        built.map(|cuda| cuda.major).or(link.major).or_else(|| self.major_in_rows(link, version))
    }

    /// The one CUDA major of the libraries that `version` is linked against, by its row.
    fn major_in_rows(&self, link: &Link, version: &Version) -> Option<u32> {
        // Rows are of the wheels without a label.
        if version.is_local() {
            return None;
        }
        let linkage = &self.linkages.of(&link.package)?.row(version)?.linkage;
        let libraries = linkage.needs.iter().flatten().chain(&linkage.some);
        let majors: BTreeSet<u32> = libraries.filter_map(|library| link.major_of(library)).collect();
        majors.first().copied().filter(|_| majors.len() == 1)
    }

    /// The CUDA majors for which an environment of these distributions has what `link` asks for: by the packages that
    /// carry it, and by labels such as `+cu128`, whose builds have theirs from elsewhere.
    pub fn carried<'a>(&self, link: &Link, all: impl Iterator<Item = (&'a PackageName, &'a Version)>) -> BTreeSet<u32> {
        self.carried_by(&link.carrier, all)
    }

    fn carried_by<'a>(
        &self,
        carrier: &str,
        all: impl Iterator<Item = (&'a PackageName, &'a Version)>,
    ) -> BTreeSet<u32> {
        all.filter_map(|(name, version)| {
            let library = self.library_cuda(name, version).filter(|_| is_carrier(carrier, name));
            library.map(|library| library.major).or_else(|| CudaVersion::of_label(version).map(|cuda| cuda.major))
        })
        .collect()
    }

    /// The libraries of CUDA `major` that `link` asks for and an environment of these distributions does not have.
    pub fn absent<'a>(
        &self,
        link: &Link,
        major: u32,
        all: &(impl Iterator<Item = (&'a PackageName, &'a Version)> + Clone),
    ) -> Vec<String> {
        let has = |carrier: &str| self.carried_by(carrier, all.clone()).contains(&major);
        let first = (!has(&link.carrier)).then(|| link.soname(major));
        let carrier = |library: &&String| self.sonames.iter().find(|row| row.library == **library);
        let others = link.also.iter().filter(|library| carrier(library).is_some_and(|row| !has(&row.carrier)));
        first.into_iter().chain(others.cloned()).collect()
    }

    /// Which libraries `package` at `version` has to choose from.
    pub fn by_cuda(&self, package: &PackageName, version: &Version) -> Option<&ByCuda> {
        self.by_cuda.iter().find(|row| row.package == *package && row.releases.contains(version))
    }

    /// The CUDA of `package` at `version`; `None` where it is not known, or it is for CPUs.
    pub fn cuda_of(&self, package: &PackageName, version: &Version) -> Option<CudaVersion> {
        self.build(package, version).and_then(|build| build.cuda).or_else(|| CudaVersion::of_label(version))
    }
}

#[cfg(test)]
mod tests {
    use crate::core::matrix::Matrix;

    /// What a row asks for besides has a carrier, else nothing would miss it.
    #[test]
    fn one_library_of_several_is_not_all() {
        let matrix = Matrix::bundled().expect("the bundled matrix");
        let known = |library: &String| matrix.sonames.iter().any(|row| row.library == *library);
        assert!(matrix.links.iter().flat_map(|link| &link.also).all(known));
        let (package, version) = ("tensorflow".parse().expect("a name"), "2.20.0".parse().expect("a version"));
        let link = matrix.link(&package, &version).expect("a row");
        let all = |names: &[&str]| -> Vec<String> {
            let held: Vec<_> =
                names.iter().map(|name| (name.parse().expect("a name"), "12.9".parse().expect("9"))).collect();
            matrix.absent(link, 12, &held.iter().map(|(name, version)| (name, version)))
        };
        assert_eq!(all(&[])[..2], ["libcudart.so.12", "libcublas.so"]);
        assert_eq!(
            all(&["nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12", "nvidia-cufft-cu12", "nvidia-cusolver-cu12"]),
            ["libcudnn.so"]
        );
        assert_eq!(all(&["nvidia-cudnn-cu13"]).len(), 5);
    }

    /// bitsandbytes 0.50 takes the nearest library of the same major, older releases the exact one alone.
    #[test]
    fn a_library_is_for_one_cuda_or_for_all_of_its_major() {
        let matrix = Matrix::bundled().expect("the bundled matrix");
        let package = "bitsandbytes".parse().expect("a name");
        for (version, cuda, expected) in [
            ("0.47.0", "12.9", true),
            ("0.47.0", "13.2", false),
            ("0.49.2", "13.0", true),
            ("0.49.2", "13.2", false),
            ("0.50.2", "13.1", true),
            ("0.50.2", "14.0", false),
            ("0.31.8", "13.0", false),
        ] {
            let row = matrix.by_cuda(&package, &version.parse().expect("a version")).expect("a row");
            assert_eq!(row.has(cuda.parse().expect("a CUDA version")), expected, "{version} {cuda}");
        }
    }

    /// No METADATA and no build row of vllm names a CUDA; what its wheels are linked against does.
    #[test]
    fn the_cuda_of_a_build_is_read_from_its_libraries() {
        let matrix = Matrix::bundled().expect("the bundled matrix");
        let package = "vllm".parse().expect("a name");
        for (version, major) in [("0.19.1", 12), ("0.20.2", 13), ("0.31.0", 13), ("0.33.0", 13)] {
            let version = version.parse().expect("a version");
            let link = matrix.link(&package, &version).expect("a row");
            assert_eq!(matrix.linked_major(link, &version, None), Some(major), "{version}");
        }
    }
}
