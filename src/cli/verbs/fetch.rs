//! `fetch`: the wheels of a lock in a folder, for machines without a network.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::boot::goal::stale_lock;
use crate::boot::lock::{Lock, LockedPackage, LockedTarget, LockedWheel, distinct, within_budget};
use crate::boot::profile::Profile;
use crate::boot::project::ProjectSearch;
use crate::boot::session::Session;
use crate::boot::verdict::{Report, path_text};
use crate::cli::arguments::FetchOptions;
use crate::cli::output::needed_images;
use crate::core::diag::{Failure, Kind, bytes, counted};
use crate::core::host::digests::has_digest;
use crate::core::host::files;
use crate::core::host::locks;
use crate::core::host::mounts::Look;
use crate::core::log::Style;
use crate::core::model::Sha256;

/// What another fetch into the same folder may take.
const AT_MOST: Duration = Duration::from_mins(30);

#[derive(Serialize)]
struct FetchReport<'a> {
    #[serde(serialize_with = "path_text")]
    folder: &'a Path,
    bytes: u64,
    targets: Vec<&'a str>,
    wheels: Vec<&'a LockedWheel>,
}

pub(super) fn run(options: &FetchOptions, session: &Session<'_>, style: Style) -> Result<Report, Failure> {
    let made_from = options.profile.clone().unwrap_or_else(|| options.lock.with_extension("toml"));
    let lock = session.existing_lock(&options.lock, made_from.display())?;
    let targets = wanted_targets(&lock, &options.target)?;
    let profile = profile_of(options, session, &lock, &targets)?;
    let settings = options.index.settings();
    let known = ProjectSearch::answering(None, &settings, Some(&lock));
    let profile = profile.map(|profile| session.with_projects(&profile, known)).transpose()?;
    let wheels = distinct(&targets);
    let known: u64 = wheels.values().filter_map(|package| package.wheel()?.size).sum();
    within_budget(options.budget, known, &wheels)?;
    files::create_folder(&options.into)?;
    must_hold_no_others(&options.into, &wheels)?;
    // Two that fetch into one folder would write to the same parts.
    let waiting =
        || session.say(&format!("waiting for another colab-boot that fetches into `{}`", options.into.display()));
    let _alone = locks::lock_folder(&options.into, AT_MOST, &waiting)?;
    let mut findings = Vec::new();
    for target in &targets {
        let packages: Vec<&LockedPackage> =
            target.packages.iter().filter(|package| package.wheel().is_some()).collect();
        if packages.is_empty() {
            continue;
        }
        let sources = session.sources_of_target(&settings, profile.as_ref(), target)?;
        findings.extend(sources.fetch(&packages, &options.into, style)?);
    }
    let needed: Vec<String> = targets.iter().flat_map(|target| needed_images(target)).collect();
    let mut total = 0;
    for package in wheels.values().filter_map(|package| package.wheel()) {
        let path = options.into.join(&package.file);
        total += path.look().map_or(0, |data| data.len());
    }
    let count = counted(wheels.len(), "wheel");
    let text = format!("fetched: {count}, {} in {}\n", bytes(total), options.into.display());
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let list: Vec<_> = wheels.values().filter_map(|package| package.wheel()).collect();
    let data = FetchReport { folder: &options.into, bytes: total, targets: names, wheels: list };
    findings.dedup();
    let mut report = Report::new(data, text).with_findings(findings);
    report.talk = needed;
    Ok(report)
}

/// The targets called `names`; all where none is named.
fn wanted_targets<'a>(lock: &'a Lock, names: &[String]) -> Result<Vec<&'a LockedTarget>, Failure> {
    if let Some(name) = names.iter().find(|name| !lock.targets.iter().any(|target| target.name == **name)) {
        return Err(Failure::input(format!("the lock has no target `{name}`")).help(format!(
            "it has {}",
            lock.targets.iter().map(|target| format!("`{}`", target.name)).collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(lock.targets.iter().filter(|target| names.is_empty() || names.contains(&target.name)).collect())
}

/// The profile, where the lock needs it: it alone knows the addresses of explicit indexes and of wheels given by
/// address.
fn profile_of(
    options: &FetchOptions,
    session: &Session<'_>,
    lock: &Lock,
    targets: &[&LockedTarget],
) -> Result<Option<Profile>, Failure> {
    let path = options.profile.clone().unwrap_or_else(|| options.lock.with_extension("toml"));
    if options.profile.is_some() || path.is_there() {
        let profile = session.profile(&path)?;
        let why = if profile.digest == lock.profile.sha256 {
            session.unanswered(&profile, lock, targets.iter().copied())?
        } else {
            Some(format!("`{}` changed after it was locked", path.display()))
        };
        let Some(why) = why else { return Ok(Some(profile)) };
        let finding = stale_lock(&options.lock, Some(&why), path.display());
        return Err(Failure::from_findings(Kind::Answer, vec![finding]));
    }
    let indexes: BTreeSet<&str> = targets
        .iter()
        .flat_map(|target| &target.packages)
        .filter_map(|package| Some(package.wheel()?.index.as_str()))
        .filter(|index| *index != "default")
        .collect();
    match indexes.first() {
        None => Ok(None),
        Some(index) => Err(Failure::input(format!(
            "the lock uses the index `{index}`, but the profile that defines its address is missing at `{}`",
            path.display()
        ))
        .help("pass the profile with --profile")),
    }
}

/// An error where a file of the user's has the name of one of `wheels`.
fn must_hold_no_others(folder: &Path, wheels: &BTreeMap<Sha256, &LockedPackage>) -> Result<(), Failure> {
    for (sha256, wheel) in wheels.iter().filter_map(|(sha256, package)| Some((sha256, package.wheel()?))) {
        let path = folder.join(&wheel.file);
        if path.look_at_entry().is_ok() && !has_digest(&path, *sha256) {
            return Err(Failure::input(format!("`{}` differs from the locked file", path.display()))
                .help("nothing was downloaded; move it, or choose another folder with --into"));
        }
    }
    Ok(())
}
