//! The GPU: is it there, does the driver reach it, is it well.

use std::collections::BTreeMap;

use crate::core::diag::{Code, counted};
use crate::core::model::ComputeCapability;
use crate::health::doctor::vitals::{SMI_ENDED, SMI_FAILED, SMI_HANGS};
use crate::health::doctor::{Answer, Case, Hit, Judge};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::GpuAbsent, gpu_absent),
    (Code::GpuLost, gpu_lost),
    (Code::NvmlMismatch, nvml_mismatch),
    (Code::DriverUserInstalled, driver_user_installed),
    (Code::CompatOnPath, compat_on_path),
    (Code::DriverPathMissing, driver_path_missing),
    (Code::GpuEcc, gpu_ecc),
    (Code::GpuThrottled, gpu_throttled),
    (Code::GpuPcieNarrow, gpu_pcie_narrow),
    (Code::GpuMig, gpu_mig),
    (Code::GpuExclusive, gpu_exclusive),
    (Code::GpuVisibleEnv, gpu_visible_env),
    (Code::PrecisionMissing, precision_missing),
];

/// Why a check of a GPU has nothing to say.
pub(super) const NO_GPU: &str = "there is no NVIDIA GPU here";

fn has_device(case: &Case<'_>) -> bool {
    case.vitals.folders.get("/dev").is_some_and(|names| names.iter().any(|name| name.starts_with("nvidia")))
}

/// The distributions whose builds are for CUDA.
fn wants_cuda(case: &Case<'_>) -> Option<String> {
    let library = case.machine.installed.keys().find(|name| case.matrix.is_cuda_library(name));
    library.map(ToString::to_string)
}

fn gpu_absent(case: &Case<'_>) -> Answer {
    if case.machine.hardware.driver.is_some() || has_device(case) {
        return Answer::Fine("there is an NVIDIA driver".to_owned());
    }
    match wants_cuda(case) {
        Some(library) => Hit::warning("the environment is built for CUDA, but there is no NVIDIA driver")
            .seen(format!("{library} is installed"))
            .into(),
        None => Answer::Fine("no GPU, and no package needs one".to_owned()),
    }
}

fn complaint<'a>(case: &Case<'a>) -> Option<&'a str> {
    case.vitals.smi_error.as_deref()
}

fn gpu_lost(case: &Case<'_>) -> Answer {
    if complaint(case) == Some(SMI_HANGS) {
        return Hit::error("nvidia-smi does not answer within 3 s: the driver hangs").into();
    }
    if let Some(said) = complaint(case).filter(|said| said.starts_with(SMI_ENDED) || said.starts_with(SMI_FAILED)) {
        return Hit::error(format!("{said}: it is unknown whether there is a GPU")).into();
    }
    if !has_device(case) {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let lost = ["Unknown Error", "No devices were found", "couldn't communicate with the NVIDIA driver"];
    match complaint(case) {
        Some(said) if lost.iter().any(|words| said.contains(words)) => {
            Hit::error("the device files exist, but the driver can't be reached").seen(said.trim()).into()
        }
        Some(said) => Answer::Unseen(format!("nvidia-smi says `{}`", said.trim())),
        None => Answer::Fine("the driver answers".to_owned()),
    }
}

fn nvml_mismatch(case: &Case<'_>) -> Answer {
    let running = case.vitals.text("/sys/module/nvidia/version").map(str::trim);
    let names = case.vitals.folders.values().flatten();
    let of_library =
        |name: &str| name.strip_prefix("libnvidia-ml.so.").filter(|rest| rest.contains('.')).map(str::to_owned);
    let libraries: Vec<String> = names.filter_map(|name| of_library(name)).collect();
    if let Some(said) = complaint(case).filter(|said| said.contains("Driver/library version mismatch")) {
        return Hit::error("the driver and its library have different versions").seen(said.trim()).into();
    }
    let Some(running) = running else {
        return Answer::Unseen("the version of the running driver is unknown".to_owned());
    };
    match libraries.iter().find(|version| *version != running) {
        Some(other) => Hit::error(format!("the driver is {running}, but a library of {other} is installed")).into(),
        None => Answer::Fine(format!("driver {running}")),
    }
}

/// Debian packages of a driver; in a container it comes from outside.
fn driver_user_installed(case: &Case<'_>) -> Answer {
    if case.machine.host.kind == "bare" {
        return Answer::Unseen("not a container: Debian packages are a normal way to install a driver here".to_owned());
    }
    let found: Vec<String> = case
        .machine
        .debian
        .packages()
        .keys()
        .map(String::as_str)
        .filter(|name| {
            *name == "cuda-drivers" || name.starts_with("nvidia-driver-") || name.starts_with("libnvidia-compute-")
        })
        .map(str::to_owned)
        .collect();
    if found.is_empty() {
        return Answer::Fine("no Debian package of a driver is installed".to_owned());
    }
    Hit::warning("a driver was installed in a container").seen_all(found).into()
}

fn compat_on_path(case: &Case<'_>) -> Answer {
    if case.machine.hardware.driver.is_none() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let path = case.vitals.environment.get("LD_LIBRARY_PATH").map(String::as_str).unwrap_or_default();
    let on_path = path.split(':').filter(|folder| folder.contains("/compat"));
    let mapped = case.vitals.mapped();
    let loaded = mapped.iter().map(|(path, _)| *path).filter(|path| path.contains("/compat/libcuda.so"));
    let found: Vec<String> = on_path.chain(loaded).map(str::to_owned).collect();
    if found.is_empty() {
        return Answer::Fine("no forward-compatibility folder is on the library path".to_owned());
    }
    let is_needed = !case.machine.hardware.compat.is_empty();
    let hit = if is_needed { Hit::note } else { Hit::error };
    hit("a forward-compatibility folder comes before the driver's own library").seen_all(found).into()
}

/// Where services put the driver's libraries.
pub(super) const DRIVER_FOLDERS: &[&str] = &["/usr/lib64-nvidia", "/usr/local/nvidia/lib64"];

fn driver_path_missing(case: &Case<'_>) -> Answer {
    let Some(folder) = DRIVER_FOLDERS.iter().find(|folder| {
        case.vitals.folders.get(**folder).is_some_and(|names| names.iter().any(|name| name.starts_with("libcuda.so")))
    }) else {
        return Answer::Unseen("the driver's library is in none of the usual folders".to_owned());
    };
    let cache = case.vitals.texts.iter().filter(|(path, _)| path.starts_with("/etc/ld.so.conf"));
    let known = cache.flat_map(|(_, text)| text.lines()).any(|line| line.trim() == *folder);
    let path = case.vitals.environment.get("LD_LIBRARY_PATH").map(String::as_str).unwrap_or_default();
    if known || path.split(':').any(|entry| entry.trim_end_matches('/') == *folder) {
        return Answer::Fine(format!("the loader searches {folder}"));
    }
    Hit::warning(format!("the loader does not search {folder}")).into()
}

/// What `nvidia-smi` says of one GPU.
#[derive(Clone, Copy)]
struct Gpu<'a>(&'a BTreeMap<String, String>);

