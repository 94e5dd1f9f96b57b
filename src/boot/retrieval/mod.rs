//! Bringing the files of a lock to a folder: from folders of wheels, from what was fetched before, from the indexes.

mod earlier_wheels;
mod free_space;
mod index;
mod local_files;
mod overlay;
mod pages;
mod pinned;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use url::Url;

use crate::boot::index::{
    Arrival, Buildable, Client, Download, Downloads, IndexSettings, Locations, Offline, Online, Scope, WheelSource,
    redact,
};
use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::machine::Python;
use crate::boot::profile::{Policy, Profile};
use crate::boot::resolve::yanked;
use crate::boot::retrieval::local_files::{Folders, download};
use crate::boot::retrieval::pages::at_page;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::store::{Store, StoreAnswer, StoredWheel};
use crate::core::diag::{Failure, Finding, bytes, counted, shell_word};
use crate::core::host::mounts::Look;
use crate::core::host::parallel::on_all_cores;
use crate::core::log::{Style, progress_of};
use crate::core::model::catalog::{Candidate, Catalog, Listing};
use crate::core::model::platform::parse_platform;
use crate::core::model::{Libc, PackageName, PythonFacts};

pub use earlier_wheels::wheels_of;
pub use free_space::enough_space;
pub use index::{Asked, find_links};
pub use overlay::matrix;

/// Where the files of one locked target come from.
pub struct Retrieval<'a> {
    pub session: &'a Session<'a>,
    pub settings: &'a IndexSettings,
    pub profile: Option<&'a Profile>,
    /// The interpreter whose pip knows the default index.
    pub python: Option<&'a Python>,
    /// What listings are filtered by: as the lock's maker saw the index.
    pub scope: Scope,
    /// Addresses that the profile gives.
    pub direct: BTreeMap<PackageName, Url>,
}

/// Files of a lock, at hand or on their way.
#[derive(Default)]
pub struct Fetched {
    /// Where each is read from, by its name.
    pub sources: BTreeMap<String, WheelSource>,
    /// What is on its way.
    pub downloads: Option<Downloads>,
    /// What was noticed: releases that were yanked since the lock was made.
    pub findings: Vec<Finding>,
}

impl Fetched {
    /// Waits for what is on its way, which nobody reads any more.
    pub fn finish(&self, is_stopped: &dyn Fn() -> bool) -> Result<(), Failure> {
        self.downloads.as_ref().map_or(Ok(()), |downloads| downloads.finish(is_stopped))
    }

    /// Whether the file with this name is on its way.
    pub fn is_arriving(&self, file: &str) -> bool {
        matches!(self.sources.get(file), Some(WheelSource::Arriving(_)))
    }
}

/// The wheels that `profile` gives by address.
pub fn direct_addresses(profile: &Profile) -> BTreeMap<PackageName, Url> {
    let wanted = profile.wanted.iter();
    wanted.filter_map(|one| Some((one.name.clone(), one.direct.as_ref()?.url.clone()))).collect()
}

