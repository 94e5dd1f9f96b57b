//! The types of the rows in `matrix/*.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::core::matrix::cuda_links::{ByCuda, Link};
use crate::core::matrix::deserializing::{range, requirement, requirements};
use crate::core::matrix::{Build, Carried, Lenient, PublishedIndex, Soname};
use crate::core::model::version::VersionRange;
use crate::core::model::{
    Architecture, ComputeCapability, CudaVersion, DriverVersion, PackageName, Requirement, Version,
};

/// A CUDA toolkit.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Toolkit {
    pub cuda: CudaVersion,
    /// The driver it ships with; from there on everything runs natively. Bare branches read as `615`.
    pub driver: Option<DriverVersion>,
    /// The oldest driver that runs it by minor-version compatibility.
    pub minor_compat_driver: DriverVersion,
    /// The newest PTX ISA its compiler emits.
    pub ptx_isa: Option<CudaVersion>,
    /// The machine code its compiler can make.
    #[serde(default)]
    pub sm: Vec<Architecture>,
    pub source: String,
}

/// A driver branch.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Branch {
    pub branch: u64,
    /// The CUDA level it implements, the one in the header of nvidia-smi.
    pub cuda: CudaVersion,
    /// The newest PTX that its JIT compiles.
    pub ptx_isa: CudaVersion,
    /// Architectures that no later branch supports.
    #[serde(default)]
    pub last_for: Vec<String>,
    pub source: String,
}

/// A GPU product.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GpuRow {
    pub names: Vec<String>,
    pub product: String,
    pub architecture: String,
    pub compute_capability: ComputeCapability,
    pub memory: Option<String>,
    #[serde(default)]
    pub colab: bool,
    /// Forward compatibility is for these alone.
    pub data_center: bool,
    pub source: Option<String>,
}

/// A forward-compatibility package.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Compat {
    /// Debian name, `cuda-compat-12-8`.
    pub package: String,
    pub cuda: CudaVersion,
    /// The driver branches on which it works.
    pub branches: Vec<u64>,
    pub source: String,
}

/// Where in its wheel a package says what it was built for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// A name, in which `*` stands for anything.
    pub package: String,
    /// A Python file that records the build.
    pub text: Option<String>,
    /// A library with the architecture list as one text.
    pub list: Option<String>,
    /// CUDA compilers that the package carries and runs itself.
    #[serde(default)]
    pub compiler: Vec<String>,
    /// Libraries with fat binaries, best first.
    #[serde(default)]
    pub code: Vec<String>,
    /// Every one of `code` is read, not only the first with code.
    #[serde(default)]
    pub all: bool,
    /// To the end, not only the first containers.
    #[serde(default)]
    pub whole: bool,
    /// Compiled by clang, whose PTX ISA is older than its toolkit's.
    #[serde(default)]
    pub clang: bool,
}

/// A CUDA library published as wheels.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Library {
    name: Option<PackageName>,
    suffix: Option<String>,
    major: Option<u32>,
    cuda: Option<FromVersion>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FromVersion {
    Version,
}

/// Which CUDA a library belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryCuda {
    pub major: u32,
    /// Known for the runtime and the toolkit: this decides the driver floor.
    pub exact: Option<CudaVersion>,
}

impl Library {
    pub(super) fn matches(&self, package: &PackageName) -> bool {
        let suffix = |suffix: &String| package.as_ref().ends_with(suffix.as_str());
        self.name.as_ref() == Some(package) || self.suffix.as_ref().is_some_and(suffix)
    }

    /// Whether it goes by the end of a name.
    pub(super) fn is_suffix(&self) -> bool {
        self.name.is_none()
    }

    pub(super) fn cuda_of(&self, version: &Version) -> LibraryCuda {
        let number = |at: usize| version.release().get(at).and_then(|part| u32::try_from(*part).ok()).unwrap_or(0);
        let own = CudaVersion { major: number(0), minor: number(1) };
        LibraryCuda {
            major: self.major.unwrap_or(own.major),
            exact: self.cuda.as_ref().map(|FromVersion::Version| own),
        }
    }
}

