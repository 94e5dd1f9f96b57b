//! `probe`: figures of this machine, measured on request.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::machine::MachineRequest;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::{GpuProbeOptions, LoaderProbeOptions, ProbeVerb, StorageProbeOptions};
use crate::core::diag::{Code, Failure, Finding};
use crate::core::host::files;
use crate::core::host::mounts::{Look, is_remote};
use crate::health::doctor::{Place, Sight, Vitals, observe_vitals, utilization};
use crate::health::probe::{
    Folder, GpuWish, LoaderWish, Measure, Probed, Samples, probe_folders, probe_gpu, probe_loader, probe_nccl, rendered,
};

#[derive(Serialize)]
struct ProbeReport {
    probe: &'static str,
    measures: Vec<Measure>,
    meaning: Vec<String>,
}

pub(super) fn run(verb: &ProbeVerb, session: &Session<'_>) -> Result<Report, Failure> {
    let (probe, probed) = match verb {
        ProbeVerb::Gpu(options) => ("gpu", gpu(options, session)?),
        ProbeVerb::Storage(options) => ("storage", storage(options, session)?),
        ProbeVerb::Loader(options) => ("loader", loader(options, session)?),
        ProbeVerb::Nccl(options) => {
            let seen = here(&options.machine.request(), session)?;
            let count = seen.machine.hardware.gpus.len() as u64;
            ("nccl", probe_nccl(session, python(&seen)?, count, options.seconds)?)
        }
    };
    let mut text = if probed.measures.is_empty() { String::new() } else { rendered(&probed) };
    let low = probed.findings.len();
    let sum = if low == 0 { "no problems found".to_owned() } else { format!("{low} findings") };
    let _ = writeln!(text, "probe {probe}: {sum}");
    let Probed { measures, findings, meaning } = probed;
    Ok(Report::new(ProbeReport { probe, measures, meaning }, text).with_findings(findings))
}

/// The machine that we run on.
fn here(request: &MachineRequest, session: &Session<'_>) -> Result<Seen, Failure> {
    let seen = session.machine(request)?;
    let described = || Failure::input("only this machine can be measured").help("leave out --runtime and --machine");
    if seen.is_here() { Ok(seen) } else { Err(described()) }
}

fn python(seen: &Seen) -> Result<&Path, Failure> {
    let path = seen.python("name the Python for the measurement with --python")?.path.as_deref();
    path.ok_or_else(|| Failure::bug("an interpreter without a path"))
}

fn vitals(seen: &Seen, session: &Session<'_>) -> Result<Vitals, Failure> {
    let place = Place { here: files::absolute(Path::new("."))?, ..Place::default() };
    let kernel = seen.machine.kernel.as_ref().map(|kernel| kernel.pid);
    let sight = Sight::now(session, kernel, &place);
    Ok(observe_vitals(&sight))
}

fn gpu(options: &GpuProbeOptions, session: &Session<'_>) -> Result<Probed, Failure> {
    let seen = here(&options.machine.request(), session)?;
    if !options.while_busy
        && let Some(share) = utilization(session.environment, options.device)
    {
        let message = format!("GPU {} is in use by another process: {share} %", options.device);
        let finding = Finding::error(Code::GpuBusy, message);
        let help = "wait for it, or continue with --while-busy: its next allocation may then fail";
        return Ok(Probed { findings: vec![finding.with_help(help)], ..Probed::default() });
    }
    probe_gpu(session, python(&seen)?, GpuWish { device: options.device, seconds: options.seconds })
}

fn storage(options: &StorageProbeOptions, session: &Session<'_>) -> Result<Probed, Failure> {
    let seen = here(&options.machine.request(), session)?;
    let vitals = vitals(&seen, session)?;
    let named = options.paths.iter().map(|path| files::absolute(path)).collect::<Result<Vec<PathBuf>, Failure>>()?;
    let paths = if named.is_empty() { by_default(&vitals) } else { named };
    let folders: Vec<Folder> = paths
        .into_iter()
        .map(|path| {
            // A link leads to where the bytes are.
            let real = path.real().unwrap_or_else(|_| path.clone());
            let kind = vitals.mount_of(&real.display().to_string()).map(|mount| mount.kind).unwrap_or_default();
            Folder { path, only_read: options.read_only || is_remote(&kind), kind }
        })
        .collect();
    let samples = Samples { size: options.sample_bytes, workers: options.workers.max(1), need: options.need };
    probe_folders(session, python(&seen)?, &folders, samples, options.seconds)
}

/// The folder that we are in, that of temporary files, the notebook's, and what is mounted from elsewhere; one of each
/// mount.
fn by_default(vitals: &Vitals) -> Vec<PathBuf> {
    let known = ["here", "temporary"].iter().filter_map(|name| Some(vitals.systems.get(*name)?.path.clone()));
    let mounts = vitals.systems.iter().filter(|(name, _)| name.starts_with("mount-"));
    let mut seen = Vec::new();
    let mut paths = Vec::new();
    for path in known.chain(mounts.map(|(_, system)| system.path.clone())) {
        let mount = vitals.mount_of(&path).map(|mount| mount.path).unwrap_or_default();
        if Path::new(&path).is_folder_there() && !seen.contains(&mount) {
            seen.push(mount);
            paths.push(PathBuf::from(path));
        }
    }
    paths
}

fn loader(options: &LoaderProbeOptions, session: &Session<'_>) -> Result<Probed, Failure> {
    let seen = here(&options.machine.request(), session)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not negative")]
    let batch = (options.batch_bytes as u64).max(1);
    let cpus = vitals(&seen, session)?.useful_cpus().unwrap_or(1) as u64;
    let wish = LoaderWish { workers: options.workers, batch, cpus, seconds: options.seconds };
    probe_loader(session, python(&seen)?, &session.paths.under_root("/dev/shm"), wish)
}