impl Retrieval<'_> {
    /// Brings the files of `packages` to `folder`; each is checked against its digest before it gets its name.
    pub fn fetch(self, packages: &[&LockedPackage], folder: &Path, style: Style) -> Result<Vec<Finding>, Failure> {
        let fetched = self.begin(packages, folder, style, false)?;
        fetched.finish(&|| false)?;
        Ok(fetched.findings)
    }

    /// Begins to do so. With `in_place`, wheels in folders stay there, and are not read yet; large ones of an index
    /// come to those that read them, not to `folder`.
    pub fn begin(
        self,
        packages: &[&LockedPackage],
        folder: &Path,
        style: Style,
        in_place: bool,
    ) -> Result<Fetched, Failure> {
        let named = find_links(self.settings)?;
        let folders = Folders { named, profile: self.profile, offline: self.settings.offline };
        let mut fetched = Fetched::default();
        let mut missing = Vec::new();
        let store = if in_place { self.session.store()? } else { Store::off() };
        let stored = self.stored(&store, packages);
        fetched.sources.extend(stored.into_iter().map(|(file, stored)| (file, WheelSource::Stored(Arc::new(stored)))));
        for package in packages {
            let Some(wheel) = package.wheel().filter(|wheel| !fetched.sources.contains_key(&wheel.file)) else {
                continue;
            };
            let here = folders.path(package).filter(|_| in_place && !wheel.is_source());
            match here {
                Some(path) => drop(fetched.sources.insert(wheel.file.clone(), WheelSource::Here(path))),
                None => missing.push(*package),
            }
        }
        if !missing.is_empty() {
            let downloads;
            (downloads, fetched.findings) = self.bring(&missing, &folders, (folder, in_place), style)?;
            let name = |arrival: &Arrival| Some(arrival.path().file_name()?.to_string_lossy().into_owned());
            for arrival in downloads.arrivals() {
                fetched.sources.extend(name(arrival).map(|name| (name, WheelSource::Arriving(Arc::clone(arrival)))));
            }
            fetched.downloads = Some(downloads);
        }
        for wheel in packages.iter().filter_map(|package| package.wheel()) {
            // Without a network, what is there has to do.
            let there = || WheelSource::Here(folder.join(&wheel.file));
            fetched.sources.entry(wheel.file.clone()).or_insert_with(there);
        }
        Ok(fetched)
    }

    /// What `store` has of `packages`, by the names of their wheels.
    fn stored(&self, store: &Store, packages: &[&LockedPackage]) -> Vec<(String, StoredWheel)> {
        let looked = on_all_cores(packages, |package| {
            let wheel = package.wheel()?;
            Some((*package, wheel.file.clone(), store.get(&wheel.sha256?)))
        });
        looked
            .into_iter()
            .filter_map(|(package, file, answer)| match answer {
                StoreAnswer::Nothing => None,
                StoreAnswer::Wheel(stored) => Some((file, stored)),
                StoreAnswer::Changed(path) => {
                    let (name, version) = (&package.name, &package.version);
                    self.session.say(&format!(
                        "the cached `{path}` of {name} {version} was changed (environments share its files); the wheel \
                         is unpacked again"
                    ));
                    None
                }
            })
            .collect()
    }

    /// Brings the files of `packages` to `folder`, from `folders` or an index.
    fn bring(
        self,
        packages: &[&LockedPackage],
        folders: &Folders<'_>,
        (folder, in_place): (&Path, bool),
        style: Style,
    ) -> Result<(Downloads, Vec<Finding>), Failure> {
        let sizes = packages.iter().filter_map(|package| package.wheel()?.size);
        let total: u64 = sizes.sum();
        enough_space(folder, total, "the wheels need")?;
        let size = if total > 0 { format!(", {}", bytes(total)) } else { String::new() };
        let is_wheel = |package: &&LockedPackage| package.wheel().is_none_or(|wheel| !wheel.is_source());
        let noun = if packages.iter().all(is_wheel) { "wheel" } else { "file" };
        self.session.say(&format!("fetching {}{size}", counted(packages.len(), noun)));
        let found: Vec<Option<Download>> = packages.iter().map(|package| folders.find(package)).collect();
        let remote: Vec<&LockedPackage> =
            packages.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(package, _)| *package).collect();
        // Where all is here, the index need not be found.
        let locations = if remote.is_empty() { None } else { Some(self.locations_of(&remote)?) };
        let mut downloads: Vec<Download> = found.into_iter().flatten().collect();
        let client = self.client(locations.as_ref())?;
        let mut findings = Vec::new();
        if self.settings.offline {
            all_here(&remote, folder, self.settings)?;
        } else if let Some(locations) = locations {
            let (of_indexes, found) = self.downloads(&remote, locations, &client)?;
            downloads.extend(of_indexes);
            findings = found;
        }
        for download in &mut downloads {
            download.kept |= !in_place;
        }
        let progress = progress_of(total, downloads.len(), style);
        Ok((Downloads::begin(client, downloads, folder, &progress)?, findings))
    }

    /// The addresses of the locked files of `packages`, by their names; `file:` for those in a folder. Asks the
    /// indexes.
    pub fn addresses(self, packages: &[&LockedPackage]) -> Result<BTreeMap<String, Url>, Failure> {
        let named = find_links(self.settings)?;
        let folders = Folders { named, profile: self.profile, offline: self.settings.offline };
        let (mut all, mut remote) = (Vec::new(), Vec::new());
        for package in packages {
            match folders.find(package) {
                Some(download) => all.push(download),
                None => remote.push(*package),
            }
        }
        if !remote.is_empty() {
            if self.settings.offline {
                return Err(Failure::world(
                    "the addresses of wheels are on the index, and --offline forbids asking it",
                ));
            }
            let locations = self.locations_of(&remote)?;
            let client = self.client(Some(&locations))?;
            all.extend(self.downloads(&remote, locations, &client)?.0);
        }
        Ok(all.into_iter().map(|download| (download.file, download.url)).collect())
    }

    /// The indexes, at the page that `packages` are from.
    fn locations_of(&self, packages: &[&LockedPackage]) -> Result<Locations, Failure> {
        Ok(at_page(self.locations()?, packages, self.profile, self.session.matrix))
    }

    fn locations(&self) -> Result<Locations, Failure> {
        self.session.locations(self.settings, self.profile, self.python)
    }

    fn client(&self, locations: Option<&Locations>) -> Result<Client, Failure> {
        self.session.client(&locations.map(Locations::addresses).unwrap_or_default(), self.settings.limits)
    }

    /// What the indexes have of `names`, in their order.
    pub fn listings(self, names: &[PackageName]) -> Result<Vec<Option<Arc<Listing>>>, Failure> {
        let locations = self.locations()?;
        if self.settings.offline {
            let cache = self.session.cache(self.settings);
            let catalog = Offline::new(self.session.matrix, locations, self.scope, cache);
            // What is neither in a folder nor in the cache has no listing here.
            return Ok(names.iter().map(|name| catalog.listing(name).ok().flatten()).collect());
        }
        let client = self.client(Some(&locations))?;
        self.ask(names, locations, &client)
    }

    fn ask(
        self,
        names: &[PackageName],
        locations: Locations,
        client: &Client,
    ) -> Result<Vec<Option<Arc<Listing>>>, Failure> {
        let cache = self.session.cache(self.settings);
        let catalog = Online::new(client, self.session.matrix, locations, self.scope, cache);
        catalog.listings(names)
    }

    /// Addresses of the locked files that no folder has. The lock names none, so that it works through any mirror; the
    /// index is asked.
    fn downloads(
        mut self,
        packages: &[&LockedPackage],
        locations: Locations,
        client: &Client,
    ) -> Result<(Vec<Download>, Vec<Finding>), Failure> {
        let direct = std::mem::take(&mut self.direct);
        let listed: Vec<&LockedPackage> =
            packages.iter().filter(|package| !direct.contains_key(&package.name)).copied().collect();
        let names: Vec<PackageName> = listed.iter().map(|package| package.name.clone()).collect();
        let asked = locations.clone();
        let profile = self.profile.map(|profile| shell_word(Path::new(&*profile.source.name)));
        let listings = self.ask(&names, locations, client)?;
        let mut downloads = Vec::new();
        let mut withdrawn = Vec::new();
        for (package, listing) in listed.iter().zip(listings) {
            let Some(wheel) = package.wheel() else {
                continue;
            };
            let candidate =
                listing.as_ref().and_then(|listing| listing.get(&package.version)).filter(|one| one.file == wheel.file);
            let url = candidate.map(Candidate::url).transpose()?.ok_or_else(|| {
                let place = redact(asked.responsible(&package.name).1);
                let lock = profile.as_ref().map(|profile| format!("; `colab-boot lock {profile}` locks what it has"));
                Failure::world(format!("`{}` is not on the index `{place}`", wheel.file)).help(format!(
                    "if the lock was made with another index, name that with --index-url{}",
                    lock.unwrap_or_default()
                ))
            })?;
            let reason = candidate.and_then(|one| one.yanked.clone());
            withdrawn.extend(reason.map(|reason| yanked(&package.name, &package.version, &reason)));
            downloads.extend(download(wheel, url));
        }
        let given = packages.iter().filter_map(|package| {
            let url = direct.get(&package.name)?.clone();
            download(package.wheel()?, url)
        });
        downloads.extend(given);
        Ok((downloads, withdrawn))
    }
}

