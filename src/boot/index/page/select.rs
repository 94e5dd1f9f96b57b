//! Files of a page → the best wheel of each version for a target, and for versions without one the reason.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use pep440_rs::Version;
use pep508_rs::PackageName;
use url::Url;

use crate::boot::index::credentials::without_login;
use crate::boot::index::page::{Buildable, Filter, PageFile};
use crate::boot::index::which_index::may_lead;
use crate::core::model::catalog::{Candidate, Listing, Rejection, Sidecar, pythons_of};
use crate::core::model::day::moment_in;
use crate::core::model::requirement::lenient_specifiers;
use crate::core::model::wheel_names::{NotAWheel, Parts, build_tag, sdist_version};

/// Smaller is better: what was not withdrawn, then tags, then the higher build number; the name last, for the order of
/// a page says nothing.
type WheelRank<'a> = (bool, (u32, u32), Reverse<Option<(u64, String)>>, &'a str);

/// A wheel of the package: its place in the list, and its name taken apart.
type Wheel<'a> = (usize, Parts<'a>);

/// What a page has of one version.
#[derive(Default)]
struct PageRelease<'a> {
    best: Option<(WheelRank<'a>, usize)>,
    wheels: Vec<Wheel<'a>>,
    sources: Vec<usize>,
}

/// What the page at `page` has of `package` for a target; its links are relative to `base`.
pub(super) fn select(
    listed: &[PageFile<'_>],
    page: &Url,
    base: &Url,
    package: &PackageName,
    filter: &Filter,
) -> Listing {
    let mut judge = Judge { listed, filter, pythons: HashMap::new() };
    let mut listing = Listing::default();
    let releases = group(listed, package, &mut listing);
    // A newer release has wheels for other Pythons alone. Pip takes its source, which seldom builds for this one, and
    // does not go on to an older source.
    let mut is_passed = false;
    for (version, mut release) in releases.into_iter().rev() {
        for (at, parts) in &release.wheels {
            let Some(rank) = judge.rank(*at, parts) else { continue };
            if release.best.as_ref().is_none_or(|(best, _)| rank < *best) {
                release.best = Some((rank, *at));
            }
        }
        let may_build = match &filter.buildable {
            Buildable::Named(names) => names.contains(package),
            Buildable::WithoutWheels if release.best.is_some() || release.sources.is_empty() => false,
            Buildable::WithoutWheels => {
                let for_others = judge.has_wheels_for_others(&release);
                let is_tried = release.sources.iter().any(|at| judge.may_use(*at)) && !version.any_prerelease();
                is_passed |= for_others && is_tried;
                !for_others && !is_passed
            }
        };
        let mut usable: Vec<usize> =
            release.sources.iter().copied().filter(|at| may_build && judge.may_use(*at)).collect();
        // Of several archives of one release the one that PEP 625 names.
        usable.sort_by_key(|at| (!listed[*at].file.ends_with(".tar.gz"), &listed[*at].file));
        let best = release.best.as_ref().map(|(_, at)| *at);
        let chosen = best.or_else(|| usable.first().copied()).map(|at| {
            unambiguous(listed, &release, at)?;
            candidate(&listed[at], &version, page, base).ok_or(Rejection::Astray)
        });
        match chosen.unwrap_or_else(|| Err(judge.rejection(&release, may_build))) {
            Ok(candidate) => listing.candidates.push(candidate),
            Err(rejection) => listing.rejected.push((version, rejection)),
        }
    }
    listing
}

/// An error where the page names the file at `chosen` again with another digest: which of them counts must not be a
/// matter of order.
fn unambiguous(listed: &[PageFile<'_>], release: &PageRelease<'_>, chosen: usize) -> Result<(), Rejection> {
    let places = release.wheels.iter().map(|(at, _)| *at).chain(release.sources.iter().copied());
    if places.into_iter().any(|at| listed[at].file == listed[chosen].file && listed[at].sha256 != listed[chosen].sha256)
    {
        Err(Rejection::Twice)
    } else {
        Ok(())
    }
}

/// The files of the package by version. Names that can't be parsed are counted.
fn group<'a>(
    listed: &'a [PageFile<'_>],
    package: &PackageName,
    listing: &mut Listing,
) -> BTreeMap<Version, PageRelease<'a>> {
    let mut names: HashMap<&str, bool> = HashMap::new();
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    let mut releases: Vec<(Version, PageRelease<'a>)> = Vec::new();
    for (at, file) in listed.iter().enumerate() {
        let parts = match Parts::of(&file.file) {
            Ok(parts) => parts,
            Err(NotAWheel::Variant) => {
                listing.variants += 1;
                continue;
            }
            Err(NotAWheel::Malformed) => {
                let name = file.file.split('-').next().and_then(|name| name.parse::<PackageName>().ok());
                listing.skipped += usize::from(name.as_ref() == Some(package));
                continue;
            }
            Err(NotAWheel::OtherFile) => {
                if let Some(version) = sdist_version(&file.file, package) {
                    releases.push((version, PageRelease { sources: vec![at], ..PageRelease::default() }));
                }
                continue;
            }
        };
        if !*names
            .entry(parts.name)
            .or_insert_with(|| parts.name.parse::<PackageName>().is_ok_and(|name| name == *package))
        {
            continue;
        }
        let place = places.entry(parts.version).or_insert_with(|| {
            releases.push((parts.parsed_version()?, PageRelease::default()));
            Some(releases.len() - 1)
        });
        match place {
            Some(place) => releases[*place].1.wheels.push((at, parts)),
            None => listing.skipped += 1,
        }
    }
    let mut sorted: BTreeMap<Version, PageRelease<'a>> = BTreeMap::new();
    for (version, release) in releases {
        let known = sorted.entry(version).or_default();
        known.wheels.extend(release.wheels);
        known.sources.extend(release.sources);
    }
    sorted
}

