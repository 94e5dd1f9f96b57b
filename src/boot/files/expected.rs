//! The files that an installed distribution should have, and where they lie: by the RECORD of its wheel where that is
//! known, else by the one that its installer wrote.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use crate::boot::files::FileFault;
use crate::boot::files::fault::tried_twice;
use crate::boot::machine::Layout;
use crate::boot::state::State;
use crate::core::diag::Failure;
use crate::core::host::files::{names_in, read_optional};
use crate::core::host::stamps::Stamp;
use crate::core::inspect::{Entry, parse_record};
use crate::core::model::wheel_names::{dist_info, metadata_of};
use crate::core::model::{PackageName, Sha256, Version};

/// A distribution that is to be compared with its wheel.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    pub layout: &'a Layout,
    pub name: &'a PackageName,
    pub version: &'a Version,
    /// The wheel that was installed, and where its RECORD was kept; without one, what its installer wrote down is all
    /// there is.
    pub wheel: Option<(&'a State, Sha256)>,
}

/// What the files of a distribution are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedWith {
    /// The RECORD of the locked wheel.
    Wheel,
    /// The RECORD that its installer wrote.
    Own,
    /// Nothing: its RECORD has no digest that could be compared.
    Nothing,
}

/// A distribution that was found on disk.
pub(super) struct Located<'a> {
    pub held: Held<'a>,
    /// Its dist-info folder.
    pub info: PathBuf,
    /// What the list of its files depends on: its RECORD, and the one of its wheel.
    pub source: [Stamp; 2],
}

/// One file.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// As RECORD names it.
    pub path: String,
    pub place: PathBuf,
    /// `None` where installers write it anew (scripts get another first line): it has to be there.
    pub sha256: Option<Sha256>,
    /// Those of which it has one, where several packages have the file.
    pub either: Vec<Sha256>,
    pub size: u64,
    /// A script that installers make for an entry point: a shell has to be able to start it.
    pub is_program: bool,
}

impl<'a> Located<'a> {
    /// Finds the one dist-info of `held`.
    pub(super) fn of(held: Held<'a>, infos: &mut Infos) -> Result<Self, FileFault> {
        let found = infos.of(held.layout, held.name)?;
        let own = found.iter().find(|info| version_of(info).as_ref() == Some(held.version));
        let own = own.ok_or_else(|| {
            found
                .iter()
                .find_map(|info| version_of(info))
                .map_or(FileFault::NotInstalled, |one| FileFault::OtherVersion(one.to_string()))
        })?;
        if found.len() > 1 {
            let names = found.iter().filter_map(|info| Some(info.file_name()?.to_string_lossy().into_owned()));
            return Err(FileFault::Duplicates(names.collect()));
        }
        let kept = held.wheel.map_or(Stamp::UNKNOWN, |(state, wheel)| state.record_stamp(&wheel));
        Ok(Self { source: [Stamp::of(&own.join("RECORD")), kept], info: own.clone(), held })
    }

    /// The folder that its modules lie in.
    pub(super) fn site(&self) -> &Path {
        self.info.parent().unwrap_or(&self.held.layout.purelib)
    }

    /// Its files, by the RECORDs. What can't be read is tried twice.
    pub(super) fn expected(&self) -> Result<(Vec<Expected>, ComparedWith), FileFault> {
        tried_twice(|| self.listed())
    }

    /// What tells whether an installation can have had other code or data than this one: the digest over `expected`,
    /// without metadata and scripts, which installers write each in their own way. What lies outside of site-packages
    /// counts whether `expected` is of a wheel, and has it, or of an installer's list, where it is left out.
    pub(super) fn contents(&self, expected: &[Expected]) -> Sha256 {
        let outside = self.outside(expected);
        let mut lines: Vec<String> = expected
            .iter()
            .chain(&outside)
            .filter(|one| !one.place.starts_with(&self.info) && one.place.parent() != Some(&self.held.layout.scripts))
            .map(|one| format!("{} {:?}\n", one.place.display(), one.sha256))
            .collect();
        lines.sort();
        Sha256::of(lines.concat().as_bytes())
    }

