//! A contradiction in words: the facts it rests on, from the profile down, and changes that were solved and do work.

use std::ops::Bound;

use pubgrub::{DerivationTree, External};

use crate::diag::{Code, Finding};
use crate::model::catalog::{Listing, Rejection};
use crate::model::version::{describe, is_pin, range_of};
use crate::model::{PackageName, Version, VersionRange};
use crate::resolve::Question;
use crate::resolve::package::Package;

/// Why there is no solution.
#[derive(Clone, Debug)]
pub struct Conflict {
    pub(super) facts: Vec<Fact>,
    pub(super) fixes: Vec<Fix>,
}

/// One fact that the contradiction rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    Needs { package: Package, versions: VersionRange, needed: Package, range: VersionRange },
    NoVersion { package: Package, range: VersionRange },
    Unusable { package: Package, versions: VersionRange, why: String },
}

/// A change of the profile that was solved.
#[derive(Clone, Debug)]
pub(super) enum Fix {
    Version { name: PackageName, version: Version, extras: Vec<String> },
    Without { name: PackageName },
}

/// The longest list of facts that is shown whole.
const SHOWN: usize = 14;

/// The most intervals of versions that still say something to a reader.
const PARTS: usize = 3;

impl Fact {
    fn packages(&self) -> Vec<&Package> {
        match self {
            Self::Needs { package, needed, .. } => vec![package, needed],
            Self::NoVersion { package, .. } | Self::Unusable { package, .. } => vec![package],
        }
    }

    pub(super) fn names(&self) -> Vec<&PackageName> {
        self.packages().into_iter().filter_map(Package::name).collect()
    }
}

/// The external facts of a derivation tree, ordered from the profile down, each once.
pub(super) fn facts_of(tree: &DerivationTree<Package, VersionRange, String>) -> Vec<Fact> {
    let mut facts = Vec::new();
    gather(tree, &mut facts);
    order(merge(facts))
}

fn gather(tree: &DerivationTree<Package, VersionRange, String>, facts: &mut Vec<Fact>) {
    match tree {
        DerivationTree::Derived(derived) => {
            gather(&derived.cause1, facts);
            gather(&derived.cause2, facts);
        }
        DerivationTree::External(external) => facts.extend(fact(external)),
    }
}

fn fact(external: &External<Package, VersionRange, String>) -> Option<Fact> {
    match external.clone() {
        // That we solve for the profile, that an extra needs its own distribution, and that its own metadata: says nothing.
        External::NotRoot(..) | External::FromDependencyOf(Package::Distribution(_), _, Package::Published(_), _) => {
            None
        }
        External::FromDependencyOf(Package::Extra(name, _), _, Package::Distribution(same), _) if name == same => None,
        External::FromDependencyOf(package, versions, needed, range) => {
            Some(Fact::Needs { package, versions, needed, range })
        }
        External::NoVersions(package, range) => Some(Fact::NoVersion { package, range }),
        External::Custom(package, versions, why) => Some(Fact::Unusable { package, versions, why }),
    }
}

/// The same statement about several versions becomes one.
fn merge(facts: Vec<Fact>) -> Vec<Fact> {
    let mut merged: Vec<Fact> = Vec::new();
    for fact in facts {
        let twin = merged.iter_mut().find_map(|known| match (known, &fact) {
            (
                Fact::Needs { package, versions, needed, range },
                Fact::Needs { package: p, versions: v, needed: n, range: r },
            ) if package == p && needed == n && range == r => Some((versions, v)),
            (Fact::Unusable { package, versions, why }, Fact::Unusable { package: p, versions: v, why: w })
                if package == p && why == w =>
            {
                Some((versions, v))
            }
            (Fact::NoVersion { package, range }, Fact::NoVersion { package: p, range: r }) if package == p => {
                Some((range, r))
            }
            _ => None,
        });
        match twin {
            Some((versions, more)) => *versions = versions.union(more),
            None => merged.push(fact),
        }
    }
    merged
}