struct Judge<'p> {
    listed: &'p [PageFile<'p>],
    filter: &'p Filter,
    /// Whether the target's Python satisfies a `Requires-Python`.
    pythons: HashMap<&'p str, bool>,
}

impl<'p> Judge<'p> {
    /// The rank of a wheel that may be used.
    fn rank(&mut self, at: usize, parts: &Parts<'_>) -> Option<WheelRank<'p>> {
        let rank = self.filter.tags.rank_of(parts.python, parts.abi, parts.platform)?;
        let listed = self.listed;
        let filter = self.filter;
        if let Some(text) = listed[at].requires_python.as_deref()
            && !*self.pythons.entry(text).or_insert_with(|| python_fits(text, filter))
        {
            return None;
        }
        self.in_time(at).ok()?;
        Some((listed[at].yanked.is_some(), rank, Reverse(parts.build.map(build_tag)), &listed[at].file))
    }

    /// Whether the wheels of `release` are for other Pythons alone.
    fn has_wheels_for_others(&self, release: &PageRelease<'_>) -> bool {
        match self.rejection(release, false) {
            Rejection::NoWheel => false,
            Rejection::Tags(tags) => !pythons_of(&tags).is_empty(),
            _ => true,
        }
    }

    /// Whether a source distribution may be used.
    fn may_use(&self, at: usize) -> bool {
        let python = self.listed[at].requires_python.as_deref();
        python.is_none_or(|text| python_fits(text, self.filter)) && self.in_time(at).is_ok()
    }

    fn in_time(&self, at: usize) -> Result<(), Rejection> {
        let Some(cutoff) = self.filter.as_of else {
            return Ok(());
        };
        let moment = self.listed[at].uploaded.as_deref().and_then(moment_in);
        if moment.ok_or(Rejection::Undated)? > cutoff { Err(Rejection::TooNew) } else { Ok(()) }
    }

    /// Why no file of a release can be used. What is nearest to fitting tells most: Python and date before tags,
    /// anything before "no wheel".
    fn rejection(&self, release: &PageRelease<'_>, may_build: bool) -> Rejection {
        let mut tags = Vec::new();
        let mut nearest = None;
        for (at, parts) in &release.wheels {
            if self.filter.tags.rank_of(parts.python, parts.abi, parts.platform).is_none() {
                let stable = if parts.abi == "abi3" { ".abi3" } else { "" };
                let pythons = parts.python.split('.');
                tags.extend(
                    pythons
                        .flat_map(|python| parts.platform.split('.').map(move |at| format!("{python}{stable}-{at}"))),
                );
                continue;
            }
            let python = self.listed[*at].requires_python.as_deref().filter(|text| !python_fits(text, self.filter));
            let why = python.map(|text| Rejection::Python(text.to_owned())).or_else(|| self.in_time(*at).err());
            nearest = nearest.or(why);
        }
        for at in release.sources.iter().filter(|_| may_build) {
            let python = self.listed[*at].requires_python.as_deref().filter(|text| !python_fits(text, self.filter));
            let why = python.map(|text| Rejection::Python(text.to_owned())).or_else(|| self.in_time(*at).err());
            nearest = nearest.or(why);
        }
        tags.sort();
        tags.dedup();
        // Those of other systems explain nothing beside Linux ones, and large pages have thousands.
        if tags.iter().any(|tag| is_near(tag)) {
            tags.retain(|tag| is_near(tag));
        }
        let by_tags = (!tags.is_empty()).then_some(Rejection::Tags(tags));
        nearest.or(by_tags).unwrap_or(Rejection::NoWheel)
    }
}

/// A `Requires-Python` that can't be parsed excludes nothing, as for pip.
fn python_fits(text: &str, filter: &Filter) -> bool {
    lenient_specifiers(text).is_none_or(|specifiers| filter.python.satisfies(&specifiers))
}

/// The version as the file writes it, for `1.0` and `1.0.0` are one release and an installer compares texts. `None`
/// where the address makes no sense, or the page may not lead there.
fn candidate(file: &PageFile<'_>, version: &Version, page: &Url, base: &Url) -> Option<Candidate> {
    let url = base.join(&file.url).ok().filter(|url| may_lead(page, url))?;
    // What a page says ends up in the cache, which holds no secrets; the index's own credentials go with its files
    // anyway.
    let url = without_login(&url);
    let written = Parts::of(&file.file).ok().and_then(|parts| parts.parsed_version());
    Some(Candidate {
        version: written.unwrap_or_else(|| version.clone()),
        file: file.file.clone().into_owned(),
        address: url.into(),
        sha256: file.sha256.as_ref().and_then(|digest| digest.parse().ok()),
        stated: file.stated.clone(),
        size: file.size,
        yanked: file.yanked.clone().map(std::borrow::Cow::into_owned),
        sidecar: if file.file.ends_with(".whl") { file.sidecar } else { Sidecar::Absent },
        folder: None,
    })
}

/// Whether a tag is of Linux, or of any platform.
fn is_near(tag: &str) -> bool {
    tag.contains("linux") || tag.ends_with("-any")
}
