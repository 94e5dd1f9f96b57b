//! What of the vitals two machines are compared by.

use std::collections::BTreeMap;

use crate::boot::machine::Conditions;
use crate::core::host::files;
use crate::health::doctor::{Sight, Vitals};

/// Figures and names; `is_read` says which variables something reads.
pub fn conditions(vitals: &Vitals, sight: &Sight<'_>, is_read: &dyn Fn(&str) -> bool) -> Conditions {
    let linux = files::read_optional(&sight.paths.under_root("/proc/sys/kernel/osrelease")).ok().flatten();
    let system = |name: &str| vitals.systems.get(name);
    let mut mounts: BTreeMap<String, u64> = BTreeMap::new();
    for line in vitals.text("/proc/self/mountinfo").unwrap_or_default().lines() {
        if let Some(kind) = line.split_once(" - ").and_then(|(_, after)| after.split(' ').next()) {
            *mounts.entry(kind.to_owned()).or_default() += 1;
        }
    }
    Conditions {
        linux: linux.map(|text| text.trim().to_owned()),
        cpus: vitals.cpus.map(|cpus| cpus as u64),
        quota: vitals.quota(),
        memory: vitals.memory().map(|memory| memory.limit),
        shared_memory: system("shm").map(|system| system.size),
        disk: system("root").map(|system| system.size),
        disk_free: system("root").map(|system| system.free),
        gpu_memory: vitals.gpus.iter().filter_map(|gpu| gpu.get("memory.total").cloned()).collect(),
        variables: sight.environment.keys().filter(|name| is_read(name)).cloned().collect(),
        mounts,
    }
}
