//! The control group of the kernel, which limits its memory, its CPUs and its threads.

use std::path::Path;

use crate::core::host::files;
use crate::health::doctor::Vitals;
use crate::health::doctor::look_context::Sight;

/// The file that counts what was killed for memory; a zombie is in no group any more, and its group's count is asked by
/// this.
pub const COUNTER: &str = "cgroup/counter";
const COUNTS: &[&str] = &["memory.events", "memory.oom_control"];

/// Files of a control group, of version 2 and then of version 1.
const GROUP: &[&str] = &[
    "memory.max",
    "memory.current",
    "memory.stat",
    "memory.peak",
    "memory.events",
    "memory.pressure",
    "pids.max",
    "pids.current",
    "cpu.max",
];
const GROUP_ONE: &[(&str, &str)] = &[
    ("memory", "memory.limit_in_bytes"),
    ("memory", "memory.usage_in_bytes"),
    ("memory", "memory.stat"),
    ("memory", "memory.max_usage_in_bytes"),
    ("memory", "memory.oom_control"),
    ("pids", "pids.max"),
    ("pids", "pids.current"),
    ("cpu", "cpu.cfs_quota_us"),
    ("cpu", "cpu.cfs_period_us"),
];

const BASE: &str = "/sys/fs/cgroup";

/// The control group of the kernel, or of this process: the folder with the smallest limit on the way up.
pub(super) fn group(sight: &Sight<'_>, vitals: &mut Vitals) {
    let own = sight.kernel.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let text = files::read_optional(&sight.paths.under_root(&format!("/proc/{own}/cgroup"))).ok().flatten();
    let text = text.unwrap_or_default();
    if let Some(path) = path_of(&text, "") {
        let folder = format!("{BASE}{}", path.trim_end_matches('/'));
        let above = Path::new(&folder).ancestors().take_while(|folder| folder.starts_with(BASE));
        let limit = |folder: &Path| {
            let text = files::read_optional(&sight.paths.under_root(&folder.join("memory.max").to_string_lossy()));
            text.ok().flatten().and_then(|text| text.trim().parse::<u64>().ok())
        };
        let tightest = above.filter_map(|folder| Some((limit(folder)?, folder.display().to_string()))).min();
        let folder = tightest.map_or(folder, |(_, folder)| folder);
        for file in GROUP {
            read_limit(sight, file, &folder, vitals);
        }
    }
    for (controller, file) in GROUP_ONE {
        if let Some(path) = path_of(&text, controller) {
            let folder = format!("{BASE}/{controller}{}", path.trim_end_matches('/'));
            read_limit(sight, file, &folder, vitals);
        }
    }
}

/// Reads `file` of the control group that lies in `folder`.
fn read_limit(sight: &Sight<'_>, file: &str, folder: &str, vitals: &mut Vitals) {
    // In a container with a name space of its own the path is that of the host.
    for folder in [folder, BASE] {
        let path = format!("{folder}/{file}");
        if let Ok(Some(text)) = files::read_optional(&sight.paths.under_root(&path)) {
            if COUNTS.contains(&file) {
                vitals.texts.insert(COUNTER.to_owned(), path);
            }
            vitals.texts.insert(format!("cgroup/{file}"), text);
            return;
        }
    }
}

/// The path in `/proc/PID/cgroup` for `controller`; of version 2 where that is empty.
fn path_of<'t>(text: &'t str, controller: &str) -> Option<&'t str> {
    let line = text.lines().find(|line| {
        let named = line.split(':').nth(1).unwrap_or_default();
        if controller.is_empty() { named.is_empty() } else { named.split(',').any(|one| one == controller) }
    })?;
    line.splitn(3, ':').nth(2)
}
