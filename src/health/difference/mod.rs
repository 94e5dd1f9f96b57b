//! Two machines side by side, or one on two days: what differs, how much it matters, and which failure it could cause.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde::Serialize;

use crate::boot::machine::{Conditions, Machine};
use crate::core::diag::{Code, Severity, counted, listed};
use crate::core::matrix::{InstalledGpu, Matrix};
use crate::core::model::{PackageName, Version};

/// One of the two.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub machine: &'a Machine,
    /// What a fingerprint has besides; a bundled image has none.
    pub conditions: Option<&'a Conditions>,
    /// The tag of the image, where it has one.
    pub image: Option<&'a str>,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// `gpu`, `driver`, `packages`.
    pub class: &'static str,
    /// What differs, where a class has several.
    pub name: String,
    /// `None` where it is not there.
    pub a: Option<String>,
    pub b: Option<String>,
    pub severity: Severity,
    /// What it could cause.
    pub code: Option<Code>,
}

impl Row {
    fn new(class: &'static str, name: impl Into<String>, a: Option<String>, b: Option<String>) -> Self {
        Self { class, name: name.into(), a, b, severity: Severity::Note, code: None }
    }

    fn warning(mut self, code: Code) -> Self {
        self.severity = Severity::Warning;
        self.code = Some(code);
        self
    }

    fn note(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }
}

/// So much less memory, shared memory or disk is worth a word.
const LESS: f64 = 0.9;

/// All that differs, from `a` to `b`; what only one of them has recorded is passed over.
pub fn compare(a: Side<'_>, b: Side<'_>, matrix: &Matrix) -> Vec<Row> {
    let mut rows = Vec::new();
    identity(a, b, &mut rows);
    hardware(a.machine, b.machine, matrix, &mut rows);
    python(a.machine, b.machine, &mut rows);
    packages(a.machine, b.machine, matrix, &mut rows);
    debian(a.machine, b.machine, &mut rows);
    if let (Some(a), Some(b)) = (a.conditions, b.conditions) {
        conditions(a, b, &mut rows);
    }
    rows.sort_by_key(|row| row.severity);
    rows
}

fn text(value: &impl Display) -> String {
    value.to_string()
}

fn identity(a: Side<'_>, b: Side<'_>, rows: &mut Vec<Row>) {
    if a.machine.host.name != b.machine.host.name {
        rows.push(Row::new("host", "", Some(a.machine.host.name.clone()), Some(b.machine.host.name.clone())));
    }
    if a.image != b.image {
        rows.push(
            Row::new("image", "", a.image.map(str::to_owned), b.image.map(str::to_owned)).note(Code::MachineNotPlanned),
        );
    }
    if a.machine.os != b.machine.os {
        rows.push(Row::new("os", "", Some(a.machine.os.clone()), Some(b.machine.os.clone())));
    }
    let boots = [a, b].map(|side| side.machine.boot_id.as_str());
    if boots[0] != boots[1] && boots.iter().all(|boot| !boot.is_empty()) {
        rows.push(Row::new("boot", "", Some("one".to_owned()), Some("another".to_owned())).note(Code::VmNew));
    }
}

