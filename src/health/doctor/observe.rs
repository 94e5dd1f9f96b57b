//! Looks at the machine: reads texts, asks file systems and, once, `nvidia-smi`. Decides nothing, starts no framework,
//! touches no GPU context.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::boot::machine::{SMI_LIMIT, is_silent};
use crate::boot::script::ENVIRONMENT_FILE;
use crate::core::diag::without_secrets;
use crate::core::host::command::{Finished, NoResult, find_program};
use crate::core::host::mounts::{Look, Mount, is_elsewhere, list_remote, mounts_of, reach, unreachable};
use crate::core::host::signals::name_of;
use crate::core::host::{Invocation, clock, files};
use crate::health::doctor::bundle::SCHEMA;
use crate::health::doctor::control_group::group;
use crate::health::doctor::credentials_seen::credentials;
use crate::health::doctor::death::{Death, connection_file, death_folder, deaths, is_recorded};
use crate::health::doctor::device::DRIVER_FOLDERS;
use crate::health::doctor::importing::{HERE, START};
use crate::health::doctor::lifetime::CLOCK;
use crate::health::doctor::loaded_builds::TOOLKIT;
use crate::health::doctor::look_context::Sight;
use crate::health::doctor::on_disk::{checkpoints, owner_of, suspicious_bytecode};
use crate::health::doctor::processes::processes;
use crate::health::doctor::ram::SERVER_LOG;
use crate::health::doctor::storage::{DRIVE_LOG, DRIVE_LOG_MORE};
use crate::health::doctor::variables_seen::{is_kept, variables};
use crate::health::doctor::vitals::{FileSystem, SMI_ENDED, SMI_FAILED, SMI_HANGS, Vitals};

/// What is kept of an environment file that holds no credential.
pub(super) const CLEAN: &str = "clean";

/// How long Python may take to start.
const START_LIMIT: Duration = Duration::from_secs(2);

/// So much of the end of a log is read.
const LOG: u64 = 256 << 10;

/// Texts that are read as they are.
const TEXTS: &[&str] = &[
    "/proc/meminfo",
    "/proc/pressure/memory",
    "/proc/uptime",
    "/proc/self/mountinfo",
    "/proc/sys/vm/max_map_count",
    "/sys/module/nvidia/version",
];

/// How the names of CUDA's libraries begin that frameworks look for.
const CUDA_LIBRARIES: &[&str] = &["libcudnn", "libcublas", "libcudart", "libnccl"];

/// Characters that are kept of an answer that is none.
const SMI_SAID: usize = 200;

const GPU_FIELDS: &[&str] = &[
    "name",
    "uuid",
    "driver_version",
    "memory.total",
    "memory.free",
    "memory.used",
    "utilization.gpu",
    "compute_mode",
    "mig.mode.current",
    "ecc.errors.uncorrected.volatile.total",
    "retired_pages.pending",
    "remapped_rows.pending",
    "remapped_rows.failure",
    "clocks_throttle_reasons.active",
    "pcie.link.width.current",
    "pcie.link.width.max",
];

/// Looks.
pub fn observe_vitals(sight: &Sight<'_>) -> Vitals {
    let mut vitals = Vitals { schema: SCHEMA, now: sight.now, kernel: sight.kernel, ..Vitals::default() };
    texts(sight, &mut vitals);
    group(sight, &mut vitals);
    kernel(sight, &mut vitals);
    systems(sight, &mut vitals);
    folders(sight, &mut vitals);
    variables(sight, &mut vitals);
    vitals.processes = processes(&sight.paths.under_root("/proc"), sight.kernel);
    vitals.credentials = credentials(sight);
    let died = death_folder(&sight.paths.state);
    vitals.deaths = deaths(&died).unwrap_or_default();
    vitals.connection = sight.notebook.map(str::to_owned).or_else(|| sight.kernel.and_then(connection_file));
    vitals.recorder = sight.kernel.is_some_and(|pid| is_recorded(&died, pid));
    let crashed = vitals.own_deaths().next().and_then(Death::module);
    vitals.crash_owner = crashed.and_then(|module| owner_of(sight.place.packages.as_deref()?, module));
    vitals.checkpoints = checkpoints(sight, &vitals);
    bytecode(sight, &mut vitals);
    smi(sight, &mut vitals);
    start(sight, &mut vitals);
    // All that was touched by then counts.
    vitals.unreachable = unreachable();
    vitals
}

