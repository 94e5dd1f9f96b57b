//! How installed files differ from their RECORD. After a full disk or a killed installer, exit codes and metadata look right while files
//! are missing or cut short.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::diag::{Code, Failure, Finding};
use crate::host::files::{names_if_any, names_in, open, read_optional};
use crate::inspect::Entry;
use crate::machine::Layout;
use crate::model::wheel::dist_info;
use crate::model::{PackageName, Sha256, Version};

/// What is wrong with a distribution on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileFault {
    /// No dist-info of it.
    NotInstalled,
    /// The one of another version.
    OtherVersion(String),
    /// Several dist-info folders for one name.
    Duplicates(Vec<String>),
    /// Its RECORD, the list of its files, is not there.
    NoRecord,
    Missing(String),
    Changed(String),
    Unreadable(String, String),
}

impl std::fmt::Display for FileFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotInstalled => f.write_str("is not installed"),
            Self::OtherVersion(version) => write!(f, "{version} is installed"),
            Self::Duplicates(names) => write!(f, "is there more than once: {}", names.join(", ")),
            Self::NoRecord => f.write_str("has no RECORD: an installer was interrupted, or it came by other means"),
            Self::Missing(path) => write!(f, "`{path}` is missing"),
            Self::Changed(path) => write!(f, "`{path}` differs from the wheel"),
            Self::Unreadable(path, why) => write!(f, "`{path}` can't be read: {why}"),
        }
    }
}

/// A distribution that is to be compared with its wheel.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    pub layout: &'a Layout,
    pub name: &'a PackageName,
    pub version: &'a Version,
    /// RECORD of its wheel; without one, what its installer wrote down is all there is.
    pub record: Option<Vec<Entry>>,
}

/// Faults of each of `all`, in their order; at most `limit` of their files are listed. Bytes are read on all cores.
pub fn check_distributions(all: Vec<Held<'_>>, limit: usize) -> Vec<Vec<FileFault>> {
    let mut faults: Vec<Vec<FileFault>> = vec![Vec::new(); all.len()];
    let mut work = Vec::new();
    let mut infos = Infos::default();
    for (at, held) in all.into_iter().enumerate() {
        let layout = held.layout;
        match entries_of(held, &mut infos) {
            Ok((entries, site)) => {
                let site = Arc::new(site);
                work.extend(entries.into_iter().map(|entry| (at, entry, Arc::clone(&site), layout)));
            }
            Err(fault) => faults[at].push(fault),
        }
    }
    // What is begun last should not take longest.
    work.sort_by_key(|(_, entry, _, _)| Reverse(entry.size));
    let next = AtomicUsize::new(0);
    let worker = || {
        let take = || work.get(next.fetch_add(1, Ordering::Relaxed));
        let check = |(at, entry, site, layout): &(usize, Entry, Arc<PathBuf>, &Layout)| {
            check_entry(entry, site, layout).map(|fault| (*at, fault))
        };
        std::iter::from_fn(take).filter_map(check).collect::<Vec<_>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).min(work.len());
    let found: Vec<(usize, FileFault)> = std::thread::scope(|scope| {
        // If no more threads can be started, fewer do the work.
        let others: Vec<_> =
            (1..cores).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, worker).ok()).collect();
        let mut found = worker();
        found.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))));
        found
    });
    for (at, fault) in found {
        faults[at].push(fault);
    }
    for one in &mut faults {
        one.sort();
        one.truncate(limit);
    }
    faults
}

/// The files that a distribution should have, and the folder that they lie in.
fn entries_of(held: Held<'_>, infos: &mut Infos) -> Result<(Vec<Entry>, PathBuf), FileFault> {
    let infos = infos.of(held.layout, held.name)?;
    let is_version = |info: &&PathBuf| version_of(info).as_ref() == Some(held.version);
    let other = || infos.iter().find_map(|info| version_of(info));
    let own = infos.iter().find(is_version);
    let own =
        own.ok_or_else(|| other().map_or(FileFault::NotInstalled, |one| FileFault::OtherVersion(one.to_string())))?;
    if infos.len() > 1 {
        let names = infos.iter().filter_map(|info| Some(info.file_name()?.to_string_lossy().into_owned()));
        return Err(FileFault::Duplicates(names.collect()));
    }
    let written = || {
        let text = read_optional(&own.join("RECORD")).map_err(|failure| unreadable(&own.join("RECORD"), &failure))?;
        Ok(crate::inspect::parse_record(&text.unwrap_or_default()))
    };
    let site = own.parent().unwrap_or(&held.layout.purelib).to_owned();
    let entries = match held.record {
        // Scripts are made by the installer, which has written down what it made.
        Some(mut entries) => {
            entries.extend(written()?.into_iter().filter(|entry| script(&entry.path, &site, held.layout).is_some()));
            entries
        }
        None => written()?,
    };
    if entries.is_empty() {
        return Err(FileFault::NoRecord);
    }
    Ok((entries, site))
}

