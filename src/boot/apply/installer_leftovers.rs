//! What would make an installer stop half way, or lie about it afterwards: leftovers of killed installers, and metadata
//! that no installer can uninstall by. It is moved aside before the install and deleted after it has succeeded.
//!
//! pip moves what it replaces to `~name` and `~name-1.0.dist-info` and never looks at them again; `importlib.metadata`
//! does, for ever. A distribution without RECORD makes pip stop with half of the packages replaced, and uv leave a
//! second dist-info; one that distutils installed makes uv uninstall others and stop.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::files::strangers_in;
use crate::boot::machine::{Layout, record_in};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::wheel_names::{dist_info, egg_info};
use crate::core::model::{PackageName, Version};

/// Holds what was swept, in site-packages: a rename works there, and no program imports from it.
const TRASH: &str = ".colab-boot-trash";

/// Where the script lets uv unpack, in site-packages, too.
const UNPACKED: &str = ".colab-boot-unpacked-";

/// Moves aside what must not be there when `changed` are installed; their versions are those that count as installed.
/// Returns what was moved, for people.
pub(super) fn sweep(layout: &Layout, changed: &BTreeMap<PackageName, Option<Version>>) -> Result<Vec<String>, Failure> {
    let mut swept = Vec::new();
    for folder in layout.folders() {
        // Metadata of wheels comes first: beside it no other counts.
        let mut entries = files::names_in(folder)?;
        entries.sort_by_key(|name| dist_info(name).is_none());
        // All of them before the first is moved: the lists that prove one may be leftovers, too.
        let left: HashSet<&String> = entries.iter().filter(|name| is_leftover(folder, name)).collect();
        let mut kept = BTreeSet::new();
        for name in &entries {
            let why = if left.contains(name) {
                Some("left by an interrupted installer")
            } else {
                hindrance(&folder.join(name), name, changed, &mut kept)?
            };
            if let Some(why) = why {
                move_aside(folder, name)?;
                swept.push(format!("`{name}`, {why}"));
            }
        }
    }
    Ok(swept)
}

/// Deletes the compiled files of the sources among `paths`, below site-packages: an installer may leave them, and
/// Python may take them for those of the new sources. What can't be deleted is found by the check.
pub(super) fn remove_caches<'a>(layout: &Layout, paths: impl Iterator<Item = &'a str>) {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths.filter_map(|path| path.strip_suffix(".py")) {
        let (folder, stem) = path.rsplit_once('/').unwrap_or(("", path));
        folders.entry(folder).or_default().insert(stem);
    }
    for (site, (folder, stems)) in
        layout.folders().into_iter().flat_map(|site| folders.iter().map(move |one| (site, one)))
    {
        let cache = site.join(folder).join("__pycache__");
        // What lies behind a link is not the package's.
        if !cache.look_at_entry().is_ok_and(|data| data.is_dir()) {
            continue;
        }
        let is_its =
            |name: &String| name.ends_with(".pyc") && stems.contains(name.split('.').next().unwrap_or_default());
        for name in files::names_if_any(&cache).into_iter().filter(is_its) {
            let _ = std::fs::remove_file(cache.join(name));
        }
    }
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

/// Why an installer would stumble over the metadata at `path`. The first of a distribution that it can go by is `kept`.
fn hindrance(
    path: &Path,
    name: &str,
    changed: &BTreeMap<PackageName, Option<Version>>,
    kept: &mut BTreeSet<PackageName>,
) -> Result<Option<&'static str>, Failure> {
    if let Some((package, version)) = dist_info(name) {
        let Some(counts) = changed.get(&package) else {
            return Ok(None);
        };
        if !files::is_file(&path.join("METADATA"))? || !lists_itself(path, name)? {
            return Ok(Some("without a list of its files"));
        }
        // pip reads it before it uninstalls, and ends where it is no text.
        if std::fs::read(path.join("METADATA")).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_err()) {
            return Ok(Some("its METADATA is not UTF-8"));
        }
        let other = counts.as_ref().is_some_and(|counts| version.parse().ok().as_ref() != Some(counts));
        let is_second = other || !kept.insert(package);
        return Ok(is_second.then_some("a second entry for the same distribution"));
    }
    let Some(package) = egg_info(name).filter(|package| changed.contains_key(package)) else { return Ok(None) };
    if kept.contains(&package) {
        return Ok(Some("a second entry for the same distribution"));
    }
    Ok(files::is_file(path)?.then_some("installed by distutils without a list of its files"))
}

/// Whether the RECORD in the dist-info folder at `path` is that of this folder: one that was renamed lists files that
/// are not there.
fn lists_itself(path: &Path, name: &str) -> Result<bool, Failure> {
    let record = record_in(path)?.unwrap_or_default();
    Ok(parse_record(&record).into_iter().any(|entry| entry.path.split('/').rev().nth(1) == Some(name)))
}

/// Moves the entry `name` of site-packages to where no program imports from.
pub(super) fn move_aside(folder: &Path, name: &str) -> Result<(), Failure> {
    let trash = folder.join(TRASH);
    files::create_private_folder(&trash)?;
    let free = (0..).map(|at| trash.join(if at == 0 { name.to_owned() } else { format!("{name}.{at}") }));
    let mut free = free.skip_while(|path| path.look_at_entry().is_ok());
    let from = folder.join(name);
    let to = free.next().unwrap_or_else(|| trash.join(name));
    std::fs::rename(&from, &to).map_err(|error| {
        let help = "take ownership of the environment (`sudo chown -R` on its folder), or run the command as its owner";
        Failure::world(format!("could not move `{}` aside", from.display())).because(&error).help(help)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{empty_trash, sweep};
    use crate::boot::machine::Layout;
    use crate::core::host::files::{names_if_any as names_in, write_whole};

    #[test]
    fn what_installers_stumble_over_goes_aside_and_the_rest_stays() {
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
            "Whole-1.0.dist-info/METADATA",
            "whole-0.9.dist-info/METADATA",
            "whole-0.9.dist-info/RECORD",
            "torn-1.0.dist-info/METADATA",
            "other-1.0.dist-info/METADATA",
            "old-1.0-py3.12.egg-info",
            "whole.egg-info/PKG-INFO",
            "kept.egg-info/PKG-INFO",
        ] {
            write_whole(&site.join(path), b"").expect(path);
        }
        for name in ["whole-1.0", "Whole-1.0"] {
            let path = format!("{name}.dist-info/RECORD");
            write_whole(&site.join(&path), b"whole-1.0.dist-info/RECORD,,\nold/x.py,,\nwhole/__init__.py,,\n")
                .expect(&path);
        }
        let changed = [("whole", Some("1.0")), ("torn", Some("1.0")), ("old", None), ("kept", None)];
        let changed: BTreeMap<_, _> = changed
            .into_iter()
            .map(|(name, version)| (name.parse().expect(name), version.map(|version| version.parse().expect(version))))
            .collect();
        assert_eq!(sweep(&layout, &changed).expect("a sweep").len(), 8);
        let left =
            [".colab-boot-trash", "kept.egg-info", "other-1.0.dist-info", "whole-1.0.dist-info", "~hole", "~my-notes"];
        assert_eq!(names_in(&site), left);
        // A second apply that is killed, too, has the same names again.
        write_whole(&site.join("~ld/x.py"), b"").expect("a leftover");
        assert_eq!(sweep(&layout, &changed).expect("a sweep").len(), 1);
        assert_eq!(names_in(&site.join(".colab-boot-trash")).len(), 9);
        empty_trash(&layout);
        assert_eq!(names_in(&site), &left[1..]);
    }
}