/// What Python prints when it starts, as programs start it: `.pth` files that are broken do so each time.
fn start(sight: &Sight<'_>, vitals: &mut Vitals) {
    let Some(python) = sight.place.python.as_ref().filter(|python| !is_silent(python)) else { return };
    if let Ok(finished) = Invocation::new(python, &["-c", "pass"], sight.environment).output(START_LIMIT) {
        vitals.texts.insert(START.to_owned(), without_secrets(&finished.stderr));
    }
}

/// Times tell nothing of an environment that was copied, so Python compiles the sources again and compares.
fn bytecode(sight: &Sight<'_>, vitals: &mut Vitals) {
    let suspicious = suspicious_bytecode(&sight.place.here, sight.place.packages.as_deref());
    if suspicious.is_empty() {
        return;
    }
    vitals.unread_bytecode = suspicious.len();
    let Some(python) = sight.place.python.as_ref().filter(|python| !is_silent(python)) else { return };
    let paths = suspicious.iter().filter_map(|path| path.to_str());
    let arguments: Vec<&str> = ["-I", "-S", "-c", include_str!("stale_pyc.py")].into_iter().chain(paths).collect();
    let finished = Invocation::new(python, &arguments, sight.environment).output(START_LIMIT);
    let Some(compared) = finished.ok().and_then(|done| serde_json::from_str::<Bytecode>(&done.stdout).ok()) else {
        return;
    };
    vitals.unread_bytecode = compared.unread;
    vitals.stale_bytecode = compared.stale;
}

/// What `stale_pyc.py` prints.
#[derive(Deserialize)]
struct Bytecode {
    stale: Vec<String>,
    unread: usize,
}

/// What can be seen of the kernel's memory alone, for somebody who looks every second.
pub fn observe_memory(sight: &Sight<'_>) -> Vitals {
    let mut vitals = Vitals { schema: SCHEMA, now: sight.now, kernel: sight.kernel, ..Vitals::default() };
    read(sight, &mut vitals, "/proc/meminfo", "/proc/meminfo");
    read(sight, &mut vitals, "/proc/vmstat", "/proc/vmstat");
    group(sight, &mut vitals);
    if let Some(pid) = sight.kernel {
        read(sight, &mut vitals, "kernel/status", &format!("/proc/{pid}/status"));
    }
    vitals
}

/// Reads `path`, an absolute one, under the root, as `name`.
fn read(sight: &Sight<'_>, vitals: &mut Vitals, name: &str, path: &str) {
    match files::read_optional(&sight.paths.under_root(path)) {
        Ok(Some(text)) => drop(vitals.texts.insert(name.to_owned(), text)),
        Ok(None) => {}
        Err(failure) => drop(vitals.unread.insert(name.to_owned(), failure.to_string())),
    }
}

