//! What is loaded, against what it was built with and what the driver runs.

use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::Operator;

use crate::boot::machine::Installed;
use crate::core::diag::{Code, listed};
use crate::core::matrix::{Reason, check_driver, is_carrier};
use crate::core::model::{CudaVersion, PackageName, Version};
use crate::health::doctor::device::NO_GPU;
use crate::health::doctor::mapped::{file_name, maps, version_in};
use crate::health::doctor::{Answer, Case, Hit, Judge};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::CudnnBelowBuild, cudnn_below_build),
    (Code::DriverTooOld, driver_too_old),
    (Code::LibraryMissing, library_missing),
];

/// Packages that have them, with `-cuNN` behind or not.
const CUDNN: &str = "nvidia-cudnn";
const CUDART: &str = "nvidia-cuda-runtime";

/// Major and minor.
fn series(version: &Version) -> Option<(u64, u64)> {
    let release = version.release();
    Some((*release.first()?, *release.get(1)?))
}

/// The versions of a mapped `library` with their paths: by the name of the file, else by the distribution `carrier`
/// that has it.
fn mapped_versions(case: &Case<'_>, library: &str, carrier: &str) -> Vec<(Version, String)> {
    let installed = || {
        let mut carriers = case.machine.installed.iter().filter(|(name, _)| is_carrier(carrier, name));
        let (only, more) = (carriers.next(), carriers.next());
        only.filter(|_| more.is_none()).map(|(_, one)| one.version.clone())
    };
    let of = |path: &str| {
        let by_name = version_in(file_name(path)).filter(|version| version.release().len() > 1);
        by_name.or_else(|| if path.contains("-packages/nvidia/") { installed() } else { None })
    };
    let mapped = case.vitals.mapped();
    let copies = mapped.iter().filter(|(path, gone)| !gone && file_name(path).starts_with(library));
    copies.filter_map(|(path, _)| Some((of(path)?, (*path).to_owned()))).collect()
}

/// The cuDNN that the wheel of a framework was built with: by its row, else the oldest that its METADATA accepts.
fn built_with(case: &Case<'_>, name: &PackageName, one: &Installed) -> Option<Version> {
    let by_row = case.matrix.build(name, &one.version).and_then(|build| build.cudnn.clone());
    by_row.or_else(|| {
        let all = one.requires.as_ref()?.get().iter().filter(|all| is_carrier(CUDNN, &all.name));
        let floors = all.flat_map(|one| one.specifiers.iter()).filter(|one| at_least(*one.operator()));
        floors.map(|one| one.version().clone()).max()
    })
}

fn at_least(op: Operator) -> bool {
    matches!(op, Operator::Equal | Operator::EqualStar | Operator::GreaterThanEqual | Operator::TildeEqual)
}

fn cudnn_below_build(case: &Case<'_>) -> Answer {
    let mapped = match maps(case) {
        Ok(mapped) => mapped,
        Err(answer) => return answer,
    };
    let loaded = mapped_versions(case, "libcudnn.so", CUDNN);
    if loaded.is_empty() {
        return Answer::Unseen("no cuDNN is loaded, or its version is unknown".to_owned());
    }
    // Of what is loaded alone: another framework may have brought the cuDNN.
    let is_loaded = |name: &PackageName| {
        let folder = format!("-packages/{}/", name.as_ref().replace('-', "_"));
        mapped.iter().any(|(path, _)| path.contains(&folder))
    };
    let frameworks = case.machine.installed.iter().filter(|(name, _)| is_loaded(name));
    let built = frameworks.filter_map(|(name, one)| Some((name, &one.version, built_with(case, name, one)?)));
    let built: Vec<_> = built.collect();
    if built.is_empty() {
        return Answer::Unseen("it is unknown which cuDNN the loaded frameworks were built with".to_owned());
    }
    let mut hits = Vec::new();
    for (has, path) in &loaded {
        let Some(has_series) = series(has) else { continue };
        for (name, version, with) in &built {
            let Some(wanted) = series(with) else { continue };
            if has_series.0 != wanted.0 || has_series < wanted {
                let message = format!("{name} {version} was built with cuDNN {with}, and {has} is loaded");
                hits.push(Hit::error(message).seen(path.as_str()));
            }
        }
    }
    let names: Vec<String> = loaded.iter().map(|(version, _)| version.to_string()).collect();
    if hits.is_empty() {
        Answer::Fine(format!("cuDNN {} is new enough", names.join(" and ")))
    } else {
        Answer::Found(hits)
    }
}

