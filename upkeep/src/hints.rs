//! What saves `lock` from waiting, gathered from the index: which packages come along with those of the notebook
//! images, where wheels keep their METADATA, and the METADATA of the frameworks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use colab_boot::boot::machine::Runtimes;
use colab_boot::boot::reading::WheelReader;
use colab_boot::boot::session::Session;
use colab_boot::core::diag::Failure;
use colab_boot::core::host::files;
use colab_boot::core::model::catalog::{Admission, Candidate, Catalog, Listing, PrereleaseRule};
use colab_boot::core::model::contents::Files;
use colab_boot::core::model::metadata::Metadata;
use colab_boot::core::model::version::is_pin;
use colab_boot::core::model::{ExtraName, Libc, PackageName, Requirement, Sha256, Version, VersionRange, bracketed};

use crate::Outcome;
use crate::arguments::HintsOptions;
use crate::releases::Releases;

/// The Python whose closure is taken, and those whose wheels' METADATA is kept: what Colab has had in the last two
/// years.
const PYTHON: u64 = 12;
const PYTHONS: [u64; 3] = [11, 12, 13];
/// How many series of a framework are kept; its companions must be the same over all of them to be hinted at.
const SERIES: usize = 8;
/// Steps of a tail; what is not beyond the smallest needs no row, and for what is beyond the largest METADATA is kept
/// instead.
const STEP: u64 = 16 << 10;
const SMALLEST: u64 = 64 << 10;
const LARGEST: u64 = 512 << 10;

/// Wheels of one package by their METADATA and the folders they write to.
type SeedsOf = BTreeMap<(String, Vec<String>), BTreeMap<Sha256, u64>>;
type Seeds = BTreeMap<PackageName, SeedsOf>;

/// The glibc of Colab images.
const COLAB_LIBC: Libc = Libc::Glibc(2, 35);

/// A package, or an extra of it.
type Key = (PackageName, Option<ExtraName>);

/// Collects hints from the index and writes them to the folder.
pub(crate) fn run(options: &HintsOptions, session: &Session<'_>, releases: &Releases<'_>) -> Result<Outcome, Failure> {
    let mut gathered = Gathered {
        session,
        reader: releases.reader_for(PYTHON, COLAB_LIBC, false)?,
        listings: BTreeMap::new(),
        needs: BTreeMap::new(),
        asked: BTreeMap::new(),
    };
    gathered.closure(roots(session)?)?;
    let (tails, heavy) = gathered.tails()?;
    let watched = session.matrix.watches.iter().flat_map(|watch| watch.packages.keys().cloned());
    let kept: BTreeSet<PackageName> = watched.chain(heavy).chain(session.matrix.scattered.clone()).collect();
    let pinned = gathered.pinned();
    let mut seeds = Seeds::new();
    for python in PYTHONS {
        session.say(&format!("reading METADATA for Python 3.{python}"));
        let reader = releases.reader_for(python, COLAB_LIBC, false)?;
        seed(&reader, &newest_of(&reader, &kept)?, &mut seeds)?;
        seed(&reader, &those_of(&reader, &pinned)?, &mut seeds)?;
    }
    let metadata = options.into.join("metadata");
    for (name, wheels) in &seeds {
        files::write_whole(&metadata.join(format!("{name}.toml")), seed_text(wheels).as_bytes())?;
    }
    forget(&metadata, &seeds)?;
    files::write_whole(&options.into.join("closure.toml"), gathered.text(&tails).as_bytes())?;
    let (packages, tails, seeds) = (gathered.needs.len(), tails.len(), seeds.len());
    let line = format!("{packages} packages, {tails} long tails, METADATA of {seeds} packages");
    Ok(Outcome { lines: vec![line], ..Outcome::default() })
}

/// What notebooks have: the packages of the images, the frameworks, and the frameworks' extras for CUDA.
fn roots(session: &Session<'_>) -> Result<BTreeSet<Key>, Failure> {
    let mut roots: BTreeSet<Key> = BTreeSet::new();
    let known = Runtimes::bundled()?;
    for (image, _) in known.iter().filter(|(image, _)| image.moves) {
        roots.extend(image.packages.keys().map(|name| (name.clone(), None)));
    }
    roots
        .extend(session.matrix.watches.iter().flat_map(|watch| watch.packages.keys().map(|name| (name.clone(), None))));
    for (name, extra) in [("jax", "cuda12"), ("jax", "cuda13"), ("tensorflow", "and-cuda")] {
        roots.extend(name.parse().ok().zip(extra.parse().ok()).map(|(name, extra)| (name, Some(extra))));
    }
    Ok(roots)
}