fn texts(sight: &Sight<'_>, vitals: &mut Vitals) {
    for path in TEXTS {
        read(sight, vitals, path, path);
    }
    let lines = |path: &str, keep: &dyn Fn(&str) -> bool| {
        let text = files::read_optional(&sight.paths.under_root(path)).ok().flatten()?;
        Some(text.lines().filter(|line| keep(line)).map(|line| format!("{line}\n")).collect::<String>())
    };
    let flags = lines("/proc/cpuinfo", &|line| line.starts_with("flags"));
    let flags = flags.and_then(|text| text.lines().next().map(str::to_owned));
    let killed = lines("/proc/vmstat", &|line| line.starts_with("oom_kill"));
    let allowed = lines("/proc/self/status", &|line| line.starts_with("Cpus_allowed_list"));
    vitals.cpus = allowed.as_deref().and_then(|text| cpus(text.split_once(':')?.1));
    vitals.texts.extend(flags.map(|text| ("/proc/cpuinfo".to_owned(), text)));
    vitals.texts.extend(killed.map(|text| ("/proc/vmstat".to_owned(), text)));
    let clock = files::read_optional(&sight.paths.cache.join(clock::FILE)).ok().flatten();
    vitals.texts.extend(clock.map(|text| (CLOCK.to_owned(), text)));
    let home = sight.environment.get("HOME").cloned().unwrap_or_default();
    let drive = format!("{home}/.config/Google/DriveFS/Logs");
    let logs = [
        (SERVER_LOG, SERVER_LOG.to_owned()),
        ("/var/log/apt/history.log", "/var/log/apt/history.log".to_owned()),
        (DRIVE_LOG, format!("{drive}/timeouts.txt")),
        (DRIVE_LOG_MORE, format!("{drive}/drive_fs.txt")),
    ];
    for (name, path) in logs {
        let path = sight.paths.under_root(&path);
        if path.is_file_there() {
            vitals.texts.insert(name.to_owned(), files::read_end(&path, LOG));
        }
    }
    let folder = "/etc/ld.so.conf.d";
    for name in files::names_if_any(&sight.paths.under_root(folder)) {
        let path = format!("{folder}/{name}");
        read(sight, vitals, &path, &path);
    }
    let ours = sight.place.packages.as_ref().map(|folder| folder.join(ENVIRONMENT_FILE));
    if let Some(text) = ours.and_then(|path| files::read_optional(&path).ok().flatten()) {
        // Not the text: it may hold what must not be shown.
        let word = if without_secrets(&text) == text { CLEAN } else { "holds a credential" };
        vitals.texts.insert("environment-file".to_owned(), word.to_owned());
    }
}

/// How many CPUs `0-3,6` names.
fn cpus(list: &str) -> Option<usize> {
    list.trim()
        .split(',')
        .map(|part| match part.split_once('-') {
            None => part.parse::<usize>().ok().map(|_| 1),
            Some((first, last)) => Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1),
        })
        .sum()
}

