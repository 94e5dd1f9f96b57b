//! The lock: exact wheels with digests for one or several targets.
//!
//! Goals of the format: the same inputs give the same bytes; a change of one package is a diff of few lines; no time,
//! no path and no index host inside, so that it works through any mirror; a lock of a newer format is refused with an
//! error that names both.

mod wheel_sizes;
mod compare;
mod dependencies;
mod read;
mod report;
mod stale;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::core::model::accepted::Accepted;
use crate::core::model::platform::parse_platform;
use crate::core::model::{
    ComputeCapability, CudaVersion, DriverVersion, Libc, PackageName, PythonFacts, Sha256, Version,
};

pub use compare::differences;

/// What editors and validators know of a lock: a JSON Schema (2020-12).
pub const LOCK_SCHEMA: &str = include_str!("lock.schema.json");

pub use dependencies::{Dependencies, dependencies};
pub use read::{Unreadable, has_conflict, read_lock};
pub use report::TargetReport;
pub use stale::{Fit, stale, target_for, uncovered};
pub use wheel_sizes::{distinct, within_budget};
pub use write::write_lock;

/// The format this program writes, and the newest that it reads.
///
/// Format 1 left out the wheels of what the target had; a lock of that format is stale.
pub const FORMAT: u64 = 2;

/// The releases of this program that read it.
pub const REQUIRES: &str = ">=0.1.0";

/// The lock that is named, else the one beside the profile.
pub fn lock_path(profile: &Path, lock: Option<&PathBuf>) -> PathBuf {
    lock.cloned().unwrap_or_else(|| profile.with_extension("lock"))
}

/// A lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lock {
    pub version: u64,
    /// The colab-boot that can use it, as a semantic-version requirement.
    pub requires: String,
    /// The matrix it was solved with.
    pub matrix: String,
    pub profile: LockedProfile,
    #[serde(rename = "target")]
    pub targets: Vec<LockedTarget>,
}

/// Which profile it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedProfile {
    pub name: PackageName,
    pub version: semver::Version,
    pub sha256: Sha256,
}

/// One target with what was assumed of it, and its packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LockedTarget {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub runtime: Option<String>,
    pub python: Version,
    /// The newest platform tag its wheels may have.
    pub platform: String,
    /// CUDA of the runtime library in the set; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cuda: Option<CudaVersion>,
    /// The oldest driver that runs it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub driver_floor: Option<DriverVersion>,
    /// Compute capabilities that its builds were checked against.
    pub gpus: Vec<ComputeCapability>,
    pub apt: Vec<LockedApt>,
    /// Facts that the profile overrules.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub accept: Vec<Accepted>,
    /// None where the markers of the profile's packages do not hold for it.
    #[serde(rename = "package", default)]
    pub packages: Vec<LockedPackage>,
}

/// A Debian package, with its version where it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedApt {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
}

/// One distribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PackageRow")]
pub struct LockedPackage {
    pub name: PackageName,
    pub version: Version,
    #[serde(flatten)]
    pub from: LockedFrom,
    /// The profile, or the packages that need it.
    pub why: Vec<String>,
}

/// Where a distribution comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockedFrom {
    Wheel(LockedWheel),
    /// The image of this name, where nothing else has the version: such as Colab's `+cu128` builds.
    ImageOnly(String),
}

impl LockedPackage {
    /// The wheel to install, where an index has one.
    pub const fn wheel(&self) -> Option<&LockedWheel> {
        match &self.from {
            LockedFrom::Wheel(wheel) => Some(wheel),
            LockedFrom::ImageOnly(_) => None,
        }
    }

    /// Whether it is built from source.
    pub fn is_source(&self) -> bool {
        self.wheel().is_some_and(LockedWheel::is_source)
    }

    /// The folder, file, repository or address that it comes from, as the profile writes it; nothing where an index has
    /// it.
    pub fn own_place(&self) -> Option<&str> {
        self.wheel()?.from.as_deref()
    }

    /// The image that has it, where nothing else does.
    pub fn image_only(&self) -> Option<&str> {
        match &self.from {
            LockedFrom::Wheel(_) => None,
            LockedFrom::ImageOnly(image) => Some(image),
        }
    }
}