struct Gathered<'a> {
    session: &'a Session<'a>,
    reader: WheelReader<'a>,
    listings: BTreeMap<PackageName, Arc<Listing>>,
    needs: BTreeMap<Key, Vec<Requirement>>,
    /// What each release that was looked into asks for.
    asked: BTreeMap<Key, Vec<Vec<Requirement>>>,
}

const PLAIN: Admission = Admission { prereleases: PrereleaseRule::Last, yanked: false };

/// The newest release of each series, newest first.
fn series(listing: &Listing) -> Vec<&Candidate> {
    let mut seen = BTreeSet::new();
    let stable = listing.candidates.iter().filter(|one| !one.version.any_prerelease() && one.yanked.is_none());
    stable
        .filter(|one| seen.insert(one.version.release().iter().copied().chain([0, 0]).take(2).collect::<Vec<_>>()))
        .collect()
}

impl Gathered<'_> {
    fn closure(&mut self, roots: BTreeSet<Key>) -> Result<(), Failure> {
        let mut open = roots;
        while !open.is_empty() {
            self.session.say(&format!("{} more packages", open.len()));
            self.list(open.iter().map(|(name, _)| name))?;
            let releases: BTreeMap<&PackageName, Vec<Candidate>> =
                open.iter().map(|(name, _)| (name, self.releases(name))).collect();
            self.reader.catalog.expect_metadata(&releases.values().flatten().cloned().collect::<Vec<_>>());
            let mut next = BTreeSet::new();
            for (name, extra) in &open {
                let all = self.requirements(&releases[name], extra.as_ref())?;
                let needs = common(&all);
                self.asked.insert((name.clone(), extra.clone()), all);
                for one in &needs {
                    next.insert((one.name.clone(), None));
                    next.extend(one.extras.iter().map(|extra| (one.name.clone(), Some(extra.clone()))));
                }
                self.needs.insert((name.clone(), extra.clone()), needs);
            }
            next.retain(|key| !self.needs.contains_key(key));
            open = next;
        }
        self.list(&self.needs.values().flatten().map(|one| one.name.clone()).collect::<Vec<_>>())
    }

    fn list<'n>(&mut self, names: impl IntoIterator<Item = &'n PackageName>) -> Result<(), Failure> {
        let new: BTreeSet<&PackageName> = names.into_iter().filter(|name| !self.listings.contains_key(*name)).collect();
        let new: Vec<PackageName> = new.into_iter().cloned().collect();
        let found = self.reader.catalog.listings(&new)?;
        self.listings.extend(new.into_iter().zip(found).map(|(name, listing)| (name, listing.unwrap_or_default())));
        Ok(())
    }

    /// The releases that say what comes along: the newest; of a framework several.
    fn releases(&self, name: &PackageName) -> Vec<Candidate> {
        let Some(listing) = self.listings.get(name) else {
            return Vec::new();
        };
        let watched = self.session.matrix.watches.iter().any(|watch| watch.packages.contains_key(name));
        if watched {
            return series(listing).into_iter().take(SERIES).cloned().collect();
        }
        listing.choose(&VersionRange::full(), PLAIN).into_iter().cloned().collect()
    }

    /// What each of `releases` asks for.
    fn requirements(
        &self,
        releases: &[Candidate],
        extra: Option<&ExtraName>,
    ) -> Result<Vec<Vec<Requirement>>, Failure> {
        let markers = self.reader.python.marker_environment().ok_or_else(|| Failure::bug("no marker environment"))?;
        let mut all = Vec::new();
        for candidate in releases {
            let metadata: Arc<Metadata> = self.reader.catalog.metadata(candidate)?;
            let applies = |one: &&Requirement| {
                one.applies(&markers, extra) && (extra.is_none() || !one.applies(&markers, None)) && one.url.is_none()
            };
            all.push(metadata.all().filter(|one| applies(&one)).collect());
        }
        Ok(all)
    }

    /// How many kB at the end of its newest wheel hold directory and METADATA, where that is more than usual; and
    /// packages for which it is too much.
    fn tails(&self) -> Result<(BTreeMap<PackageName, u64>, Vec<PackageName>), Failure> {
        let wheels: Vec<(&PackageName, Candidate)> = self
            .listings
            .iter()
            .filter_map(|(name, listing)| Some((name, listing.choose(&VersionRange::full(), PLAIN).cloned()?)))
            .collect();
        let candidates: Vec<Candidate> = wheels.iter().map(|(_, candidate)| candidate.clone()).collect();
        self.session.say(&format!("opening {} wheels", candidates.len()));
        let (mut tails, mut heavy) = (BTreeMap::new(), Vec::new());
        for ((name, candidate), files) in wheels.iter().zip(self.reader.catalog.files(&candidates)) {
            let metadata = self.reader.catalog.metadata(candidate)?;
            let Some((files, size)) = files.zip(candidate.size.or(metadata.size)) else { continue };
            let needed = reach(&files, size).div_ceil(STEP) * STEP;
            if needed > LARGEST {
                heavy.push((*name).clone());
            } else if needed > SMALLEST {
                tails.insert((*name).clone(), needed >> 10);
            }
        }
        Ok((tails, heavy))
    }

    /// What frameworks require in one exact version: a solve waits for the METADATA of that one, whatever is newest.
    fn pinned(&self) -> BTreeMap<PackageName, BTreeSet<Version>> {
        let mut pinned: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
        let watched =
            |name: &PackageName| self.session.matrix.watches.iter().any(|watch| watch.packages.contains_key(name));
        let of_frameworks = self.asked.iter().filter(|((name, _), _)| watched(name));
        for one in of_frameworks.flat_map(|(_, releases)| releases).flatten().filter(|one| is_pin(&one.range)) {
            let versions = one.specifiers.iter().map(|specifier| specifier.version().clone());
            pinned.entry(one.name.clone()).or_default().extend(versions);
        }
        pinned
    }

    fn text(&self, tails: &BTreeMap<PackageName, u64>) -> String {
        let mut text = String::from(
            "# What comes along with a package, for its newest release on Linux and Python 3.12; of the frameworks, what the last few\n\
             # releases have in common. `=` before a name: this one does not let it be the newest. Written by `upkeep hints`\n\
             # from the METADATA of the wheels on the default index.\n\n[needs]\n",
        );
        for ((name, extra), needs) in &self.needs {
            let key = (name.clone(), extra.clone());
            let mut words: Vec<String> = needs.iter().map(|one| self.word(&key, one)).collect();
            words.sort_by(|a, b| a.trim_start_matches('=').cmp(b.trim_start_matches('=')));
            words.dedup();
            if words.is_empty() {
                continue;
            }
            let key = extra.as_ref().map_or_else(|| name.to_string(), |extra| format!("\"{name}[{extra}]\""));
            let _ = writeln!(text, "{key} = \"{}\"", words.join(" "));
        }
        text.push_str(
            "\n# kB at the end of a wheel that hold its directory and its METADATA, where 64 do not.\n[tails]\n",
        );
        for (name, kilobytes) in tails {
            let _ = writeln!(text, "{name} = {kilobytes}");
        }
        text
    }

    fn word(&self, key: &Key, one: &Requirement) -> String {
        let newest = self.listings.get(&one.name).and_then(|listing| listing.choose(&VersionRange::full(), PLAIN));
        let asked = self.asked.get(key).into_iter().flatten().flatten().filter(|other| other.name == one.name);
        let free = newest.is_some_and(|newest| asked.clone().all(|one| one.range.contains(&newest.version)));
        format!("{}{}{}", if free { "" } else { "=" }, one.name, bracketed(&one.extras))
    }
}

