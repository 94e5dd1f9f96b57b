//! A look at the files of the locked distributions: all of them at every plan and apply, by what earlier looks have
//! read; and at what comes before them when Python imports.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::boot::files::{
    ComparedWith, Depth, FileFault, Hashed, HashedDistribution, Held, Options, StartUp, WrittenFiles,
    check_distributions, compare, installed_contents, is_shared_script, looks,
};
use crate::boot::ledger::Hand;
use crate::boot::lock::{LockedPackage, LockedTarget, LockedWheel};
use crate::boot::machine::{Layout, installed_modules};
use crate::boot::marker::Marker;
use crate::boot::notebook::Loaded;
use crate::boot::profile::NamedIndex;
use crate::boot::seen::Seen;
use crate::boot::seen::{hidden, is_code};
use crate::boot::session::Session;
use crate::boot::situation::known_looks::KnownLooks;
use crate::boot::situation::start_up::{Importable, Start};
use crate::boot::state::State;
use crate::boot::verdict::Files;
use crate::core::diag::{Failure, Finding, others};
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::model::{PackageName, Sha256, Version};

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Files that changed since they were last read; of others that were never read the size is compared.
    Least,
    /// Whatever was never read, or changed since.
    News,
    /// Every file.
    All,
}

/// What was found.
#[derive(Debug, Default)]
pub struct FileCheck {
    /// What is wrong with the files of locked distributions.
    pub faults: BTreeMap<PackageName, Vec<FileFault>>,
    /// What the others were compared with.
    pub basis: BTreeMap<PackageName, ComparedWith>,
    /// Distributions of the right version that are to be installed again, each with the reason.
    pub broken: BTreeMap<PackageName, String>,
    pub findings: Vec<Finding>,
    /// Files of locked packages that Python's start rewrites.
    rewritten: BTreeMap<PathBuf, PackageName>,
    /// What earlier checks have read.
    before: Hashed,
    /// What earlier checks and this one have read, where this one has read something.
    pub hashed: Hashed,
    /// This check has read more than earlier ones.
    pub has_news: bool,
    files: usize,
    read: usize,
    by_size: usize,
    looks: OnceLock<KnownLooks>,
}

/// Where to look.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub layout: &'a Layout,
    pub state: &'a State,
    pub target: &'a LockedTarget,
    pub seen: &'a Seen,
    pub marker: Option<&'a Marker>,
    /// Indexes that the profile names.
    pub indexes: &'a [NamedIndex],
}

impl Scene<'_> {
    /// The names that an apply which did not end has changed.
    fn doubted(&self) -> &[PackageName] {
        self.marker.map(Marker::doubted).unwrap_or_default()
    }

    /// Whether `package` has files that a wheel says: Debian's own packages have files that Debian has changed, and
    /// what no index has is known by its version alone.
    fn can_be_compared(&self, package: &LockedPackage) -> bool {
        package.wheel().is_some() && is_ours(self.layout, self.seen, &package.name)
    }

    fn is_installed(&self, package: &LockedPackage) -> bool {
        self.seen.machine.installed.get(&package.name).is_some_and(|one| one.version == package.version)
    }
}