/// A distribution as a lock writes it.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PackageRow {
    name: PackageName,
    version: Version,
    #[serde(alias = "source")]
    wheel: Option<LockedWheel>,
    image_only: Option<String>,
    why: Vec<String>,
}

impl TryFrom<PackageRow> for LockedPackage {
    type Error = String;

    fn try_from(PackageRow { name, version, wheel, image_only, why }: PackageRow) -> Result<Self, String> {
        let from = match (wheel, image_only) {
            (Some(wheel), None) => LockedFrom::Wheel(wheel),
            (None, Some(image)) => LockedFrom::ImageOnly(image),
            (None, None) => return Err(format!("{name} {version} has neither a wheel nor an image")),
            (Some(_), Some(_)) => return Err(format!("{name} {version} has both a wheel and an image")),
        };
        Ok(Self { name, version, from, why })
    }
}

/// One wheel; or a source distribution, where the profile lets it be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedWheel {
    pub file: String,
    /// `None` where the index gave none and the file could not be read: nothing will install it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<Sha256>,
    /// Bytes, where the index says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// `default`, the name of an `[[index]]`, or `direct`.
    pub index: String,
    /// The digest of the METADATA that was solved with ([`crate::core::model::metadata::Metadata::digest`]): the
    /// downloaded wheel must have the same. `None` where it was not looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<String>,
    /// Of a package from a folder, a repository or a file of the profile: where that is, as in the profile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Of a repository.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
}

impl Lock {
    /// The digest of the lock as written: what markers are keyed by.
    pub fn digest(&self) -> Sha256 {
        Sha256::of(write_lock(self).as_bytes())
    }
}

impl Lock {
    /// The versions that the target called `name` has; for want of it those of the first.
    pub fn versions(&self, name: &str) -> BTreeMap<PackageName, Version> {
        let target = self.targets.iter().find(|target| target.name == name).or_else(|| self.targets.first());
        let packages = target.map(|target| target.packages.as_slice()).unwrap_or_default();
        packages.iter().map(|package| (package.name.clone(), package.version.clone())).collect()
    }
}

impl LockedWheel {
    /// Whether it comes from a folder or a file of the machine that has locked it, which no other one has.
    pub const fn is_of_one_machine(&self) -> bool {
        self.from.is_some() && self.commit.is_none()
    }

    /// Whether it has to be built before it can be installed.
    pub fn is_source(&self) -> bool {
        !self.file.ends_with(".whl")
    }
}

impl LockedTarget {
    /// This machine, with nothing to install.
    pub fn without_packages(python: &PythonFacts) -> Self {
        Self {
            name: "machine".to_owned(),
            runtime: None,
            python: python.version.clone(),
            platform: python.platform_tag(),
            cuda: None,
            driver_floor: None,
            gpus: Vec::new(),
            apt: Vec::new(),
            accept: Vec::new(),
            packages: Vec::new(),
        }
    }

    /// The package of this name.
    pub fn package(&self, name: &PackageName) -> Option<&LockedPackage> {
        self.packages.iter().find(|package| package.name == *name)
    }

    /// The release of it.
    pub fn version(&self, name: &PackageName) -> Option<&Version> {
        self.package(name).map(|package| &package.version)
    }

    /// The C library that `platform` names: glibc 2.35 of `manylinux_2_35_x86_64`.
    pub fn libc(&self) -> Option<Libc> {
        parse_platform(&self.platform).map(|(libc, _)| libc)
    }

    /// What no index has, by the image that it comes with.
    pub fn image_only(&self) -> BTreeMap<&str, Vec<&LockedPackage>> {
        let mut images: BTreeMap<&str, Vec<&LockedPackage>> = BTreeMap::new();
        for package in &self.packages {
            if let Some(image) = package.image_only() {
                images.entry(image).or_default().push(package);
            }
        }
        images
    }

    /// Bytes of all its wheels, as far as they are known.
    pub fn wheel_bytes(&self) -> u64 {
        self.packages.iter().filter_map(|package| package.wheel()?.size).sum()
    }
}

#[cfg(test)]
mod tests;