/// What all releases ask for, as the newest does.
fn common(all: &[Vec<Requirement>]) -> Vec<Requirement> {
    let Some((newest, others)) = all.split_first() else {
        return Vec::new();
    };
    newest
        .iter()
        .filter(|one| others.iter().all(|needs| needs.iter().any(|other| other.name == one.name)))
        .cloned()
        .collect()
}

/// From where to the end of the file one has to read to have directory and METADATA.
fn reach(files: &Files, size: u64) -> u64 {
    let directory = files.members.iter().map(|member| member.end).max().unwrap_or(0);
    let metadata = files.dist_info("METADATA").map_or(directory, |member| member.offset);
    size.saturating_sub(directory.min(metadata))
}

/// Releases whose METADATA is kept.
type Wheels = Vec<(PackageName, Candidate)>;

/// The releases of the last series of `names` for one Python.
fn newest_of(reader: &WheelReader<'_>, names: &BTreeSet<PackageName>) -> Result<Wheels, Failure> {
    let names: Vec<PackageName> = names.iter().cloned().collect();
    let listings = reader.catalog.listings(&names)?;
    let mut wheels = Wheels::new();
    for (name, listing) in names.iter().zip(&listings) {
        let Some(listing) = listing else { continue };
        // Of the last series every release: a solver that steps back goes through them one by one.
        let newest = listing.candidates.iter().filter(|one| !one.version.any_prerelease()).take(SERIES);
        let mut releases: Vec<&Candidate> = newest.collect();
        releases.extend(series(listing).into_iter().take(SERIES));
        releases.sort_by(|a, b| b.version.cmp(&a.version));
        releases.dedup_by(|a, b| a.version == b.version);
        wheels.extend(releases.into_iter().map(|candidate| (name.clone(), candidate.clone())));
    }
    Ok(wheels)
}