/// Breadth first from the profile, so that each fact stands after what led to it.
fn order(mut facts: Vec<Fact>) -> Vec<Fact> {
    let mut ordered = Vec::new();
    let mut reached = vec![Package::Profile];
    let mut at = 0;
    while let Some(package) = reached.get(at).cloned() {
        let about = |fact: &Fact| {
            fact.packages()[0].name().map_or(*fact.packages()[0] == package, |name| Some(name) == package.name())
        };
        let (now, later): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(about);
        for fact in &now {
            if let Fact::Needs { needed, .. } = fact
                && !reached.contains(needed)
            {
                reached.push(needed.clone());
            }
        }
        ordered.extend(now);
        facts = later;
        at += 1;
    }
    ordered.extend(facts);
    ordered
}

/// The finding for `conflict`: caret at the profile's package, one note a fact, one help a fix.
pub fn explain(conflict: &Conflict, question: Question<'_>) -> Finding {
    let teller = Teller { question };
    let (code, message) = teller.headline(&conflict.facts);
    let mut finding = Finding::error(code, message);
    let profile = question.profile;
    let named = conflict
        .facts
        .iter()
        .flat_map(Fact::names)
        .find_map(|name| profile.wanted.iter().find(|one| one.name == *name));
    if let Some(wanted) = named {
        finding = finding.at(&profile.source, wanted.span.clone(), "asked for here");
    }
    let sentences: Vec<String> = conflict.facts.iter().filter_map(|fact| teller.sentence(fact)).collect();
    let hidden = sentences.len().saturating_sub(SHOWN);
    for sentence in sentences.into_iter().take(SHOWN) {
        finding = finding.with_note(sentence);
    }
    if hidden > 0 {
        finding = finding.with_note(format!("and {hidden} more facts of this kind about other versions"));
    }
    for fix in &conflict.fixes {
        finding = finding.with_help(match fix {
            Fix::Version { name, version, extras } if extras.is_empty() => {
                format!("`{name} = \"=={version}\"` works: this set was solved")
            }
            Fix::Version { name, version, extras } => {
                let entry = format!("{{ version = \"=={version}\", extras = {extras:?} }}");
                format!("`{name} = {entry}` works: this set was solved")
            }
            Fix::Without { name } => format!("without `{name}` the rest works: this set was solved"),
        });
    }
    finding
}

/// What is left of `==1.2` beside the one version that exists: room for local versions, of no interest to anybody.
fn is_seam(range: &VersionRange) -> bool {
    let public = |version: &Version| version.clone().without_local();
    range.iter().all(|bounds| match bounds {
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => {
            public(low) == public(high)
        }
        _ => false,
    })
}

struct Teller<'a> {
    question: Question<'a>,
}

