//! `status`: what was applied on this machine, an environment a line.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::apply::gone;
use crate::boot::index::{IndexSettings, redact};
use crate::boot::ledger::Ledger;
use crate::boot::machine::MachineRequest;
use crate::boot::marker::{Marker, Now, RESTORE, Standing, standing};
use crate::boot::notebook::{Loaded, process_clock};
use crate::boot::seen::PythonReport;
use crate::boot::session::Session;
use crate::boot::situation::{OtherKernel, kernels_of};
use crate::boot::state::{State, was_recreated};
use crate::boot::verdict::Report;
use crate::core::diag::{Code, Failure, Finding, counted};
use crate::core::host::mounts::Look;

#[derive(Serialize)]
struct StatusReport {
    python: PythonReport,
    /// The default index of that Python's pip, without credentials.
    index: Option<String>,
    environments: Vec<EnvironmentReport>,
}

#[derive(Serialize)]
struct EnvironmentReport {
    python: PathBuf,
    /// Whether that Python is still there.
    exists: bool,
    profile: String,
    standing: Standing,
    marker: Marker,
    ledger: Ledger,
}

pub(super) fn run(request: &MachineRequest, session: &Session<'_>) -> Result<Report, Failure> {
    let seen = session.machine(request)?;
    let mut text = String::new();
    let mut environments = Vec::new();
    let named = request.python.as_ref().and_then(|_| seen.layout());
    let all = named.map_or_else(
        || State::all(&session.paths.state),
        |layout| Ok(vec![State::of(&session.paths.state, layout).as_written()]),
    )?;
    for state in all {
        let Some(marker) = state.marker()? else {
            continue;
        };
        let ledger = state.ledger()?;
        let now = from_outside(&marker, &seen.machine.boot_id)?;
        let stands = standing(Some(&marker), &now);
        let place = if marker.python.as_os_str().is_empty() { Path::new("an unknown Python") } else { &marker.python };
        let what = match marker.profile.as_str() {
            RESTORE if ledger.has_no_packages() => of_restore(stands).to_owned(),
            RESTORE => {
                let left = ledger.distributions.len() + ledger.removed.len();
                format!("{}, except for {}", of_restore(stands), counted(left, "package"))
            }
            profile => format!("{profile}  lock {}  {}", marker.lock.short(), stands.as_str()),
        };
        let exists = marker.python.as_os_str().is_empty() || !marker.python.is_missing();
        let note = match exists {
            true if was_recreated(&marker.python, &ledger) => "the environment was recreated since",
            true => "recorded; files not compared",
            false => "this Python no longer exists",
        };
        let _ = writeln!(text, "{}  {what} ({note})", place.display());
        for asked in marker.pending(&now.gone) {
            for reason in &asked.because {
                let _ = writeln!(text, "  kernel {}: {reason}", asked.kernel.pid);
            }
        }
        for reason in
            kernels_of(&marker.python, &library_folders(&marker.python)).iter().filter_map(OtherKernel::reason)
        {
            let _ = writeln!(text, "  restart it: {reason}");
        }
        let (put, removed) = (ledger.distributions.len(), ledger.removed.len());
        let _ =
            writeln!(text, "  colab-boot has installed or replaced {} and removed {removed}", counted(put, "package"));
        environments.push(EnvironmentReport {
            python: marker.python.clone(),
            exists,
            profile: marker.profile.clone(),
            standing: stands,
            marker,
            ledger,
        });
    }
    let place = if named.is_some() { "in this environment" } else { "on this machine" };
    let none =
        environments.is_empty().then(|| Finding::note(Code::NothingApplied, format!("nothing was applied {place}")));
    let python = seen.machine.python.as_ref();
    let index = session.default_index(&IndexSettings::default(), python).ok().map(|url| redact(&url));
    let data = StatusReport { python: PythonReport::of(&seen), index, environments };
    Ok(Report::new(data, text).with_findings(none.into_iter().collect()))
}

/// The folders that packages of `python` have their libraries in.
fn library_folders(python: &Path) -> Vec<PathBuf> {
    let prefix = python.parent().and_then(Path::parent);
    prefix.into_iter().flat_map(|prefix| ["lib", "lib64"].map(|name| prefix.join(name))).collect()
}

/// What is true of a marker for somebody who is no kernel: which of those that were asked to restart still run.
fn from_outside<'a>(marker: &'a Marker, boot_id: &'a str) -> Result<Now<'a>, Failure> {
    const NOTHING: &Loaded = &Loaded::UNKNOWN;
    Ok(Now {
        profile: marker.profile.clone(),
        lock: marker.lock,
        python: marker.python.clone(),
        boot_id,
        kernel: None,
        loaded: NOTHING,
        folders: &[],
        evidence: &[],
        gone: gone(marker),
        clock: process_clock()?,
    })
}

/// Where a restore stands.
const fn of_restore(stands: Standing) -> &'static str {
    match stands {
        Standing::Fresh | Standing::Ready | Standing::Restarted => "restored",
        Standing::NewMachine => "restored before this machine started",
        Standing::Interrupted => "a restore was interrupted",
        Standing::Failed => "a restore failed",
        Standing::RestartPending => "restart pending after a restore",
    }
}
