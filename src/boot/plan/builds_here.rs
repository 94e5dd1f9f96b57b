//! How the locked builds run on the machine, and locked files that nothing proves.

use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::machine::Machine;
use crate::boot::plan::Basis;
use crate::boot::profile::CudaWish;
use crate::boot::resolve::compiled_on_use;
use crate::core::diag::{Code, Finding, Subject, listed};
use crate::core::matrix::{Build, Link, Matrix, Reason, Verdict, check_driver, is_jaxlib_or_plugin, ptx_only, verdict};
use crate::core::model::version::is_cpu_build;
use crate::core::model::{CudaVersion, PackageName};

/// What is wrong with the builds of the target on this machine. A new answer has named those that are compiled on use
/// itself.
pub(super) fn judge_builds(basis: &Basis<'_>) -> Vec<Finding> {
    let (matrix, machine, target) = (basis.matrix, basis.machine, basis.target);
    let mut findings: Vec<Finding> = unhashed(target).into_iter().chain(refused(matrix, machine, target)).collect();
    if basis.from_lock {
        findings.extend(compiled(matrix, machine, target));
    }
    findings.extend(unused_gpu(basis));
    findings
}

/// What would leave the GPUs of the machine or the target unused, and says nothing about it when it runs.
fn unused_gpu(basis: &Basis<'_>) -> Option<Finding> {
    let Basis { machine, target, .. } = *basis;
    let is_without = machine.hardware.gpus.is_empty() && target.gpus.is_empty();
    if basis.wish.cuda.is_none_or(|cuda| cuda == CudaWish::Cpu) || is_without {
        return None;
    }
    let reasons = target.packages.iter().filter_map(|one| Some((one, on_the_cpu(basis, one)?)));
    let finding = Finding::warning(Code::FrameworkCpuBuild, "the GPU will not be used");
    let finding = reasons.fold(finding, |finding, (one, why)| {
        finding
            .about(Subject::release(&one.name, &one.version))
            .with_note(format!("{} {}: {why}", one.name, one.version))
    });
    let help = "if that is what you want, set `cuda = \"cpu\"` in `[target]`";
    (!finding.about.is_empty()).then(|| finding.with_help(help))
}

/// Why a locked package runs on the CPU though there is a GPU, and what gives it the GPU.
fn on_the_cpu(basis: &Basis<'_>, package: &LockedPackage) -> Option<String> {
    let Basis { matrix, machine, target, .. } = *basis;
    if is_cpu_build(&package.version) && matrix.is_framework(&package.name) {
        return Some("a build for the CPU; a release without `+cpu` has a GPU build".to_owned());
    }
    let mut all = target.packages.iter().map(|one| &one.name).chain(machine.installed.keys());
    let is_plugin = |name: &PackageName| is_jaxlib_or_plugin(name) && name.as_ref().ends_with("-plugin");
    if package.name.as_ref() == "jaxlib" && !all.any(is_plugin) {
        let newest =
            |major: &u32| check_driver(matrix, CudaVersion { major: *major, minor: 0 }, &machine.hardware).is_ok();
        let major = match basis.wish.cuda {
            Some(CudaWish::Major(major)) => major,
            Some(CudaWish::Exact(cuda)) => cuda.major,
            _ => matrix.majors().into_iter().filter(newest).max().unwrap_or(12),
        };
        return Some(format!("the CUDA plugin is missing; `extras = [\"cuda{major}\"]` of `jax` installs it"));
    }
    let (link, absent) = unfound(matrix, machine, target, package).filter(|(link, _)| link.runs_on_cpu)?;
    let bringer = link.bringer().map(|bringer| format!("; {bringer}")).unwrap_or_default();
    Some(format!("{}: no package contains {}{bringer}", link.without, listed(&absent)))
}

/// Locked files that nothing proves to be what they were.
fn unhashed(target: &LockedTarget) -> Option<Finding> {
    let packages: Vec<Subject> = target
        .packages
        .iter()
        .filter(|package| package.wheel().is_some_and(|wheel| wheel.sha256.is_none()))
        .map(|one| Subject::release(&one.name, &one.version))
        .collect();
    let names: Vec<String> = packages.iter().map(ToString::to_string).collect();
    let message = format!("the lock has no digest for {}", listed(&names));
    let finding =
        Finding::error(Code::LockUnhashed, message).with_help("run `colab-boot lock` with an index that has digests");
    (!packages.is_empty()).then(|| packages.into_iter().fold(finding, Finding::about))
}