impl Teller<'_> {
    /// The code and first line, by what the facts are about.
    fn headline(&self, facts: &[Fact]) -> (Code, String) {
        let about = |package: &Package| facts.iter().any(|fact| fact.packages().contains(&package));
        let missing = facts.iter().find_map(|fact| match fact {
            Fact::NoVersion { package, range } => Some((package.name()?, range)),
            _ => None,
        });
        if about(&Package::Driver) {
            let driver = self.question.target.hardware.driver.as_ref().map(ToString::to_string).unwrap_or_default();
            return (Code::DriverTooOld, format!("driver `{driver}` cannot run the CUDA that the profile needs"));
        }
        if (0..self.question.target.hardware.gpus.len()).any(|at| about(&Package::Gpu(at))) {
            return (Code::GpuNotCovered, "a wheel that the profile needs has no code for a target GPU".to_owned());
        }
        if about(&Package::CudaMajor) {
            return (Code::CudaMixedMajors, "the profile needs libraries of two CUDA majors".to_owned());
        }
        if self.shared_path(facts).is_some() {
            return (Code::FilesCollide, "two packages that the profile needs would own the same files".to_owned());
        }
        let held =
            |name: &PackageName| self.question.target.installed.get(name).is_some_and(|present| present.protected);
        if missing.is_some_and(|(name, _)| held(name)) {
            return (
                Code::PlanProtected,
                "the profile would move a package that the notebook kernel runs on".to_owned(),
            );
        }
        match missing.map(|(name, range)| (name, self.listing(name), range)) {
            Some((name, None, _)) => (Code::ResolveUnknownPackage, format!("no index has a package `{name}`")),
            Some((name, Some(listing), range)) if self.only_rejected(name, &listing, range) => {
                (Code::ResolveNoWheel, format!("`{name}` has no wheel for this target"))
            }
            _ => (Code::ResolveConflict, "no set of wheels satisfies the profile on this target".to_owned()),
        }
    }

    /// The path whose ownership a conflict is about.
    fn shared_path(&self, facts: &[Fact]) -> Option<&str> {
        let mut packages = facts.iter().flat_map(Fact::packages);
        let row = packages.find_map(|package| self.question.matrix.collisions.get(package.owner()?))?;
        Some(&row.path)
    }

    /// Versions in range exist, but none can be used, and nothing is held in place.
    fn only_rejected(&self, name: &PackageName, listing: &Listing, range: &VersionRange) -> bool {
        let protected = self.question.target.installed.get(name).is_some_and(|present| present.protected);
        !protected
            && listing.rejected.iter().any(|(version, _)| range.contains(version))
            && !listing.candidates.iter().any(|candidate| range.contains(&candidate.version))
    }

    fn listing(&self, name: &PackageName) -> Option<std::sync::Arc<Listing>> {
        self.question.catalog.listing(name).ok().flatten()
    }

    fn sentence(&self, fact: &Fact) -> Option<String> {
        Some(match fact {
            Fact::Needs { package: Package::Profile, needed, range, .. } => self.asked(needed, range),
            Fact::Needs { package, versions, needed, range } => {
                format!(
                    "{} {}{}",
                    self.versions(package, versions),
                    self.built_for(package, versions, needed),
                    self.need(needed, range)
                )
            }
            Fact::Unusable { package, versions, why } => {
                format!("{} can't be used: {why}", self.versions(package, versions))
            }
            Fact::NoVersion { package, range } => return self.no_version(package, range),
        })
    }

    /// What the profile asks for, in its own words; an explanation may have looked at the newest version alone.
    fn asked(&self, needed: &Package, range: &VersionRange) -> String {
        let wanted = self.question.profile.wanted.iter().find(|one| Some(&one.name) == needed.name());
        let own = wanted.map(|one| one.specifiers.clone()).unwrap_or_default();
        let text = if own.is_empty() { String::new() } else { format!(" {own}") };
        let narrowed = is_pin(range) && !is_pin(&range_of(&own));
        let newest = if narrowed {
            format!("; the newest that fits is {}", describe(range).trim_start_matches("=="))
        } else {
            String::new()
        };
        format!("your profile asks for {needed}{text}{newest}")
    }

    /// Where a driver is asked for by a build, the CUDA that asks.
    fn built_for(&self, package: &Package, versions: &VersionRange, needed: &Package) -> String {
        let rows = self.question.matrix.builds.iter().filter(|row| Some(&row.package) == package.name());
        let row = rows.filter(|_| *needed == Package::Driver).rfind(|row| versions.contains(&row.version));
        row.and_then(|row| row.cuda).map(|cuda| format!("is built for CUDA {cuda} and ")).unwrap_or_default()
    }

    fn need(&self, needed: &Package, range: &VersionRange) -> String {
        match needed {
            Package::Driver => format!("needs NVIDIA driver {} or newer", self.driver_floor(range)),
            Package::Owner(at) => {
                let row = self.question.matrix.collisions.get(*at);
                format!("would own {}", row.map_or("a shared file", |row| &row.path))
            }
            Package::CudaMajor => format!("belongs to CUDA {}", describe(range).trim_start_matches("==")),
            Package::Gpu(at) => match self.question.target.hardware.gpus.get(*at) {
                Some(gpu) => format!("has no code for {} (compute capability {})", gpu.name, gpu.capability),
                None => "has no code for a target GPU".to_owned(),
            },
            _ => {
                let bound = needed.name().and_then(|name| self.question.profile.override_of(name));
                let by = bound.map(|_| " (by your profile's `[overrides]`)").unwrap_or_default();
                match describe(range) {
                    _ if *range == VersionRange::full() => format!("needs {needed}{by}"),
                    versions => format!("needs {needed} {versions}{by}"),
                }
            }
        }
    }

    /// The floor as NVIDIA writes it; in the solver's numbers `580.65.06` has lost a zero.
    fn driver_floor(&self, range: &VersionRange) -> String {
        let floors = self.question.matrix.toolkits.iter().map(|row| &row.minor_compat_driver);
        let exact = floors.into_iter().find(|floor| *range == VersionRange::higher_than(floor.as_version()));
        exact.map_or_else(|| describe(range), ToString::to_string)
    }

    fn no_version(&self, package: &Package, range: &VersionRange) -> Option<String> {
        let target = self.question.target;
        let Some(name) = package.name() else {
            return match package {
                Package::Driver => {
                    let driver = target.hardware.driver.as_ref()?;
                    Some(format!("the NVIDIA driver is {driver} ({})", target.driver_origin))
                }
                Package::Owner(_) => {
                    Some("a file has one owner: installed together they would overwrite each other's".to_owned())
                }
                Package::CudaMajor => Some("an environment holds one CUDA major (`one-cuda-major = true`)".to_owned()),
                _ => None,
            };
        };
        if let Some(present) = target.installed.get(name).filter(|present| present.protected) {
            return Some(format!("{name} is {} and must not move: the notebook kernel runs on it", present.version));
        }
        let Some(listing) = self.listing(name) else {
            return Some(format!("no index that may serve `{name}` has it; is the name right?"));
        };
        let constraint = self
            .question
            .profile
            .constraint_of(name)
            .filter(|_| listing.candidates.iter().any(|one| range.contains(&one.version)));
        if let Some(bound) = constraint {
            return Some(format!("your profile's `[constraints]` let {name} be {} only", bound.specifiers));
        }
        let rejected = listing.rejected.iter().find(|(version, _)| range.contains(version));
        if let Some((version, rejection)) = rejected.filter(|_| self.only_rejected(name, &listing, range)) {
            return Some(format!("{name} {version} exists, but {}", self.rejection(name, rejection)));
        }
        if is_seam(range) {
            return None;
        }
        let newest = listing.candidates.first().map(|candidate| format!("; the newest here is {}", candidate.version));
        if range.iter().count() > PARTS {
            return Some(format!("no other release of {name} fits{}", newest.unwrap_or_default()));
        }
        Some(format!("there is no {name} {}{}", describe(range), newest.unwrap_or_default()))
    }

    fn rejection(&self, name: &PackageName, rejection: &Rejection) -> String {
        let python = &self.question.target.python;
        match rejection {
            Rejection::Python(wanted) => format!("it needs Python {wanted}, the target has {}", python.version),
            Rejection::NoWheel => {
                let why =
                    self.question.matrix.source_only(name).map(|row| format!(" ({})", row.why)).unwrap_or_default();
                format!("only as source: nothing is built in a notebook{why}")
            }
            Rejection::TooNew => "it was uploaded after the profile's `as-of`".to_owned(),
            Rejection::Undated => "the index gives no upload date, so the profile's `as-of` can't be kept".to_owned(),
            Rejection::Tags(tags) => {
                let (major, minor) = python.minor();
                let some: Vec<&str> = tags.iter().map(String::as_str).take(4).collect();
                format!(
                    "its wheels are for {}, the target is cp{major}{minor} {}",
                    some.join(", "),
                    python.platform_tag()
                )
            }
        }
    }

    /// A package with the versions a fact is about, as few words as will do.
    fn versions(&self, package: &Package, versions: &VersionRange) -> String {
        let known: Vec<Version> = package
            .name()
            .and_then(|name| self.listing(name))
            .map(|listing| listing.candidates.iter().rev().map(|candidate| candidate.version.clone()).collect())
            .unwrap_or_default();
        let meant: Vec<&Version> = known.iter().filter(|version| versions.contains(version)).collect();
        match meant.as_slice() {
            [] => format!("{package} {}", describe(versions)),
            [one] => format!("{package} {one}"),
            all if all.len() == known.len() => format!("every {package}"),
            _ => format!("{package} {}", describe(&versions.simplify(known.iter()))),
        }
    }
}
