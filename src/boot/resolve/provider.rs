//! The problem as `PubGrub` sees it: which versions there are, in which order to try them, what each one needs.

use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pep508_rs::MarkerEnvironment;
use pubgrub::{Dependencies, DependencyConstraints, DependencyProvider, PackageResolutionStatistics, VersionSet as _};

use crate::boot::profile::{UpgradeStrategy, Wanted};
use crate::boot::resolve::matrix_edges::{Edge, plausible};
use crate::boot::resolve::package::{Barred, Package};
use crate::boot::resolve::release::{Release, Releases};
use crate::boot::resolve::{Present, Question};
use crate::core::diag::Failure;
use crate::core::matrix::Build;
use crate::core::model::catalog::{Candidate, Listing, PrereleaseRule, Sidecar, Wish};
use crate::core::model::version::is_pin;
use crate::core::model::wheel_names::sdist_version;
use crate::core::model::{ExtraName, PackageName, Version, VersionRange, WheelName};

/// How the profile's own requirements are varied for explanations and fixes.
#[derive(Clone, Debug, Default)]
pub(super) struct Variation {
    /// Other ranges in place of those the profile states.
    pub ranges: BTreeMap<PackageName, VersionRange>,
    /// Packages of the profile to leave out.
    pub without: Vec<PackageName>,
    /// Lines of `[constraints]` and `[overrides]` to leave out.
    pub unbound: Vec<PackageName>,
    /// Releases that earlier searches have ruled out.
    pub barred: Barred,
    /// The most versions to look into before giving up; none means no end.
    pub budget: Option<usize>,
}

/// What is known of a build that the matrix has no row for.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Build(Box<Build>),
    /// It could not be read, and why.
    Unknown(String),
}

/// Tries of one package after which its versions count as neighbours, for a thousand nightly builds would fill the
/// memory. Unions are then larger than their parts, which has kept the solver in one conflict for ever (after eight).
const MANY: usize = 256;

pub(super) struct Provider<'a> {
    pub question: Question<'a>,
    pub(super) markers: MarkerEnvironment,
    pub(super) variation: Variation,
    seen: RefCell<HashMap<Package, usize>>,
    tried: RefCell<HashMap<PackageName, BTreeSet<Version>>>,
    /// How many decisions were made.
    pub(super) steps: Cell<usize>,
    /// How many conflicts each package was in.
    pub(super) conflicts: RefCell<HashMap<Package, u32>>,
    /// The edges of each version that was tried, for "needed by".
    pub edges: RefCell<HashMap<(Package, Version), Vec<Edge>>>,
    /// Builds that the matrix has no row for.
    pub(super) builds: RefCell<HashMap<(PackageName, Version), Known>>,
    /// The profile's packages that apply on this target, in its order and by name.
    applying: Vec<&'a Wanted>,
    by_name: HashMap<&'a PackageName, Vec<&'a Wanted>>,
    /// What the profile asks for, whatever is chosen.
    asked: OnceCell<HashMap<Package, VersionRange>>,
    /// Wheels that may be linked against anything: they were not read, or not to the end, and why.
    pub(super) unread: RefCell<BTreeMap<PackageName, (Version, String)>>,
    /// Extras that a release does not have, with those that it has.
    pub(super) without_extra: RefCell<BTreeMap<(PackageName, ExtraName), String>>,
    /// Releases with a requirement that can't be parsed, and that requirement.
    pub(super) unreadable: RefCell<BTreeMap<(PackageName, Version), String>>,
}

impl<'a> Provider<'a> {
    /// `None` where the target's Python makes no marker environment.
    pub(super) fn new(question: Question<'a>, variation: Variation) -> Option<Self> {
        let markers = question.target.python.marker_environment()?;
        let applies = |one: &&Wanted| one.condition.holds(&markers, None) && !variation.without.contains(&one.name);
        let applying: Vec<&Wanted> = question.profile.wanted.iter().filter(applies).collect();
        let mut by_name: HashMap<&PackageName, Vec<&Wanted>> = HashMap::new();
        for one in &applying {
            by_name.entry(&one.name).or_default().push(one);
        }
        Some(Self {
            question,
            markers,
            variation,
            applying,
            by_name,
            seen: RefCell::default(),
            tried: RefCell::default(),
            conflicts: RefCell::default(),
            steps: Cell::default(),
            edges: RefCell::default(),
            builds: RefCell::default(),
            asked: OnceCell::new(),
            unread: RefCell::default(),
            without_extra: RefCell::default(),
            unreadable: RefCell::default(),
        })
    }