fn hardware(a: &Machine, b: &Machine, matrix: &Matrix, rows: &mut Vec<Row>) {
    let (from, to) = (&a.hardware, &b.hardware);
    if from.driver != to.driver {
        let row = Row::new("driver", "", from.driver.as_ref().map(text), to.driver.as_ref().map(text));
        rows.push(match (&from.driver, &to.driver) {
            (_, None) => row.warning(Code::GpuAbsent),
            (Some(from), Some(to)) if to < from => row.warning(Code::DriverTooOld),
            _ => row,
        });
    }
    let names = |gpus: &[InstalledGpu]| -> Option<String> {
        let all = gpus.iter().map(|gpu| format!("{} ({})", gpu.name, gpu.capability));
        (!gpus.is_empty()).then(|| all.collect::<Vec<_>>().join(", "))
    };
    if names(&from.gpus) != names(&to.gpus) {
        let row = Row::new("gpu", "", names(&from.gpus), names(&to.gpus));
        let known: BTreeSet<_> = from.gpus.iter().map(|gpu| gpu.capability).collect();
        let is_new = to.gpus.iter().any(|gpu| !known.contains(&gpu.capability));
        rows.push(match to.gpus.len() {
            0 => row.warning(Code::GpuAbsent),
            _ if is_new && !from.gpus.is_empty() => row.warning(Code::GpuNotCovered),
            _ => row.note(Code::GpuChanged),
        });
        let memory = |machine: &Machine| {
            machine.hardware.gpus.first().and_then(|gpu| matrix.gpus.find(&gpu.name)?.memory.clone())
        };
        if let (Some(a), Some(b)) = (memory(a), memory(b))
            && a != b
        {
            rows.push(Row::new("gpu", "memory by type", Some(a), Some(b)).note(Code::VramLow));
        }
    }
}

fn python(a: &Machine, b: &Machine, rows: &mut Vec<Row>) {
    let facts = [a, b].map(|machine| machine.python.as_ref().map(|python| &python.facts));
    let both = |of: &dyn Fn(&crate::core::model::PythonFacts) -> String| facts.map(|facts| facts.map(of));
    let minor =
        both(&|facts| facts.version.release().iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join("."));
    let [from, to] = both(&|facts| facts.version.to_string());
    if from != to {
        let row = Row::new("python", "", from, to);
        rows.push(if minor[0] == minor[1] { row } else { row.warning(Code::MachineNotPlanned) });
    }
    for (name, [from, to]) in [
        ("C library", both(&|facts| facts.libc.to_string())),
        ("architecture", both(&|facts| facts.architecture.clone())),
        ("free threads", both(&|facts| facts.free_threaded.to_string())),
    ] {
        if from != to && from.is_some() && to.is_some() {
            rows.push(Row::new("python", name, from, to).warning(Code::MachineNotPlanned));
        }
    }
}

fn packages(a: &Machine, b: &Machine, matrix: &Matrix, rows: &mut Vec<Row>) {
    let names: BTreeSet<&PackageName> = a.installed.keys().chain(b.installed.keys()).collect();
    for name in names {
        let [from, to] = [a, b].map(|machine| machine.installed.get(name).map(|one| &one.version));
        if from == to {
            continue;
        }
        let row = Row::new("packages", name.to_string(), from.map(text), to.map(text));
        rows.push(match (from, to) {
            _ if matrix.kernel.protected.contains(name) => row.warning(Code::PlanProtected),
            (Some(from), Some(to)) if matrix.is_cuda_library(name) => {
                if to < from {
                    row.warning(Code::LibraryTooOld)
                } else {
                    row
                }
            }
            (Some(from), Some(to)) if from.local() != to.local() => row.warning(Code::FamilyBroken),
            (Some(from), Some(to)) if weighs(name, from, to, matrix) => row.warning(Code::FamilyBroken),
            (Some(_), None) if matrix.is_cuda_library(name) => row.warning(Code::LibraryMissing),
            (Some(from), Some(to)) if name.as_ref() == "numpy" && major(from) != major(to) => {
                row.warning(Code::StaleModule)
            }
            _ => row,
        });
    }
}

fn major(version: &Version) -> Option<u64> {
    version.release().first().copied()
}

/// A framework, or one of its family, of another minor release.
fn weighs(name: &PackageName, from: &Version, to: &Version, matrix: &Matrix) -> bool {
    let minor = |version: &Version| version.release().iter().take(2).copied().collect::<Vec<u64>>();
    matrix.knows(name) && minor(from) != minor(to)
}

