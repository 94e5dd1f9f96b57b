//! What a file names: releases, requirements, and what is neither.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pep440_rs::VersionSpecifier;

use crate::boot::audit::Place;
use crate::boot::audit::listed_indexes::{ListedIndex, forbids_indexes, indexes_in, take_keys};
use crate::boot::profile::Manner;
use crate::core::diag::Source;
use crate::core::model::accepted::Accepted;
use crate::core::model::{PackageName, Requirement, Sha256, Version, WheelName};

/// A requirement on a package of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredLine {
    pub requirement: Requirement,
    pub place: Option<Place>,
    pub manner: Manner,
    /// When it is asked for, as written behind its `;`.
    pub marker: Option<String>,
    /// Which command of a notebook asks for it; all lines of a list are one.
    pub command: usize,
}

impl RequiredLine {
    /// The same, of the public release where it names a build with a label: `==2.1.2` of `==2.1.2+cu118`.
    #[must_use]
    pub fn public(&self) -> Self {
        let mut line = self.clone();
        if line.requirement.specifiers.iter().any(|one| one.version().is_local()) {
            let bare = |one: &VersionSpecifier| {
                VersionSpecifier::from_version(*one.operator(), one.version().clone().without_local()).ok()
            };
            line.requirement.specifiers = line.requirement.specifiers.iter().filter_map(bare).collect();
        }
        line
    }
}

/// A command of a notebook that installs or removes packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipCommand {
    /// It runs only if the command before it succeeded, or failed.
    pub after: Option<bool>,
    /// What it removes.
    pub removes: Vec<PackageName>,
    /// What its files of constraints (`-c`) allow.
    pub constraints: Vec<Requirement>,
    /// Pip refuses something that it names.
    pub is_refused: bool,
}

/// What a file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub named: Vec<Named>,
    /// What is asked of an index, in order; nothing of a lock, in which all is chosen.
    pub asked: Vec<RequiredLine>,
    /// The commands of a notebook, in their order; nothing of a list.
    pub commands: Vec<PipCommand>,
    /// What is asked for elsewhere: the marker does not hold for this Python.
    pub inapplicable: Vec<RequiredLine>,
    /// What files of constraints (`-c`) of a list allow.
    pub constraints: Vec<Requirement>,
    /// Which versions a project overrides, whatever its packages ask for.
    pub overrides: Vec<Requirement>,
    /// Variables that are set in the environment.
    pub variables: Vec<(String, String)>,
    /// Files that were uploaded later do not count, as written.
    pub as_of: Option<String>,
    /// Settings by which its tool chooses, and which only that tool reads; as written, without their values.
    pub unread: Vec<String>,
    /// Requirements that leave the version open, as written: nothing can be said about those.
    pub open: Vec<String>,
    /// Lines that name no distribution of an index: editable installs, folders, version control.
    pub elsewhere: Vec<String>,
    /// What conda installs, as written: no release of a Python index.
    pub conda: Vec<String>,
    /// What a notebook has other programs install or remove, as written: `apt-get install ffmpeg`.
    pub others: Vec<String>,
    /// Lines that can't be read as requirements, each with its place and what is wrong with it.
    pub refused: Vec<String>,
    /// Wheels that lines name by address or path, each with its place; nothing of them was opened.
    pub wheels: Vec<(WheelName, String)>,
    /// Those lines, as written, where their file was not included by another one.
    pub wheel_lines: Vec<String>,
    /// It is about other indexes than the one that is asked.
    pub has_indexes: bool,
    pub indexes: Vec<ListedIndex>,
    /// It forbids every index (`--no-index`): only folders of wheels count.
    pub forbids_indexes: bool,
    /// `requires-python` of a project, where the target's Python does not satisfy it.
    pub other_python: Option<String>,
    /// Facts that a lock of ours overrules.
    pub accepted: Vec<Accepted>,
}