/// The CUDA of a runtime library by its version.
fn cuda_of(version: &Version) -> Option<CudaVersion> {
    let (major, minor) = series(version)?;
    Some(CudaVersion { major: u32::try_from(major).ok()?, minor: u32::try_from(minor).ok()? })
}

fn driver_too_old(case: &Case<'_>) -> Answer {
    let hardware = &case.machine.hardware;
    let Some(driver) = &hardware.driver else { return Answer::Unseen(NO_GPU.to_owned()) };
    let installed = case.machine.installed.iter().filter(|(name, _)| is_carrier(CUDART, name));
    let installed = installed.map(|(name, one)| (one.version.clone(), format!("{name} {}", one.version)));
    let mapped = mapped_versions(case, "libcudart.so", CUDART);
    let all: Vec<(Version, String)> = mapped.into_iter().chain(installed).collect();
    if all.is_empty() {
        return Answer::Unseen("no CUDA runtime is loaded or installed".to_owned());
    }
    let mut too_new: BTreeMap<CudaVersion, (Reason, Vec<String>)> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for (version, from) in all {
        let Some(cuda) = cuda_of(&version) else { continue };
        match check_driver(case.matrix, cuda, hardware) {
            Err(Reason::UnknownCuda { .. }) => drop(unknown.insert(cuda.to_string())),
            Err(reason) => too_new.entry(cuda).or_insert((reason, Vec::new())).1.push(from),
            Ok(()) => {}
        }
    }
    let hits: Vec<Hit> =
        too_new.into_values().map(|(reason, from)| Hit::error(reason.to_string()).seen_all(from)).collect();
    match (hits.is_empty(), unknown.is_empty()) {
        (false, _) => Answer::Found(hits),
        (true, true) => Answer::Fine(format!("driver {driver} supports the installed CUDA")),
        (true, false) => {
            let names: Vec<String> = unknown.into_iter().collect();
            Answer::Unseen(format!("the minimum driver of CUDA {} is unknown", names.join(" and ")))
        }
    }
}

/// Where a toolkit that no wheel brought has its libraries; the loader's folders are looked at besides.
pub(super) const TOOLKIT: &str = "/usr/local/cuda/lib64";

fn library_missing(case: &Case<'_>) -> Answer {
    if case.machine.hardware.gpus.is_empty() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let installed = || case.machine.installed.iter().map(|(name, one)| (name, &one.version));
    let on_disk: BTreeSet<&str> = case.vitals.folders.values().flatten().map(String::as_str).collect();
    let mut looked = 0;
    let mut hits = Vec::new();
    for (name, version) in installed() {
        let Some(link) = case.matrix.link(name, version).filter(|link| link.opened) else { continue };
        let Some(major) = case.matrix.linked_major(link, version, None) else { continue };
        looked += 1;
        let others = installed().filter(|(other, _)| *other != name);
        let is_on_disk = |library: &String| on_disk.iter().any(|found| found.starts_with(library.as_str()));
        let mut absent = case.matrix.absent(link, major, &others);
        absent.retain(|library| !is_on_disk(library));
        if absent.is_empty() {
            continue;
        }
        let message = format!("{name} {version} needs {}, which no package provides", listed(&absent));
        let hit = Hit::error(message).seen(format!("without that library, {}", link.without));
        hits.push(link.bringer().into_iter().fold(hit, Hit::seen));
    }
    if looked == 0 {
        return Answer::Unseen("no installed package loads CUDA libraries from other packages".to_owned());
    }
    if hits.is_empty() { Answer::Fine("all CUDA libraries are found".to_owned()) } else { Answer::Found(hits) }
}
