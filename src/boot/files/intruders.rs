//! Files that nobody installed and that Python takes before an installed module: a folder or compiled code beside
//! `module.py`, a cache that is run without a look at its source.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::boot::files::expected::lexical;
use crate::core::host::files::{names_if_any, read_optional, read_start};
use crate::core::host::mounts::Look;
use crate::core::inspect::{BytecodeHead, parse_record};

/// A file, or a folder with an `__init__`, that comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Intruder {
    pub place: PathBuf,
    /// The installed file that is never read.
    pub hides: PathBuf,
    /// It comes before a namespace package, which other distributions may make a regular one of: only the user's own is
    /// one.
    pub of_namespace: bool,
}

/// Those in `folder`, in which `expected` are a distribution's files. `tag` is that of the interpreter: `cpython-312`.
pub(super) fn intruders_in(folder: &Path, expected: &BTreeSet<&str>, tag: &str) -> Vec<Intruder> {
    let mut found = Vec::new();
    for name in names_if_any(folder).iter().filter(|name| !expected.contains(name.as_str())) {
        let Some((stem, rank)) = importable(name, tag) else { continue };
        let hides = expected.iter().find(|own| importable(own, tag).is_some_and(|(own, at)| own == stem && at > rank));
        if let Some(hides) = hides.filter(|_| rank > 0 || is_package(&folder.join(name))) {
            let (place, hides) = (folder.join(name), folder.join(hides));
            found.push(Intruder { place, hides, of_namespace: false });
        }
    }
    found
}

/// The namespace packages directly below `site` that a distribution has a part in; `folders` are those of its files.
pub(super) fn namespaces<'a, Names: Iterator<Item = &'a str>>(
    site: &Path,
    folders: impl Iterator<Item = (&'a Path, Names)>,
) -> BTreeSet<String> {
    let (mut all, mut regular) = (BTreeSet::new(), BTreeSet::new());
    for (folder, mut names) in folders {
        let Ok(below) = folder.strip_prefix(site) else { continue };
        let Some(top) = below.components().next().map(|top| top.as_os_str().to_string_lossy().into_owned()) else {
            continue;
        };
        if below.components().count() == 1 && names.any(|name| name.starts_with("__init__.")) {
            regular.insert(top.clone());
        }
        all.insert(top);
    }
    all.into_iter()
        .filter(|top| top.chars().all(|c| c.is_alphanumeric() || c == '_') && !regular.contains(top))
        .collect()
}

/// What comes before the namespace package `top` of `site`: a module beside its folder, or an `__init__` in it with
/// something to say.
pub(super) fn before_namespace(site: &Path, top: &str) -> Vec<Intruder> {
    let folder = site.join(top);
    let beside = ["py", "so", "abi3.so", "pyc"].map(|end| site.join(format!("{top}.{end}")));
    let inside = ["py", "so", "pyc"].map(|end| folder.join(format!("__init__.{end}")));
    let first = inside
        .into_iter()
        .filter(|place| place.look().is_ok_and(|data| data.is_file() && data.len() > 0))
        .chain(beside.into_iter().filter(|place| place.is_file_there()));
    let unowned = first.filter(|place| !is_recorded(site, place));
    unowned.map(|place| Intruder { place, hides: folder.clone(), of_namespace: true }).collect()
}

/// Whether a distribution in `site`, of those that are there now, lists `place`.
fn is_recorded(site: &Path, place: &Path) -> bool {
    let infos = names_if_any(site).into_iter().filter(|name| name.ends_with(".dist-info"));
    let mut records = infos.filter_map(|info| read_optional(&site.join(info).join("RECORD")).ok().flatten());
    records.any(|record| parse_record(&record).iter().any(|entry| lexical(&entry.path, site) == place))
}

/// Those in `site` that come before what a wheel is about to install there; `paths` are where its files go, below
/// `site`.
pub fn intruders_before(site: &Path, paths: &[String], tag: &str) -> Vec<Intruder> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        let mut entry = path.as_str();
        while !entry.is_empty() {
            let (folder, name) = entry.rsplit_once('/').unwrap_or(("", entry));
            if !folders.entry(folder).or_default().insert(name) {
                // With an entry, those above it are known.
                break;
            }
            entry = folder;
        }
    }
    folders.iter().flat_map(|(folder, expected)| intruders_in(&site.join(folder), expected, tag)).collect()
}

/// The module that `import` finds in an entry of this name, and after how many other kinds of entries
/// (<https://docs.python.org/3/library/importlib.html#importlib.machinery.FileFinder>;
/// `importlib.machinery.all_suffixes`, 3.8 to 3.14).
fn importable<'a>(name: &'a str, tag: &str) -> Option<(&'a str, u8)> {
    let Some((stem, suffix)) = name.split_once('.') else {
        return Some((name, 0));
    };
    let rank = match suffix {
        "abi3.so" => 2,
        "so" => 3,
        "py" => 4,
        "pyc" => 5,
        _ if suffix.ends_with(".so") && suffix.strip_prefix(tag).is_some_and(|rest| rest.starts_with('-')) => 1,
        _ => return None,
    };
    Some((stem, rank))
}