    /// The files outside of site-packages that its installer has listed and `expected` does not have: data of a package
    /// of which the wheel is not known, headers.
    pub(super) fn outside(&self, expected: &[Expected]) -> Vec<Expected> {
        let text = read_optional(&self.info.join("RECORD")).ok().flatten().unwrap_or_default();
        let known: HashSet<&Path> = expected.iter().map(|one| one.place.as_path()).collect();
        let outside = parse_record(&text).into_iter().filter(|entry| entry.path.starts_with("../"));
        let places = outside.filter_map(|entry| {
            let place = listed_place(&entry.path, self.site(), self.held.layout)?;
            let sha256 = Some(entry.sha256?);
            let (path, size, either) = (entry.path, entry.size, Vec::new());
            (!known.contains(place.as_path())).then_some(Expected {
                path,
                place,
                sha256,
                either,
                size,
                is_program: false,
            })
        });
        places.collect()
    }

    /// What its installer has listed and the wheel that is known does not have, or not so: files of another build of
    /// the same version, which somebody has installed in its place.
    pub(super) fn of_other_build(&self) -> Vec<Expected> {
        let (layout, site) = (self.held.layout, self.site());
        let of_wheel = self.of_wheel();
        if of_wheel.is_empty() {
            return Vec::new();
        }
        let placed = |entry: Entry, is_wheel| expected(entry, is_wheel, site, layout);
        // Each package lists a common file with its own digest.
        let either = of_wheel.iter().filter(|one| !one.either.is_empty()).map(|one| one.place.clone());
        let either: HashSet<PathBuf> = either.collect();
        let of_wheel: HashSet<(PathBuf, Option<Sha256>)> =
            of_wheel.into_iter().map(|one| (one.place, one.sha256)).collect();
        let text = read_optional(&self.info.join("RECORD")).ok().flatten().unwrap_or_default();
        let own = parse_record(&text).into_iter().filter(|entry| script(&entry.path, site, layout).is_none());
        let own = own.filter(|entry| !is_header(&entry.path)).filter_map(|entry| placed(entry, false));
        let own = own.filter(|one| !either.contains(&one.place));
        own.filter(|one| !of_wheel.contains(&(one.place.clone(), one.sha256))).collect()
    }

    /// Its files by the RECORD of its wheel alone; none where that is not known.
    pub(super) fn of_wheel(&self) -> Vec<Expected> {
        let kept = self.held.wheel.and_then(|(state, wheel)| state.record(&wheel).ok().flatten());
        let entries = kept.into_iter().flatten();
        entries.filter_map(|entry| expected(entry, true, self.site(), self.held.layout)).collect()
    }