impl Session<'_> {
    /// Looks at the files of all locked distributions that are installed.
    pub fn check_files(&self, scene: Scene<'_>, reading: Reading) -> Result<FileCheck, Failure> {
        let known: Hashed = if reading == Reading::All { Hashed::default() } else { scene.state.hashed() };
        let (comparable, others): (Vec<_>, Vec<_>) =
            scene.target.packages.iter().partition(|one| scene.can_be_compared(one));
        let layouts: Vec<Layout> = comparable.iter().map(|one| where_it_lies(scene, &one.name)).collect();
        let held = comparable.iter().zip(&layouts).map(|(one, layout)| held(layout, scene.state, one)).collect();
        let tag = scene.seen.machine.python.as_ref().map(|python| python.facts.cache_tag());
        let depth = if reading == Reading::Least { Depth::Sizes } else { Depth::Bytes };
        let compared =
            compare(held, Options { depth, known: &known, written: &WrittenFiles::default(), tag: tag.as_deref() });
        let mut check =
            FileCheck { files: compared.files, read: compared.read, by_size: compared.by_size, ..FileCheck::default() };
        let rewritten = scene.state.notes().rewritten.into_iter();
        check.rewritten = rewritten.filter(|(_, name)| scene.target.package(name).is_some()).collect();
        for one in others {
            check.add_version(scene, one);
        }
        for (at, one) in comparable.iter().enumerate() {
            check.add(scene, one, &compared.faults[at], compared.basis[at]);
        }
        check.findings.extend(self.matrix.without_handed_over(hidden(scene.seen, &compared.intruders)));
        check.broken.extend(half_back(scene)?);
        check.broken.extend(from_elsewhere(scene)?);
        let mut startup = known.startup_now(self.startup_files(scene.seen, scene.layout));
        let judged = scene.target.packages.iter().filter(|one| scene.is_installed(one));
        let judged: BTreeMap<_, _> = judged.map(|one| (one.name.clone(), one.version.clone())).collect();
        let same_start = known.has_judged(&startup, &judged);
        let mut has_started = true;
        if reading != Reading::Least && !same_start {
            let start = self.hidden_by_startup(scene, &startup, &known)?;
            check.findings.extend(start.findings);
            has_started = start.imported.is_some();
            startup.imported = looks(start.imported.iter().flatten());
        }
        check.has_news = reading != Reading::Least && !(same_start && compared.hashed.is_empty());
        check.before = if reading == Reading::All { scene.state.hashed() } else { known };
        check.hashed = if check.has_news { check.before.clone().with(compared.hashed) } else { Hashed::default() };
        // What every byte has shown to be wrong is read again by the next apply, whatever its files look like.
        let distrusts = reading == Reading::All && !check.faults.is_empty();
        check.hashed = if check.has_news || !distrusts { check.hashed } else { check.before.clone() };
        check.has_news |= distrusts;
        check.hashed = check.hashed.trusting(&|name: &PackageName| {
            scene.target.package(name).is_some() && !(distrusts && check.faults.contains_key(name))
        });
        if has_started && check.findings.is_empty() {
            check.hashed.keep_judged(startup, judged);
        }
        Ok(check)
    }

    /// Locked distributions of which `import` finds another copy, now that `startup` runs when Python starts.
    fn hidden_by_startup(&self, scene: Scene<'_>, startup: &StartUp, known: &Hashed) -> Result<Start, Failure> {
        let mut wanted = Vec::new();
        for one in scene.target.packages.iter().filter(|one| scene.is_installed(one)) {
            let installed = scene.seen.machine.installed.get(&one.name);
            if let Some(location) = installed.and_then(|one| one.location.clone()) {
                let modules = installed_modules(&one.name, &location)?;
                wanted.push(Importable { name: one.name.clone(), modules, location });
            }
        }
        Ok(self.found_elsewhere(scene.seen, &wanted, startup.since(known.startup()).into_iter()))
    }
}

impl FileCheck {
    /// Adds what was found of one distribution.
    fn add(&mut self, scene: Scene<'_>, package: &LockedPackage, faults: &[FileFault], basis: ComparedWith) {
        let faults: Vec<FileFault> =
            faults.iter().filter(|fault| !is_of_another_script(fault, scene.layout)).cloned().collect();
        let Some(first) = faults.iter().min() else {
            self.basis.insert(package.name.clone(), basis);
            return;
        };
        let is_ours = matches!(scene.seen.ledger.hand(&package.name, Some(&package.version)), Hand::Ours(_));
        let doubted = scene.doubted().contains(&package.name);
        // The image has it without a list of its files: there is nothing to compare with.
        if *first == FileFault::NoRecord && !is_ours && !doubted {
            self.basis.insert(package.name.clone(), ComparedWith::Nothing);
            return;
        }
        let mut faults = faults.clone();
        faults.sort();
        // Another version is a change of its own.
        if scene.is_installed(package) {
            self.broken.insert(package.name.clone(), format!("{first}{}", others(faults.len() - 1)));
        }
        self.faults.insert(package.name.clone(), faults);
    }

    /// What is known by its version alone.
    fn add_version(&mut self, scene: Scene<'_>, package: &LockedPackage) {
        if scene.is_installed(package) {
            self.basis.insert(package.name.clone(), ComparedWith::Nothing);
            return;
        }
        let installed = scene.seen.machine.installed.get(&package.name);
        let fault = installed.map_or(FileFault::NotInstalled, |one| FileFault::OtherVersion(one.version.to_string()));
        self.faults.insert(package.name.clone(), vec![fault]);
    }

