//! What lies on disks: checkpoints, compiled files that are older than their sources.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::doctor::sight::Sight;
use crate::doctor::{Checkpoint, Vitals};
use crate::host::files;
use crate::host::mounts::{Look, is_elsewhere, is_remote, list_remote};

const CHECKPOINTS: &[&str] = &[".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".keras", ".msgpack"];

/// Files that look like checkpoints, three folders deep, in the working folder and on mounts; at most 5,000 entries are looked at.
pub(super) fn checkpoints(sight: &Sight<'_>, vitals: &Vitals) -> Vec<Checkpoint> {
    let mut found = Vec::new();
    let mut budget = 5_000_usize;
    let mut open = vec![(sight.place.here.clone(), 0)];
    let mounts = vitals.systems.iter().filter(|(name, _)| name.starts_with("mount-"));
    open.extend(mounts.map(|(_, system)| (PathBuf::from(&system.path), 0)));
    let (remote, mut open): (Vec<_>, Vec<_>) = open.into_iter().partition(|(folder, _)| is_elsewhere(folder));
    let remote: BTreeSet<PathBuf> = remote.into_iter().map(|(folder, _)| folder).collect();
    for folder in &remote {
        let named = list_remote(folder, 3).into_iter().filter(|one| !one.is_folder && is_checkpoint(&one.path));
        found.extend(named.map(|one| {
            let path = folder.join(&one.path).display().to_string();
            Checkpoint { path, size: one.size, written: one.written, lasting: true }
        }));
    }
    while let Some((folder, depth)) = open.pop() {
        for name in files::names_if_any(&folder) {
            if budget == 0 {
                return found;
            }
            budget -= 1;
            let path = folder.join(&name);
            let Ok(data) = path.look_at_entry() else { continue };
            if data.is_dir() && depth < 2 && !name.starts_with('.') {
                open.push((path, depth + 1));
            } else if data.is_file() && is_checkpoint(&name) {
                let path = path.display().to_string();
                let lasting = vitals.mount_kind(&path).is_some_and(|(_, kind)| is_remote(kind));
                let written = u64::try_from(data.mtime()).unwrap_or_default();
                found.push(Checkpoint { path, size: data.len(), written, lasting });
            }
        }
    }
    found
}

fn is_checkpoint(name: &str) -> bool {
    CHECKPOINTS.iter().any(|end| name.ends_with(end))
}

/// Packages whose compiled `__init__` is older than its source and is taken for fresh: the same second and size (PEP 552).
pub(super) fn stale_bytecode(packages: &Path) -> Vec<String> {
    let stale = |name: &String| {
        let folder = packages.join(name);
        let source = folder.join("__init__.py").look().ok()?;
        let cache = folder.join("__pycache__");
        let compiled = files::names_if_any(&cache)
            .into_iter()
            .find(|name| name.starts_with("__init__.cpython-") && name.ends_with(".pyc"))?;
        let path = cache.join(compiled);
        let head = files::read_start(&path, 16)?;
        let word = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let fits = word(4)? == 0 && i64::from(word(8)?) == source.mtime() && u64::from(word(12)?) == source.len();
        let changed = |data: &std::fs::Metadata| (data.ctime(), data.ctime_nsec());
        let older = changed(&path.look().ok()?) < changed(&source);
        (fits && older).then(|| folder.join("__init__.py").display().to_string())
    };
    files::names_if_any(packages).iter().filter_map(stale).collect()
}

/// The distribution that has installed the top-level `module` below `packages`, by its RECORD.
pub(super) fn owner_of(packages: &Path, module: &str) -> Option<String> {
    let infos = files::names_if_any(packages).into_iter().filter(|name| name.ends_with(".dist-info"));
    let mut owners = infos.filter(|info| {
        let record = files::read_optional(&packages.join(info).join("RECORD")).ok().flatten().unwrap_or_default();
        let (folder, file) = (format!("{module}/"), format!("{module}."));
        record.lines().any(|line| line.starts_with(&folder) || line.starts_with(&file))
    });
    owners.next().and_then(|info| info.strip_suffix(".dist-info").map(|name| name.replacen('-', " ", 1)))
}