    fn listed(&self) -> Result<(Vec<Expected>, ComparedWith), FileFault> {
        let record = self.info.join("RECORD");
        let text = read_optional(&record).map_err(|failure| unreadable(&record, &failure))?;
        let own = parse_record(&text.ok_or(FileFault::NoRecord)?);
        let kept = match self.held.wheel {
            None => None,
            Some((state, wheel)) => state.record(&wheel).map_err(|failure| unreadable(&record, &failure))?,
        };
        // A wheel whose list has no digests says nothing of bytes: what its installer has written down does.
        let says = |entries: &Vec<Entry>| entries.iter().any(|one| one.sha256.is_some() || !one.either.is_empty());
        let kept = kept.filter(says);
        let (layout, site) = (self.held.layout, self.site());
        // An installer that goes by its own list would leave the others behind.
        let left_out = kept.iter().flat_map(|kept| unlisted(kept, &own, site, layout)).map(|(entry, _)| entry);
        if let Some(path) = left_out.filter(|entry| !is_of_data(&entry.path)).map(|entry| entry.path.clone()).next() {
            return Err(FileFault::Unlisted(path));
        }
        let basis = match &kept {
            Some(entries) if entries.iter().any(|entry| entry.sha256.is_some()) => ComparedWith::Wheel,
            None if own.iter().any(|entry| entry.sha256.is_some()) => ComparedWith::Own,
            _ => ComparedWith::Nothing,
        };
        let is_wheel = kept.is_some();
        let of_data = kept.iter().flatten().filter(|entry| is_of_data(&entry.path));
        let brought: HashSet<PathBuf> = of_data.filter_map(|entry| Some(place(&entry.path, site, layout)?.0)).collect();
        let entries = match kept {
            // Scripts are made by the installer, which has written down what it made.
            Some(mut entries) => {
                entries.extend(
                    own.into_iter()
                        .filter(|entry| script(&entry.path, site, layout).is_some() || is_header(&entry.path)),
                );
                entries
            }
            None => own,
        };
        if entries.is_empty() {
            return Err(FileFault::NoRecord);
        }
        let mut all: Vec<Expected> =
            entries.into_iter().filter_map(|entry| expected(entry, is_wheel, site, layout)).collect();
        for one in all.iter_mut().filter(|_| is_wheel) {
            one.is_program = one.place.parent() == Some(&layout.scripts) && !brought.contains(&one.place);
        }
        Ok((all, basis))
    }
}

/// Those of `kept`, the RECORD of a wheel, that `own`, the one that its installer wrote, leaves out; each with its
/// place.
pub(super) fn unlisted<'e>(
    kept: &'e [Entry],
    own: &[Entry],
    site: &Path,
    layout: &Layout,
) -> impl Iterator<Item = (&'e Entry, PathBuf)> {
    let paths: HashSet<&str> = own.iter().map(|entry| entry.path.as_str()).collect();
    // What both name alike has one place.
    let is_named = |path: &str| !is_of_data(path) && paths.contains(path);
    let others = kept.iter().filter(|entry| !is_named(&entry.path));
    let placed = others.filter_map(|entry| Some((entry, expected(entry.clone(), true, site, layout)?.place)));
    let placed: Vec<(&Entry, PathBuf)> = placed.collect();
    let listed: HashSet<PathBuf> = match placed.as_slice() {
        [] => HashSet::new(),
        _ => own.iter().map(|entry| lexical(&entry.path, site)).collect(),
    };
    placed.into_iter().filter(move |(_, place)| !listed.contains(place))
}

/// Whether a path of a wheel lies in its `.data` folder, whose files go elsewhere.
fn is_of_data(path: &str) -> bool {
    path.split('/').next().unwrap_or_default().ends_with(".data")
}

/// `path` of a RECORD, seen from site-packages.
pub fn lexical(path: &str, site: &Path) -> PathBuf {
    let mut place = site.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(place.pop()),
            Component::CurDir => {}
            other => place.push(other),
        }
    }
    place
}

/// What is to be there for a line of RECORD; `None` for what installers write themselves, and for what has no fixed
/// place or would leave the schemes' folders. A line of a wheel's with several digests is a file that another package
/// has, too; one without any says nothing of its bytes.
fn expected(entry: Entry, is_wheel: bool, site: &Path, layout: &Layout) -> Option<Expected> {
    if entry.sha256.is_none() && (!is_wheel || entry.either.is_empty()) {
        return None;
    }
    // Python and installers write these anew, also those that a wheel has brought.
    if entry.path.ends_with(".pyc") && entry.path.contains("__pycache__/") {
        return None;
    }
    // An installer writes its own RECORD, INSTALLER and direct_url.json, and uv what it knows of the source; uv drops
    // signatures.
    let made = [
        "/RECORD",
        "/RECORD.jws",
        "/RECORD.p7s",
        "/INSTALLER",
        "/REQUESTED",
        "/direct_url.json",
        "/uv_cache.json",
        "/uv_build.json",
    ];
    if entry.path.contains(".dist-info/") && made.iter().any(|end| entry.path.ends_with(end)) {
        return None;
    }
    let script = script(&entry.path, site, layout).map(|path| (path, false));
    let header =
        || listed_place(&entry.path, site, layout).filter(|_| is_header(&entry.path)).map(|path| (path, false));
    let (place, rewritten) = script.or_else(header).or_else(|| place(&entry.path, site, layout))?;
    let sha256 = entry.sha256.filter(|_| !rewritten);
    let size = if entry.sha256.is_none() { 0 } else { entry.size };
    let either = if rewritten { Vec::new() } else { entry.either };
    Some(Expected { path: entry.path, place, sha256, either, size, is_program: false })
}