impl Session<'_> {
    /// Where files for the machine that was seen come from, with or without a profile. Listings are filtered for
    /// `libc`, else for the machine's: a newer C library than the lock's maker had would rank other wheels first.
    pub fn sources<'b>(
        &'b self,
        settings: &'b IndexSettings,
        seen: &'b Seen,
        libc: Option<Libc>,
        profile: Option<&'b Profile>,
    ) -> Result<Retrieval<'b>, Failure> {
        let scope = scope_of(profile, seen, libc)?;
        let direct = profile.map(direct_addresses).unwrap_or_default();
        Ok(Retrieval { session: self, settings, profile, python: seen.machine.python.as_ref(), scope, direct })
    }

    /// Where the files of `target` come from: filtered as the lock's maker saw the index.
    pub fn sources_of_target<'b>(
        &'b self,
        settings: &'b IndexSettings,
        profile: Option<&'b Profile>,
        target: &LockedTarget,
    ) -> Result<Retrieval<'b>, Failure> {
        let (libc, architecture) = parse_platform(&target.platform).unwrap_or((Libc::Other, "x86_64".to_owned()));
        let wheels = || target.packages.iter().filter_map(|package| Some((package, package.wheel()?)));
        let mut python = PythonFacts { version: target.python.clone(), architecture, libc, free_threaded: false };
        let (major, minor) = python.minor();
        python.free_threaded = wheels().any(|(_, wheel)| wheel.file.contains(&format!("-cp{major}{minor}t-")));
        let mut scope = Scope::of(&python).ok_or_else(|| Failure::bug("no marker environment"))?;
        let sources = wheels().filter(|(_, wheel)| wheel.is_source()).map(|(package, _)| package.name.clone());
        scope.buildable = Buildable::Named(sources.collect());
        scope.as_of = profile.and_then(|profile| profile.policy.as_of);
        Ok(Retrieval {
            session: self,
            settings,
            profile,
            python: None,
            scope,
            direct: profile.map(direct_addresses).unwrap_or_default(),
        })
    }
}

