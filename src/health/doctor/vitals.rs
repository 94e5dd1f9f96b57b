//! What was seen of a machine that works: raw texts by their path, file systems, processes. A bug report, a test
//! fixture and the input of every judgement. Contents of credential files are not in it; values of variables are
//! shortened before anybody else sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::boot::notebook::mapped_files;
use crate::core::diag::Failure;
use crate::core::host::mounts::{Mount, Unreachable, mounts_of};
use crate::health::doctor::Death;

/// What `nvidia-smi` is said to complain of where it gives no answer.
pub(super) const SMI_HANGS: &str = "nvidia-smi does not answer";

/// That it can't be started.
pub(super) const SMI_FAILED: &str = "nvidia-smi does not start";

/// What it is said to complain of where it crashed: this, and the signal.
pub(super) const SMI_ENDED: &str = "nvidia-smi was ended by ";

/// Everything that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Vitals {
    /// Of this record.
    pub schema: u32,
    /// Seconds since 1970.
    pub now: u64,
    /// By path; those of the kernel's process begin with `kernel/`, those of its control group with `cgroup/`.
    pub texts: BTreeMap<String, String>,
    /// Why a source that is there could not be read, by path.
    pub unread: BTreeMap<String, String>,
    /// Mounts that do not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreachable: Vec<Unreachable>,
    /// By what they are for: `root`, `shm`, `temporary`, `cache`, `here`, `data`.
    pub systems: BTreeMap<String, FileSystem>,
    pub processes: Vec<Process>,
    /// Names in folders, by path.
    pub folders: BTreeMap<String, Vec<String>>,
    /// Variables of this process that an allow-list names; addresses without credentials.
    pub environment: BTreeMap<String, String>,
    /// Those of them that the kernel was started with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_environment: BTreeMap<String, String>,
    pub credentials: Vec<Credential>,
    /// By GPU: what `nvidia-smi` says, by its own field names.
    pub gpus: Vec<BTreeMap<String, String>>,
    /// What `nvidia-smi` complains of.
    pub smi_error: Option<String>,
    /// Logical CPUs that this process may run on.
    pub cpus: Option<usize>,
    /// Source files beside which Python runs a compiled file that was made from another text.
    pub stale_bytecode: Vec<String>,
    /// Compiled files that were changed before their sources and that could not be compared with them.
    pub unread_bytecode: usize,
    /// The kernel's id of a process.
    pub kernel: Option<u32>,
    /// Kernels that are gone, newest first.
    pub deaths: Vec<Death>,
    /// The connection file of the notebook that asks, or that was named: its kernels are meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// The distribution that the newest crash was in.
    pub crash_owner: Option<String>,
    /// A recorder watches the kernel.
    pub recorder: bool,
    /// Large files that look like checkpoints: path, bytes, seconds since 1970, whether the place outlives the VM.
    pub checkpoints: Vec<Checkpoint>,
}

/// A file system, as statvfs(3) has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FileSystem {
    pub path: String,
    /// `ext4`, `tmpfs`, `fuse.drive`.
    pub kind: String,
    pub size: u64,
    pub free: u64,
    pub inodes: u64,
    pub inodes_free: u64,
}

/// A process of this machine. Its arguments are not kept: they may hold a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub name: String,
    /// Ticks since the boot.
    pub started: u64,
    /// Bytes that are its own.
    pub resident: u64,
    /// It is a notebook's kernel.
    pub notebook: bool,
    /// It has the GPU's device files open.
    pub nvidia: bool,
    /// It has a TPU's device files open.
    pub tpu: bool,
    /// It is in another control group than the kernel.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
}

/// A file or a variable that holds a credential. Never its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Credential {
    /// `Hugging Face`, `AWS`.
    pub service: String,
    /// Where it is: a path, or `$NAME`.
    pub place: String,
    /// Permission bits, of a file.
    pub mode: Option<u32>,
    /// Seconds since 1970.
    pub expires: Option<u64>,
    /// Something renews it by itself.
    pub renewed: bool,
    /// The `type` of Application Default Credentials.
    pub kind: Option<String>,
    /// It lies below the working folder, `/content` or a mounted Drive.
    pub in_work: bool,
    /// It lies in a git work tree, and git does not ignore it.
    pub in_git: bool,
}

/// A file that training has written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Checkpoint {
    pub path: String,
    pub size: u64,
    pub written: u64,
    pub lasting: bool,
}

/// The memory that counts for the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub limit: u64,
    pub used: u64,
    /// Of the machine, whatever the control group allows.
    pub machine: u64,
    /// A control group sets the limit.
    pub by_group: bool,
}

impl Vitals {
    /// The deaths of the notebook that asks; of all where none is known.
    pub fn own_deaths(&self) -> impl Iterator<Item = &Death> {
        self.deaths.iter().filter(|death| self.is_own(death))
    }

    /// Whether `death` is that of a kernel of the notebook that asks: of its connection file, or of one whose name has
    /// what was named.
    fn is_own(&self, death: &Death) -> bool {
        let Some(own) = self.connection.as_deref() else { return true };
        let Some(file) = death.connection.as_deref() else { return false };
        if own.starts_with('/') { file == own } else { file.rsplit('/').next().is_some_and(|name| name.contains(own)) }
    }