impl Listed {
    /// Whether no line of it makes sense.
    pub const fn is_empty(&self) -> bool {
        self.named.is_empty()
            && self.asked.is_empty()
            && self.open.is_empty()
            && self.elsewhere.is_empty()
            && self.conda.is_empty()
            && self.inapplicable.is_empty()
            && self.commands.is_empty()
    }

    /// Adds what another file names.
    pub(super) fn merge(&mut self, more: Self) {
        self.named.extend(more.named);
        self.asked.extend(more.asked);
        self.constraints.extend(more.constraints);
        self.unread.extend(more.unread);
        self.open.extend(more.open);
        self.elsewhere.extend(more.elsewhere);
        self.conda.extend(more.conda);
        self.inapplicable.extend(more.inapplicable);
        self.refused.extend(more.refused);
        self.wheels.extend(more.wheels);
        self.wheel_lines.extend(more.wheel_lines);
        self.has_indexes |= more.has_indexes;
        self.indexes.extend(more.indexes);
        self.forbids_indexes |= more.forbids_indexes;
    }

    /// Adds the indexes that a line of pip or uv names.
    pub(super) fn take_index_options(&mut self, line: &str) {
        self.indexes.extend(indexes_in(line));
        self.forbids_indexes |= forbids_indexes(line);
    }

    /// Adds those that the keys of `table` name, and takes these out.
    pub(super) fn take_index_keys(&mut self, table: &mut toml::Table) {
        let (indexes, forbids) = take_keys(table);
        self.indexes.extend(indexes);
        self.forbids_indexes |= forbids;
    }

    /// How many are named, and asked for.
    pub(super) const fn sizes(&self) -> (usize, usize) {
        (self.named.len(), self.asked.len())
    }

    /// Says where those stand that came after the first `known`, unless another file named them.
    pub(super) fn place(&mut self, known: (usize, usize), source: &Source, span: Range<usize>) {
        let named = self.named[known.0..].iter_mut().map(|one| &mut one.place);
        let asked = self.asked[known.1..].iter_mut().map(|one| &mut one.place);
        for place in named.chain(asked).filter(|place| !place.as_ref().is_some_and(|known| known.is_included)) {
            *place =
                Some(Place { source: source.clone(), span: span.clone(), is_included: false, is_conditional: false });
        }
    }

    /// Says that those that came after the first `known` stand under a condition.
    pub(super) fn set_conditional(&mut self, known: (usize, usize)) {
        let named = self.named[known.0..].iter_mut().map(|one| &mut one.place);
        let asked = self.asked[known.1..].iter_mut().map(|one| &mut one.place);
        named.chain(asked).flatten().for_each(|place| place.is_conditional = true);
    }

    /// Takes the versions out of the first `known` of which those behind them name another one: the last installer has
    /// the last word.
    pub(super) fn replace(&mut self, known: (usize, usize)) {
        let fresh = self.asked[known.1..].iter().map(|line| &line.requirement);
        let again: BTreeSet<PackageName> =
            fresh.filter(|one| !one.specifiers.is_empty()).map(|one| one.name.clone()).collect();
        let mut named = 0;
        self.named.retain(|one| {
            named += 1;
            named > known.0 || !again.contains(&one.name)
        });
    }
}

/// A distribution with its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: PackageName,
    pub version: Version,
    /// Where it stands, in a file of lines.
    pub place: Option<Place>,
    /// The SHA-256 that its file may have; nothing where any may be.
    pub hashes: Vec<Sha256>,
    /// The SHA-256 of each file that a lock names.
    pub files: BTreeMap<String, Sha256>,
}

impl Named {
    /// Whether its line gives an address: then it need not be on an index.
    pub fn is_from_address(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.source.text[place.span.clone()].contains("://"))
    }

    pub fn new(name: PackageName, version: Version) -> Self {
        Self { name, version, place: None, hashes: Vec::new(), files: BTreeMap::new() }
    }
}
