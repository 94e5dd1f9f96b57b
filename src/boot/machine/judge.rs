//! Raw texts → [`Machine`] and findings. Pure: the same record gives the same machine anywhere.

use std::collections::BTreeMap;

use crate::boot::machine::kernel_process::kernel_identity;
use crate::boot::machine::raw::{Observed, RawDistribution, RawPython, Said};
use crate::boot::machine::{Installed, Layout, Machine, Python, Recorded};
use crate::core::diag::{Code, Finding};
use crate::core::matrix::{Hardware, InstalledGpu, Matrix};
use crate::core::model::{CudaVersion, DriverVersion, PackageName, PythonFacts};

/// Decides what the machine is. A source that makes no sense is a finding, and the next one is tried.
pub fn judge(observed: &Observed, matrix: &Matrix) -> (Machine, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut origins = BTreeMap::new();
    let driver = first(&observed.driver, driver_in, &mut findings).map(|(driver, source)| {
        origins.insert("driver", source);
        driver
    });
    let gpus = first(&observed.gpus, |text| gpus_in(text, matrix), &mut findings);
    let gpus = gpus.map(|(gpus, source)| {
        origins.insert("gpus", source);
        gpus
    });
    let gpus = gpus.unwrap_or_default();
    if driver.is_some() && gpus.is_empty() {
        let message = "an NVIDIA driver is installed, but no GPU responds";
        findings.push(Finding::warning(Code::MachineNoGpu, message).with_help("if there is a GPU, set it with --gpu"));
    }
    for said in observed.python_errors.iter().filter(|said| said.error.is_some()) {
        findings.push(unreadable(said, said.error.as_deref().unwrap_or_default()));
    }
    for said in &observed.unreadable {
        findings.push(unreadable(said, said.error.as_deref().unwrap_or_default()));
    }
    let python = observed.python.as_ref().and_then(|raw| {
        origins.insert("python", raw.path.display().to_string());
        judge_python(raw).map_err(|finding| findings.push(finding)).ok()
    });
    let machine = Machine {
        hardware: Hardware { driver, compat: compat(observed), gpus },
        os: os_name(&observed.os_release),
        host: matrix.hosts.find(
            |name| observed.environment.get(name).map(String::as_str),
            |path| observed.markers.iter().any(|marker| marker == path),
            observed.kernel.is_some(),
        ),
        is_root: observed.is_root,
        has_apt: observed.has_apt,
        installed: installed(&observed.distributions, python.as_ref().and_then(|python| python.layout.as_ref())),
        kernel: observed.kernel.as_ref().and_then(|raw| kernel_identity(raw.pid, &raw.stat)),
        boot_id: observed.boot_id.clone(),
        debian: observed.debian.clone(),
        runtime: None,
        pins: Vec::new(),
        python,
        origins,
    };
    (machine, findings)
}

/// The first source that `read` understands.
fn first<T>(
    sources: &[Said],
    read: impl Fn(&str) -> Result<Option<T>, String>,
    findings: &mut Vec<Finding>,
) -> Option<(T, String)> {
    for said in sources {
        let outcome = match (&said.text, &said.error) {
            (Some(text), _) => read(text),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(None),
        };
        match outcome {
            Ok(Some(value)) => return Some((value, said.source.clone())),
            Ok(None) => {}
            Err(error) => findings.push(unreadable(said, &error)),
        }
    }
    None
}

fn unreadable(said: &Said, error: &str) -> Finding {
    // A program that is no Python shows all that it was asked.
    let error: String = error.lines().next().unwrap_or_default().chars().take(160).collect();
    Finding::warning(Code::MachineUnreadable, format!("`{}` returned nothing usable: {error}", said.source))
}

