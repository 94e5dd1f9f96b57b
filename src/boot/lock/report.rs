//! Targets and packages as the JSON reports of `lock` and `plan` show them.

use serde::Serialize;

use crate::boot::lock::{Lock, LockedApt, LockedPackage, LockedTarget};
use crate::core::model::{ComputeCapability, CudaVersion, DriverVersion, PackageName, Sha256, Version};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TargetReport<'a> {
    name: &'a str,
    runtime: Option<&'a str>,
    python: &'a Version,
    platform: &'a str,
    cuda: Option<CudaVersion>,
    driver_floor: Option<&'a DriverVersion>,
    gpus: &'a [ComputeCapability],
    apt: &'a [LockedApt],
    packages: Vec<PackageReport<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct PackageReport<'a> {
    name: &'a PackageName,
    version: &'a Version,
    wheel: Option<&'a str>,
    /// Bytes.
    size: Option<u64>,
    sha256: Option<Sha256>,
    index: Option<&'a str>,
    image_only: Option<&'a str>,
    why: &'a [String],
}

impl<'a> TargetReport<'a> {
    pub fn of(target: &'a LockedTarget) -> Self {
        Self {
            name: &target.name,
            runtime: target.runtime.as_deref(),
            python: &target.python,
            platform: &target.platform,
            cuda: target.cuda,
            driver_floor: target.driver_floor.as_ref(),
            gpus: &target.gpus,
            apt: &target.apt,
            packages: target.packages.iter().map(PackageReport::of).collect(),
        }
    }

    /// Those of all targets.
    pub fn all(lock: &'a Lock) -> Vec<Self> {
        lock.targets.iter().map(Self::of).collect()
    }
}

impl<'a> PackageReport<'a> {
    fn of(package: &'a LockedPackage) -> Self {
        let wheel = package.wheel();
        Self {
            name: &package.name,
            version: &package.version,
            wheel: wheel.map(|wheel| wheel.file.as_str()),
            size: wheel.and_then(|wheel| wheel.size),
            sha256: wheel.and_then(|wheel| wheel.sha256),
            index: wheel.map(|wheel| wheel.index.as_str()),
            image_only: package.image_only(),
            why: &package.why,
        }
    }
}
