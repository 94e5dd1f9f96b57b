//! What the kernel has really loaded: libraries twice, from somewhere else, gone from the disk, known to be bad.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::diag::{Code, counted};
use crate::core::matrix::{is_jaxlib_or_plugin, known_bad};
use crate::core::model::Version;
use crate::core::model::version::is_cpu_build;
use crate::health::doctor::{Answer, Case, Hit, Judge};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::LoadedTwice, loaded_twice),
    (Code::LoadedMixedCudnn, loaded_mixed_cudnn),
    (Code::LoadedDeleted, loaded_deleted),
    (Code::LoadedNotWheel, loaded_not_wheel),
    (Code::LibraryKnownBad, library_known_bad),
    (Code::LdLibraryPath, ld_library_path),
    (Code::OpenmpTwo, openmp_two),
    (Code::FrameworkCpuBuild, framework_cpu_build),
    (Code::JaxPluginMismatch, jax_plugin_mismatch),
];

/// Libraries of which a process must have one copy, by the beginning of their file names; errors first.
const ONCE: &[(&str, bool)] = &[
    ("libcudnn.so", true),
    ("libcublas.so", true),
    ("libcublasLt.so", true),
    ("libnccl.so", true),
    ("libcudart.so", false),
    ("libnvrtc.so", false),
    ("libcusparse.so", false),
    ("libcusolver.so", false),
    ("libcufft.so", false),
    ("libnvJitLink.so", false),
    ("libstdc++.so", false),
];

const NO_MAPS: &str = "no notebook kernel was found, or its memory map can't be read";

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The paths of `family` that are mapped and on the disk.
fn copies<'a>(mapped: &[(&'a str, bool)], family: &str) -> BTreeSet<&'a str> {
    mapped.iter().filter(|(path, gone)| !gone && file_name(path).starts_with(family)).map(|(path, _)| *path).collect()
}

pub(super) fn maps<'a>(case: &Case<'a>) -> Result<Vec<(&'a str, bool)>, Answer> {
    match (case.vitals.text("kernel/maps"), case.vitals.unread.get("kernel/maps")) {
        (Some(_), _) => Ok(case.vitals.mapped()),
        (None, Some(why)) => Err(Answer::Failed(why.clone())),
        (None, None) => Err(Answer::Unseen(NO_MAPS.to_owned())),
    }
}

fn loaded_twice(case: &Case<'_>) -> Answer {
    let mapped = match maps(case) {
        Ok(mapped) => mapped,
        Err(answer) => return answer,
    };
    let mut hits = Vec::new();
    for (family, is_error) in ONCE {
        let found = copies(&mapped, family);
        if found.len() > 1 {
            let hit = if *is_error { Hit::error } else { Hit::warning };
            let message = format!("{} is loaded {} times", family.trim_end_matches(".so"), found.len());
            hits.push(hit(message).seen_all(found.into_iter().map(str::to_owned)));
        }
    }
    if hits.is_empty() {
        Answer::Fine(format!("{}, each once", counted(mapped.len(), "library")))
    } else {
        Answer::Found(hits)
    }
}

fn loaded_mixed_cudnn(case: &Case<'_>) -> Answer {
    let mapped = match maps(case) {
        Ok(mapped) => mapped,
        Err(answer) => return answer,
    };
    let parts = copies(&mapped, "libcudnn");
    let folders: BTreeSet<&str> = parts.iter().map(|path| folder(path)).collect();
    if folders.len() < 2 {
        return Answer::Fine(format!("{} of cuDNN from one folder", counted(parts.len(), "part")));
    }
    Hit::error("parts of cuDNN come from several folders").seen_all(folders.into_iter().map(str::to_owned)).into()
}

fn loaded_deleted(case: &Case<'_>) -> Answer {
    let mapped = match maps(case) {
        Ok(mapped) => mapped,
        Err(answer) => return answer,
    };
    let gone: Vec<String> = mapped
        .iter()
        .filter(|(path, gone)| *gone && path.contains("-packages/"))
        .map(|(path, _)| (*path).to_owned())
        .collect();
    if gone.is_empty() {
        return Answer::Fine("the loaded libraries are the installed ones".to_owned());
    }
    Hit::error("the kernel runs libraries that were replaced").seen_all(gone).into()
}

fn loaded_not_wheel(case: &Case<'_>) -> Answer {
    let mapped = match maps(case) {
        Ok(mapped) => mapped,
        Err(answer) => return answer,
    };
    let is_cuda = |name: &str| ONCE.iter().any(|(family, _)| name.starts_with(family) && *family != "libstdc++.so");
    let wheels = mapped.iter().any(|(path, _)| path.contains("-packages/nvidia/"));
    let found: Vec<String> = mapped
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| !path.contains("-packages/") && is_cuda(file_name(path)))
        .map(str::to_owned)
        .collect();
    // Where nothing was brought by wheels, the system's is the one that was meant.
    if found.is_empty() || !wheels {
        return Answer::Fine("the CUDA libraries are those of the frameworks' wheels".to_owned());
    }
    Hit::warning("system libraries were loaded instead of those of the wheels").seen_all(found).into()
}

/// A version in the name of a file: `libcudnn.so.9.8.0`.
pub(super) fn version_in(name: &str) -> Option<Version> {
    name.split_once(".so.")?.1.parse().ok()
}

