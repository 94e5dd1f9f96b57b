//! What a version asks for: the profile's requirements, those of a release and of its extras, each with overrides and
//! the matrix's additions.

use std::sync::Arc;

use crate::boot::profile::Bound;
use crate::boot::resolve::matrix_edges::{Edge, code_edges, hardware_edges, opaque_edges};
use crate::boot::resolve::package::Package;
use crate::boot::resolve::provider::Provider;
use crate::core::diag::{Code, Failure};
use crate::core::model::metadata::Metadata;
use crate::core::model::version::range_of;
use crate::core::model::{ExtraName, PackageName, Requirement, Version, VersionRange};

/// The edges of a version, or why it can't be used.
pub(super) type Outcome = Result<Vec<Edge>, String>;

/// What is known of a version's requirements.
enum Requirements<'a> {
    /// Installed by other means, and not on the index.
    Unknown,
    /// The target's Python does not fit, as only METADATA says.
    Unfit(String),
    /// As its wheel says.
    Published(Arc<Metadata>),
    /// As what is installed says.
    Installed(&'a [Requirement]),
}

impl<'a> Provider<'a> {
    pub(super) fn root_edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for wanted in self.wanted() {
            let range = self.wanted_range(wanted);
            edges.push((Package::Distribution(wanted.name.clone()), range.clone()));
            let extras = wanted.extras.iter().map(|extra| Package::Extra(wanted.name.clone(), extra.clone()));
            edges.extend(extras.map(|package| (package, range.clone())));
        }
        edges
    }

    /// The requirements of a version, from what is installed or from its wheel.
    fn requirements(&self, name: &PackageName, version: &Version) -> Result<Requirements<'a>, Failure> {
        let present = self.present(name).filter(|present| present.version == *version);
        if let Some(requires) = present.and_then(|present| present.requires.as_deref()) {
            return Ok(Requirements::Installed(requires));
        }
        let listing = self.listing(name)?;
        let Some(candidate) = listing.as_ref().and_then(|listing| listing.get(version)) else {
            return Ok(Requirements::Unknown);
        };
        if candidate.is_source() && self.question.profile.policy.as_pip {
            return Ok(Requirements::Unknown);
        }
        let metadata = self.question.catalog.metadata(candidate)?;
        let is_strict = self.question.profile.policy.as_pip && self.pip_is_strict();
        if let Some(line) = is_strict.then(|| metadata.refused_by_pip()).flatten() {
            return Ok(Requirements::Unfit(format!("pip 24.1 and newer refuse its requirement `{line}`")));
        }
        let python = &self.question.target.python;
        Ok(match metadata.requires_python.as_ref().filter(|wanted| !python.satisfies(wanted)) {
            Some(wanted) => {
                Requirements::Unfit(format!("it needs Python {wanted}, but the target has {}", python.version))
            }
            None => match metadata.unreadable.first() {
                Some(line) => {
                    self.unreadable.borrow_mut().insert((name.clone(), version.clone()), line.clone());
                    Requirements::Unfit(format!("its requirement `{line}` can't be read"))
                }
                None => Requirements::Published(metadata),
            },
        })
    }

    /// Whether the pip that installs takes requirements only as the specification has them. A new environment has a
    /// new pip.
    fn pip_is_strict(&self) -> bool {
        let installed = &self.question.target.installed;
        let pip = installed.iter().find(|(name, _)| name.as_ref() == "pip").map(|(_, pip)| &pip.version);
        pip.is_none_or(|pip| *pip >= Version::new([24, 1]))
    }

    /// The matrix's requirements of a version, with its published ones as a node of their own, which is only looked
    /// into if the first are met. Where the matrix knows nothing of it, the published ones alone.
    pub(super) fn distribution_edges(&self, name: &PackageName, version: &Version) -> Result<Outcome, Failure> {
        if let Some(why) = self.variation.barred.get(&(name.clone(), version.clone())) {
            return Ok(Err(why.clone()));
        }
        let build = self.build(name, version)?;
        let mut edges = match hardware_edges(self.question, name, version, build.as_deref()) {
            Ok(edges) => edges,
            Err(why) => return Ok(Err(why)),
        };
        if edges.is_empty() {
            return self.published_edges(name, version);
        }
        edges.push((Package::Published(name.clone()), VersionRange::singleton(version.clone())));
        Ok(Ok(edges))
    }

    pub(super) fn published_edges(&self, name: &PackageName, version: &Version) -> Result<Outcome, Failure> {
        if self.wanted_as(name).any(|one| one.manner.alone) {
            return Ok(Ok(Vec::new()));
        }
        let found = self.requirements(name, version)?;
        let requires = match &found {
            Requirements::Unfit(why) => return Ok(Err(why.clone())),
            Requirements::Unknown => return Ok(Ok(opaque_edges(self.question, name, version))),
            Requirements::Published(metadata) => metadata.requires.as_slice(),
            Requirements::Installed(requires) => requires,
        };
        let mut edges = Vec::new();
        let mut applying = requires.iter().filter(|one| one.applies(&self.markers, None));
        if let Err(why) = applying.try_for_each(|requirement| self.push(&mut edges, requirement, name, version)) {
            return Ok(Err(why));
        }
        for overlay in self.question.matrix.overlays(name, version).filter(|overlay| overlay.narrows) {
            let needed = Package::Distribution(overlay.requirement.name.clone());
            let asked = edges.iter_mut().filter(|(package, _)| *package == needed);
            for (_, range) in asked.filter(|_| !self.question.profile.accepts(name, Code::FamilyBroken)) {
                *range = range.intersection(&overlay.requirement.range);
            }
        }
        if let Some(build) = self.unlisted_build(name, version, requires)? {
            edges.extend(code_edges(self.question, name, &build));
        }
        Ok(Ok(edges))
    }

    pub(super) fn extra_edges(
        &self,
        name: &PackageName,
        extra: &ExtraName,
        version: &Version,
    ) -> Result<Outcome, Failure> {
        let mut edges = vec![(Package::Distribution(name.clone()), VersionRange::singleton(version.clone()))];
        let (requires, extras) = match self.requirements(name, version)? {
            Requirements::Unknown => return Ok(Ok(edges)),
            Requirements::Unfit(why) => return Ok(Err(why)),
            Requirements::Installed(requires) => (requires.to_vec(), None),
            Requirements::Published(metadata) => match metadata.with_extra(extra) {
                Ok(requires) => (requires, Some(metadata.extras.clone())),
                Err(line) => return Ok(Err(format!("the requirement `{line}` of its extra can't be read"))),
            },
        };
        let of_extra =
            |one: &&Requirement| one.applies(&self.markers, Some(extra)) && !one.applies(&self.markers, None);
        let added: Vec<&Requirement> = requires.iter().filter(of_extra).collect();
        // What is installed does not list its extras; one that adds nothing is then taken for unknown.
        if !extras.as_ref().map_or(!added.is_empty(), |extras| extras.contains(extra)) {
            let known: Vec<String> = extras.iter().flatten().map(|known| format!("`{known}`")).take(8).collect();
            let known = if known.is_empty() { "no extras".to_owned() } else { known.join(", ") };
            // What is installed may lack what another release has; and without a GPU's extra a framework is a build for
            // the CPU.
            // Pip keeps both.
            let as_pip = self.question.profile.policy.as_pip;
            if extras.is_none() && as_pip {
                return Ok(Ok(edges));
            }
            if extras.is_none() || is_for_gpus(extra) && !as_pip {
                return Ok(Err(format!("it has no extra `{extra}`, but {known}")));
            }
            let key = (name.clone(), extra.clone());
            self.without_extra.borrow_mut().insert(key, known);
            return Ok(Ok(edges));
        }
        let added = added.into_iter().try_for_each(|requirement| self.push(&mut edges, requirement, name, version));
        Ok(added.map(|()| edges))
    }

    /// Adds one requirement; a second one on the same package narrows the first.
    fn push(
        &self,
        edges: &mut Vec<Edge>,
        requirement: &Requirement,
        name: &PackageName,
        version: &Version,
    ) -> Result<(), String> {
        if requirement.url.is_some() && !self.wanted_as(&requirement.name).any(|one| one.direct.is_some()) {
            return Err(format!(
                "it needs `{}` from a URL; add that wheel to the profile with `url` and `sha256`",
                requirement.name
            ));
        }
        let own = requirement.name == *name;
        if own && !requirement.range.contains(version) {
            return Err(format!("it needs another version of itself ({})", requirement.specifiers));
        }
        let extras = requirement.extras.iter().map(|extra| Package::Extra(requirement.name.clone(), extra.clone()));
        let base = (!own).then(|| Package::Distribution(requirement.name.clone()));
        let overridden = self.overridden(&requirement.name).map(|bound| range_of(&bound.specifiers));
        let range = if own {
            VersionRange::singleton(version.clone())
        } else {
            overridden.unwrap_or_else(|| requirement.range.clone())
        };
        for package in extras.chain(base) {
            match edges.iter_mut().find(|(known, _)| *known == package) {
                Some((_, known)) => *known = known.intersection(&range),
                None => edges.push((package, range.clone())),
            }
        }
        Ok(())
    }

    /// The line of `[overrides]` that takes the place of what is asked of `name`.
    pub(super) fn overridden(&self, name: &PackageName) -> Option<&'a Bound> {
        self.question.profile.override_of(name).filter(|_| !self.variation.unbound.contains(name))
    }

    /// Whether deciding `package` decides the CUDA major: such an extra of the profile (`jax[cuda12]`), in whichever
    /// table it stands. The matrix then rules out releases of the others unread; the other way round each would have to
    /// be read. Not the CUDA libraries themselves: nothing asks for their newest versions, and frameworks that pin them
    /// would be searched in vain.
    pub(super) fn settles_cuda(&self, package: &Package) -> bool {
        let is_wanted = |name: &PackageName| self.wanted_as(name).next().is_some();
        match package {
            Package::Extra(name, extra) => extra.as_ref().contains("cuda") && is_wanted(name),
            // One that can't be loaded beside another CUDA: its releases fall one by one while little else is chosen.
            // Not what follows its framework.
            Package::Distribution(name) => {
                let matrix = self.question.matrix;
                matrix.is_linked(name) && !matrix.knows(name) && is_wanted(name)
            }
            _ => false,
        }
    }
}

/// Whether an extra brings what a GPU needs: `cuda12`, `and-cuda`, `gpu`.
fn is_for_gpus(extra: &ExtraName) -> bool {
    ["cuda", "gpu"].iter().any(|word| extra.as_ref().contains(word))
}
