//! Locks of other tools: `pylock.toml` (PEP 751) and `uv.lock`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pep440_rs::VersionSpecifiers;
use pep508_rs::MarkerEnvironment;
use serde::Deserialize;

use crate::boot::audit::listed_indexes::of_origins;
use crate::boot::audit::{Listed, Named};
use crate::core::model::version::range_of;
use crate::core::model::wheel_names::file_of;
use crate::core::model::{Condition, ExtraName, PackageName, Sha256, Version};

/// Which lock a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// PEP 751.
    Pylock,
    Uv,
}

/// The kind of lock that the TOML `text` is; `None` for anything else.
pub fn kind_of(text: &str) -> Option<LockKind> {
    let table: toml::Table = text.parse().ok()?;
    if table.contains_key("lock-version") {
        Some(LockKind::Pylock)
    } else if table.get("version").is_some_and(toml::Value::is_integer) && !table.contains_key("target") {
        Some(LockKind::Uv)
    } else {
        None
    }
}

/// What a lock of another tool installs where `markers` hold.
pub fn read_lock_file(text: &str, kind: LockKind, markers: &MarkerEnvironment) -> Result<Listed, String> {
    match kind {
        LockKind::Pylock => pylock(text, markers),
        LockKind::Uv => uv(text, markers),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Pylock {
    lock_version: String,
    requires_python: Option<VersionSpecifiers>,
    #[serde(default)]
    packages: Vec<PylockPackage>,
}

#[derive(Deserialize)]
struct PylockPackage {
    name: PackageName,
    index: Option<String>,
    version: Option<Version>,
    marker: Option<String>,
    vcs: Option<toml::Value>,
    directory: Option<toml::Value>,
    archive: Option<toml::Value>,
    #[serde(default)]
    wheels: Vec<LockedFile>,
}

/// A file as a lock names it: pylock.toml has its digests by algorithm, uv.lock one, `sha256:…`.
#[derive(Deserialize)]
struct LockedFile {
    name: Option<String>,
    url: Option<String>,
    path: Option<String>,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    hash: Option<String>,
}

impl LockedFile {
    /// Its name and its SHA-256, where it has both.
    fn digest(&self) -> Option<(String, Sha256)> {
        let address = self.url.as_deref().or(self.path.as_deref());
        let hash = self.hash.as_deref().and_then(|hash| hash.strip_prefix("sha256:"));
        let hash = hash.or_else(|| self.hashes.get("sha256").map(String::as_str))?;
        Some((self.name.clone().or_else(|| address?.split(['#', '?']).next().map(file_of))?, hash.parse().ok()?))
    }
}

fn pylock(text: &str, markers: &MarkerEnvironment) -> Result<Listed, String> {
    let lock: Pylock = toml::from_str(text).map_err(|error| error.to_string())?;
    if !lock.lock_version.starts_with("1.") {
        return Err(format!("its lock-version is {}; only 1.x is supported", lock.lock_version));
    }
    for_python(lock.requires_python.as_ref(), markers)?;
    let (mut listed, mut origins) = (Listed::default(), Vec::new());
    for package in lock.packages {
        // Extras and groups are chosen when a lock is installed; PEP 508 does not know these two.
        let chosen = |marker: &String| marker.contains("dependency_groups") || marker.contains("extras");
        if let Some(marker) = package.marker.as_ref().filter(|marker| chosen(marker)) {
            listed.open.push(format!("{} ({marker})", package.name));
            continue;
        }
        if !holds(package.marker.as_deref(), markers, None)? {
            continue;
        }
        let elsewhere = package.vcs.is_some() || package.directory.is_some() || package.archive.is_some();
        match package.version.filter(|_| !elsewhere) {
            Some(version) => {
                let files = package.wheels.iter().filter_map(LockedFile::digest).collect();
                origins.push((package.name.clone(), package.index));
                listed.named.push(Named { files, ..Named::new(package.name, version) });
            }
            None => listed.elsewhere.push(package.name.to_string()),
        }
    }
    listed.indexes = of_origins(origins);
    Ok(listed)
}

/// That a lock is for the Python of the target.
fn for_python(wanted: Option<&VersionSpecifiers>, markers: &MarkerEnvironment) -> Result<(), String> {
    let python = &markers.python_full_version().version;
    match wanted.filter(|wanted| !range_of(wanted).contains(&python.only_release())) {
        Some(wanted) => Err(format!("it is for Python {wanted}, but the target has {python}")),
        None => Ok(()),
    }
}

/// The version of the format of `uv.lock`; another one need not mean the same.
const UV_VERSION: u64 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UvLock {
    version: u64,
    requires_python: Option<VersionSpecifiers>,
    #[serde(default)]
    package: Vec<UvPackage>,
    #[serde(default)]
    manifest: UvManifest,
}

/// What a workspace asks for besides its members.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UvManifest {
    #[serde(default)]
    dependency_groups: BTreeMap<String, Vec<UvDependency>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UvPackage {
    name: PackageName,
    version: Option<Version>,
    #[serde(default)]
    source: BTreeMap<String, toml::Value>,
    #[serde(default)]
    wheels: Vec<LockedFile>,
    #[serde(default)]
    resolution_markers: Vec<String>,
    #[serde(default)]
    dependencies: Vec<UvDependency>,
    #[serde(default)]
    optional_dependencies: BTreeMap<ExtraName, Vec<UvDependency>>,
    #[serde(default)]
    dev_dependencies: BTreeMap<String, Vec<UvDependency>>,
}

#[derive(Deserialize)]
struct UvDependency {
    name: PackageName,
    version: Option<Version>,
    marker: Option<String>,
    #[serde(default)]
    extra: Vec<ExtraName>,
}

/// What `uv sync` installs: what the workspace needs and its group `dev`, all the way down. A uv.lock also holds what
/// other platforms, extras and groups need.
fn uv(text: &str, markers: &MarkerEnvironment) -> Result<Listed, String> {
    let lock: UvLock = toml::from_str(text).map_err(|error| error.to_string())?;
    if lock.version != UV_VERSION {
        return Err(format!("it is a uv.lock of version {}; only {UV_VERSION} is supported", lock.version));
    }
    for_python(lock.requires_python.as_ref(), markers)?;
    let mut open: VecDeque<(usize, Option<ExtraName>)> =
        (0..lock.package.len()).filter(|at| is_root(&lock.package[*at])).map(|at| (at, None)).collect();
    if open.is_empty() {
        open.extend((0..lock.package.len()).map(|at| (at, None)));
    }
    for dependency in lock.manifest.dependency_groups.get("dev").into_iter().flatten() {
        if holds(dependency.marker.as_deref(), markers, None)? {
            open.extend(places(&lock, dependency, markers)?.into_iter().map(|next| (next, None)));
        }
    }
    let mut reached = BTreeSet::new();
    while let Some((at, extra)) = open.pop_front() {
        if !reached.insert((at, extra.clone())) {
            continue;
        }
        let package = &lock.package[at];
        let needed = match &extra {
            None => Some(&package.dependencies),
            Some(extra) => package.optional_dependencies.get(extra),
        };
        let group = package.dev_dependencies.get("dev").filter(|_| extra.is_none() && is_root(package));
        for dependency in needed.into_iter().chain(group).flatten() {
            if !holds(dependency.marker.as_deref(), markers, extra.as_ref())? {
                continue;
            }
            for next in places(&lock, dependency, markers)? {
                open.push_back((next, None));
                open.extend(dependency.extra.iter().map(|extra| (next, Some(extra.clone()))));
            }
        }
    }
    Ok(named_in(&lock, reached.into_iter().map(|(at, _)| at).collect()))
}

/// Whether the lock is of this project.
fn is_root(package: &UvPackage) -> bool {
    package.source.contains_key("virtual") || package.source.contains_key("editable")
}

/// What the entries of `lock` at `places` name, and what its projects leave open.
fn named_in(lock: &UvLock, places: BTreeSet<usize>) -> Listed {
    let mut listed = Listed::default();
    for package in lock.package.iter().filter(|package| is_root(package)) {
        let extras = package.optional_dependencies.keys().map(|extra| format!("extra {extra} of {}", package.name));
        let groups = package.dev_dependencies.keys().filter(|group| *group != "dev");
        let groups = groups.map(|group| format!("group {group} of {}", package.name));
        listed.open.extend(extras.chain(groups));
        if package.source.contains_key("editable") {
            listed.unread.push(format!("the project {} itself", package.name));
        }
    }
    let mut origins = Vec::new();
    for package in places.into_iter().map(|at| &lock.package[at]) {
        match &package.version {
            Some(version) if package.source.contains_key("registry") => {
                let registry = package.source["registry"].as_str().map(str::to_owned);
                origins.push((package.name.clone(), registry));
                let files = package.wheels.iter().filter_map(LockedFile::digest).collect();
                listed.named.push(Named { files, ..Named::new(package.name.clone(), version.clone()) });
            }
            _ if is_root(package) => {}
            _ => listed.elsewhere.push(package.name.to_string()),
        }
    }
    listed.indexes = of_origins(origins);
    listed
}

/// The entries of a package that `dependency` may mean: a fork has one for each of its markers.
fn places(lock: &UvLock, dependency: &UvDependency, markers: &MarkerEnvironment) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    for (at, package) in lock.package.iter().enumerate() {
        let same_version = dependency.version.is_none() || dependency.version == package.version;
        if package.name != dependency.name || !same_version {
            continue;
        }
        let forks = package.resolution_markers.iter().map(|marker| holds(Some(marker), markers, None));
        let forks = forks.collect::<Result<Vec<bool>, String>>()?;
        if forks.is_empty() || forks.contains(&true) {
            found.push(at);
        }
    }
    Ok(found)
}

fn holds(marker: Option<&str>, markers: &MarkerEnvironment, extra: Option<&ExtraName>) -> Result<bool, String> {
    let Some(text) = marker else {
        return Ok(true);
    };
    let condition = Condition::parse(text).map_err(|error| format!("marker `{text}`: {error}"))?;
    Ok(condition.holds(markers, extra))
}