/// A driver version in any of the forms that sources have: `580.82.07` (/sys, --query-gpu), `NVRM version: NVIDIA UNIX
/// x86_64 Kernel Module  580.82.07  Tue …` (/proc), `| NVIDIA-SMI 580.82.07   Driver Version: 580.82.07   CUDA Version:
/// 13.0 |`, and since R610 `KMD Version: 610.43.02`.
fn driver_in(text: &str) -> Result<Option<DriverVersion>, String> {
    let text = text.trim();
    if text.is_empty() || text.contains("No devices were found") {
        return Ok(None);
    }
    let labelled = ["Driver Version:", "KMD Version:"].iter().find_map(|label| text.split_once(label));
    if let Some((_, rest)) = labelled {
        return rest
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .parse()
            .map(Some)
            .map_err(|e: crate::core::model::cuda::NotANumber| e.to_string());
    }
    let line = text.lines().next().unwrap_or_default();
    let words = line.split_whitespace();
    words
        .clone()
        .find_map(|word| word.contains('.').then(|| word.parse().ok()).flatten())
        .map(Some)
        .ok_or_else(|| format!("no driver version in `{}`", line.chars().take(80).collect::<String>()))
}

/// Lines of `Tesla T4, 7.5`. A capability of `[N/A]` is looked up by name.
fn gpus_in(text: &str, matrix: &Matrix) -> Result<Option<Vec<InstalledGpu>>, String> {
    let mut gpus = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.contains("No devices were found") {
            return Ok(None);
        }
        let Some((name, capability)) = line.rsplit_once(',') else {
            return Err(format!("not `name, compute_cap`: `{}`", line.chars().take(80).collect::<String>()));
        };
        let capability = capability.parse().ok().or_else(|| matrix.gpu(name.trim()).map(|row| row.compute_capability));
        let Some(capability) = capability else {
            return Err(format!("the compute capability of `{}` is unknown", name.trim()));
        };
        gpus.push(InstalledGpu { name: name.trim().to_owned(), capability });
    }
    Ok((!gpus.is_empty()).then_some(gpus))
}

/// CUDA levels of the `cuda-compat` packages in use.
fn compat(observed: &Observed) -> Vec<CudaVersion> {
    if !observed.compat_in_use() {
        return Vec::new();
    }
    observed
        .debian
        .packages()
        .keys()
        .filter_map(|name| name.strip_prefix("cuda-compat-")?.replacen('-', ".", 1).parse().ok())
        .collect()
}

fn judge_python(raw: &RawPython) -> Result<Python, Finding> {
    let no = |why: String| {
        Finding::error(Code::MachineUnreadable, format!("the Python at `{}` can't be used: {why}", raw.path.display()))
            .with_help("choose another with --python")
    };
    if raw.implementation != "cpython" {
        return Err(no(format!("it is {}; only CPython is supported", raw.implementation)));
    }
    let version = raw.version.trim_end_matches('+').parse().map_err(|_| no(format!("version `{}`", raw.version)))?;
    Ok(Python {
        path: Some(raw.path.clone()),
        facts: PythonFacts {
            version,
            architecture: raw.architecture.clone(),
            libc: raw.libc.clone().into(),
            free_threaded: raw.free_threaded,
        },
        layout: Some(raw.layout.clone()),
        home: raw.home(),
        origin: raw.origin,
        is_virtual: raw.is_virtual,
    })
}

fn os_name(os_release: &str) -> String {
    let line = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.map_or_else(|| "unknown".to_owned(), |name| name.trim_matches('"').to_owned())
}

/// What is installed, of each name the one in the environment's own folders, else the first on the search path.
fn installed(raw: &[RawDistribution], layout: Option<&Layout>) -> BTreeMap<PackageName, Installed> {
    let is_own = |one: &Installed| {
        layout.is_some_and(|layout| layout.folders().into_iter().any(|own| one.location.as_ref() == Some(own)))
    };
    let mut all: BTreeMap<PackageName, Installed> = BTreeMap::new();
    for one in raw {
        let (Ok(name), Ok(version)) = (one.name.parse::<PackageName>(), one.version.parse()) else {
            continue;
        };
        let installed = Installed {
            version,
            requires: Some(Recorded::new(one.requires.clone())),
            direct: one.direct,
            location: one.folder.parent().map(std::path::Path::to_owned),
            installer: one.installer.clone(),
        };
        match all.get(&name) {
            Some(known) if is_own(known) || !is_own(&installed) => {}
            _ => drop(all.insert(name, installed)),
        }
    }
    all
}
