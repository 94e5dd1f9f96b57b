//! What files ask for, by the name of the package.

use std::collections::BTreeMap;

use pep440_rs::VersionSpecifiers;

use crate::boot::profile::AskedLine;
use crate::core::model::{PackageName, Requirement};

/// What is asked for of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedPackage {
    pub extras: Vec<String>,
    /// PEP 440 specifiers; none where any version will do.
    pub specifiers: Vec<String>,
    /// Where it comes from, if from no index.
    pub place: Vec<(&'static str, String)>,
    /// When it is asked for; `None` where a line asks for it everywhere.
    pub marker: Option<String>,
}

impl AskedPackage {
    pub(super) fn add(&mut self, extras: impl Iterator<Item = String>, specifiers: &VersionSpecifiers) {
        self.extras.extend(extras);
        self.extras.sort();
        self.extras.dedup();
        for one in specifiers.iter().map(ToString::to_string) {
            if !self.specifiers.contains(&one) {
                self.specifiers.push(one);
            }
        }
    }

    /// As a line of a profile.
    pub(super) fn line(self, name: PackageName) -> AskedLine {
        let version = if self.specifiers.is_empty() { "*".to_owned() } else { self.specifiers.join(",") };
        AskedLine { name, version, place: self.place, extras: self.extras, marker: self.marker }
    }
}

/// What is asked for, by name.
pub(super) type Wishes = BTreeMap<PackageName, AskedPackage>;

/// Adds what `requirement` asks for where `marker` holds.
pub(super) fn ask(all: &mut Wishes, requirement: &Requirement, marker: Option<&str>) {
    let extras = requirement.extras.iter().map(ToString::to_string);
    let is_new = !all.contains_key(&requirement.name);
    let wish = all.entry(requirement.name.clone()).or_default();
    wish.add(extras, &requirement.specifiers);
    // Two lines with different conditions ask for it wherever either holds.
    wish.marker = marker.filter(|marker| is_new || wish.marker.as_deref() == Some(marker)).map(str::to_owned);
}
