//! One fact of a conflict as a sentence: which words stand for which requirement, driver, GPU, page or wheel.

use std::ops::Bound as Edge;

use crate::boot::resolve::Question;
use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::package::Package;
use crate::core::diag::Code;
use crate::core::matrix::{CondaPackage, Hints, distribution_with_module, likely_distribution};
use crate::core::model::catalog::{Listing, Rejection, pythons_of};
use crate::core::model::platform::parse_platform;
use crate::core::model::version::{describe, is_pin, public, range_of};
use crate::core::model::{Libc, PackageName, Version, VersionRange};

/// The most intervals of versions that still say something to a reader.
const PARTS: usize = 3;

/// What is left of `==1.2` beside the one version that exists: room for local versions, of no interest to anybody.
fn is_seam(range: &VersionRange) -> bool {
    range.iter().all(|bounds| match bounds {
        (Edge::Included(low) | Edge::Excluded(low), Edge::Included(high) | Edge::Excluded(high)) => {
            public(low) == public(high)
        }
        _ => false,
    })
}

/// The words for facts.
pub(super) struct Wording<'a> {
    pub question: Question<'a>,
}

impl Wording<'_> {
    /// The code and first line, by what the facts are about.
    pub(super) fn headline(&self, facts: &[Fact]) -> (Code, String) {
        let about = |package: &Package| facts.iter().any(|fact| fact.packages().contains(&package));
        let missing = facts.iter().find_map(|fact| match fact {
            Fact::NoVersion { package, range } => Some((package.name()?, range)),
            _ => None,
        });
        if about(&Package::Driver) {
            let driver = self.question.target.hardware.driver.as_ref().map(ToString::to_string).unwrap_or_default();
            return (Code::DriverTooOld, format!("driver `{driver}` cannot run the CUDA that {} needs", self.file()));
        }
        if (0..self.question.target.hardware.gpus.len()).any(|at| about(&Package::Gpu(at))) {
            return (Code::GpuNotCovered, format!("a wheel that {} needs has no code for a target GPU", self.file()));
        }
        if about(&Package::CudaMajor) {
            return (Code::CudaMixedMajors, format!("{} needs libraries of two CUDA majors", self.file()));
        }
        if self.shared_path(facts).is_some() {
            return (Code::FilesCollide, format!("two packages that {} needs would own the same files", self.file()));
        }
        let held =
            |name: &PackageName| self.question.target.installed.get(name).is_some_and(|present| present.protected);
        if missing.is_some_and(|(name, _)| held(name)) {
            return (
                Code::PlanProtected,
                format!("{} would change a package that the notebook kernel runs on", self.file()),
            );
        }
        match missing.map(|(name, range)| (name, self.listing(name), range)) {
            Some((name, None, _)) => (Code::ResolveUnknownPackage, format!("no index has a package `{name}`")),
            Some((name, Some(listing), range)) if self.only_rejected(name, &listing, range) => {
                (Code::ResolveNoWheel, format!("`{name}` has no wheel for this target"))
            }
            _ => (Code::ResolveConflict, format!("no set of wheels satisfies {} on this target", self.file())),
        }
    }

    /// The path whose ownership a conflict is about.
    fn shared_path(&self, facts: &[Fact]) -> Option<&str> {
        let mut packages = facts.iter().flat_map(Fact::packages);
        let row = packages.find_map(|package| self.question.matrix.collisions.get(package.owner()?))?;
        Some(&row.path)
    }

    /// Versions in range exist, but none can be used, and nothing is held in place.
    pub(super) fn only_rejected(&self, name: &PackageName, listing: &Listing, range: &VersionRange) -> bool {
        let protected = self.question.target.installed.get(name).is_some_and(|present| present.protected);
        !protected
            && listing.rejected.iter().any(|(version, _)| range.contains(version))
            && !listing.candidates.iter().any(|candidate| range.contains(&candidate.version))
    }

    pub(super) fn listing(&self, name: &PackageName) -> Option<std::sync::Arc<Listing>> {
        self.question.catalog.listing(name).ok().flatten()
    }

    /// What a message calls the file that asks.
    pub(super) fn file(&self) -> &'static str {
        if self.question.profile.is_of_requirements() { "the file" } else { "the profile" }
    }

    pub(super) fn sentence(&self, fact: &Fact) -> Option<String> {
        Some(match fact {
            Fact::Needs { package: Package::Profile, needed, range, .. } => self.asked(needed, range),
            Fact::Needs { package, versions, needed, range } => {
                format!("{} {}", self.versions(package, versions), self.what_it_needs(package, versions, needed, range))
            }
            Fact::Unusable { package, versions, why } => {
                format!("{} can't be used: {why}", self.versions(package, versions))
            }
            Fact::NoVersion { package, range } => return self.no_version(package, range),
        })
    }

    /// `needs b <2`, `is built for CUDA 13.2 and needs NVIDIA driver 580.65.06 or newer`.
    pub(super) fn what_it_needs(
        &self,
        package: &Package,
        versions: &VersionRange,
        needed: &Package,
        range: &VersionRange,
    ) -> String {
        self.other_cudas(package, versions, needed)
            .unwrap_or_else(|| format!("{}{}", self.built_for(package, versions, needed), self.need(needed, range)))
    }

    /// What people call the library that a package brings: `cuDNN` of `nvidia-cudnn-cu12`.
    pub(super) fn library(&self, name: &PackageName) -> Option<&str> {
        self.question.matrix.library_title(name)
    }

    /// Whether the profile allows one release of `name` alone.
    pub(super) fn is_alone(&self, name: &PackageName) -> bool {
        let wanted = self.question.profile.wanted.iter().find(|one| one.name == *name);
        let range = wanted.map_or_else(VersionRange::full, |one| range_of(&one.specifiers));
        self.listing(name)
            .is_none_or(|listing| listing.candidates.iter().filter(|one| range.contains(&one.version)).count() < 2)
    }

    /// What helps beside changes that can be solved.
    pub(super) fn advice(&self, facts: &[Fact]) -> Option<String> {
        let missing = facts.iter().find_map(|fact| match fact {
            Fact::NoVersion { package, range } => Some((package.name()?, range)),
            _ => None,
        });
        let (name, range) = missing?;
        let Some(listing) = self.listing(name) else {
            return likely_distribution(name).map(|meant| format!("did you mean `{meant}`?"));
        };
        if let Some(meant) = distribution_with_module(name).filter(|_| listing.candidates.is_empty()) {
            return Some(format!("the module `{name}` is in `{meant}`: did you mean that?"));
        }
        if let CondaPackage::Distribution(meant) = CondaPackage::named(name.as_ref())
            && listing.candidates.is_empty()
            && meant != *name
        {
            return Some(format!("conda's `{name}` is `{meant}` on a Python index: did you mean that?"));
        }
        // Another package may have the name that a slip of the pen makes.
        let is_known = Hints::bundled().names().any(|known| known == name);
        if let Some(meant) = likely_distribution(name).filter(|_| !is_known && !listing.candidates.is_empty()) {
            return Some(format!("did you mean `{meant}`? `{name}` is another package"));
        }
        // The rest is about keys of a profile.
        if self.question.profile.is_of_requirements() {
            return None;
        }
        let source =
            listing.rejected.iter().any(|(version, why)| range.contains(version) && *why == Rejection::NoWheel);
        let buildable = self.question.profile.policy.buildable.contains(name);
        if source && !buildable && self.only_rejected(name, &listing, range) {
            return Some(format!(
                "let the installer build it: `wheels-only = false` and `build = [\"{name}\"]` in `[policy]`"
            ));
        }
        let local = range.iter().any(|(low, _)| match low {
            Edge::Included(version) => {
                version.is_local() && !listing.candidates.iter().any(|one| one.version == *version)
            }
            _ => false,
        });
        local.then(|| {
            format!("builds with a local version are on their publisher's index: add it as an `[[index]]` with `packages = [\"{name}\"]`")
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

    fn no_version(&self, package: &Package, range: &VersionRange) -> Option<String> {
        let target = self.question.target;
        let Some(name) = package.name() else {
            return match package {
                Package::Driver => {
                    let driver = target.hardware.driver.as_ref()?;
                    Some(format!("the NVIDIA driver is {driver} ({})", target.driver_origin))
                }
                Package::Owner(_) => {
                    Some("a file can have one owner only: together they would overwrite each other's files".to_owned())
                }
                Package::CudaMajor => Some("an environment holds one CUDA major (`one-cuda-major = true`)".to_owned()),
                _ => None,
            };
        };
        if let Some(present) = target.installed.get(name).filter(|present| present.protected) {
            return Some(format!("{name} is {} and must not change: the notebook kernel runs on it", present.version));
        }
        let Some(listing) = self.listing(name) else {
            return Some(format!(
                "no index that may serve `{name}` has it; check the spelling, or run the command with --refresh if the package is new"
            ));
        };
        let bound = self.question.profile.constraint_of(name).filter(|bound| {
            let bound = range_of(&bound.specifiers);
            let mut inside = listing.candidates.iter().filter(|one| range.contains(&one.version)).peekable();
            inside.peek().is_some() && !inside.any(|one| bound.contains(&one.version))
        });
        if let Some(bound) = bound {
            let whose = if self.question.profile.is_of_requirements() {
                "the constraints"
            } else {
                "your profile's `[constraints]`"
            };
            return Some(format!("{whose} allow only {name} {}", bound.specifiers));
        }
        let rejected = listing.rejected.iter().find(|(version, _)| range.contains(version));
        if let Some((version, rejection)) = rejected.filter(|_| self.only_rejected(name, &listing, range)) {
            let with_wheels = with_wheels(name, &listing, version, rejection);
            return Some(format!("{name} {version} exists, but {}{with_wheels}", self.rejection(name, rejection)));
        }
        if let Some((version, reason)) = yanked(&listing, range) {
            let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            return Some(format!("{name} {version} was yanked by its authors{reason}: only an exact pin selects it"));
        }
        let known = |version: &Version| listing.candidates.iter().any(|one| one.version == *version);
        if is_seam(range) && range.iter().all(|(low, _)| !matches!(low, Edge::Included(version) if !known(version))) {
            return None;
        }
        let newest = listing.candidates.first().map(|candidate| format!("; the newest here is {}", candidate.version));
        if range.iter().count() > PARTS {
            return Some(format!("no other release of {name} fits{}", newest.unwrap_or_default()));
        }
        if *range == VersionRange::full() {
            let none = || format!("the index has a page of {name}, but no release on it");
            return listing.candidates.is_empty().then(none);
        }
        Some(format!("there is no {name} {}{}", describe(range), newest.unwrap_or_default()))
    }

    fn rejection(&self, name: &PackageName, rejection: &Rejection) -> String {
        let python = &self.question.target.python;
        match rejection {
            Rejection::Python(wanted) => format!("it needs Python {wanted}, but the target has {}", python.version),
            Rejection::NoWheel => {
                let why =
                    self.question.matrix.source_only(name).map(|row| format!(" ({})", row.why)).unwrap_or_default();
                format!("it has only a source distribution, which is not built in a notebook{why}")
            }
            Rejection::TooNew => "it was uploaded after the profile's `as-of`".to_owned(),
            Rejection::Astray => "its address is on this machine, unencrypted, or in a private network".to_owned(),
            Rejection::Twice => "the index names its file twice, with different digests".to_owned(),
            Rejection::Undated => "the index has no upload date, so the profile's `as-of` can't be checked".to_owned(),
            Rejection::Tags(tags) => {
                let (major, minor) = python.minor();
                let fits = |tag: &&String| is_of_python(tag, python.minor());
                let some: Vec<&str> = tags.iter().map(String::as_str).take(4).collect();
                let pythons = pythons_of(tags);
                let glibc = tags.iter().filter(fits).filter_map(|tag| glibc_of(tag, &python.architecture)).min();
                let own = if let Libc::Glibc(major, minor) = python.libc { Some((major, minor)) } else { None };
                if let Some(((wanted, least), (has, have))) = glibc.zip(own).filter(|(wanted, own)| wanted > own) {
                    format!("its wheels need glibc {wanted}.{least} or newer, the target has {has}.{have}")
                } else if tags.iter().any(|tag| fits(&tag)) || pythons.is_empty() {
                    let target = format!("cp{major}{minor} {}", python.platform_tag());
                    format!("its wheels are for {}, the target is {target}", some.join(", "))
                } else {
                    format!("its wheels are for Python {}, the target has {}", pythons.join(", "), python.version)
                }
            }
        }
    }

    /// A package with the versions a fact is about, as few words as will do.
    pub(super) fn versions(&self, package: &Package, versions: &VersionRange) -> String {
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

/// Which other versions have wheels, and for which Pythons.
fn with_wheels(name: &PackageName, listing: &Listing, version: &Version, rejection: &Rejection) -> String {
    if let Some(newest) = listing.candidates.iter().find(|one| !one.version.any_prerelease() && !one.is_source()) {
        return format!("; {name} {} has a wheel for this Python", newest.version);
    }
    let tagged = listing.rejected.iter().filter_map(|(version, why)| match why {
        Rejection::Tags(tags) => Some((version, tags)),
        _ => None,
    });
    let tagged: Vec<(&Version, &Vec<String>)> = tagged.collect();
    let (Some((newest, _)), Some((oldest, _))) = (tagged.first(), tagged.last()) else {
        return String::new();
    };
    let mut tags: Vec<String> = tagged.iter().flat_map(|(_, tags)| tags.iter().cloned()).collect();
    tags.sort();
    let pythons = pythons_of(&tags);
    if pythons.is_empty() || (matches!(rejection, Rejection::Tags(_)) && tagged.len() == 1 && *newest == version) {
        return String::new();
    }
    let span = if newest == oldest { newest.to_string() } else { format!("{oldest} to {newest}") };
    format!("; wheels of {name} {span} are for Python {}", pythons.join(", "))
}

/// The newest withdrawn release of `range`, with the reason, where nothing else of it is there.
fn yanked<'a>(listing: &'a Listing, range: &VersionRange) -> Option<(&'a Version, &'a str)> {
    let mut inside = listing.candidates.iter().filter(|one| range.contains(&one.version)).peekable();
    let first = *inside.peek()?;
    inside.all(|one| one.yanked.is_some()).then_some((&first.version, first.yanked.as_deref().unwrap_or_default()))
}

/// Whether a tag is for the Python, of which minor it is, or for all from an older one on (`cp39.abi3-…`).
fn is_of_python(tag: &str, (major, minor): (u64, u64)) -> bool {
    let (python, _) = tag.split_once('-').unwrap_or((tag, ""));
    let stable = python.strip_suffix(".abi3").and_then(|python| python.strip_prefix("cp3")?.parse::<u64>().ok());
    python == format!("cp{major}{minor}")
        || python == format!("py{major}")
        || stable.is_some_and(|oldest| oldest <= minor)
}

/// The glibc that a tag of this architecture asks for.
fn glibc_of(tag: &str, architecture: &str) -> Option<(u32, u32)> {
    match parse_platform(tag.split_once('-')?.1)? {
        (Libc::Glibc(major, minor), of) if of == architecture => Some((major, minor)),
        _ => None,
    }
}
