//! The processes of this machine, as far as they matter: who is a notebook's kernel, who has an accelerator open.

use std::path::{Path, PathBuf};

use crate::core::host::command::stat_field;
use crate::core::host::files;
use crate::health::doctor::Process;

/// All that can be seen below `proc`, a folder like `/proc`, from the control group of `kernel`, or of this process. A
/// process that ends meanwhile is left out.
pub(super) fn processes(proc: &Path, kernel: Option<u32>) -> Vec<Process> {
    let entries = files::names_if_any(proc);
    let own = group(&proc.join(kernel.map_or_else(|| "self".to_owned(), |pid| pid.to_string())));
    let pids = entries.iter().filter_map(|name| name.parse::<u32>().ok());
    pids.filter_map(|pid| process(&proc.join(pid.to_string()), pid, &own)).collect()
}

/// The control groups of a process, a line for each hierarchy (cgroups(7)).
fn group(folder: &Path) -> String {
    files::read_optional(&folder.join("cgroup")).ok().flatten().unwrap_or_default()
}

/// Whether `other` names the groups of `own`, or groups below them.
fn is_within(other: &str, own: &str) -> bool {
    own.lines().count() == other.lines().count()
        && other.lines().zip(own.lines()).all(|(other, own)| {
            let rest = other.strip_prefix(own.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

fn process(folder: &Path, pid: u32, own: &str) -> Option<Process> {
    let stat = files::read_optional(&folder.join("stat")).ok()??;
    let number = |field: usize| stat_field(&stat, field).and_then(|text| text.parse::<u64>().ok());
    let name = stat.split_once('(')?.1.rsplit_once(')')?.0.to_owned();
    let (nvidia, tpu) = devices(folder);
    let arguments = files::read_bytes(&folder.join("cmdline"), 64 << 10).unwrap_or_default();
    Some(Process {
        pid,
        parent: number(4).and_then(|parent| u32::try_from(parent).ok()).unwrap_or_default(),
        name,
        started: number(22).unwrap_or_default(),
        resident: resident(folder),
        notebook: is_notebook(&arguments),
        nvidia,
        tpu,
        elsewhere: !is_within(&group(folder), own),
    })
}

/// Whether these arguments, each ended by a zero, start a notebook's kernel.
fn is_notebook(arguments: &[u8]) -> bool {
    let mut words = arguments.split(|byte| *byte == 0);
    words.any(|word| {
        let word = String::from_utf8_lossy(word);
        ["ipykernel", "ipykernel_launcher", "colab_kernel_launcher"].contains(&&*word)
            || word.ends_with("/ipykernel_launcher.py")
    })
}

/// Bytes that are its own: what would be free without it.
fn resident(folder: &Path) -> u64 {
    let status = files::read_optional(&folder.join("status")).ok().flatten().unwrap_or_default();
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    (value("RssAnon:").unwrap_or_default() + value("RssShmem:").unwrap_or_default()) * 1024
}

/// Whether it has device files of an NVIDIA GPU, of a TPU open. Those of other users can't be looked at.
fn devices(folder: &Path) -> (bool, bool) {
    let descriptors = folder.join("fd");
    let names = files::names_if_any(&descriptors);
    let targets = names.iter().filter_map(|name| files::link_of(&descriptors.join(name)));
    let targets: Vec<PathBuf> = targets.filter(|path| path.starts_with("/dev")).collect();
    let has = |starts: &[&str]| {
        targets.iter().any(|path| starts.iter().any(|start| path.to_string_lossy().starts_with(start)))
    };
    (has(&["/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-uvm", "/dev/nvidiactl"]), has(&["/dev/accel", "/dev/vfio/"]))
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn control_groups_have_others_below_them() {
        assert!(is_within("0::/a/b\n", "0::/a/b\n") && is_within("0::/a/b/c\n", "0::/a/b\n"));
        assert!(is_within("0::/x\n", "0::/\n"));
        assert!(!is_within("0::/a/bc\n", "0::/a/b\n") && !is_within("0::/\n", "0::/a\n"));
        assert!(!is_within("4:memory:/a\n3:cpu:/b\n", "4:memory:/a\n3:cpu:/c\n"));
    }
}