/// Which sources an installer with `policy` builds.
pub(super) fn buildable(policy: &Policy) -> Buildable {
    if policy.as_pip { Buildable::WithoutWheels } else { Buildable::Named(policy.buildable.clone()) }
}

/// What listings are filtered by.
fn scope_of(profile: Option<&Profile>, seen: &Seen, libc: Option<Libc>) -> Result<Scope, Failure> {
    let python = seen.python("pass one with --python")?;
    let mut facts = python.facts.clone();
    facts.libc = libc.unwrap_or(facts.libc);
    let scope = Scope::of(&facts).ok_or_else(|| Failure::bug("no marker environment"))?;
    let policy = profile.map(|profile| profile.policy.clone()).unwrap_or_default();
    Ok(Scope { as_of: policy.as_of, buildable: buildable(&policy), ..scope })
}

fn all_here(packages: &[&LockedPackage], folder: &Path, settings: &IndexSettings) -> Result<(), Failure> {
    let missing =
        packages.iter().filter_map(|package| package.wheel()).find(|wheel| !folder.join(&wheel.file).is_there());
    missing.map_or(Ok(()), |wheel| {
        if settings.folders_only {
            return Err(Failure::world(format!("`{}` is not in the wheelhouse", wheel.file))
                .help("add it from this lock with `colab-boot fetch`"));
        }
        Err(Failure::world(format!("`{}` is not in the cache, and --offline forbids fetching it", wheel.file))
            .help("run the command once without --offline, or name a folder that has it with --find-links"))
    })
}