fn kernel(sight: &Sight<'_>, vitals: &mut Vitals) {
    let Some(pid) = sight.kernel else { return };
    for name in ["status", "limits"] {
        read(sight, vitals, &format!("kernel/{name}"), &format!("/proc/{pid}/{name}"));
    }
    read(sight, vitals, "kernel/maps", &format!("/proc/{pid}/maps"));
    if let Some(text) = vitals.texts.get_mut("kernel/maps") {
        let count = text.lines().count();
        let libraries: String =
            text.lines().filter(|line| line.contains(".so")).map(|line| format!("{line}\n")).collect();
        *text = libraries;
        vitals.texts.insert("kernel/mappings".to_owned(), count.to_string());
    }
    let proc = sight.paths.under_root(&format!("/proc/{pid}"));
    if let Ok(bytes) = files::read_bytes(&proc.join("environ"), 1 << 20) {
        let texts = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let pairs: Vec<(String, String)> = texts
            .filter_map(|text| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect();
        let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
        vitals.texts.insert("kernel/variables".to_owned(), names.join("\n"));
        let kept = pairs.into_iter().filter(|(name, _)| is_kept(name));
        vitals.kernel_environment = kept.map(|(name, value)| (name, without_secrets(&value))).collect();
    }
    vitals.folders.insert("kernel/fd".to_owned(), files::names_if_any(&proc.join("fd")));
}

fn systems(sight: &Sight<'_>, vitals: &mut Vitals) {
    let temporary = sight.environment.get("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let mut wanted: Vec<(String, PathBuf)> = vec![
        ("root".to_owned(), "/".into()),
        ("shm".to_owned(), "/dev/shm".into()),
        ("temporary".to_owned(), temporary),
        ("cache".to_owned(), sight.paths.cache.clone()),
        (HERE.to_owned(), sight.place.here.clone()),
    ];
    let data = sight.place.data.iter().enumerate().map(|(at, path)| (format!("data-{at}"), path.clone()));
    wanted.extend(data);
    let text = vitals.text("/proc/self/mountinfo").unwrap_or_default();
    let far: Vec<Mount> = mounts_of(text).filter(Mount::is_remote).collect();
    wanted.extend(far.into_iter().map(|mount| (format!("mount-{}", mount.path.display()), mount.path)));
    for (name, path) in wanted {
        if reach(&path).is_err() {
            continue;
        }
        let Some(existing) = path.ancestors().find(|one| one.look_at_entry().is_ok()) else { continue };
        let shown = path.display().to_string();
        let kind = vitals.mount_of(&existing.display().to_string()).map(|mount| mount.kind).unwrap_or_default();
        let Ok(volume) = files::volume(existing) else { continue };
        let system = FileSystem {
            path: shown,
            kind,
            size: volume.size,
            free: volume.free,
            inodes: volume.inodes,
            inodes_free: volume.inodes_free,
        };
        vitals.systems.insert(name, system);
    }
}

fn folders(sight: &Sight<'_>, vitals: &mut Vitals) {
    let starting = |folder: &str, starts: &[&str]| {
        let names = files::names_if_any(&sight.paths.under_root(folder));
        names.into_iter().filter(|name| starts.iter().any(|start| name.starts_with(start))).collect::<Vec<_>>()
    };
    vitals.folders.insert("/dev".to_owned(), starting("/dev", &["nvidia", "accel"]));
    for folder in DRIVER_FOLDERS {
        let found = starting(folder, &["libcuda.so", "libnvidia-ml.so"]);
        if !found.is_empty() {
            vitals.folders.insert((*folder).to_owned(), found);
        }
    }
    let known = vitals.texts.iter().filter(|(path, _)| path.starts_with("/etc/ld.so.conf"));
    let known = known.flat_map(|(_, text)| text.lines().map(str::trim)).filter(|line| line.starts_with('/'));
    let known: BTreeSet<String> = known.map(str::to_owned).chain([TOOLKIT.to_owned()]).collect();
    for folder in known {
        let found = starting(&folder, CUDA_LIBRARIES);
        if !found.is_empty() {
            vitals.folders.entry(folder).or_default().extend(found);
        }
    }
    let path = sight.environment.get("LD_LIBRARY_PATH").cloned().unwrap_or_default();
    for folder in path.split(':').filter(|folder| folder.starts_with('/')) {
        if sight.paths.under_root(folder).is_folder_there() {
            vitals.folders.entry(folder.to_owned()).or_default().extend(starting(folder, CUDA_LIBRARIES));
        } else {
            vitals.unread.insert(folder.to_owned(), "missing".to_owned());
        }
    }
    let shm = sight.paths.under_root("/dev/shm");
    if let Ok(names) = files::names_in(&shm) {
        let sized = names.into_iter().filter_map(|name| {
            let size = shm.join(&name).look_at_entry().ok()?.len();
            Some(format!("{name} {size}"))
        });
        vitals.folders.insert("/dev/shm".to_owned(), sized.collect());
    }
    let place = sight.place;
    if is_elsewhere(&place.here) || files::names_in(&place.here).is_ok() {
        vitals.folders.insert(HERE.to_owned(), sources(&place.here));
    }
    vitals.texts.insert("cwd".to_owned(), place.here.display().to_string());
    vitals.folders.extend(place.stdlib.as_deref().map(|folder| ("stdlib".to_owned(), sources(folder))));
    if let Some(packages) = &place.packages {
        vitals.folders.insert(
            "modules".to_owned(),
            sources(packages)
                .iter()
                .map(|name| name.trim_end_matches('/').trim_end_matches(".py").to_owned())
                .collect(),
        );
        let names = files::names_if_any(packages).into_iter().filter(|name| name.ends_with(".dist-info"));
        vitals.folders.insert("distributions".to_owned(), names.collect());
    }
}

/// What could be imported from `folder`: files of Python, and packages with a slash behind their name.
fn sources(folder: &Path) -> Vec<String> {
    if is_elsewhere(folder) {
        let found = list_remote(folder, 2).into_iter().filter(|one| !one.is_folder);
        let source = |path: String| match path.split_once('/') {
            None => path.ends_with(".py").then_some(path),
            Some((package, file)) => (file == "__init__.py").then(|| format!("{package}/")),
        };
        return found.filter_map(|one| source(one.path)).collect();
    }
    let names = files::names_if_any(folder).into_iter().filter_map(|name| {
        if name.ends_with(".py") {
            return Some(name);
        }
        folder.join(&name).join("__init__.py").is_file_there().then(|| format!("{name}/"))
    });
    names.collect()
}

/// How much of a GPU is in use, in percent, if it is at each of three looks; `None` also where nobody can say.
pub fn utilization(environment: &BTreeMap<String, String>, device: u64) -> Option<u64> {
    let mut least = u64::MAX;
    for look in 0..3 {
        if look > 0 {
            std::thread::sleep(Duration::from_millis(250));
        }
        let finished = asked(environment, &["utilization.gpu"])?.ok().filter(|finished| finished.code == 0)?;
        let line = finished.stdout.lines().nth(usize::try_from(device).ok()?)?;
        least = least.min(line.trim().trim_end_matches('%').trim().parse().ok()?);
    }
    (least > 0).then_some(least)
}

/// What `nvidia-smi` answers; `None` where there is none.
fn asked(environment: &BTreeMap<String, String>, fields: &[&str]) -> Option<Result<Finished, NoResult>> {
    let search = environment.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
    let program = find_program("nvidia-smi", search)?;
    let query = format!("--query-gpu={}", fields.join(","));
    Some(Invocation::new(program, &[&query, "--format=csv,noheader"], environment).output(SMI_LIMIT))
}

/// What `nvidia-smi` says of each GPU.
fn smi(sight: &Sight<'_>, vitals: &mut Vitals) {
    if sight.smi_hangs {
        vitals.smi_error = Some(SMI_HANGS.to_owned());
        return;
    }
    let Some(answer) = asked(sight.environment, GPU_FIELDS) else { return };
    match answer {
        Ok(finished) if finished.code == 0 => {
            let rows = finished.stdout.lines().filter(|line| !line.trim().is_empty()).map(row_of);
            match rows.collect() {
                Some(rows) => vitals.gpus = rows,
                None => vitals.smi_error = Some(finished.stdout.trim().chars().take(SMI_SAID).collect()),
            }
        }
        Ok(Finished { signal: Some(signal), .. }) => {
            vitals.smi_error = Some(format!("{SMI_ENDED}{}", name_of(signal)));
        }
        Ok(finished) => vitals.smi_error = Some(format!("{}{}", finished.stdout.trim(), finished.stderr.trim())),
        Err(NoResult::TimedOut(_)) => vitals.smi_error = Some(SMI_HANGS.to_owned()),
        Err(NoResult::NotFound) => vitals.smi_error = Some(format!("{SMI_FAILED}: its interpreter is missing")),
        Err(NoResult::Failed(error)) => vitals.smi_error = Some(format!("{SMI_FAILED}: {error}")),
    }
}

/// The fields of one GPU; `None` for a line that is no answer to what was asked.
fn row_of(line: &str) -> Option<BTreeMap<String, String>> {
    let values: Vec<&str> = line.split(',').map(str::trim).collect();
    (values.len() == GPU_FIELDS.len())
        .then(|| GPU_FIELDS.iter().map(ToString::to_string).zip(values.iter().map(ToString::to_string)).collect())
}
