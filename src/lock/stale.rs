//! Whether a lock still answers the question that is asked now.

use crate::lock::{Lock, LockedTarget};
use crate::matrix::Hardware;
use crate::model::{PythonFacts, Sha256};

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

/// The target of `lock` that fits this machine, or for each target why it does not.
pub fn target_for<'a>(
    lock: &'a Lock,
    runtime: Option<&str>,
    python: &PythonFacts,
    hardware: &Hardware,
) -> Result<&'a LockedTarget, Vec<String>> {
    let mut reasons = Vec::new();
    for target in &lock.targets {
        match unfit(target, runtime, python, hardware) {
            None => return Ok(target),
            Some(why) => reasons.push(format!("target `{}`: {why}", target.name)),
        }
    }
    Err(reasons)
}

fn unfit(target: &LockedTarget, runtime: Option<&str>, python: &PythonFacts, hardware: &Hardware) -> Option<String> {
    if runtime.is_some_and(|runtime| target.runtime.as_deref() != Some(runtime)) {
        return Some("made for another runtime".to_owned());
    }
    let minor = |version: &crate::model::Version| version.release().get(..2).map(<[u64]>::to_vec);
    if minor(&target.python) != minor(&python.version) {
        return Some(format!("made for Python {}, this one is {}", target.python, python.version));
    }
    if !platform_fits(&target.platform, python) {
        return Some(format!("made for {}, this machine is {}", target.platform, python.platform_tag()));
    }
    match (&target.driver_floor, &hardware.driver) {
        (Some(floor), Some(driver)) if driver < floor => {
            return Some(format!("needs driver {floor} or newer, this one is {driver}"));
        }
        _ => {}
    }
    // A lock made without GPUs in mind promises nothing about them.
    let unchecked = hardware.gpus.iter().find(|gpu| !target.gpus.contains(&gpu.capability));
    unchecked.map(|gpu| format!("its builds were not checked for {} (compute capability {})", gpu.name, gpu.capability))
}

/// The same architecture, and a C library at least as new as the one it was made for.
fn platform_fits(platform: &str, python: &PythonFacts) -> bool {
    let own = python.platform_tag();
    let parse = |tag: &str| -> Option<(u32, u32, String)> {
        let mut parts = tag.strip_prefix("manylinux_")?.splitn(3, '_');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.to_owned()))
    };
    match (parse(platform), parse(&own)) {
        (Some((major, minor, architecture)), Some((own_major, own_minor, own_architecture))) => {
            architecture == own_architecture && (major, minor) <= (own_major, own_minor)
        }
        _ => platform == own,
    }
}
