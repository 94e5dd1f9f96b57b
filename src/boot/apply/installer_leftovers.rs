//! Leftovers of other installers that were killed: moved aside before an install, and deleted after it has succeeded.
//! pip moves what it replaces to `~name` and `~name-1.0.dist-info` and never looks at them again; `importlib.metadata`
//! does, for ever.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::boot::files::strangers_in;
use crate::boot::machine::Layout;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;

/// Holds what was swept, in site-packages: a rename works there, and no program imports from it.
const TRASH: &str = ".colab-boot-trash";

/// Where a script that is run by hand lets uv unpack, in site-packages, too.
const UNPACKED: &str = ".colab-boot-unpacked-";

/// Moves aside what killed installers have left in `layout`. Returns what was moved.
pub(super) fn sweep(layout: &Layout) -> Result<Vec<String>, Failure> {
    let mut swept = Vec::new();
    for folder in layout.folders() {
        // All of them before the first is moved: the lists that prove one may be leftovers, too.
        for name in leftovers(folder)? {
            move_aside(folder, &name)?;
            swept.push(name);
        }
    }
    Ok(swept)
}

/// Files that others have put into metadata that was moved aside: where each is now, and its path in site-packages.
pub(super) fn strangers(layout: &Layout) -> Vec<(PathBuf, PathBuf)> {
    let trashes = layout.folders().into_iter().map(|folder| folder.join(TRASH));
    let entries = trashes.flat_map(|trash| {
        let names = files::names_if_any(&trash).into_iter();
        names.map(move |name| (trash.join(&name), name)).collect::<Vec<_>>()
    });
    let is_metadata = |name: &str| [".dist-info", ".egg-info"].iter().any(|end| name.ends_with(end));
    entries.filter(|(_, name)| is_metadata(name)).flat_map(|(place, name)| strangers_in(&place, &name)).collect()
}

/// Deletes what was moved aside. What can't be deleted stays for the next time.
pub(super) fn empty_trash(layout: &Layout) {
    for folder in layout.folders() {
        let _ = std::fs::remove_dir_all(folder.join(TRASH));
    }
}

/// What killed installers have left.
pub fn leftovers(folder: &Path) -> Result<Vec<String>, Failure> {
    Ok(files::names_in(folder)?.into_iter().filter(|name| is_leftover(folder, name)).collect())
}

/// Whether `name` is a folder that pip has left (`~umpy`, `~umpy-2.1.dist-info`), or the script. Of a folder with code
/// each file must be one that a distribution lists: no program imports from it, and it may be the user's.
fn is_leftover(folder: &Path, name: &str) -> bool {
    let rest = name.strip_prefix('~').filter(|text| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~=%+".contains(&byte))
    });
    let place = folder.join(name);
    // Names come first: most tell it, and a look at each entry of site-packages takes time.
    if rest.is_none() && !name.starts_with(UNPACKED) || !place.look_at_entry().is_ok_and(|data| data.is_dir()) {
        return false;
    }
    let Some(rest) = rest.filter(|_| !name.ends_with(".dist-info")) else { return true };
    let lists = files::names_if_any(folder).into_iter().filter(|entry| entry.ends_with(".dist-info"));
    let texts = lists.filter_map(|entry| files::read_optional(&folder.join(entry).join("RECORD")).ok().flatten());
    let listed = texts.flat_map(|text| parse_record(&text)).map(|entry| entry.path);
    // pip puts `~` in the place of the first character.
    let behind_first = |path: String| Some(path.strip_prefix(path.chars().next()?)?.to_owned());
    let listed: HashSet<String> = listed.filter_map(behind_first).filter(|path| path.starts_with(rest)).collect();
    all_are_listed(&place, rest, &listed)
}

/// Whether `listed` has each file below `place`, whose paths begin with `start`. Compiled ones are made again.
fn all_are_listed(place: &Path, start: &str, listed: &HashSet<String>) -> bool {
    let Ok(entries) = std::fs::read_dir(place) else { return false };
    entries.flatten().all(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{start}/{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all_are_listed(&entry.path(), &path, listed),
            _ => start.ends_with("/__pycache__") && name.ends_with(".pyc") || listed.contains(&path),
        }
    })
}

/// Moves the entry `name` of site-packages to where no program imports from.
fn move_aside(folder: &Path, name: &str) -> Result<(), Failure> {
    let trash = folder.join(TRASH);
    files::create_private_folder(&trash)?;
    let free = (0..).map(|at| trash.join(if at == 0 { name.to_owned() } else { format!("{name}.{at}") }));
    let mut free = free.skip_while(|path| path.look_at_entry().is_ok());
    let from = folder.join(name);
    let to = free.next().unwrap_or_else(|| trash.join(name));
    std::fs::rename(&from, &to).map_err(|error| {
        let help = files::way_to_write(error.kind());
        Failure::world(format!("could not move `{}` aside", from.display())).because(&error).help(help)
    })
}

#[cfg(test)]
mod tests {
    use super::{empty_trash, sweep};
    use crate::boot::machine::Layout;
    use crate::core::host::files::{names_if_any as names_in, write_whole};

    #[test]
    fn what_killed_installers_have_left_goes_aside_and_the_rest_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let site = folder.path().join("lib");
        let layout = Layout::of_tests(folder.path());
        for path in [
            "~ld/x.py",
            "~my-notes/n.txt",
            "~hole/code.py",
            "~hole/__pycache__/code.cpython-312.pyc",
            "~orn-1.0.dist-info/METADATA",
            ".colab-boot-unpacked-1/x.py",
            "whole-1.0.dist-info/METADATA",
            "torn-1.0.dist-info/METADATA",
        ] {
            write_whole(&site.join(path), b"").expect(path);
        }
        let list = b"whole-1.0.dist-info/RECORD,,\nold/x.py,,\nwhole/__init__.py,,\n";
        write_whole(&site.join("whole-1.0.dist-info/RECORD"), list).expect("a list");
        assert_eq!(sweep(&layout).expect("a sweep").len(), 3);
        let left = [".colab-boot-trash", "torn-1.0.dist-info", "whole-1.0.dist-info", "~hole", "~my-notes"];
        assert_eq!(names_in(&site), left);
        // A second apply that is killed, too, has the same names again.
        write_whole(&site.join("~ld/x.py"), b"").expect("a leftover");
        assert_eq!(sweep(&layout).expect("a sweep").len(), 1);
        assert_eq!(names_in(&site.join(".colab-boot-trash")).len(), 4);
        empty_trash(&layout);
        assert_eq!(names_in(&site), &left[1..]);
    }
}