/// The locked packages with a GPU build, each with how it runs on the machine.
fn judged_builds<'a>(
    matrix: &'a Matrix,
    machine: &'a Machine,
    target: &'a LockedTarget,
) -> impl Iterator<Item = (&'a LockedPackage, &'a Build, Verdict)> {
    target.packages.iter().filter_map(|package| {
        let build = matrix.build(&package.name, &package.version).filter(|build| build.is_gpu())?;
        Some((package, build, verdict(matrix, build, &machine.hardware)))
    })
}

/// Locked builds that do not run on the machine: what is kept of an image may be such.
fn refused(matrix: &Matrix, machine: &Machine, target: &LockedTarget) -> Vec<Finding> {
    judged_builds(matrix, machine, target)
        .filter_map(|(package, _, verdict)| {
            let Verdict::No(reason) = verdict else {
                return None;
            };
            let code = match reason {
                // A GPU by name alone, without a driver: nothing is known to be wrong.
                Reason::NoDriver => return None,
                Reason::DriverTooOld { .. } | Reason::UnknownCuda { .. } => Code::DriverTooOld,
                _ => Code::GpuNotCovered,
            };
            let message = format!("{} {} does not run here: {reason}", package.name, package.version);
            Some(Finding::error(code, message).about(Subject::release(&package.name, &package.version)))
        })
        .collect()
}

/// Locked builds that the driver has to compile here.
fn compiled(matrix: &Matrix, machine: &Machine, target: &LockedTarget) -> Vec<Finding> {
    judged_builds(matrix, machine, target)
        .filter_map(|(package, build, _)| {
            let gpus = ptx_only(matrix, build, &machine.hardware);
            let gpus: Vec<String> = gpus.map(|gpu| gpu.name.clone()).collect();
            (!gpus.is_empty()).then(|| compiled_on_use(&package.name, &package.version, &gpus))
        })
        .collect()
}

fn has_cuda_of_debian(machine: &Machine) -> bool {
    machine.debian.packages().keys().any(|name| name.starts_with("cuda-cudart-"))
}

/// What a package looks for of CUDA's libraries when it runs, and neither the lock nor what is installed has.
fn unfound<'m>(
    matrix: &'m Matrix,
    machine: &Machine,
    target: &LockedTarget,
    package: &LockedPackage,
) -> Option<(&'m Link, Vec<String>)> {
    let is_image = machine.runtime.is_some() && !machine.installed.is_empty();
    let link = matrix.link(&package.name, &package.version).filter(|_| !is_image && !has_cuda_of_debian(machine))?;
    let major = matrix.linked_major(link, &package.version, None)?;
    let locked = target.packages.iter().map(|one| (&one.name, &one.version));
    let installed = machine.installed.iter().map(|(name, one)| (name, &one.version));
    let absent = matrix.absent(link, major, &locked.chain(installed));
    (!absent.is_empty()).then_some((link, absent))
}

/// How each locked package with a GPU build runs on the machine.
pub fn how_builds_run(matrix: &Matrix, machine: &Machine, target: &LockedTarget) -> Vec<String> {
    judged_builds(matrix, machine, target)
        .map(|(package, build, verdict)| {
            let how = match (verdict, unfound(matrix, machine, target, package)) {
                (_, Some((link, _))) => {
                    let place = if link.runs_on_cpu { "on the CPU" } else { "not on the GPU" };
                    format!("{place}: its CUDA libraries are missing")
                }
                // An image with a driver, while no `--gpu` names one of its GPUs.
                (Verdict::CpuOnly, _) if machine.runtime.is_some() && machine.hardware.driver.is_some() => {
                    "not checked: `--gpu` says on which GPU".to_owned()
                }
                (Verdict::CpuOnly, _) if !target.gpus.is_empty() => {
                    let capabilities: Vec<String> = target.gpus.iter().map(ToString::to_string).collect();
                    format!("chosen for compute capability {}; on the CPU here: no GPU", listed(&capabilities))
                }
                (Verdict::CpuOnly, _) => "on the CPU: no GPU".to_owned(),
                (other, _) => other.to_string(),
            };
            let cuda = build.cuda.map(|cuda| format!(" (CUDA {cuda})")).unwrap_or_default();
            format!("{} {}{cuda}: {how}", package.name, package.version)
        })
        .collect()
}
