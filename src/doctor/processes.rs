//! The processes of this machine, as far as they matter: who is a notebook's kernel, who has an accelerator open.

use std::path::{Path, PathBuf};

use crate::doctor::Process;
use crate::host::command::stat_field;
use crate::host::files;

/// All that can be seen below `proc`, a folder like `/proc`. A process that ends meanwhile is left out.
pub(super) fn processes(proc: &Path) -> Vec<Process> {
    let entries = files::names_if_any(proc);
    let pids = entries.iter().filter_map(|name| name.parse::<u32>().ok());
    pids.filter_map(|pid| process(&proc.join(pid.to_string()), pid)).collect()
}

fn process(folder: &Path, pid: u32) -> Option<Process> {
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
