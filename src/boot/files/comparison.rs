//! Compares installed files with RECORD. Of a file that looks as it did when it was last read, nothing is read again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::boot::files::expected::{Expected, Infos, Located};
use crate::boot::files::fault::tried_twice;
use crate::boot::files::folder_now::{FolderNow, see, stamps_of};
use crate::boot::files::intruders::{before_namespace, intruders_in, namespaces, unchecked_caches};
use crate::boot::files::{
    ComparedWith, FileFault, Hashed, HashedDistribution, HashedFolder, Held, Intruder, WrittenFiles,
};
use crate::core::host::files::open;
use crate::core::host::mounts::Look;
use crate::core::host::parallel::on_all_cores;
use crate::core::host::stamps::{Moment, Stamp};
use crate::core::model::{PackageName, Sha256};

/// How files are compared that no earlier comparison has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// They are there and have the size that RECORD says.
    Sizes,
    /// Every byte.
    Bytes,
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    pub depth: Depth,
    /// What earlier comparisons have read.
    pub known: &'a Hashed,
    /// What this run has written: it need not be read again.
    pub written: &'a WrittenFiles<'a>,
    /// The tag of the interpreter, `cpython-312`; `None` where nothing else can have come in between.
    pub tag: Option<&'a str>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Of each distribution, in the order that was asked for.
    pub faults: Vec<Vec<FileFault>>,
    pub basis: Vec<ComparedWith>,
    /// Files that come before those of a distribution.
    pub intruders: Vec<(PackageName, Intruder)>,
    /// The distributions without a fault of which something was read.
    pub hashed: BTreeMap<PackageName, HashedDistribution>,
    /// How many files were looked at, and how many of them were read.
    pub files: usize,
    pub read: usize,
    /// Files of which no more than the size was compared.
    pub by_size: usize,
}

/// A distribution on its way.
struct Pending<'a, 'k> {
    located: &'k Located<'a>,
    known: Option<&'k HashedDistribution>,
    basis: ComparedWith,
    /// Files that have to be read, by RECORD.
    expected: Vec<Expected>,
    /// What each folder with files of it looks like now.
    places: Vec<FolderNow>,
}

/// Of files that were read and are right.
type Stamps = HashMap<OsString, Stamp>;

