//! Locked distributions of the right version whose files may be wrong: an apply that did not end has touched them, or they came from
//! an address. Their files are compared with their wheels.

use std::collections::BTreeSet;

use crate::diag::Failure;
use crate::host::files;
use crate::inspect::Entry;
use crate::installed::{Held, check_distributions};
use crate::lock::{LockedPackage, LockedTarget, LockedWheel};
use crate::machine::Layout;
use crate::marker::Marker;
use crate::model::PackageName;
use crate::session::machine::Seen;
use crate::state::State;

/// Those that an apply which did not end has changed and whose files differ from their wheels, those of which a module is gone, and those
/// given by address that were never installed from here: another file may have the same version.
pub(super) fn doubtful(
    layout: &Layout,
    state: &State,
    target: &LockedTarget,
    seen: &Seen,
    marker: Option<&Marker>,
) -> Result<Vec<PackageName>, Failure> {
    let doubted = marker.filter(|marker| marker.is_in_doubt());
    let names = doubted.map(|marker| marker.changed.as_slice()).unwrap_or_default();
    let packages = target.packages.iter();
    let packages: Vec<_> = packages
        .filter(|package| {
            package.wheel.is_some() && names.contains(&package.name) && is_ours(layout, seen, &package.name)
        })
        .collect();
    let faults = check_distributions(held_of(layout, state, &packages)?, 1);
    let broken = packages.iter().zip(faults).filter(|(_, faults)| !faults.is_empty());
    let mut doubtful: Vec<PackageName> = broken.map(|(package, _)| package.name.clone()).collect();
    doubtful.extend(half_back(layout, state, target, seen, names)?);
    doubtful.extend(gutted(layout, state, target, seen, marker.is_none())?);
    for package in &target.packages {
        if let Some(wheel) = package.wheel.as_ref().filter(|wheel| wheel.index == "direct")
            && recorded(state, wheel)?.is_none()
        {
            doubtful.push(package.name.clone());
        }
    }
    Ok(doubtful)
}

/// Whether a distribution lies where installers for this environment put it: Debian's own lie elsewhere, and no RECORD of a wheel is
/// theirs.
pub fn is_ours(layout: &Layout, seen: &Seen, name: &PackageName) -> bool {
    let location = seen.machine.installed.get(name).and_then(|one| one.location.as_ref());
    location.is_none_or(|folder| layout.folders().contains(&folder))
}

/// What colab-boot has installed, and of which a module or folder of site-packages is gone; where nothing is known of an apply, whatever is
/// locked, by its own RECORD. Files within are not looked at: that is for `verify`.
fn gutted(
    layout: &Layout,
    state: &State,
    target: &LockedTarget,
    seen: &Seen,
    all: bool,
) -> Result<Vec<PackageName>, Failure> {
    let mut gutted = Vec::new();
    for package in &target.packages {
        let installed = seen.machine.installed.get(&package.name).is_some_and(|one| one.version == package.version);
        let digest = package.wheel.as_ref().filter(|wheel| !wheel.is_source()).and_then(|wheel| wheel.sha256);
        let (true, Some(digest)) = (installed && is_ours(layout, seen, &package.name), digest) else { continue };
        let record = match state.record_text(&digest)? {
            Some(record) => record,
            None if all => own_record(seen, &package.name)?.unwrap_or_default(),
            None => continue,
        };
        let is_there = |top: &&str| layout.folders().iter().any(|site| site.join(top).symlink_metadata().is_ok());
        if !tops(&record).iter().all(is_there) {
            gutted.push(package.name.clone());
        }
    }
    Ok(gutted)
}

/// The RECORD that an installer has written.
fn own_record(seen: &Seen, name: &PackageName) -> Result<Option<String>, Failure> {
    let mut all = seen.observed.iter().flat_map(|observed| &observed.distributions);
    let found = all.find(|one| one.name.parse::<PackageName>().ok().as_ref() == Some(name));
    found.map_or(Ok(None), |one| files::read_optional(&one.folder.join("RECORD")))
}

/// The entries of site-packages that the files of a RECORD lie in. Lines with quotes, which are rare, are passed over.
fn tops(record: &str) -> BTreeSet<&str> {
    let mut tops = BTreeSet::new();
    let mut last = "";
    for line in record.lines() {
        let top = line.split(['/', ',']).next().unwrap_or_default();
        // Files of one folder stand behind each other.
        if top != last {
            last = top;
            tops.insert(top);
        }
    }
    tops.retain(|top| !top.is_empty() && !top.starts_with(['"', '.']) && !top.ends_with(".data"));
    tops
}

/// What was on its way back when an apply was killed, and is not whole.
fn half_back(
    layout: &Layout,
    state: &State,
    target: &LockedTarget,
    seen: &Seen,
    names: &[PackageName],
) -> Result<Vec<PackageName>, Failure> {
    let mut held = Vec::new();
    for name in names.iter().filter(|name| target.package(name).is_none()) {
        let installed = seen.machine.installed.get(name);
        let entry = seen
            .ledger
            .distributions
            .get(name)
            .filter(|entry| installed.is_some_and(|one| one.version == entry.version));
        if let Some((entry, digest)) = entry.and_then(|entry| Some((entry, entry.sha256?)))
            && let Some(record) = state.record(&digest)?
        {
            held.push(Held { layout, name, version: &entry.version, record: Some(record) });
        }
    }
    let all: Vec<PackageName> = held.iter().map(|one| one.name.clone()).collect();
    let faults = check_distributions(held, 1);
    Ok(all.into_iter().zip(faults).filter(|(_, faults)| !faults.is_empty()).map(|(name, _)| name).collect())
}

/// `packages` with the RECORDs of their wheels.
pub fn held_of<'a>(
    layout: &'a Layout,
    state: &State,
    packages: &[&'a LockedPackage],
) -> Result<Vec<Held<'a>>, Failure> {
    let held = |package: &&'a LockedPackage| {
        let record = package.wheel.as_ref().map_or(Ok(None), |wheel| recorded(state, wheel))?;
        Ok(Held { layout, name: &package.name, version: &package.version, record })
    };
    packages.iter().map(held).collect()
}

/// The RECORD of a locked wheel that was installed from here.
fn recorded(state: &State, wheel: &LockedWheel) -> Result<Option<Vec<Entry>>, Failure> {
    wheel.sha256.map_or(Ok(None), |digest| state.record(&digest))
}
