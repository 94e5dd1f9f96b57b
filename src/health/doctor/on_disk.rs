//! What lies on disks: checkpoints, compiled files that are older than their sources.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::core::host::files;
use crate::core::host::mounts::{Look, is_elsewhere, is_remote, list_remote};
use crate::core::inspect::BytecodeHead;
use crate::health::doctor::look_context::Sight;
use crate::health::doctor::{Checkpoint, Vitals};

const CHECKPOINTS: &[&str] = &[".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".keras", ".msgpack"];

/// Files that look like checkpoints, three folders deep, in the working folder and on mounts; at most 5,000 entries are
/// looked at.
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
                let lasting = vitals.mount_of(&path).is_some_and(|mount| is_remote(&mount.kind));
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

/// Compiled files in the working folder, in `packages` and one folder below it that were changed before their sources,
/// and are run all the same: they have the source's second and size, or are never compared with it (PEP 552). At most
/// 5,000 compiled files are looked at.
pub(super) fn suspicious_bytecode(here: &Path, packages: Option<&Path>) -> Vec<PathBuf> {
    let below = packages.into_iter().flat_map(|packages| {
        let folders = files::names_if_any(packages).into_iter().filter(|name| !name.contains('.'));
        folders.map(|name| packages.join(name)).collect::<Vec<_>>()
    });
    let here = (!is_elsewhere(here)).then(|| here.to_owned());
    let folders = here.into_iter().chain(packages.map(Path::to_owned)).chain(below);
    let compiled = folders.flat_map(|folder| {
        let names = files::names_if_any(&folder.join("__pycache__")).into_iter().filter(|name| name.ends_with(".pyc"));
        names.map(move |name| (folder.clone(), name)).collect::<Vec<_>>()
    });
    compiled.take(5_000).filter_map(|(folder, name)| changed_before_source(&folder, &name)).collect()
}

/// The file `name` in the `__pycache__` of `folder`, where it is run for a source that was changed later.
fn changed_before_source(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join("__pycache__").join(name);
    let head = BytecodeHead::parse(&files::read_start(&path, BytecodeHead::LENGTH)?)?;
    let place = folder.join(format!("{}.py", name.split('.').next()?));
    let source = place.look().ok()?;
    let is_taken = head.is_unchecked() || head.fits(source.mtime(), source.len());
    (is_taken && changed(&path.look().ok()?) < changed(&source)).then_some(path)
}

fn changed(data: &std::fs::Metadata) -> (i64, i64) {
    (data.ctime(), data.ctime_nsec())
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