/// Compares `all`.
pub fn compare(all: Vec<Held<'_>>, look: Options<'_>) -> Comparison {
    let begun = Moment::now();
    let mut compared = Comparison {
        faults: vec![Vec::new(); all.len()],
        basis: vec![ComparedWith::Nothing; all.len()],
        ..Comparison::default()
    };
    let mut infos = Infos::default();
    let mut work: BTreeMap<usize, Pending<'_, '_>> = BTreeMap::new();
    let mut located = Vec::new();
    for (at, held) in all.into_iter().enumerate() {
        match Located::of(held, &mut infos) {
            Ok(one) => located.push((at, one)),
            Err(fault) => compared.faults[at].push(fault),
        }
    }
    let asked: Vec<(usize, &Located<'_>)> = located.iter().map(|(at, one)| (*at, one)).collect();
    for (at, begun) in on_all_cores(&asked, |(at, one)| Some((*at, begin(one, look)))) {
        match begun {
            Ok(one) => drop(work.insert(at, one)),
            Err(fault) => compared.faults[at].push(fault),
        }
    }
    see_known(&mut work);
    for (at, one) in &mut work {
        if let Err(fault) = one.expect_what_differs() {
            compared.faults[*at].push(fault);
        }
    }
    let read = read_files(&work, look, &mut compared);
    see_folders(&work, look, &mut compared);
    for (at, one) in &work {
        compared.basis[*at] = one.basis;
        compared.files += one.places.iter().map(|place| place.files.len()).sum::<usize>();
    }
    let all: Vec<_> = work.iter().collect();
    let known = |(at, one): &(&usize, &Pending<'_, '_>)| {
        let (name, intruders) = (one.located.held.name, &compared.intruders);
        let is_right = compared.faults[**at].is_empty() && intruders.iter().all(|(other, _)| other != name);
        let is_read = look.depth == Depth::Bytes && one.basis != ComparedWith::Nothing && one.has_news();
        let next = (is_right && is_read).then(|| one.known_next(read.get(*at), begun))?;
        // A folder that has no stamp, for a name in it may hide a module, is no news.
        one.known.is_none_or(|known| known.places != next.places).then(|| (name.clone(), next))
    };
    compared.hashed = on_all_cores(&all, known).into_iter().collect();
    compared
}

/// What is known of a distribution, or the whole list of its files.
fn begin<'a, 'k>(located: &'k Located<'a>, look: Options<'k>) -> Result<Pending<'a, 'k>, FileFault> {
    let known = look.known.distributions.get(located.held.name);
    let known = known.filter(|known| known.info == located.info && known.source == located.source);
    if let Some(known) = known {
        let basis = if known.of_wheel { ComparedWith::Wheel } else { ComparedWith::Own };
        return Ok(Pending { located, known: Some(known), basis, expected: Vec::new(), places: Vec::new() });
    }
    let (expected, basis) = located.expected()?;
    let mut folders: HashMap<&Path, Vec<(String, Option<Stamp>)>> = HashMap::new();
    for one in &expected {
        if let (Some(folder), Some(name)) = (one.place.parent(), one.place.file_name()) {
            folders.entry(folder).or_default().push((name.to_string_lossy().into_owned(), None));
        }
    }
    let new = |(folder, files): (&Path, Vec<(String, Option<Stamp>)>)| {
        let (own, cache) = stamps_of(folder);
        FolderNow { folder: folder.to_owned(), own, cache, moved: true, cache_moved: true, files }
    };
    let mut places: Vec<FolderNow> = folders.into_iter().map(new).collect();
    places.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(Pending { located, known: None, basis, expected, places })
}

/// Looks at all files that were read before.
fn see_known(work: &mut BTreeMap<usize, Pending<'_, '_>>) {
    let places = work.iter().flat_map(|(at, one)| {
        one.known.into_iter().flat_map(move |known| known.places.iter().map(|place| (*at, place)))
    });
    let places: Vec<(usize, &HashedFolder)> = places.collect();
    let mut seen = on_all_cores(&places, |(at, place)| Some((*at, see(place))));
    seen.sort_by(|a, b| (a.0, &a.1.folder).cmp(&(b.0, &b.1.folder)));
    for (at, place) in seen {
        if let Some(one) = work.get_mut(&at) {
            one.places.push(place);
        }
    }
}

impl Pending<'_, '_> {
    /// Of a known distribution, what RECORD says of the files that do not look as they did.
    fn expect_what_differs(&mut self) -> Result<(), FileFault> {
        if self.known.is_none() || !self.places.iter().any(|place| place.files.iter().any(|(_, stamp)| stamp.is_none()))
        {
            return Ok(());
        }
        let wanted: BTreeSet<PathBuf> = self
            .places
            .iter()
            .flat_map(|place| {
                let names = place.files.iter().filter(|(_, stamp)| stamp.is_none());
                names.map(|(name, _)| place.folder.join(name)).collect::<Vec<_>>()
            })
            .collect();
        let (mut expected, _) = self.located.expected()?;
        expected.retain(|one| wanted.contains(&one.place));
        self.expected = expected;
        Ok(())
    }

    /// Whether anything is not as it was known.
    fn has_news(&self) -> bool {
        self.known.is_none()
            || !self.expected.is_empty()
            || self.places.iter().any(|place| place.moved || place.cache_moved)
    }

    /// What the next comparison will know.
    fn known_next(&self, read: Option<&Stamps>, begun: Moment) -> HashedDistribution {
        // Of what was not known, the list is whole.
        let contents = self.known.map_or_else(|| self.located.contents(&self.expected), |known| known.contents);
        HashedDistribution {
            info: self.located.info.clone(),
            source: self.located.source,
            of_wheel: self.basis == ComparedWith::Wheel,
            places: self.places.iter().map(|place| folder_of(place, read, begun)).collect(),
            wheel: self.located.held.wheel.map(|(_, wheel)| wheel),
            contents,
            former: Vec::new(),
            follows_another: false,
        }
    }
}

/// What the next comparison will know of a folder, with the stamps of files that were `read`.
fn folder_of(seen: &FolderNow, read: Option<&Stamps>, begun: Moment) -> HashedFolder {
    let own = if seen.may_hide() { Stamp::UNKNOWN } else { seen.own.settled(begun) };
    let cache = seen.cache.settled(begun);
    let folder = &seen.folder;
    let settled = |name: &str| Some(read?.get(folder.join(name).as_os_str())?.settled(begun));
    let files = seen.files.iter().map(|(name, stamp)| {
        let stamp = stamp.or_else(|| settled(name)).unwrap_or(Stamp::UNKNOWN);
        (name.clone(), stamp)
    });
    HashedFolder { own, cache, files: files.collect(), folder: folder.clone() }
}

/// Reads what has to be read. Returns the stamps of the files that are right.
fn read_files(
    work: &BTreeMap<usize, Pending<'_, '_>>,
    Options { depth, written, .. }: Options<'_>,
    compared: &mut Comparison,
) -> HashMap<usize, Stamps> {
    let files = work.iter().flat_map(|(at, one)| one.expected.iter().map(move |file| (*at, file, one.known.is_some())));
    let mut files: Vec<(usize, &Expected, bool)> = files.collect();
    // What is begun last should not take longest.
    files.sort_by_key(|(_, file, _)| Reverse(file.size));
    let mut stamps: HashMap<usize, Stamps> = HashMap::new();
    for (at, place, result) in on_all_cores(&files, |(at, file, was_read): &(usize, &Expected, bool)| {
        let is_read = depth == Depth::Bytes || *was_read;
        let result = if is_read { tried_twice(|| check_bytes(file, written)) } else { check_size(file) };
        Some((*at, file.place.clone().into_os_string(), result))
    }) {
        match result {
            Ok(stamp) => drop(stamps.entry(at).or_default().insert(place, stamp)),
            Err(fault) => compared.faults[at].push(fault),
        }
    }
    compared.by_size = files.iter().filter(|(_, _, was_read)| depth == Depth::Sizes && !was_read).count();
    compared.read = files.len() - compared.by_size;
    stamps
}

/// The stamp of a file that has the bytes it should have.
fn check_bytes(file: &Expected, written: &WrittenFiles<'_>) -> Result<Stamp, FileFault> {
    if let Some(stamp) = known_bytes(file, written) {
        return Ok(stamp);
    }
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileFault::Missing(file.path.clone()),
        _ => FileFault::Unreadable(file.path.clone(), error.to_string()),
    };
    let mut open = open(&file.place).map_err(unreadable)?;
    let stamp = Stamp::of_open(&open).map_err(unreadable)?;
    if file.is_program && open.metadata().map_err(unreadable)?.mode() & 0o111 == 0 {
        return Err(FileFault::NotExecutable(file.path.clone()));
    }
    if file.sha256.is_none() && file.either.is_empty() {
        return Ok(stamp);
    }
    let (digest, _) = Sha256::of_reader(&mut open).map_err(unreadable)?;
    if file.sha256 != Some(digest) && !file.either.contains(&digest) {
        return Err(FileFault::Changed(file.path.clone()));
    }
    // What was written while it was read counts as not read.
    let same = Stamp::of_open(&open).is_ok_and(|after| after == stamp);
    Ok(if same { stamp } else { Stamp::UNKNOWN })
}

