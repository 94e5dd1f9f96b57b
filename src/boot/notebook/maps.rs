//! Libraries that a process has mapped and that are gone from the disk, or replaced by others (`/proc/<pid>/maps`,
//! proc(5)).
//!
//! Only what Linux itself calls deleted counts. Inodes would tell as much on most file systems, but on overlayfs, which
//! containers have, those of a map and those of `stat` are not the same numbers.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::boot::machine::STAGE_PREFIX;

/// The files that a text of `/proc/<pid>/maps` names, and whether each is deleted; one with several mappings comes
/// several times.
pub fn mapped_files(maps: &str) -> impl Iterator<Item = (&str, bool)> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    paths.map(|path| path.strip_suffix(" (deleted)").map_or((path, false), |path| (path, true)))
}

/// The files below `folders` in the text of `/proc/<pid>/maps` that are mapped and deleted, and those that pip has
/// moved away to delete them. Lines are like `7f00-7f01 r-xp 00000000 fe:01 123  /site/numpy/core.so (deleted)`.
pub(super) fn deleted_below(maps: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let deleted = mapped_files(maps).filter(|(_, deleted)| *deleted).map(|(path, _)| Path::new(path));
    for path in deleted.filter(|path| folders.iter().any(|folder| path.starts_with(folder)) || is_of_pip(path)) {
        let path = place_of(path);
        if found.last() != Some(&path) && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// Where a file lay that a switch has exchanged with a staged one; any other one's path.
fn place_of(path: &Path) -> PathBuf {
    let is_stage =
        |folder: &&Path| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(STAGE_PREFIX));
    let stage = path.ancestors().find(is_stage);
    let within = stage.and_then(|stage| {
        let mut parts = path.strip_prefix(stage).ok()?.components();
        // The number of its package, then that of the folder.
        let is_number = |part: Component<'_>| part.as_os_str().to_string_lossy().parse::<usize>().is_ok();
        let is_exchanged = parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number);
        is_exchanged.then(|| stage.with_file_name("").join(parts.as_path()))
    });
    within.unwrap_or_else(|| path.to_owned())
}

/// Whether pip has moved a file here from outside of site-packages (`/tmp/pip-uninstall-lg1y8n2s/libtbb.so.12`, pip
/// 25).
fn is_of_pip(path: &Path) -> bool {
    path.iter().any(|part| part.to_string_lossy().starts_with("pip-uninstall-"))
}

/// The files below `folders` in the text of `/proc/<pid>/maps` that are mapped and still there.
pub(super) fn mapped_below(maps: &str, folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let here = mapped_files(maps).filter(|(_, deleted)| !*deleted).map(|(path, _)| Path::new(path));
    here.filter(|path| folders.iter().any(|folder| path.starts_with(folder))).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::deleted_below;

    #[test]
    fn a_library_that_was_replaced_under_a_process_is_seen() {
        let maps = "55d0-55d1 r--p 00000000 fe:01 11    /usr/bin/python3.12\n\
            7f00-7f01 r--p 00000000 fe:01 21    /venv/site/numpy/a.so (deleted)\n\
            7f01-7f02 r-xp 00001000 fe:01 21    /venv/site/numpy/a.so (deleted)\n\
            7f03-7f04 r-xp 00000000 fe:01 22    /venv/site/with space/b.so (deleted)\n\
            7f05-7f06 r-xp 00000000 fe:01 23    /venv/site/c.so\n\
            7f05-7f06 r-xp 00000000 fe:01 26    /venv/site/.colab-boot-staged-4Yzfqm/10/0/x.libs/d.so (deleted)\n\
            7f05-7f06 r-xp 00000000 fe:01 27    /venv/site/.colab-boot-staged-4Yzfqm/aside/0/e.so (deleted)\n\
            7f06-7f07 r-xp 00000000 fe:01 24    /tmp/pip-uninstall-ab12/libtbb.so.12 (deleted)\n\
            7f06-7f07 r-xp 00000000 fe:01 25    /usr/lib/libssl.so.3 (deleted)\n\
            7f07-7f08 rw-s 00000000 00:01 24    /memfd:x (deleted)\n\
            7ffc-7ffd rw-p 00000000 00:00 0     [stack]\n";
        let found = deleted_below(maps, &[PathBuf::from("/venv/site")]);
        let expected = [
            "/venv/site/numpy/a.so",
            "/venv/site/with space/b.so",
            "/venv/site/x.libs/d.so",
            "/venv/site/.colab-boot-staged-4Yzfqm/aside/0/e.so",
            "/tmp/pip-uninstall-ab12/libtbb.so.12",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
