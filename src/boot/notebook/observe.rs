//! Looks at a kernel: its facts file, its memory map, the clock that its start time is counted by.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::boot::machine::{Kernel, kernel_identity};
use crate::boot::notebook::maps::{deleted_below, mapped_below};
use crate::boot::notebook::{Facts, Loaded, Modules, read_facts};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::process_end::started;
use crate::core::model::PackageName;

/// What `kernel` has loaded, by `facts`, the file that it has written, and by Linux. `preloaded` is what a fresh kernel
/// on this host has, where that is known; `folders` are those that packages install libraries to.
pub fn observe_loaded(
    kernel: &Kernel,
    facts: Option<&Path>,
    preloaded: Option<BTreeSet<PackageName>>,
    folders: &[PathBuf],
) -> Result<Loaded, Failure> {
    let modules = match facts {
        Some(path) => Modules::Reported(Box::new(facts_of(path)?)),
        None => preloaded.map_or(Modules::Unknown, Modules::Preloaded),
    };
    let maps = maps_of(kernel.pid);
    let (replaced, mapped) = (deleted_below(&maps, folders), mapped_below(&maps, folders));
    // Another apply may have been waited for since the kernel has spoken.
    let said = if let Modules::Reported(facts) = &modules { facts.at } else { None };
    let at = said.map_or_else(process_clock, Ok)?;
    Ok(Loaded { modules, replaced, mapped, handed: handed_down(kernel), at, ..Loaded::default() })
}

/// The libraries below `folders` that the process `pid` has mapped and that were deleted or replaced since.
pub fn replaced_under(pid: u32, folders: &[PathBuf]) -> Vec<PathBuf> {
    deleted_below(&maps_of(pid), folders)
}

/// The map of another user's process can't be read: it is empty, and what the kernel says still counts.
fn maps_of(pid: u32) -> String {
    files::read_optional(Path::new(&format!("/proc/{pid}/maps"))).ok().flatten().unwrap_or_default()
}

/// The variables that `kernel` was started with (`/proc/<pid>/environ`, proc(5)); none where they can't be read.
fn handed_down(kernel: &Kernel) -> BTreeMap<String, String> {
    let path = format!("/proc/{}/environ", kernel.pid);
    let bytes = files::read_bytes(Path::new(&path), 4 << 20).unwrap_or_default();
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let (name, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// What the kernel has written of itself into the file at `path`.
pub fn facts_of(path: &Path) -> Result<Facts, Failure> {
    let text = files::read_text(path, "list of modules")?;
    let wrong =
        |why: String| Failure::input(format!("`{}` is not a list of loaded modules", path.display())).cause(why);
    read_facts(&text).map_err(wrong)
}

/// Whether the very process that `kernel` names still runs. One that can't be looked at counts as running.
pub fn is_alive(kernel: &Kernel) -> bool {
    match files::read_optional(Path::new(&format!("/proc/{}/stat", kernel.pid))) {
        Ok(stat) => stat.and_then(|stat| kernel_identity(kernel.pid, &stat)).as_ref() == Some(kernel),
        Err(_) => true,
    }
}

/// Now, by the clock that start times of processes are counted by: that of a thread which starts now. `/proc/uptime`
/// may be another one, in containers and after a suspension, and a kernel would seem older or younger than it is.
pub fn process_clock() -> Result<u64, Failure> {
    let thread = std::thread::Builder::new()
        .spawn(|| files::read_text(Path::new("/proc/thread-self/stat"), "clock of processes"));
    let text = thread
        .map_err(|error| Failure::world("could not start a thread").because(&error))?
        .join()
        .map_err(|_| Failure::bug("a thread that reads a file has panicked"))??;
    started(&text).ok_or_else(|| Failure::world(format!("`/proc/thread-self/stat` can't be parsed: {}", text.trim())))
}