fn library_known_bad(case: &Case<'_>) -> Answer {
    let gpus = &case.machine.hardware.gpus;
    if gpus.is_empty() {
        return Answer::Unseen(super::device::NO_GPU.to_owned());
    }
    let mapped = case.vitals.mapped();
    let rows = match known_bad() {
        Ok(rows) => rows,
        Err(why) => return Answer::Failed(why),
    };
    let mut hits = Vec::new();
    let meant = rows.iter().filter(|row| {
        gpus.iter().any(|gpu| gpu.capability >= row.capability_from && gpu.capability < row.capability_before)
    });
    for row in meant {
        let loaded = mapped.iter().filter(|(path, _)| file_name(path).starts_with(&row.library));
        let loaded = loaded.filter_map(|(path, _)| Some((version_in(file_name(path))?, (*path).to_owned())));
        let installed = case.machine.installed.iter().filter(|(name, _)| name.as_ref().starts_with(&row.package));
        let installed = installed.map(|(name, one)| (one.version.clone().without_local(), name.to_string()));
        // Release numbers of wheels have more parts, and those of a bare `libcublas.so.12` say nothing.
        let all = loaded.chain(installed).filter(|(version, _)| version.release().len() > 1);
        let found: Vec<String> = all
            .filter(|(version, _)| *version >= row.from && *version < row.before)
            .map(|(version, from)| format!("{version} from {from}"))
            .collect();
        if !found.is_empty() {
            hits.push(Hit::error(row.why.as_str()).seen_all(found).seen(format!("install {}", row.take)));
        }
    }
    if hits.is_empty() { Answer::Fine("no version with known errors".to_owned()) } else { Answer::Found(hits) }
}

fn ld_library_path(case: &Case<'_>) -> Answer {
    let Some(value) = case.variable("LD_LIBRARY_PATH") else {
        return Answer::Fine("LD_LIBRARY_PATH is not set".to_owned());
    };
    let entries: Vec<&str> = value.split(':').filter(|entry| !entry.is_empty()).collect();
    let hides = |entry: &&&str| {
        let names = case.vitals.folders.get(**entry).map(Vec::as_slice).unwrap_or_default();
        names.iter().any(|name| name.starts_with("libcudnn") || name.starts_with("libcublas"))
    };
    let missing = entries.iter().filter(|entry| case.vitals.unread.get(**entry).is_some_and(|why| why == "missing"));
    let hiding: Vec<String> =
        entries.iter().filter(hides).map(|entry| format!("{entry} has cuDNN or cuBLAS")).collect();
    let missing: Vec<String> = missing.map(|entry| format!("{entry} does not exist")).collect();
    if !hiding.is_empty() {
        return Hit::warning("LD_LIBRARY_PATH hides the libraries of wheels")
            .seen_all(hiding.into_iter().chain(missing))
            .into();
    }
    if !missing.is_empty() {
        return Hit::note("LD_LIBRARY_PATH names missing folders").seen_all(missing).into();
    }
    Answer::Fine(format!("{} without CUDA libraries", counted(entries.len(), "folder")))
}

fn openmp_two(case: &Case<'_>) -> Answer {
    let mapped = match maps(case) {
        Ok(mapped) => mapped,
        Err(answer) => return answer,
    };
    let is_openmp = |name: &str| ["libgomp", "libiomp5", "libomp"].iter().any(|family| name.starts_with(family));
    let found: BTreeSet<String> = mapped
        .iter()
        .filter(|(path, gone)| !gone && is_openmp(file_name(path)))
        .map(|(path, _)| (*path).to_owned())
        .collect();
    if found.len() < 2 {
        return Answer::Fine(counted(found.len(), "OpenMP runtime"));
    }
    Hit::note(format!("{} OpenMP runtimes are loaded", found.len())).seen_all(found).into()
}

fn framework_cpu_build(case: &Case<'_>) -> Answer {
    if case.machine.hardware.gpus.is_empty() {
        return Answer::Unseen(super::device::NO_GPU.to_owned());
    }
    let local: Vec<String> = case
        .machine
        .installed
        .iter()
        .filter(|(_, one)| is_cpu_build(&one.version))
        .map(|(name, one)| format!("{name} {}", one.version))
        .collect();
    let by_name = case
        .machine
        .installed
        .keys()
        .any(|known| known.as_ref() == "tensorflow-cpu")
        .then(|| "tensorflow-cpu".to_owned());
    let found: Vec<String> = local.into_iter().chain(by_name).collect();
    if found.is_empty() {
        return Answer::Fine("no CPU-only build".to_owned());
    }
    Hit::error("a framework can't use this machine's GPU").seen_all(found).into()
}

fn jax_plugin_mismatch(case: &Case<'_>) -> Answer {
    let installed = case.machine.installed.iter().filter(|(name, _)| is_jaxlib_or_plugin(name));
    let parts: BTreeMap<String, String> =
        installed.map(|(name, one)| (name.to_string(), one.version.clone().without_local().to_string())).collect();
    let versions: BTreeSet<&String> = parts.values().collect();
    match (parts.len(), versions.len()) {
        (0, _) => Answer::Unseen("JAX is not installed".to_owned()),
        (_, 1) => Answer::Fine("jaxlib and its plugins have the same version".to_owned()),
        _ => Hit::error("jaxlib and its plugins have different versions")
            .seen_all(parts.iter().map(|(name, version)| format!("{name} {version}")))
            .into(),
    }
}