fn debian(a: &Machine, b: &Machine, rows: &mut Vec<Row>) {
    let (from, to) = (a.debian.packages(), b.debian.packages());
    // One of them was described without them.
    if from.is_empty() || to.is_empty() {
        return;
    }
    let names: BTreeSet<&String> =
        from.keys().chain(to.keys()).filter(|name| from.get(*name) != to.get(*name)).collect();
    let (heavy, light): (Vec<&String>, Vec<&String>) = names.into_iter().partition(|name| is_cuda(name));
    for name in heavy {
        let row = Row::new("debian", name.clone(), from.get(name).cloned(), to.get(name).cloned());
        rows.push(row.warning(Code::DriverUserInstalled));
    }
    let versions = |all: &std::collections::BTreeMap<String, String>| {
        let shown = light.iter().filter_map(|name| Some(format!("{name} {}", all.get(*name)?)));
        listed(&shown.collect::<Vec<_>>())
    };
    if !light.is_empty() {
        rows.push(Row::new("debian", counted(light.len(), "other"), Some(versions(from)), Some(versions(to))));
    }
}

fn is_cuda(name: &str) -> bool {
    ["cuda", "nvidia", "libnvidia", "libcudnn", "libnccl", "libcublas"].iter().any(|start| name.starts_with(start))
}

fn conditions(a: &Conditions, b: &Conditions, rows: &mut Vec<Row>) {
    if a.linux != b.linux {
        rows.push(Row::new("linux", "", a.linux.clone(), b.linux.clone()));
    }
    if a.gpu_memory != b.gpu_memory {
        let of = |all: &[String]| (!all.is_empty()).then(|| all.join(", "));
        rows.push(Row::new("gpu", "memory", of(&a.gpu_memory), of(&b.gpu_memory)).note(Code::VramLow));
    }
    let cpus = |one: &Conditions| {
        one.cpus.map(|cpus| one.quota.map_or_else(|| cpus.to_string(), |quota| format!("{cpus}, {quota:.1} allowed")))
    };
    if cpus(a) != cpus(b) {
        rows.push(Row::new("cpus", "", cpus(a), cpus(b)).note(Code::WorkersTooMany));
    }
    for (class, from, to, code) in [
        ("memory", a.memory, b.memory, Code::RamLow),
        ("shared memory", a.shared_memory, b.shared_memory, Code::ShmSmall),
        ("disk", a.disk, b.disk, Code::DiskLow),
        ("disk, free", a.disk_free, b.disk_free, Code::DiskLow),
    ] {
        rows.extend(amounts(class, from, to, code));
    }
    let [from, to] = [a, b].map(|one| one.variables.iter().collect::<BTreeSet<_>>());
    for name in from.symmetric_difference(&to) {
        let set = |all: &BTreeSet<&String>| all.contains(*name).then(|| "set".to_owned());
        let row = Row::new("variables", (*name).clone(), set(&from), set(&to));
        rows.push(match name.as_str() {
            "LD_LIBRARY_PATH" => row.warning(Code::LdLibraryPath),
            "CUDA_VISIBLE_DEVICES" => row.warning(Code::GpuVisibleEnv),
            "PYTHONPATH" => row.warning(Code::PathOrder),
            _ => row,
        });
    }
    let kinds: BTreeSet<&String> = a.mounts.keys().chain(b.mounts.keys()).collect();
    for kind in kinds.into_iter().filter(|kind| a.mounts.get(*kind) != b.mounts.get(*kind)) {
        let count = |one: &Conditions| one.mounts.get(kind).map(ToString::to_string);
        rows.push(Row::new("mounts", kind.clone(), count(a), count(b)).note(Code::DataRemote));
    }
}

/// A tenth more is no difference, and only less can harm.
fn amounts(class: &'static str, from: Option<u64>, to: Option<u64>, code: Code) -> Option<Row> {
    let (from, to) = (from?, to?);
    #[expect(clippy::cast_precision_loss, reason = "bytes, compared to a tenth")]
    let share = to as f64 / (from.max(1)) as f64;
    let row = || Row::new(class, "", Some(crate::core::diag::bytes(from)), Some(crate::core::diag::bytes(to)));
    match share {
        _ if share < LESS => Some(row().warning(code)),
        _ if share > 1.0 / LESS => Some(row()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
