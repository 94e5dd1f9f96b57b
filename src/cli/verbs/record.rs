//! `record`: watches the notebook's kernel.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::machine::{MachineRequest, PythonOrigin};
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::RecordOptions;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::health::doctor::{crash_file, death_folder};
use crate::health::record::{follow_crashes, start, watch};

#[derive(Serialize)]
struct RecordReport<'a> {
    kernel: u32,
    started: bool,
    #[serde(serialize_with = "path_text")]
    crash: &'a Path,
}

pub(super) fn run(options: &RecordOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let kernel = match options.kernel_pid {
        Some(pid) => Some(pid),
        None => session.machine(&MachineRequest::default())?.machine.kernel.map(|kernel| kernel.pid),
    };
    let kernel =
        kernel.ok_or_else(|| Failure::input("no notebook kernel was found").help("pass its PID with --kernel-pid"))?;
    if !Path::new(&format!("/proc/{kernel}")).is_there() {
        return Err(Failure::input(format!("--kernel-pid: there is no process {kernel}")));
    }
    if !options.start {
        watch(session, kernel)?;
        return Ok(Report::new((), "the kernel has ended, and no other one replaced it\n".to_owned()));
    }
    let program = files::link_of(Path::new("/proc/self/exe"));
    let program = program.ok_or_else(|| Failure::world("could not find this program's own file: there is no /proc"))?;
    let started = start(session, &program, kernel)?;
    let folder = death_folder(&session.paths.state);
    if let Some(packages) = packages(session, kernel)? {
        follow_crashes(&packages, &folder);
    }
    let crash = crash_file(&folder, kernel);
    let text = format!("{}\n", crash.display());
    Ok(Report::new(RecordReport { kernel, started, crash: &crash }, text))
}

/// Site-packages of the kernel's own Python, where we were started by that kernel.
fn packages(session: &Session<'_>, kernel: u32) -> Result<Option<PathBuf>, Failure> {
    let machine = session.machine(&MachineRequest::default())?.machine;
    let is_ours = machine.kernel.is_some_and(|own| own.pid == kernel);
    let python = machine.python.filter(|python| is_ours && python.origin == PythonOrigin::Kernel);
    Ok(python.and_then(|python| python.layout).map(|layout| layout.purelib))
}