/// Where the file lies that an installer has listed in a RECORD of `site`; `None` outside of the schemes' folders.
pub fn listed_place(path: &str, site: &Path, layout: &Layout) -> Option<PathBuf> {
    let place = lexical(path, site);
    [site, &layout.scripts, &layout.data].iter().any(|folder| place.starts_with(folder)).then_some(place)
}

/// The place of a script that an installer has written down: `../../../bin/tool`, seen from site-packages.
fn script(path: &str, site: &Path, layout: &Layout) -> Option<PathBuf> {
    let place = path.starts_with("../").then(|| lexical(path, site))?;
    (place.parent() == Some(&layout.scripts)).then_some(place)
}

/// Whether an installer has put a header there: `../../../include/site/python3.12/demo/demo.h`. Where that is, each
/// decides for itself.
fn is_header(path: &str) -> bool {
    path.starts_with("../") && path.trim_start_matches("../").starts_with("include/")
}

/// Where an entry of a RECORD, or a member of a wheel, lies after installation, and whether installers rewrite it;
/// `None` for what has no fixed place.
pub fn place(path: &str, site: &Path, layout: &Layout) -> Option<(PathBuf, bool)> {
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

/// Where the entries of a wheel's RECORD lie after installation, in each site-packages, with their digests; without one
/// where installers rewrite them.
pub fn placed<'a>(record: &'a [Entry], layout: &'a Layout) -> impl Iterator<Item = (PathBuf, Option<Sha256>)> + 'a {
    layout.folders().into_iter().flat_map(move |site| {
        record.iter().filter_map(move |entry| {
            let (place, rewritten) = place(&entry.path, site, layout)?;
            Some((place, entry.sha256.filter(|_| !rewritten)))
        })
    })
}

fn within(path: &str) -> bool {
    !Path::new(path).components().any(|part| matches!(part, Component::ParentDir | Component::RootDir))
}

/// The metadata in each folder, of wheels and of older tools, listed once.
#[derive(Default)]
pub(super) struct Infos {
    folders: BTreeMap<PathBuf, BTreeMap<PackageName, Vec<PathBuf>>>,
}

impl Infos {
    /// Those of a name in the target's site-packages.
    fn of(&mut self, layout: &Layout, name: &PackageName) -> Result<Vec<PathBuf>, FileFault> {
        let mut found = Vec::new();
        for folder in layout.folders() {
            if !self.folders.contains_key(folder) {
                let listed = tried_twice(|| list(folder).map_err(|failure| unreadable(folder, &failure)))?;
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
        if let Some(name) = metadata_of(&entry) {
            listed.entry(name).or_default().push(folder.join(entry));
        }
    }
    Ok(listed)
}

pub(super) fn unreadable(path: &Path, failure: &Failure) -> FileFault {
    FileFault::Unreadable(path.display().to_string(), failure.to_string())
}

/// The version that the name of a dist-info folder says.
pub fn version_of(info: &Path) -> Option<Version> {
    dist_info(info.file_name()?.to_str()?)?.1.parse().ok()
}