/// The stamp of a file that is as this run has written it.
fn known_bytes(file: &Expected, written: &WrittenFiles<'_>) -> Option<Stamp> {
    let data = file.place.look().ok()?;
    let digest = written.digest(&file.place, &data)?;
    let is_right = file.sha256.is_none_or(|expected| expected == digest) || file.either.contains(&digest);
    let may_run = !file.is_program || data.mode() & 0o111 != 0;
    (is_right && may_run).then(|| Stamp::of_data(&data))
}

fn check_size(file: &Expected) -> Result<Stamp, FileFault> {
    let stamp = Stamp::of(&file.place);
    match stamp {
        Stamp::UNKNOWN => Err(FileFault::Missing(file.path.clone())),
        stamp if file.sha256.is_some() && file.size > 0 && stamp.size != file.size => {
            Err(FileFault::Changed(file.path.clone()))
        }
        stamp => Ok(stamp),
    }
}

/// Looks for what has come into folders beside the files of a distribution.
fn see_folders(work: &BTreeMap<usize, Pending<'_, '_>>, look: Options<'_>, compared: &mut Comparison) {
    let Some(tag) = look.tag else { return };
    for one in work.values() {
        let (name, site) = (one.located.held.name, one.located.site());
        let folders =
            one.places.iter().map(|place| (place.folder.as_path(), place.files.iter().map(|(name, _)| name.as_str())));
        let first = namespaces(site, folders).into_iter().flat_map(|top| before_namespace(site, &top));
        compared.intruders.extend(first.map(|one| (name.clone(), one)));
    }
    let all = work.iter().flat_map(|(at, one)| one.places.iter().map(move |place| (*at, place)));
    let moved: Vec<(usize, &FolderNow)> = all.filter(|(_, place)| place.moved || place.cache_moved).collect();
    let found = on_all_cores(&moved, |(at, place): &(usize, &FolderNow)| {
        let expected: BTreeSet<&str> = place.files.iter().map(|(name, _)| name.as_str()).collect();
        let intruders = if place.moved { intruders_in(&place.folder, &expected, tag) } else { Vec::new() };
        let reads_caches = place.cache_moved && look.depth == Depth::Bytes;
        let caches = if reads_caches { unchecked_caches(&place.folder, &expected) } else { Vec::new() };
        let caches: Vec<PathBuf> = caches.into_iter().map(|name| place.folder.join("__pycache__").join(name)).collect();
        (!intruders.is_empty() || !caches.is_empty()).then_some((*at, intruders, caches))
    });
    for (at, intruders, caches) in found {
        let name = work[&at].located.held.name;
        let site = work[&at].located.site();
        // A package of its own beside a module of its own is its business.
        let has_init = |place: &FolderNow| place.files.iter().any(|(name, _)| name.starts_with("__init__."));
        compared.intruders.extend(
            intruders
                .into_iter()
                .filter(|one| !work[&at].places.iter().any(|place| place.folder == one.place && has_init(place)))
                .map(|one| (name.clone(), one)),
        );
        compared.faults[at].extend(
            caches
                .into_iter()
                .map(|path| FileFault::Unchecked(path.strip_prefix(site).unwrap_or(&path).display().to_string())),
        );
    }
    compared.intruders.sort();
}