fn check_entry(entry: &Entry, site: &Path, layout: &Layout) -> Option<FileFault> {
    let expected = entry.sha256?;
    // Python and installers write these anew, also those that a wheel has brought.
    if entry.path.ends_with(".pyc") && entry.path.contains("__pycache__/") {
        return None;
    }
    // An installer writes its own RECORD, INSTALLER and direct_url.json; uv drops signatures.
    let made = ["/RECORD", "/RECORD.jws", "/RECORD.p7s", "/INSTALLER", "/REQUESTED", "/direct_url.json"];
    if entry.path.contains(".dist-info/") && made.iter().any(|end| entry.path.ends_with(end)) {
        return None;
    }
    let script = script(&entry.path, site, layout).map(|path| (path, false));
    let (path, rewritten) = script.or_else(|| place(&entry.path, site, layout))?;
    let shown = || entry.path.clone();
    match open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(FileFault::Missing(shown())),
        Err(error) => Some(FileFault::Unreadable(shown(), error.to_string())),
        Ok(_) if rewritten => None,
        Ok(mut file) => match Sha256::of_reader(&mut file) {
            Ok((digest, _)) if digest == expected => None,
            Ok(_) => Some(FileFault::Changed(shown())),
            Err(error) => Some(FileFault::Unreadable(shown(), error.to_string())),
        },
    }
}

/// The place of a script that an installer has written down: `../../../bin/tool`, seen from site-packages.
fn script(path: &str, site: &Path, layout: &Layout) -> Option<PathBuf> {
    let mut place = site.to_owned();
    let mut parts = Path::new(path).components().peekable();
    parts.peek().filter(|part| matches!(part, Component::ParentDir))?;
    for part in parts {
        match part {
            Component::ParentDir => drop(place.pop()),
            Component::Normal(name) => place.push(name),
            _ => return None,
        }
    }
    (place.parent() == Some(&layout.scripts)).then_some(place)
}

/// Where an entry lies after installation, and whether installers rewrite it (scripts get another first line). `None` for what
/// has no fixed place (headers) or would leave the schemes' folders.
fn place(path: &str, site: &Path, layout: &Layout) -> Option<(PathBuf, bool)> {
    let within = |path: &str| {
        !Path::new(path).components().any(|part| matches!(part, Component::ParentDir | Component::RootDir))
    };
    let data = path.split_once('/').filter(|(first, _)| first.ends_with(".data")).map(|(_, rest)| rest);
    let (folder, rest, rewritten) = match data.and_then(|rest| rest.split_once('/')) {
        Some(("purelib" | "platlib", rest)) => (site, rest, false),
        Some(("scripts", rest)) => (layout.scripts.as_path(), rest, true),
        Some(("data", rest)) => (layout.data.as_path(), rest, false),
        Some(_) => return None,
        None => (site, path, false),
    };
    within(rest).then(|| (folder.join(rest), rewritten))
}

/// The dist-info folders of each folder, listed once.
#[derive(Default)]
struct Infos {
    folders: BTreeMap<PathBuf, BTreeMap<PackageName, Vec<PathBuf>>>,
}

impl Infos {
    /// Those of a name in the target's site-packages.
    fn of(&mut self, layout: &Layout, name: &PackageName) -> Result<Vec<PathBuf>, FileFault> {
        let mut found = Vec::new();
        for folder in layout.folders() {
            if !self.folders.contains_key(folder) {
                let listed = list(folder).map_err(|failure| unreadable(folder, &failure))?;
                self.folders.insert(folder.clone(), listed);
            }
            found.extend(self.folders.get(folder).and_then(|all| all.get(name)).into_iter().flatten().cloned());
        }
        Ok(found)
    }
}

