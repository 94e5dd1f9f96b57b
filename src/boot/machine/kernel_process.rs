//! Which process is the notebook's kernel.

use crate::boot::machine::Kernel;
use crate::boot::machine::looker::Looker;
use crate::boot::machine::raw::RawKernel;
use crate::core::diag::Failure;
use crate::core::host::command::stat_field;
use crate::core::host::files;
use crate::core::host::process_end::started;

/// The kernel named by the cell, else the nearest ancestor of this process that is one.
pub(super) fn observe_kernel(looker: Looker<'_>) -> Result<Option<RawKernel>, Failure> {
    let proc = looker.paths.under_root("/proc");
    let read = |pid: u32, name: &str| files::read_optional(&proc.join(pid.to_string()).join(name));
    if let Some(pid) = looker.kernel_pid {
        return Ok(read(pid, "stat")?.map(|stat| RawKernel { pid, stat }));
    }
    let mut pid = std::process::id();
    for _ in 0..32 {
        let Some(stat) = read(pid, "stat")? else {
            return Ok(None);
        };
        // Of another user's process, or of one that has just ended, nothing can be read.
        let command = read(pid, "cmdline").ok().flatten().unwrap_or_default();
        if is_kernel_command(&command) {
            return Ok(Some(RawKernel { pid, stat }));
        }
        let Some(parent) = parent_of(&stat) else {
            return Ok(None);
        };
        pid = parent;
    }
    Ok(None)
}

/// Whether a command line, as `/proc/<pid>/cmdline` has it, is that of a kernel.
pub fn is_kernel_command(line: &str) -> bool {
    line.contains("ipykernel") || line.contains("colab_kernel_launcher")
}

/// The parent, from a stat line; `None` for the first process.
pub fn parent_of(stat: &str) -> Option<u32> {
    stat_field(stat, 4)?.parse().ok().filter(|pid| *pid > 0)
}

/// The identity of a kernel from its stat line.
pub fn kernel_identity(pid: u32, stat: &str) -> Option<Kernel> {
    Some(Kernel { pid, start_time: started(stat)? })
}