/// The releases of `pinned` for one Python.
fn those_of(reader: &WheelReader<'_>, pinned: &BTreeMap<PackageName, BTreeSet<Version>>) -> Result<Wheels, Failure> {
    let names: Vec<PackageName> = pinned.keys().cloned().collect();
    let listings = reader.catalog.listings(&names)?;
    let mut wheels = Wheels::new();
    for ((name, versions), listing) in pinned.iter().zip(&listings) {
        let found = versions.iter().filter_map(|version| listing.as_ref()?.get(version));
        wheels.extend(found.map(|candidate| (name.clone(), candidate.clone())));
    }
    Ok(wheels)
}

/// Adds the METADATA of `wheels`.
fn seed(reader: &WheelReader<'_>, wheels: &Wheels, seeds: &mut Seeds) -> Result<(), Failure> {
    let candidates: Vec<Candidate> = wheels.iter().map(|(_, candidate)| candidate.clone()).collect();
    for ((name, candidate), files) in wheels.iter().zip(reader.catalog.files(&candidates)) {
        let (Some(files), Some(digest)) = (files, candidate.sha256) else { continue };
        let headers = reader.catalog.headers(candidate)?;
        let Some(size) = reader.catalog.size(candidate)? else { continue };
        let key = (kept_headers(&headers), files.roots());
        seeds.entry(name.clone()).or_default().entry(key).or_default().insert(digest, size);
    }
    Ok(())
}

/// The lines of METADATA that resolution needs.
fn kept_headers(headers: &str) -> String {
    let kept = ["requires-dist:", "provides-extra:", "requires-python:"];
    headers
        .lines()
        .filter(|line| kept.iter().any(|name| line.to_ascii_lowercase().starts_with(name)))
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn seed_text(wheels: &SeedsOf) -> String {
    let mut text = String::from(
        "# METADATA of wheels by their digests, with their sizes, and the folders that all their files lie in. Written by `upkeep hints`.\n",
    );
    for ((headers, roots), digests) in wheels {
        let digests: Vec<String> = digests.iter().map(|(digest, size)| format!("{digest} = {size}")).collect();
        let roots: Vec<String> = roots.iter().map(|root| toml::Value::String(root.clone()).to_string()).collect();
        let _ = write!(text, "\n[[wheel]]\nfiles = {{ {} }}\nroots = [{}]\n", digests.join(", "), roots.join(", "));
        let _ = writeln!(text, "headers = '''\n{headers}'''");
    }
    text
}

/// Removes what is there of packages that are not kept any more.
fn forget(folder: &Path, seeds: &Seeds) -> Result<(), Failure> {
    for name in files::names_if_any(folder) {
        let package = name.strip_suffix(".toml").and_then(|stem| stem.parse::<PackageName>().ok());
        if package.is_none_or(|package| !seeds.contains_key(&package)) {
            files::remove_if_there(&folder.join(name))?;
        }
    }
    Ok(())
}
