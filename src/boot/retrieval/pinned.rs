//! What the index and the matrix know of versions that somebody else chose.

use std::collections::BTreeMap;

use pep508_rs::MarkerEnvironment;
use url::Url;

use crate::boot::audit::{Audited, Named};
use crate::boot::index::{Cache, Limits, Locations, Offline, Online, Scope, Trust};
use crate::boot::resolve::{BUDGET, WHEEL, is_linked_against, is_within, is_worth_reading};
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Subject, counted};
use crate::core::matrix::{Build, Linkage, MinorSymbols};
use crate::core::model::catalog::{Candidate, Catalog};
use crate::core::model::{PackageName, PythonFacts, WheelName};

/// What was found, and what could not be.
pub struct LookedUp {
    pub held: Vec<Audited>,
    pub findings: Vec<Finding>,
}

/// Where and how to look.
struct Finder<'a> {
    session: &'a Session<'a>,
    catalog: &'a dyn Catalog,
    markers: &'a MarkerEnvironment,
}

impl Session<'_> {
    /// Looks up `named` on `index`, or `offline` in the cache alone. An index that answers for none of them is a
    /// failure.
    pub fn find(&self, named: &[Named], python: &PythonFacts, index: Url, offline: bool) -> Result<LookedUp, Failure> {
        let scope = Scope::of(python).ok_or_else(|| Failure::bug("no marker environment"))?;
        let markers = &scope.markers.clone();
        let cache = Cache::new(&self.paths.cache, self.now, if offline { Trust::Always } else { Trust::WhileFresh });
        if offline {
            let catalog = Offline::new(self.matrix, Locations::only(index), scope, cache);
            return Finder { session: self, catalog: &catalog, markers }.find(named, true);
        }
        let client = self.client(std::slice::from_ref(&index), Limits::DEFAULT)?;
        let catalog = Online::new(&client, self.matrix, Locations::only(index), scope, cache);
        let names: Vec<PackageName> = named.iter().map(|one| one.name.clone()).collect();
        // Ahead and together; what fails is asked for again below, and reported there.
        let _ = catalog.listings(&names);
        Finder { session: self, catalog: &catalog, markers }.find(named, false)
    }
}

impl Finder<'_> {
    fn find(&self, named: &[Named], offline: bool) -> Result<LookedUp, Failure> {
        let found: Vec<Result<Option<Candidate>, Failure>> = named.iter().map(|one| self.candidate(one)).collect();
        let mut failures = found.iter().filter_map(|one| one.as_ref().err());
        let count = failures.clone().count();
        let first = failures.next().cloned();
        if let Some(failure) = first.clone().filter(|_| !offline && count == named.len()) {
            return Err(failure);
        }
        let candidates: Vec<Candidate> = found.iter().filter_map(|one| one.as_ref().ok()?.clone()).collect();
        self.catalog.expect_metadata(&candidates);
        let mut linkages = self.linkages(named, &candidates);
        let mut files = self.catalog.files(&candidates).into_iter();
        let mut held = Vec::new();
        let (mut absent, mut unknown) = (Vec::new(), Vec::new());
        let mut unopened = 0;
        for (one, found) in named.iter().zip(&found) {
            let candidate = found.as_ref().ok().and_then(Option::as_ref);
            let files = candidate.and_then(|_| files.next().flatten());
            unopened += usize::from(candidate.is_some() && files.is_none());
            let (build, doubt) = self.build(one, candidate);
            if found.as_ref().is_ok_and(Option::is_none) && build.is_none() && !one.version.is_local() {
                match self.catalog.listing(&one.name) {
                    Ok(None) if !one.is_from_address() => unknown.push(unknown_package(one)),
                    Ok(Some(listing)) if !one.is_from_address() && !listing.has(&one.version) => {
                        unknown.push(unknown_release(one));
                    }
                    _ => absent.push(format!("{} {}", one.name, one.version)),
                }
            }
            unknown.extend(candidate.and_then(|candidate| other_bytes(one, candidate)));
            let metadata = candidate.and_then(|candidate| self.catalog.metadata(candidate).ok());
            let linkage = candidate.and_then(|candidate| linkages.remove(&candidate.file));
            let requires = metadata.iter().flat_map(|metadata| &metadata.requires);
            held.push(Audited {
                linkage: linkage.map(|linkage| linkage.beside(requires)),
                build,
                doubt,
                files,
                requires: metadata.as_ref().map(|metadata| metadata.requires.clone()),
                requires_python: metadata.as_ref().and_then(|metadata| metadata.requires_python.clone()),
                place: one.place.clone(),
                ..Audited::new(one.name.clone(), one.version.clone())
            });
        }
        let findings = [not_asked(count, first.as_ref()), not_there(&absent), not_opened(unopened)];
        Ok(LookedUp { held, findings: findings.into_iter().flatten().chain(unknown).collect() })
    }

    /// What wheels without a row are linked against, by their files, as far as a solve would read them too.
    fn linkages(&self, named: &[Named], candidates: &[Candidate]) -> BTreeMap<String, Linkage> {
        let matrix = self.session.matrix;
        let matters = named.iter().any(|one| is_linked_against(matrix, &one.name));
        let Some(symbols) = MinorSymbols::bundled().ok().filter(|_| matters) else {
            return BTreeMap::new();
        };
        let wheels = candidates.iter().filter_map(|one| Some((one.file.parse::<WheelName>().ok()?, one)));
        let mut wheels: Vec<(WheelName, &Candidate)> =
            wheels.filter(|(wheel, one)| is_worth_reading(matrix, &wheel.name, one)).collect();
        wheels.sort_by_key(|(_, one)| one.size);
        let mut left = BUDGET;
        wheels.retain(|(_, one)| is_within(&mut left, one, WHEEL));
        let to_read: Vec<(Candidate, u64)> = wheels.iter().map(|(_, one)| ((*one).clone(), WHEEL)).collect();
        let read = wheels.iter().zip(self.catalog.linking(&to_read));
        read.filter_map(|((wheel, one), linking)| {
            Some((one.file.clone(), Linkage::of(&linking?.demands(), wheel, &symbols)))
        })
        .collect()
    }

    fn candidate(&self, one: &Named) -> Result<Option<Candidate>, Failure> {
        let listing = self.catalog.listing(&one.name)?;
        Ok(listing.and_then(|listing| listing.get(&one.version).cloned()))
    }

    /// The build, by its row or from its wheel where it may be one for GPUs; and why it is not known, though it should
    /// be.
    fn build(&self, one: &Named, candidate: Option<&Candidate>) -> (Option<Build>, Option<String>) {
        let matrix = self.session.matrix;
        if let Some(row) = matrix.build(&one.name, &one.version) {
            return (Some(row.clone()), None);
        }
        let Some(candidate) = candidate else {
            return (None, None);
        };
        let metadata = match self.catalog.metadata(candidate) {
            Ok(metadata) => metadata,
            Err(failure) => return (None, Some(failure.to_string())),
        };
        let watched = matrix.is_watched(&one.name, &one.version);
        if !watched && !matrix.is_worth_reading(&one.name, &metadata.requires, self.markers) {
            return (None, None);
        }
        let read = match self.catalog.build(candidate) {
            Ok(read) => read,
            Err(failure) => return (None, Some(failure.to_string())),
        };
        let doubt =
            read.as_ref().map_or_else(|| Some("its wheel can't be read offline".to_owned()), |read| read.doubt());
        let wheel = candidate.file.parse::<WheelName>().ok();
        let build = wheel.zip(read).filter(|_| doubt.is_none());
        let build = build.map(|(wheel, read)| Build::of_wheel(&wheel, candidate.sha256, &read, &metadata));
        (build, doubt)
    }
}