impl<'a> Gpu<'a> {
    fn name(self) -> &'a str {
        self.0.get("name").map_or("the GPU", String::as_str)
    }

    /// A value; `None` for `[N/A]`, `[Unknown Error]`, `[GPU requires reset]` and their kind.
    fn field(self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.starts_with('[') && *value != "N/A")
    }

    fn number(self, name: &str) -> Option<u64> {
        self.field(name)?.trim_end_matches(" %").parse().ok()
    }

    /// The GPU does not have what a value is of.
    fn is_without(self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.contains("N/A") || value.contains("Not Supported"))
    }
}

/// Asks `judge` of each GPU, which says `None` where a value can't be read; what all of them say.
fn each(case: &Case<'_>, fine: &str, judge: impl Fn(Gpu<'_>) -> Option<Option<Hit>>) -> Answer {
    if case.vitals.gpus.is_empty() {
        return Answer::Unseen(complaint(case).map_or(NO_GPU, |_| "nvidia-smi lists no GPU").to_owned());
    }
    let (mut unread, mut hits) = (None, Vec::new());
    for gpu in case.vitals.gpus.iter().map(Gpu) {
        match judge(gpu) {
            None => unread = unread.or(Some(gpu.name())),
            Some(hit) => hits.extend(hit),
        }
    }
    match unread {
        _ if !hits.is_empty() => Answer::Found(hits),
        Some(name) => Answer::Unseen(format!("nvidia-smi does not report this for {name}")),
        None => Answer::Fine(fine.to_owned()),
    }
}

fn gpu_ecc(case: &Case<'_>) -> Answer {
    each(case, "no uncorrected memory error", |gpu| {
        let fields = [
            "ecc.errors.uncorrected.volatile.total",
            "retired_pages.pending",
            "remapped_rows.pending",
            "remapped_rows.failure",
        ];
        let said = fields.iter().filter_map(|key| Some((key, gpu.field(key)?)));
        let said: Vec<_> =
            said.filter(|(_, value)| matches!(*value, "Yes" | "No") || value.parse::<u64>().is_ok()).collect();
        let bad = said.iter().filter(|(_, value)| !matches!(*value, "No" | "0"));
        let found: Vec<String> = bad.map(|(key, value)| format!("{key} is {value}")).collect();
        let is_bad = !found.is_empty();
        let hit = || Hit::error(format!("{} has memory errors", gpu.name())).seen_all(found);
        (!said.is_empty()).then(|| is_bad.then(hit))
    })
}