/// Whether a folder is a regular package, which comes before every file; one without an `__init__` comes last.
fn is_package(folder: &Path) -> bool {
    names_if_any(folder).iter().any(|name| {
        let end = name.strip_prefix("__init__.");
        end.is_some_and(|end| matches!(end, "py" | "pyc" | "so") || end.ends_with(".so"))
    })
}

/// The names of files in the `__pycache__` of `folder` that Python runs for one of the `expected` though they are not
/// known to be made from it: unchecked hash-based caches (PEP 552), and those that are older than a source of the same
/// second and size.
pub(super) fn unchecked_caches(folder: &Path, expected: &BTreeSet<&str>) -> Vec<String> {
    let cache = folder.join("__pycache__");
    let is_of_one = |name: &String| {
        let stem = name.split('.').next().unwrap_or_default();
        name.ends_with(".pyc") && expected.contains(format!("{stem}.py").as_str())
    };
    names_if_any(&cache).into_iter().filter(|name| is_of_one(name) && is_unchecked(folder, name)).collect()
}

/// Whether Python runs the compiled file `name` of a source in `folder` without comparing the two, or compares too
/// little.
fn is_unchecked(folder: &Path, name: &str) -> bool {
    let path = folder.join("__pycache__").join(name);
    let Some(head) = read_start(&path, BytecodeHead::LENGTH).and_then(|start| BytecodeHead::parse(&start)) else {
        return false;
    };
    let stem = name.split('.').next().unwrap_or_default();
    head.is_unchecked() || is_older(&path, head, &folder.join(format!("{stem}.py")))
}

/// Whether the compiled file at `path`, with this head, is older than its source and fits it all the same. Both times
/// have to say so: a source can be given a time to come, and a link to it elsewhere changes its ctime.
fn is_older(path: &Path, head: BytecodeHead, source: &Path) -> bool {
    let (Ok(compiled), Ok(source)) = (path.look(), source.look()) else { return false };
    head.fits(source.mtime(), source.len())
        && modified(&compiled) < modified(&source)
        && changed(&compiled) < changed(&source)
}

fn changed(data: &std::fs::Metadata) -> (i64, i64) {
    (data.ctime(), data.ctime_nsec())
}

fn modified(data: &std::fs::Metadata) -> (i64, i64) {
    (data.mtime(), data.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, UNIX_EPOCH};

    use super::{intruders_in, unchecked_caches};
    use crate::core::host::files::write_whole;

    #[test]
    fn what_import_finds_first_is_known() {
        let expected = BTreeSet::from(["six.py", "_yaml.cpython-312-x86_64-linux-gnu.so", "pkg", "fast.abi3.so"]);
        for (path, hides) in [
            ("six/__init__.py", Some("six.py")),
            ("six/data.txt", None),
            ("six.cpython-312-x86_64-linux-gnu.so", Some("six.py")),
            ("six.cpython-311-x86_64-linux-gnu.so", None),
            ("six.so", Some("six.py")),
            ("six.pyc", None),
            ("six.txt", None),
            ("_yaml.py", None),
            ("_yaml/__init__.abi3.so", Some("_yaml.cpython-312-x86_64-linux-gnu.so")),
            ("fast.py", None),
            ("fast.so", None),
            ("pkg.py", None),
            ("own.py", None),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            write_whole(&folder.path().join(path), b"").expect(path);
            let found = intruders_in(folder.path(), &expected, "cpython-312");
            let hidden: Vec<_> = found.iter().filter_map(|one| one.hides.file_name()?.to_str()).collect();
            assert_eq!(hidden, hides.into_iter().collect::<Vec<_>>(), "{path}");
        }
    }

    #[test]
    fn caches_that_nothing_checks_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, flags) in [("a", 0), ("b", 1), ("c", 3), ("d", 1)] {
            let path = folder.path().join(format!("__pycache__/{name}.cpython-312.pyc"));
            write_whole(&path, &[203, 13, 13, 10, flags, 0, 0, 0, 1, 2, 3]).expect(name);
        }
        let found = unchecked_caches(folder.path(), &BTreeSet::from(["a.py", "b.py", "c.py"]));
        assert_eq!(found, ["b.cpython-312.pyc"]);
    }

    #[test]
    fn a_source_that_was_given_another_time_is_no_edited_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, bytes: &[u8], milliseconds: u64| {
            let path = folder.path().join(path);
            write_whole(&path, bytes).expect("a write");
            let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000) + Duration::from_millis(milliseconds);
            std::fs::File::open(&path).and_then(|file| file.set_modified(time)).expect("a time");
            // The clock of a file system goes in steps.
            std::thread::sleep(Duration::from_millis(20));
        };
        let source = |name: &str| write(&format!("{name}.py"), b"a = 2\n", 200);
        let compiled = |name: &str| {
            let [mtime, size] = [1_000_000_000_u32, 6].map(u32::to_le_bytes);
            let head = [[203, 13, 13, 10], [0; 4], mtime, size].concat();
            write(&format!("__pycache__/{name}.cpython-312.pyc"), &head, 100);
        };
        source("given");
        compiled("given");
        compiled("edited");
        source("edited");
        let found = unchecked_caches(folder.path(), &BTreeSet::from(["given.py", "edited.py"]));
        assert_eq!(found, ["edited.cpython-312.pyc"]);
    }
}