    /// Fails where a part of a name, which somebody gave, is that of several connection files.
    pub fn must_mean_one(&self) -> Result<(), Failure> {
        let files: BTreeSet<&str> = self.own_deaths().filter_map(|death| death.connection.as_deref()).collect();
        match self.connection.as_deref().filter(|_| files.len() > 1) {
            Some(named) => {
                let files: Vec<&str> = files.into_iter().collect();
                Err(Failure::input(format!("--kernel: `{named}` matches several notebooks: {}", files.join(", ")))
                    .help("use a longer part of the name, or the whole path"))
            }
            None => Ok(()),
        }
    }

    /// The deaths of other notebooks.
    pub fn other_deaths(&self) -> impl Iterator<Item = &Death> {
        self.deaths.iter().filter(|death| !self.is_own(death))
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The value of `key` in a text of `key: value` or `key value` lines, in bytes where it has the unit kB.
    pub fn value(&self, path: &str, key: &str) -> Option<u64> {
        let line = self.text(path)?.lines().find_map(|line| {
            let rest = line.strip_prefix(key)?;
            rest.starts_with([':', ' ', '\t']).then_some(rest)
        })?;
        let mut words = line.trim_start_matches(':').split_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        Some(if words.next() == Some("kB") { number * 1024 } else { number })
    }

    /// A text that is one number; `None` for `max`.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.split_whitespace().next()?.parse().ok()
    }

    /// Memory, with the limit that is reached first: that of the machine, or of a control group of the kernel.
    pub fn memory(&self) -> Option<Memory> {
        let machine = self.value("/proc/meminfo", "MemTotal")?;
        let available = self.value("/proc/meminfo", "MemAvailable").unwrap_or(machine);
        let whole = Memory { limit: machine, used: machine.saturating_sub(available), machine, by_group: false };
        let limit = self.number("cgroup/memory.max").or_else(|| self.number("cgroup/memory.limit_in_bytes"));
        let Some(limit) = limit.filter(|limit| *limit < machine) else { return Some(whole) };
        let used = self.number("cgroup/memory.current").or_else(|| self.number("cgroup/memory.usage_in_bytes"));
        let file = self.value("cgroup/memory.stat", "inactive_file");
        let file = file.or_else(|| self.value("cgroup/memory.stat", "total_inactive_file")).unwrap_or_default();
        Some(Memory { limit, used: used.unwrap_or_default().saturating_sub(file), machine, by_group: true })
    }

    /// CPUs that a control group allows, which may be a fraction.
    pub fn quota(&self) -> Option<f64> {
        if let Some(text) = self.text("cgroup/cpu.max") {
            let mut words = text.split_whitespace().map(str::parse::<f64>);
            return Some(words.next()?.ok()? / words.next()?.ok()?);
        }
        let quota = self.text("cgroup/cpu.cfs_quota_us")?.trim().parse::<f64>().ok().filter(|quota| *quota > 0.0)?;
        let period = self.text("cgroup/cpu.cfs_period_us")?.trim().parse::<f64>().ok()?;
        Some(quota / period)
    }

    /// CPUs that work at the same time: the affinity, or the quota.
    pub fn useful_cpus(&self) -> Option<usize> {
        let cpus = self.cpus?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of CPUs")]
        let quota = self.quota().map(|quota| quota.ceil().max(1.0) as usize);
        Some(quota.map_or(cpus, |quota| cpus.min(quota)))
    }

    /// The libraries that the kernel has mapped: path, and whether it is gone from the disk.
    pub fn mapped(&self) -> Vec<(&str, bool)> {
        let mut all: Vec<(&str, bool)> = Vec::new();
        for (path, deleted) in mapped_files(self.text("kernel/maps").unwrap_or_default()) {
            if path.contains(".so") && !all.contains(&(path, deleted)) {
                all.push((path, deleted));
            }
        }
        all
    }

    /// The mount that `path` lies on: of several below each other the last, of two on one point the later.
    pub fn mount_of(&self, path: &str) -> Option<Mount> {
        let mounts = mounts_of(self.text("/proc/self/mountinfo")?);
        mounts.filter(|mount| Path::new(path).starts_with(&mount.path)).max_by_key(|mount| mount.path.as_os_str().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_that_of_the_notebook_with_its_connection_file() {
        let death = |pid, file: Option<&str>| Death { pid, connection: file.map(str::to_owned), ..Death::default() };
        let all = [
            death(1, Some("/run/kernel.json")),
            death(2, Some("/run/my-kernel.json")),
            death(3, Some("/other/kernel.json")),
            death(4, None),
        ];
        let pids = |own: Option<&str>| {
            let vitals = Vitals { deaths: all.to_vec(), connection: own.map(str::to_owned), ..Vitals::default() };
            let pids = |deaths: Vec<&Death>| deaths.iter().map(|death| death.pid).collect::<Vec<_>>();
            (pids(vitals.own_deaths().collect()), pids(vitals.other_deaths().collect()))
        };
        assert_eq!(pids(Some("/run/kernel.json")), (vec![1], vec![2, 3, 4]));
        // A part of the name that somebody gives.
        assert_eq!(pids(Some("my-ker")), (vec![2], vec![1, 3, 4]));
        assert_eq!(pids(None), (vec![1, 2, 3, 4], vec![]));
        let is_one = |own: Option<&str>| {
            let vitals = Vitals { deaths: all.to_vec(), connection: own.map(str::to_owned), ..Vitals::default() };
            vitals.must_mean_one().is_ok()
        };
        assert!(is_one(Some("/run/kernel.json")) && is_one(Some("my-ker")) && is_one(None) && !is_one(Some("kernel")));
    }
}