    /// Whether `file` of a distribution had the right bytes of `version` when it looked like `stamp`.
    pub fn was_right(&self, (name, version): (&PackageName, &Version), file: &Path, stamp: Option<Stamp>) -> bool {
        let looks = self.known_looks();
        let mut owners = stamp.into_iter().flat_map(|stamp| looks.owners(file, stamp));
        owners.any(|(own, of)| own == name && of.as_ref() == Some(version))
    }

    /// Whether `place` looks as a file of a distribution did when it was right.
    pub fn knows(&self, place: &Path) -> bool {
        self.known_looks().owners(place, Stamp::of(place)).next().is_some()
    }

    /// What this check and earlier ones know.
    fn known_looks(&self) -> &KnownLooks {
        self.looks.get_or_init(|| KnownLooks::of([&self.hashed, &self.before]))
    }

    /// The files of `version` of a distribution, where it was installed from the wheel `sha256` when it was last seen.
    pub fn files_of(&self, name: &PackageName, version: &Version, sha256: Sha256) -> Option<Vec<PathBuf>> {
        self.known(name).find_map(|one| one.files_of(version, sha256))
    }

    /// Whether the kernel has mapped a library of a distribution.
    pub fn maps_some(&self, name: &PackageName, loaded: &Loaded) -> bool {
        self.known(name).any(|one| {
            one.files().any(|(file, _)| {
                let is_it =
                    loaded.mapped.contains(&file) || file.real().is_ok_and(|real| loaded.mapped.contains(&real));
                is_code(&file.to_string_lossy()) && is_it
            })
        })
    }

    /// The files that earlier checks and this one have seen of a distribution.
    pub fn seen_files(&self, name: &PackageName) -> BTreeSet<PathBuf> {
        self.known(name).flat_map(HashedDistribution::files).map(|(file, _)| file).collect()
    }

    /// The files of a distribution with all that they have looked like when they were right.
    pub fn looks_of(&self, name: &PackageName) -> HashSet<(PathBuf, Stamp)> {
        self.known(name).flat_map(HashedDistribution::looks).collect()
    }

    /// What this check and earlier ones know of a distribution.
    fn known(&self, name: &PackageName) -> impl Iterator<Item = &HashedDistribution> {
        [&self.hashed, &self.before].into_iter().filter_map(move |hashed| hashed.distributions.get(name))
    }

    /// Whether another version of a distribution than this one was seen here before.
    pub fn had_other_than(&self, name: &PackageName, version: &Version) -> bool {
        self.known(name).any(|one| one.had_other_than(version))
    }

    /// What was read, with the distributions that were installed and read since.
    pub fn hashed_with(&self, new: BTreeMap<PackageName, HashedDistribution>) -> Hashed {
        let known = if self.has_news { &self.hashed } else { &self.before };
        known.clone().with(new)
    }

    /// What was compared, where `installed` are packages that were installed and read since.
    pub fn evidence(&self, installed: &[PackageName]) -> Files {
        let of_wheel = installed.iter().map(|name| (name, ComparedWith::Wheel));
        let kept = self.basis.iter().map(|(name, basis)| (name, *basis));
        let all: BTreeMap<&PackageName, ComparedWith> = kept.chain(of_wheel).collect();
        let count = |basis: ComparedWith| all.values().filter(|one| **one == basis).count();
        let rewritten = self.rewritten.iter().filter(|(_, name)| !installed.contains(name));
        let faulty = self.faults.keys().filter(|name| !installed.contains(name));
        Files {
            against_wheel: count(ComparedWith::Wheel),
            against_own: count(ComparedWith::Own),
            by_version: count(ComparedWith::Nothing),
            files: self.files,
            read: self.read,
            by_size: self.by_size,
            faulty: faulty.cloned().collect(),
            rewritten: rewritten.map(|(place, _)| place.clone()).collect(),
        }
    }
}

/// Whether a script is at fault that another distribution has, too, and has written.
pub fn is_of_another_script(fault: &FileFault, layout: &Layout) -> bool {
    matches!(fault, FileFault::Changed(path) if is_shared_script(path, layout))
}

/// The layout with the folder that `import` finds the distribution in: it may be there in both.
fn where_it_lies(scene: Scene<'_>, name: &PackageName) -> Layout {
    let mut layout = scene.layout.clone();
    if let Some(folder) = scene.seen.machine.installed.get(name).and_then(|one| one.location.clone()) {
        layout.purelib.clone_from(&folder);
        layout.platlib = folder;
    }
    layout
}