/// A requirement that holds though METADATA is silent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Overlay {
    pub package: PackageName,
    #[serde(rename = "versions", deserialize_with = "range")]
    pub range: VersionRange,
    #[serde(rename = "adds", deserialize_with = "requirement")]
    pub requirement: Requirement,
    pub why: String,
    pub source: String,
    /// Nothing is required: the package checks in its code the version of one that happens to be there.
    #[serde(default, rename = "if-present")]
    pub if_present: bool,
    /// Where that check is, as an entry point is written: a module whose import makes it, or a function or attribute of
    /// one (`peft.import_utils:is_torchao_available`).
    #[serde(default, rename = "checked-by")]
    pub checked_by: Option<String>,
    /// It counts where METADATA asks for the package too: it narrows, and brings nothing along.
    #[serde(skip)]
    pub narrows: bool,
}

/// Packages that were built against exactly one version of another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// `torch`.
    pub anchor: PackageName,
    pub version: Version,
    /// `torchvision = "0.24.1"`.
    pub members: BTreeMap<PackageName, Version>,
    pub source: String,
}

/// Distributions that own the same path with other content.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collision {
    /// One of the files, or how its name begins where the rest depends on the Python.
    pub path: String,
    #[serde(deserialize_with = "requirements")]
    pub packages: Vec<Requirement>,
    /// Never to be solved together; otherwise a finding names them.
    #[serde(default)]
    pub hard: bool,
}

/// A package of which Python finds a module first, and which loads that of another package in its place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HandedOver {
    pub by: PackageName,
    pub to: PackageName,
}

/// The oldest version worth choosing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Floor {
    pub package: PackageName,
    pub version: Version,
    pub why: String,
}

/// Packages of the notebook kernel itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPackages {
    /// Never moved.
    pub protected: Vec<PackageName>,
    /// Imported by a fresh Colab kernel before the first cell.
    pub preloaded: Vec<PackageName>,
    /// Their wheels have a `.pth` file, which Python reads when it starts.
    pub starting: Vec<PackageName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub version: String,
}

/// Rows that a user brings along.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OverlayFile {
    pub build: Vec<Build>,
    pub toolkit: Vec<Toolkit>,
    pub branch: Vec<Branch>,
    pub gpu: Vec<GpuRow>,
    pub family: Vec<Family>,
    pub probe: Vec<Probe>,
    pub collision: Vec<Collision>,
    pub index: Vec<PublishedIndex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolkitsFile {
    pub toolkit: Vec<Toolkit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "kebab-case")]
pub(super) struct DriversFile {
    pub branch: Vec<Branch>,
    pub oldest_in_use: OldestInUse,
}

/// A driver, and why it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OldestInUse {
    pub driver: DriverVersion,
    /// For people who read the file.
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CompatFile {
    pub compat: Vec<Compat>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FamiliesFile {
    pub family: Vec<Family>,
}

/// Packages whose wheels are read into one file of the matrix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// `builds-torch.toml`.
    pub file: String,
    /// Each with the oldest release that is read.
    pub packages: BTreeMap<PackageName, Version>,
    /// Fat binaries are read even where a text file names the architectures.
    #[serde(default)]
    pub thorough: bool,
}

/// A package that has no wheels on the index.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceOnly {
    pub package: PackageName,
    pub why: String,
    pub link: String,
    pub checked: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WatchFile {
    pub linked: Vec<PackageName>,
    pub scattered: Vec<PackageName>,
    pub watch: Vec<Watch>,
    pub source_only: Vec<SourceOnly>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbesFile {
    pub probe: Vec<Probe>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PackagesFile {
    pub brings_cuda: Vec<PackageName>,
    pub library: Vec<Library>,
    pub overlay: Vec<Overlay>,
    pub floor: Vec<Floor>,
    pub collision: Vec<Collision>,
    pub handed_over: Vec<HandedOver>,
    pub kernel: KernelPackages,
    pub title: Vec<Title>,
    pub link: Vec<Link>,
    pub by_cuda: Vec<ByCuda>,
    pub lenient: Vec<Lenient>,
    pub soname: Vec<Soname>,
    #[serde(default)]
    pub carried: Vec<Carried>,
}

/// What people call a library.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Title {
    /// The name of its wheel without `-cuNN`.
    stem: String,
    pub title: String,
    /// It is released with each CUDA toolkit.
    pub with_cuda: bool,
}

impl Title {
    pub(super) fn names(&self, package: &PackageName) -> bool {
        let rest = package.as_ref().strip_prefix(self.stem.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-cu"))
    }
}