    /// The profile's packages that apply on this target.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &'a Wanted> {
        self.applying.iter().copied()
    }

    /// Those called `name`.
    pub(super) fn wanted_as(&self, name: &PackageName) -> impl Iterator<Item = &'a Wanted> {
        self.by_name.get(name).into_iter().flatten().copied()
    }

    pub(super) fn present(&self, name: &PackageName) -> Option<&'a Present> {
        self.question.target.installed.get(name)
    }

    /// The pinned file that the profile names by address, as a listing of one.
    pub(super) fn listing(&self, name: &PackageName) -> Result<Option<Arc<Listing>>, Failure> {
        let direct = self.wanted_as(name).next().and_then(|one| one.direct.as_ref());
        let Some(direct) = direct else {
            return self.question.catalog.listing(name);
        };
        let file = direct.file();
        let wheel = file.parse::<WheelName>().ok().filter(|wheel| wheel.name == *name).map(|wheel| wheel.version);
        let version = wheel.or_else(|| sdist_version(&file, name)).ok_or_else(|| {
            Failure::input(format!("the address of `{name}` does not end in the name of one of its files"))
                .help("write the whole address of the .whl or .tar.gz file")
        })?;
        let candidate = Candidate {
            version,
            file,
            address: direct.url.to_string(),
            sha256: Some(direct.sha256),
            stated: None,
            size: direct.size,
            yanked: None,
            sidecar: Sidecar::Absent,
            folder: None,
        };
        Ok(Some(Arc::new(Listing { index: "direct".to_owned(), candidates: vec![candidate], ..Listing::default() })))
    }

    fn choose(&self, name: &PackageName, range: &VersionRange) -> Result<Option<Version>, Failure> {
        let range = &self.constrained(name, range);
        let is_upgraded = self.wanted_as(name).any(|one| one.manner.upgrade != UpgradeStrategy::Nothing);
        if let Some(present) = self.keepable(name, range).filter(|_| !is_upgraded) {
            // The lock will name its wheel.
            self.question.catalog.expect_listing(name);
            return Ok(Some(present.version.clone()));
        }
        if self.present(name).is_some_and(|present| present.protected) {
            return Ok(None);
        }
        let Some(listing) = self.listing(name)? else { return Ok(None) };
        let admission = self.admission(name);
        let preferred = self.question.preferred.get(name).filter(|version| range.contains(version));
        let newest = listing.choose(range, admission);
        // A pre-release stays only where one would be chosen today.
        let stays = |one: &&Candidate| {
            let admitted = one.yanked.is_none() || admission.yanked;
            let stable = !one.version.any_prerelease() || admission.prereleases == PrereleaseRule::Equal;
            admitted && (stable || newest.is_some_and(|newest| newest.version.any_prerelease()))
        };
        let chosen = preferred.and_then(|version| listing.get(version)).filter(stays).or(newest);
        if let Some(candidate) = chosen {
            self.fetch_ahead(name, candidate, range, &listing);
        }
        Ok(chosen.map(|candidate| candidate.version.clone()))
    }

    /// `version` of `package`, with the next lower one that could be chosen.
    fn release(&self, package: &Package, version: Version) -> Result<Release, Failure> {
        let Some(name) = package.name() else {
            return Ok(version.into());
        };
        // Of a package with few tries each version stands for itself: that is easier to explain, and costs nothing.
        if self.tried.borrow().get(name).is_none_or(|tried| tried.len() < MANY) {
            return Ok(version.into());
        }
        let listing = self.listing(name)?;
        let lower = |one: &&Version| **one < version;
        let listed = listing.iter().flat_map(|listing| &listing.candidates).map(|one| &one.version).find(lower);
        let present = self.present(name).map(|present| &present.version).filter(lower);
        let below = listed.max(present).cloned();
        Ok(Release { version, below })
    }

    /// When a second version of a package is tried, more will probably follow: have the metadata of the next ones
    /// fetched together. Not for what the matrix rules out version by version, without reading any.
    fn fetch_ahead(&self, name: &PackageName, chosen: &Candidate, range: &VersionRange, listing: &Listing) {
        let mut tried = self.tried.borrow_mut();
        let versions = tried.entry(name.clone()).or_default();
        let new = versions.insert(chosen.version.clone());
        if !new || versions.len() < 2 || self.question.matrix.knows(name) {
            return;
        }
        // The second is often the last; after that it is a search, and the longer it has been, the longer it will
        // probably be.
        let ahead = if versions.len() < 3 { 2 } else { (2 * versions.len()).min(40) };
        // Of packages that are pinned to each other, each version is asked for by itself, and the next one will be,
        // too.
        let few = || listing.candidates.iter().filter(|one| range.contains(&one.version)).nth(2).is_none();
        let one_by_one = versions.len() >= 4 && few();
        let (above, below): (Vec<&Candidate>, Vec<&Candidate>) =
            listing.candidates.iter().partition(|one| one.version > chosen.version);
        // Who was here from below goes on upwards, as far as others let it.
        let upwards = versions.len() >= 4 && below.get(1).is_some_and(|next| versions.contains(&next.version));
        let below = below.into_iter().filter(|one| one_by_one || range.contains(&one.version)).take(ahead);
        let above = above.into_iter().rev().take(if upwards { ahead } else { 0 });
        self.question.catalog.expect_metadata(&below.chain(above).cloned().collect::<Vec<_>>());
    }

    /// The one of `edges` that no answer can meet, for the profile itself asks for something else. It alone rules the
    /// version out; with the others it would only burden the solver, and have pages fetched for nothing.
    fn hopeless(&self, edges: &[Edge]) -> Option<Edge> {
        let asked = self.asked.get_or_init(|| self.root_edges().into_iter().collect());
        let clashes = |(package, range): &&Edge| asked.get(package).is_some_and(|asked| asked.is_disjoint(range));
        edges.iter().find(clashes).cloned()
    }

    fn expect(&self, edges: &[Edge]) {
        let wishes = edges.iter().filter_map(|(package, range)| {
            let extra = match package {
                Package::Extra(_, extra) => Some(extra.clone()),
                Package::Published(_) => return None,
                _ => None,
            };
            let name = package.name()?;
            Some(Wish { package: name.clone(), range: plausible(self.question, name, range), extra })
        });
        self.question.catalog.expect(wishes.collect());
    }
}