fn list(folder: &Path) -> Result<BTreeMap<PackageName, Vec<PathBuf>>, Failure> {
    let mut listed: BTreeMap<PackageName, Vec<PathBuf>> = BTreeMap::new();
    for entry in names_in(folder)? {
        if let Some((name, _)) = dist_info(&entry) {
            listed.entry(name).or_default().push(folder.join(entry));
        }
    }
    Ok(listed)
}

fn unreadable(path: &Path, failure: &Failure) -> FileFault {
    FileFault::Unreadable(path.display().to_string(), failure.to_string())
}

fn version_of(info: &Path) -> Option<Version> {
    dist_info(info.file_name()?.to_str()?)?.1.parse().ok()
}

/// Names with more than one dist-info in site-packages, and leftovers of killed installers.
pub fn ghosts(layout: &Layout) -> Vec<String> {
    let mut seen: BTreeMap<PackageName, Vec<String>> = BTreeMap::new();
    let mut ghosts = Vec::new();
    for entry in names_if_any(&layout.purelib) {
        if entry.starts_with('~') {
            ghosts.push(entry);
        } else if let Some((name, _)) = dist_info(&entry) {
            seen.entry(name).or_default().push(entry.clone());
        }
    }
    ghosts.extend(seen.into_values().filter(|entries| entries.len() > 1).flatten());
    ghosts
}

/// One finding for the faults of a distribution.
pub fn finding_of(name: &PackageName, version: &Version, faults: &[FileFault]) -> Option<Finding> {
    let (first, rest) = faults.split_first()?;
    let mut finding = Finding::error(Code::VerifyFiles, format!("{name} {version}: {first}"));
    for fault in rest {
        finding = finding.with_note(fault.to_string());
    }
    Some(finding.with_help("`colab-boot apply` installs it again"))
}

#[cfg(test)]
mod tests {
    use super::{FileFault, Held, check_distributions, ghosts};
    use crate::host::files::write_whole;
    use crate::inspect::parse_record;
    use crate::machine::Layout;

    fn site() -> (tempfile::TempDir, Layout) {
        let folder = tempfile::tempdir().expect("a folder");
        let purelib = folder.path().join("lib");
        let layout = Layout {
            platlib: purelib.clone(),
            scripts: folder.path().join("bin"),
            data: folder.path().to_owned(),
            externally_managed: false,
            purelib,
        };
        for (path, text) in [("a/b.py", "x"), ("a-1.0.dist-info/METADATA", "Name: a"), ("../bin/tool", "#!/x")] {
            write_whole(&layout.purelib.join(path), text.as_bytes()).expect(path);
        }
        (folder, layout)
    }

    const RECORD: &str = "a/b.py,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,1\n\
        a-1.0.data/scripts/tool,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,1\n\
        ../../etc/passwd,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,1\na-1.0.dist-info/RECORD,,\n";

    fn faults(layout: &Layout, version: &str) -> Vec<FileFault> {
        let record = parse_record(RECORD);
        let (name, version) = ("a".parse().expect("a name"), version.parse().expect("a version"));
        let held = Held { layout, name: &name, version: &version, record: Some(record) };
        check_distributions(vec![held], 9).pop().expect("one answer")
    }

    #[test]
    fn whole_files_pass_and_broken_ones_are_named() {
        let (_keep, layout) = site();
        assert_eq!(faults(&layout, "1.0"), []);
        assert_eq!(faults(&layout, "2.0"), [FileFault::OtherVersion("1.0".into())]);
        write_whole(&layout.purelib.join("a/b.py"), b"y").expect("a write");
        assert_eq!(faults(&layout, "1.0"), [FileFault::Changed("a/b.py".into())]);
        std::fs::remove_file(layout.purelib.join("a/b.py")).expect("a removal");
        assert_eq!(faults(&layout, "1.0"), [FileFault::Missing("a/b.py".into())]);
    }

    #[test]
    fn ghosts_are_seen() {
        let (_keep, layout) = site();
        assert!(ghosts(&layout).is_empty());
        write_whole(&layout.purelib.join("A-0.9.dist-info/METADATA"), b"").expect("a write");
        write_whole(&layout.purelib.join("~a/b.py"), b"").expect("a write");
        assert_eq!(ghosts(&layout), ["~a", "A-0.9.dist-info", "a-1.0.dist-info"]);
        assert!(matches!(faults(&layout, "1.0").as_slice(), [FileFault::Duplicates(_)]));
    }
}
