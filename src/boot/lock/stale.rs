//! Whether a lock still answers the question that is asked now.

use std::collections::BTreeMap;

use crate::boot::lock::{Lock, LockedPackage, LockedTarget};
use crate::boot::profile::Profile;
use crate::core::matrix::Hardware;
use crate::core::model::platform::parse_platform;
use crate::core::model::version::range_of;
use crate::core::model::{Libc, PackageName, PythonFacts, Sha256, Version};

/// Why `lock` is stale for this profile and matrix; `None` where it is not.
pub fn stale(lock: &Lock, profile: &Sha256, matrix: &str) -> Option<String> {
    if lock.profile.sha256 != *profile {
        return Some("the profile has changed since".to_owned());
    }
    if lock.matrix != matrix {
        return Some(format!("it was made with matrix {}, this colab-boot has {matrix}", lock.matrix));
    }
    None
}

/// What `profile` asks for and `target` does not have: a merge of two locks can lose it. `None` where it has
/// everything.
pub fn uncovered(profile: &Profile, target: &LockedTarget) -> Option<String> {
    let (libc, architecture) = parse_platform(&target.platform)?;
    let facts = PythonFacts { version: target.python.clone(), architecture, libc, free_threaded: false };
    let markers = facts.marker_environment()?;
    let mut wanted = profile.wanted.iter().filter(|one| one.condition.holds(&markers, None));
    wanted.find_map(|one| match target.package(&one.name) {
        None => Some(format!("it does not contain `{}`, which the profile needs", one.name)),
        Some(package) if range_of(&one.specifiers).contains(&package.version) => None,
        Some(package) => {
            Some(format!("it contains {} {}, but the profile needs {}", one.name, package.version, one.specifiers))
        }
    })
}

/// The machine that a target is to fit.
#[derive(Clone, Copy, Debug)]
pub struct Fit<'a> {
    /// Only targets made for this runtime count, where one is named.
    pub runtime: Option<&'a str>,
    pub python: &'a PythonFacts,
    pub hardware: &'a Hardware,
    /// Versions of what is installed: a target with something that no index has fits only where that is.
    pub installed: &'a BTreeMap<PackageName, Version>,
}

/// The target of `lock` that fits this machine and would change least of it, or for each target why it does not.
pub fn target_for<'a>(lock: &'a Lock, fit: Fit<'_>) -> Result<&'a LockedTarget, Vec<String>> {
    let mut reasons = Vec::new();
    let mut fitting = Vec::new();
    for target in &lock.targets {
        match unfit(target, fit) {
            None => fitting.push(target),
            Some(why) => reasons.push(format!("target `{}`: {why}", target.name)),
        }
    }
    fitting
        .into_iter()
        .min_by_key(|target| {
            target.packages.iter().filter(|package| fit.installed.get(&package.name) != Some(&package.version)).count()
        })
        .ok_or(reasons)
}

fn unfit(target: &LockedTarget, fit: Fit<'_>) -> Option<String> {
    let Fit { runtime, python, hardware, installed } = fit;
    if runtime.is_some_and(|runtime| target.runtime.as_deref() != Some(runtime)) {
        return Some("locked for another runtime".to_owned());
    }
    let minor = |version: &crate::core::model::Version| version.release().get(..2).map(<[u64]>::to_vec);
    if minor(&target.python) != minor(&python.version) {
        return Some(format!("locked for Python {}, this one is {}", target.python, python.version));
    }
    if !platform_fits(&target.platform, python) {
        return Some(format!("locked for {}, this machine is {}", target.platform, python.platform_tag()));
    }
    match (&target.driver_floor, &hardware.driver) {
        (Some(floor), Some(driver)) if driver < floor => {
            return Some(format!("needs driver {floor} or newer, this one is {driver}"));
        }
        _ => {}
    }
    let here =
        |package: &&LockedPackage| package.wheel().is_some() || installed.get(&package.name) == Some(&package.version);
    if let Some(package) = target.packages.iter().find(|package| !here(package)) {
        let image = package.image_only().unwrap_or(&target.name);
        return Some(format!(
            "{} {} is only part of `{image}`: no index has a digest of it",
            package.name, package.version
        ));
    }
    // A lock with builds for GPUs, made without this one in mind, promises nothing about it.
    let is_for_gpus = target.cuda.is_some() || target.driver_floor.is_some();
    let mut here = hardware.gpus.iter().filter(|_| is_for_gpus);
    let unchecked = here.find(|gpu| !target.gpus.contains(&gpu.capability));
    unchecked.map(|gpu| format!("its builds were not checked for {} (compute capability {})", gpu.name, gpu.capability))
}

/// The same architecture, and a C library at least as new as the one it was made for.
fn platform_fits(platform: &str, python: &PythonFacts) -> bool {
    match (parse_platform(platform), python.libc) {
        (Some((libc, architecture)), own) if architecture == python.architecture => match (libc, own) {
            (Libc::Glibc(major, minor), Libc::Glibc(own_major, own_minor))
            | (Libc::Musl(major, minor), Libc::Musl(own_major, own_minor)) => (major, minor) <= (own_major, own_minor),
            (Libc::Other, Libc::Other) => true,
            _ => false,
        },
        _ => false,
    }
}