/// Larger is decided earlier: the profile, machine facts, packages in many conflicts, pins and what settles CUDA, then
/// first seen first. Among those in many conflicts the order stays as it is: sorted by the number of conflicts they
/// would change places all the time, and the solver could not use what it has learned (eight packages for seven
/// versions: 86 s so, 1.6 s with a fixed order).
pub(super) type Priority = (u8, u32, Reverse<usize>);

impl DependencyProvider for Provider<'_> {
    type P = Package;
    type V = Release;
    type VS = Releases;
    type M = String;
    type Err = Failure;
    type Priority = Priority;

    fn prioritize(&self, package: &Package, range: &Releases, statistics: &PackageResolutionStatistics) -> Priority {
        let mut seen = self.seen.borrow_mut();
        let next = seen.len();
        let order = Reverse(*seen.entry(package.clone()).or_insert(next));
        let conflicts = statistics.conflict_count();
        if conflicts >= 5 {
            self.conflicts.borrow_mut().insert(package.clone(), conflicts);
        }
        match package {
            Package::Profile => (5, 0, order),
            Package::Driver | Package::CudaMajor | Package::Gpu(_) | Package::Owner(_) => (4, 0, order),
            _ if conflicts >= 5 => (3, 0, order),
            _ if is_pin(&range.as_range()) || self.settles_cuda(package) => (2, 0, order),
            _ => (1, 0, order),
        }
    }

    fn choose_version(&self, package: &Package, range: &Releases) -> Result<Option<Release>, Failure> {
        let range = &range.as_range();
        let hardware = &self.question.target.hardware;
        let within = |version: Version| Some(version).filter(|version| range.contains(version));
        let chosen = match package {
            Package::Profile => Ok(within(Version::new([0]))),
            Package::Driver => Ok(hardware.driver.as_ref().and_then(|driver| within(driver.as_version()))),
            Package::Gpu(at) => Ok(hardware.gpus.get(*at).and_then(|gpu| within(gpu.capability.as_version()))),
            Package::CudaMajor => {
                let majors = self.question.matrix.majors();
                Ok(majors.into_iter().find_map(|major| within(Version::new([u64::from(major)]))))
            }
            Package::Published(_) | Package::Owner(_) => Ok(range.as_singleton().cloned()),
            Package::Distribution(name) | Package::Extra(name, _) => self.choose(name, range),
        }?;
        chosen.map(|version| self.release(package, version)).transpose()
    }

    fn should_cancel(&self) -> Result<(), Failure> {
        self.must_have_time()
    }

    fn get_dependencies(
        &self,
        package: &Package,
        release: &Release,
    ) -> Result<Dependencies<Package, Releases, String>, Failure> {
        let version = &release.version;
        let edges = match package {
            Package::Profile => Ok(self.root_edges()),
            Package::Driver | Package::CudaMajor | Package::Gpu(_) | Package::Owner(_) => Ok(Vec::new()),
            Package::Distribution(name) => self.distribution_edges(name, version)?,
            Package::Published(name) => self.published_edges(name, version)?,
            Package::Extra(name, extra) => self.extra_edges(name, extra, version)?,
        };
        Ok(match edges {
            Err(why) => Dependencies::Unavailable(why),
            Ok(edges) => {
                let hopeless = self.hopeless(&edges).filter(|_| *package != Package::Profile);
                let edges = hopeless.map_or(edges, |edge| vec![edge]);
                self.expect(&edges);
                self.edges.borrow_mut().insert((package.clone(), version.clone()), edges.clone());
                // The same release under another name: it has the same neighbour.
                let known = |(package, range): Edge| match package {
                    Package::Published(_) => (package, Releases::singleton(release.clone())),
                    _ => (package, Releases::of(&range)),
                };
                Dependencies::Available(edges.into_iter().map(known).collect::<DependencyConstraints<_, _>>())
            }
        })
    }
}