fn gpu_throttled(case: &Case<'_>) -> Answer {
    const REASONS: [(u64, &str); 4] =
        [(0x8, "hardware slowdown"), (0x20, "heat (software)"), (0x40, "heat (hardware)"), (0x80, "power brake")];
    each(case, "the clocks are not throttled", |gpu| {
        let text = gpu.field("clocks_event_reasons.active").or_else(|| gpu.field("clocks_throttle_reasons.active"))?;
        let bits = u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()?;
        let reasons: Vec<String> =
            REASONS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, reason)| (*reason).to_owned()).collect();
        Some(
            (!reasons.is_empty())
                .then(|| Hit::warning(format!("{} runs slower than it can", gpu.name())).seen_all(reasons.clone())),
        )
    })
}

fn gpu_pcie_narrow(case: &Case<'_>) -> Answer {
    each(case, "all PCIe lanes are used, or the GPU is idle", |gpu| {
        let (now, most) = (gpu.number("pcie.link.width.current")?, gpu.number("pcie.link.width.max")?);
        let busy = gpu.number("utilization.gpu")? > 0;
        Some((busy && now < most).then(|| Hit::note(format!("{} uses {now} of {most} PCIe lanes", gpu.name()))))
    })
}

fn gpu_mig(case: &Case<'_>) -> Answer {
    each(case, "a whole GPU", |gpu| {
        let mode = gpu.field("mig.mode.current").filter(|mode| matches!(*mode, "Enabled" | "Disabled"));
        if mode.is_none() && gpu.is_without("mig.mode.current") {
            return Some(None);
        }
        let memory = gpu.field("memory.total").unwrap_or("unknown memory");
        Some(
            (mode? == "Enabled")
                .then(|| Hit::note(format!("{} is in MIG mode", gpu.name())).seen(format!("this slice has {memory}"))),
        )
    })
}

fn gpu_exclusive(case: &Case<'_>) -> Answer {
    each(case, "every process may use the GPU", |gpu| {
        let (name, mode) = (gpu.name(), gpu.field("compute_mode")?);
        let other = case.vitals.processes.iter().find(|one| one.nvidia && Some(one.pid) != case.vitals.kernel);
        let hit = match (mode, other) {
            ("Default", _) => return Some(None),
            ("Exclusive_Process", None) => {
                Hit::note(format!("{name} is in exclusive-process mode: a second process fails with error 46"))
            }
            ("Exclusive_Process", Some(one)) => {
                let seen = format!("process {} ({}) uses it", one.pid, one.name);
                Hit::error(format!("{name} is in exclusive-process mode, and another process uses it")).seen(seen)
            }
            ("Exclusive_Thread" | "Prohibited", _) => Hit::error(format!("{name} is in compute mode {mode}")),
            _ => return None,
        };
        Some(Some(hit))
    })
}

fn gpu_visible_env(case: &Case<'_>) -> Answer {
    let count = case.vitals.gpus.len().max(case.machine.hardware.gpus.len());
    if count == 0 {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let Some(value) = case.variable("CUDA_VISIBLE_DEVICES") else {
        return Answer::Fine("all GPUs are visible".to_owned());
    };
    let known: Vec<&String> = case.vitals.gpus.iter().filter_map(|gpu| gpu.get("uuid")).collect();
    // An entry is an index, or the beginning of a UUID (CUDA C++ Programming Guide); what follows a wrong one is not
    // seen either.
    let is_bad = |entry: &str| match entry.parse::<i64>() {
        Ok(index) => usize::try_from(index).map_or(true, |index| index >= count),
        Err(_) if entry.starts_with("MIG-") => false,
        Err(_) if entry.starts_with("GPU-") => !known.is_empty() && !known.iter().any(|uuid| uuid.starts_with(entry)),
        Err(_) => true,
    };
    let said = format!("CUDA_VISIBLE_DEVICES is `{value}`, but this machine has {}", counted(count, "GPU"));
    if value.trim().is_empty() || value.split(',').map(str::trim).any(is_bad) {
        return Hit::error(said).into();
    }
    Answer::Fine(said)
}

fn precision_missing(case: &Case<'_>) -> Answer {
    let Some(wanted) = case.plans.precision.as_deref() else {
        return Answer::Unseen("set the number format with --precision: fp16, bf16, tf32, int8, fp8, fp4".to_owned());
    };
    let first = match wanted.to_ascii_lowercase().as_str() {
        "fp16" | "float16" | "half" => "7.0",
        "int8" => "7.5",
        "bf16" | "bfloat16" | "tf32" => "8.0",
        "fp8" => "8.9",
        "fp4" => "10.0",
        other => return Answer::Failed(format!("`{other}` is not fp16, bf16, tf32, int8, fp8 or fp4")),
    };
    let Ok(first) = first.parse::<ComputeCapability>() else { return Answer::Failed(first.to_owned()) };
    let gpus = &case.machine.hardware.gpus;
    if gpus.is_empty() {
        return Answer::Unseen(NO_GPU.to_owned());
    }
    let without: Vec<String> = gpus.iter().filter(|gpu| gpu.capability < first).map(|gpu| gpu.name.clone()).collect();
    if without.is_empty() {
        return Answer::Fine(format!("{wanted} runs natively"));
    }
    Hit::note(format!("{} has no hardware for {wanted}, which {first} introduced", without.join(", "))).into()
}