/// Faults of each of `all`, in their order, by every byte; at most `limit` of their files are listed.
pub fn check_distributions(all: Vec<Held<'_>>, limit: usize) -> Vec<Vec<FileFault>> {
    let look = Options { depth: Depth::Bytes, known: &Hashed::default(), written: &WrittenFiles::default(), tag: None };
    let mut faults = compare(all, look).faults;
    for one in &mut faults {
        one.sort();
        one.truncate(limit);
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::check_distributions;
    use crate::boot::files::{FileFault, Held, ghosts};
    use crate::boot::machine::Layout;
    use crate::boot::state::State;
    use crate::core::host::files::write_whole;
    use crate::core::model::Sha256;

    fn site() -> (tempfile::TempDir, Layout) {
        let folder = tempfile::tempdir().expect("a folder");
        let layout = Layout::of_tests(folder.path());
        for (path, text) in [
            ("a/b.py", "x"),
            ("a-1.0.dist-info/METADATA", "Name: a"),
            ("a-1.0.dist-info/RECORD", "a/b.py,,\n"),
            ("../bin/tool", "#!/x"),
        ] {
            write_whole(&layout.purelib.join(path), text.as_bytes()).expect(path);
        }
        (folder, layout)
    }

    const RECORD: &str = "a/b.py,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,1\n\
        a-1.0.data/scripts/tool,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,1\n\
        ../../etc/passwd,sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE,1\na-1.0.dist-info/RECORD,,\n";

    fn faults(layout: &Layout, version: &str) -> Vec<FileFault> {
        let (state, wheel) = (State::of(&layout.data.join("state"), layout), Sha256::of(b"wheel"));
        state.keep_record(&wheel, RECORD).expect("a write");
        let (name, version) = ("a".parse().expect("a name"), version.parse().expect("a version"));
        let held = Held { layout, name: &name, version: &version, wheel: Some((&state, wheel)) };
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