/// No index has anything of this name: a misspelt one, or one of a private index.
fn unknown_package(one: &Named) -> Finding {
    let finding = Finding::error(Code::ResolveUnknownPackage, format!("the index has no package `{}`", one.name))
        .about(Subject::package(&one.name))
        .with_help("check its spelling, or pass the index that has it with --index-url");
    shown(one, finding)
}

/// The index has other versions of it.
fn unknown_release(one: &Named) -> Finding {
    let message = format!("the index has no release {} of `{}`", one.version, one.name);
    let finding = Finding::error(Code::AuditMissing, message).about(Subject::release(&one.name, &one.version));
    shown(one, finding.with_help("check the version, or pass the index that has it with --index-url"))
}

/// The line of a package allows other bytes than those that its installer would get.
fn other_bytes(one: &Named, candidate: &Candidate) -> Option<Finding> {
    let sha256 = candidate.sha256?;
    let is_named = one.hashes.is_empty() || one.hashes.contains(&sha256);
    let is_locked = one.files.get(&candidate.file).is_none_or(|locked| *locked == sha256);
    let message = match (is_named, is_locked) {
        (true, true) => return None,
        (false, _) => format!("no `--hash` of {} {} matches its wheel", one.name, one.version),
        (true, false) => format!("the lock has another digest for the wheel of {} {}", one.name, one.version),
    };
    let finding = Finding::error(Code::AuditHash, message).about(Subject::package(&one.name));
    Some(shown(one, finding.with_note(format!("`{}` has sha256:{sha256}", candidate.file))))
}

fn shown(one: &Named, finding: Finding) -> Finding {
    match &one.place {
        Some(place) => place.show(finding),
        None => finding,
    }
}

fn not_asked(count: usize, failure: Option<&Failure>) -> Option<Finding> {
    let failure = failure?;
    let message = format!("{} could not be looked up: checked only against the matrix", counted(count, "package"));
    Some(Finding::warning(Code::AuditUnread, message).with_note(failure.to_string()))
}

fn not_there(absent: &[String]) -> Option<Finding> {
    let message = format!("{} without a wheel for the target on the index", counted(absent.len(), "release"));
    let named: Vec<&str> = absent.iter().map(String::as_str).take(12).collect();
    (!absent.is_empty()).then(|| Finding::note(Code::AuditUnread, message).with_note(named.join(", ")))
}

fn not_opened(count: usize) -> Option<Finding> {
    let message = format!("{} could not be checked for files that collide with other wheels", counted(count, "wheel"));
    (count > 0).then(|| Finding::note(Code::FilesUnchecked, message))
}
