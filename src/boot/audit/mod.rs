//! What is wrong with an environment that somebody else made. Pure: from the versions in it, what is known of them, and
//! the machine.
//!
//! `listing` reads the files that name versions; `judge` finds what the matrix and NVIDIA's rules have against them.

mod rules;
mod families;
mod missing_libraries;
mod requirements_txt;
mod yaml_depth;
mod other_locks;
mod unmet_requirements;
mod pip_options;
mod source_tables;
mod uv_settings;
mod pixi;
mod conda_files;
mod documents;
mod listed_indexes;
mod listed_lines;
mod cell_text;
mod install_commands;
mod notebook_installs;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use pep440_rs::VersionSpecifiers;

use crate::core::diag::{Finding, Severity, Source, Subject};
use crate::core::matrix::{Build, Hardware, Linkage};
use crate::core::model::contents::Files;
use crate::core::model::{PackageName, PythonFacts, Requirement, Version};

pub use documents::read_other;
pub use listed_indexes::{IndexRole, ListedIndex};
pub use listed_lines::{Listed, Named, PipCommand, RequiredLine};
pub use other_locks::{LockKind, kind_of, read_lock_file};
pub use requirements_txt::read_requirements;
pub use rules::{judge, judge_families, judge_locked};
pub use unmet_requirements::requirements;

/// What is to be judged.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub held: Vec<Audited>,
    pub hardware: Hardware,
    /// Debian packages with their versions.
    pub debian: Vec<(String, String)>,
    /// Whether a folder of `cuda-compat` is on the library path.
    pub compat_in_use: bool,
    /// The Python that all this is for, where that is known.
    pub python: Option<PythonFacts>,
    /// Everything that is installed is known: what is not in `held` is not there.
    pub complete: bool,
    /// What is there in forms that say no version: egg-info, egg links, metadata that can't be read.
    pub vague: BTreeSet<PackageName>,
}

impl Environment {
    pub fn gpu_names(&self) -> Vec<&str> {
        self.hardware.gpus.iter().map(|gpu| gpu.name.as_str()).collect()
    }
}

/// One distribution in it.
#[derive(Clone, Debug)]
pub struct Audited {
    pub name: PackageName,
    pub version: Version,
    /// By a row of the matrix, or read from its wheel.
    pub build: Option<Build>,
    /// Why `build` is not known, though it may be one for GPUs.
    pub doubt: Option<String>,
    /// What it puts on disk, where that is known.
    pub files: Option<Arc<Files>>,
    /// The folder it is in, for an environment on disk.
    pub folder: Option<String>,
    /// What it requires, where that is known.
    pub requires: Option<Vec<Requirement>>,
    pub requires_python: Option<VersionSpecifiers>,
    /// The tags of its wheel, for an environment on disk.
    pub tags: Vec<String>,
    /// What it is linked against, where its files were read because no row knows its release.
    pub linkage: Option<Linkage>,
    /// Where it is named, in a file.
    pub place: Option<Place>,
}

/// A place in a file that names distributions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub source: Source,
    /// In bytes.
    pub span: Range<usize>,
    /// Another file names this one, which may be any of this machine: its text is not shown.
    pub is_included: bool,
    /// It is within an `if` of a notebook's cell, which may not run.
    pub is_conditional: bool,
}

impl Place {
    /// `finding` with a caret here; of an included file, with its name and the line's number.
    #[must_use]
    pub fn show(&self, mut finding: Finding) -> Finding {
        if self.is_conditional {
            finding.severity = finding.severity.max(Severity::Warning);
            finding = finding.with_note("this line runs only under a condition, which was not evaluated");
        }
        if self.is_included {
            let line = self.source.text[..self.span.start].matches('\n').count() + 1;
            finding.with_note(format!("named in `{}`, line {line}", self.source.name))
        } else {
            finding.at(&self.source, self.span.clone(), "named here")
        }
    }
}

impl Audited {
    /// A distribution of which nothing else is known.
    pub fn new(name: PackageName, version: Version) -> Self {
        Self {
            name,
            version,
            build: None,
            doubt: None,
            files: None,
            folder: None,
            requires: None,
            requires_python: None,
            tags: Vec::new(),
            linkage: None,
            place: None,
        }
    }

    fn subject(&self) -> Subject {
        Subject::release(&self.name, &self.version)
    }

    /// `finding` with a caret at the line that names this.
    fn placed(&self, finding: Finding) -> Finding {
        match &self.place {
            Some(place) => place.show(finding),
            None => finding,
        }
    }
}

#[cfg(test)]
mod tests;
