//! The kernels of an environment, where none of them is the one that asks: what a terminal can see of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::boot::machine::{Kernel, is_kernel_command, kernel_identity, parent_of};
use crate::boot::notebook::replaced_under;
use crate::boot::seen::Seen;
use crate::boot::situation::loaded_code::folders;
use crate::core::host::files;
use crate::core::host::process_end::stat_of;

/// A kernel that has not reported what it has loaded.
#[derive(Clone, Debug)]
pub struct OtherKernel {
    pub kernel: Kernel,
    /// Libraries of packages that it has mapped and that were deleted or replaced since.
    pub replaced: Vec<PathBuf>,
}

impl OtherKernel {
    /// Why it must restart, as far as that can be seen from outside.
    pub fn reason(&self) -> Option<String> {
        let first = self.replaced.first()?.display();
        let Self { kernel: Kernel { pid, .. }, replaced } = self;
        Some(match replaced.len() - 1 {
            0 => format!("kernel {pid} has loaded `{first}`, which was replaced since"),
            more => format!("kernel {pid} has loaded `{first}` and {more} more libraries, which were replaced since"),
        })
    }
}

/// The kernels of the environment of `seen`; none where one of them asks.
pub fn other_kernels(seen: &Seen) -> Vec<OtherKernel> {
    if !seen.is_here() || seen.machine.kernel.is_some() {
        return Vec::new();
    }
    seen.interpreter().map(|python| kernels_of(python, &folders(seen))).unwrap_or_default()
}

/// The kernels that run `python` or another interpreter of its folder, with what was replaced below `folders`. What a
/// kernel has forked has its command line, and is none.
pub fn kernels_of(python: &Path, folders: &[PathBuf]) -> Vec<OtherKernel> {
    let Some(scripts) = python.parent() else { return Vec::new() };
    let pids = files::names_if_any(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok());
    let all: BTreeSet<u32> = pids
        .filter(|pid| {
            let line =
                files::read_optional(&PathBuf::from(format!("/proc/{pid}/cmdline"))).ok().flatten().unwrap_or_default();
            let program = Path::new(line.split('\0').next().unwrap_or_default());
            is_kernel_command(&line) && program.parent() == Some(scripts)
        })
        .collect();
    let identity = |pid: &u32| {
        let stat = stat_of(*pid)?;
        let is_forked = parent_of(&stat).is_some_and(|parent| all.contains(&parent));
        kernel_identity(*pid, &stat).filter(|_| !is_forked)
    };
    let kernels = all.iter().filter_map(identity);
    kernels.map(|kernel| OtherKernel { replaced: replaced_under(kernel.pid, folders), kernel }).collect()
}
