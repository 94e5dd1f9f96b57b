//! `fingerprint`: the machine as it was seen, and what was made of it, without a folder, an address or a name of
//! anybody. The JSON form can be fed back with `--machine`, and held against another with `diff`.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::boot::machine::{Conditions, Machine, MachineRequest, Observed, Python, neutral_text};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::health::doctor::{Place, Sight, conditions, observe_vitals, smi_hangs};

#[derive(Serialize)]
struct FingerprintReport {
    /// What `--machine` and `diff` take.
    observed: Option<Observed>,
}

/// What a machine has besides drivers and packages; that of another one is in its record.
pub(super) fn conditions_of(seen: &Seen, session: &Session<'_>) -> Result<Option<Conditions>, Failure> {
    if !seen.is_here() {
        return Ok(seen.observed().and_then(|observed| observed.conditions.clone()));
    }
    let place = Place { here: files::absolute(Path::new("."))?, ..Place::default() };
    let kernel = seen.machine.kernel.as_ref().map(|kernel| kernel.pid);
    let sight = Sight { smi_hangs: smi_hangs(seen.observed()), ..Sight::now(session, kernel, &place) };
    Ok(Some(conditions(&observe_vitals(&sight), &sight, &|name: &str| session.matrix.read_of(name).is_some())))
}

pub(super) fn run(request: &MachineRequest, session: &Session<'_>) -> Result<Report, Failure> {
    let seen = session.machine(request)?;
    let conditions = conditions_of(&seen, session)?;
    let mut observed = seen.observed().cloned().map(Observed::neutral);
    if let Some(observed) = &mut observed {
        observed.conditions.clone_from(&conditions);
    }
    let text = shown(&seen.machine, conditions.as_ref());
    Ok(Report::new(FingerprintReport { observed }, text).with_findings(seen.findings))
}

fn shown(machine: &Machine, conditions: Option<&Conditions>) -> String {
    let mut text = String::new();
    let origin = |fact: &str| {
        machine.origins.get(fact).map(|origin| format!("  ({})", neutral_text(origin))).unwrap_or_default()
    };
    let mut row = |key: &str, value: String| {
        let _ = writeln!(text, "{key:<11}{value}");
    };
    row("host", machine.host.name.clone());
    row("os", machine.os.clone());
    let driver = machine.hardware.driver.as_ref();
    row("driver", driver.map_or_else(|| "none".to_owned(), ToString::to_string) + &origin("driver"));
    for gpu in &machine.hardware.gpus {
        row("gpu", format!("{}, compute capability {}{}", gpu.name, gpu.capability, origin("gpus")));
    }
    if let Some(Python { facts, path, origin, .. }) = &machine.python {
        let found = path.as_ref().map(|_| format!(", {}", origin.as_str())).unwrap_or_default();
        row("python", format!("{} on {}{found}", facts.version, facts.platform_tag()));
    }
    row("packages", machine.installed.len().to_string());
    row("root", if machine.is_root { "yes" } else { "no" }.to_owned());
    row("apt", if machine.has_apt { "yes" } else { "no" }.to_owned());
    if let Some(kernel) = &machine.kernel {
        row("kernel", format!("pid {}", kernel.pid));
    }
    let Some(conditions) = conditions else { return text };
    let bytes = crate::core::diag::bytes;
    for (key, value) in [
        ("cpus", conditions.cpus.map(|cpus| cpus.to_string())),
        ("memory", conditions.memory.map(bytes)),
        ("shm", conditions.shared_memory.map(bytes)),
        ("disk", conditions.disk_free.map(|free| format!("{} free", bytes(free)))),
    ] {
        if let Some(value) = value {
            row(key, value);
        }
    }
    text
}