/// Whether a distribution lies where installers for this environment put it: Debian's own lie elsewhere, and no RECORD
/// of a wheel is theirs.
fn is_ours(layout: &Layout, seen: &Seen, name: &PackageName) -> bool {
    let location = seen.machine.installed.get(name).and_then(|one| one.location.as_ref());
    location.is_none_or(|folder| layout.folders().contains(&folder))
}

/// Those from a place of their own that were never installed from here: another file may have the same version.
fn from_elsewhere(scene: Scene<'_>) -> Result<BTreeMap<PackageName, String>, Failure> {
    let mut found = BTreeMap::new();
    for package in &scene.target.packages {
        let installed = scene.seen.machine.installed.get(&package.name);
        let is_there = installed.is_some_and(|one| one.version == package.version);
        let own = package.wheel().filter(|wheel| is_there && is_of_own_place(scene, package, wheel));
        if let Some(wheel) = own
            && !was_built_from(scene, package, wheel)?
            && !wheel.sha256.map_or(Ok(false), |digest| scene.state.record_text(&digest).map(|text| text.is_some()))?
        {
            found.insert(package.name.clone(), "it is unknown whether its files are from the wheel".to_owned());
        }
    }
    Ok(found)
}

/// Whether `wheel` is from an address, or from an index that the profile names for it: the one that pip uses may have
/// another one of that name and version. A version with a label is on no public one.
fn is_of_own_place(scene: Scene<'_>, package: &LockedPackage, wheel: &LockedWheel) -> bool {
    let alone =
        |index: &NamedIndex| index.page.is_none() && (index.is_default || index.packages.contains(&package.name));
    let is_bound = scene.indexes.iter().any(|index| index.name == wheel.index && alone(index));
    wheel.index == "direct" || is_bound && !package.version.is_local()
}

/// Whether what is installed was built from the file `wheel`: the ledger says so, no apply was stopped on the way
/// there, and no other tool has installed another build since.
fn was_built_from(scene: Scene<'_>, package: &LockedPackage, wheel: &LockedWheel) -> Result<bool, Failure> {
    let entry = scene.seen.ledger.distributions.get(&package.name);
    let entry = entry.filter(|entry| entry.version == package.version && entry.from.is_none());
    let is_from = entry.is_some_and(|entry| entry.sha256.is_some() && entry.sha256 == wheel.sha256);
    if !is_from || scene.doubted().contains(&package.name) {
        return Ok(false);
    }
    let made = entry.and_then(|entry| entry.contents);
    Ok(made.is_none() || made == installed_contents(scene.layout, &package.name)?)
}

/// What was on its way back when an apply was killed, and is not whole.
fn half_back(scene: Scene<'_>) -> Result<BTreeMap<PackageName, String>, Failure> {
    let mut held = Vec::new();
    let doubted: BTreeSet<&PackageName> = scene.doubted().iter().collect();
    for name in doubted.into_iter().filter(|name| scene.target.package(name).is_none()) {
        let installed = scene.seen.machine.installed.get(name);
        let entry = scene.seen.ledger.distributions.get(name);
        let entry = entry.filter(|entry| installed.is_some_and(|one| one.version == entry.version));
        if let Some((entry, digest)) = entry.and_then(|entry| Some((entry, entry.sha256?)))
            && scene.state.record_text(&digest)?.is_some()
        {
            held.push(Held { layout: scene.layout, name, version: &entry.version, wheel: Some((scene.state, digest)) });
        }
    }
    let all: Vec<PackageName> = held.iter().map(|one| one.name.clone()).collect();
    let faults = check_distributions(held, 1);
    let broken = all.into_iter().zip(faults).filter_map(|(name, faults)| Some((name, faults.first()?.to_string())));
    Ok(broken.collect())
}

/// `package` as it is compared: with the RECORD of its wheel, where it was installed from here.
pub fn held<'a>(layout: &'a Layout, state: &'a State, package: &'a LockedPackage) -> Held<'a> {
    let wheel = known_wheel(state, package.wheel().and_then(|wheel| wheel.sha256));
    Held { layout, name: &package.name, version: &package.version, wheel }
}

/// The wheel of this digest as files are compared with it, where its RECORD was kept.
pub fn known_wheel(state: &State, sha256: Option<Sha256>) -> Option<(&State, Sha256)> {
    sha256.filter(|digest| state.record_stamp(digest) != Stamp::UNKNOWN).map(|digest| (state, digest))
}
