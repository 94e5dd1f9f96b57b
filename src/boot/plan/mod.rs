//! Lock minus machine: what is kept, installed, replaced, removed; what would break; how much is downloaded; restart or
//! not.

mod basis;
mod breakage;
mod builds_here;
mod changes;
mod decide;
mod variables;
mod broken_families;
mod changed_by_others;
mod undone_changes;
mod restart;
mod preset;
mod variable_faults;
mod xla_text;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::boot::lock::LockedPackage;
use crate::core::model::{PackageName, Version};

pub use basis::{Basis, Wish};
pub use breakage::Breakage;
pub use builds_here::how_builds_run;
pub use changed_by_others::changed_by_others;
pub use decide::{Decision, decide, files_rewritten};
pub use preset::{Variables, variables_for};
pub use restart::{Restart, touched};
pub use undone_changes::wanted_back;
pub use variable_faults::About;
pub use variables::{VariableChange, VariablesAfter, environment_line, set_by};

/// The ordered work: apt first, then removals, then wheels, then the environment file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Plan {
    pub target: String,
    /// Debian packages that are not installed yet.
    pub apt: Vec<AptStep>,
    /// The moment of the archive that they are taken from; today's where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apt_snapshot: Option<String>,
    pub changes: Vec<Change>,
    pub kept: Vec<Kept>,
    /// Variables for the kernel and its children.
    pub environment: BTreeMap<String, String>,
    /// Names that the environment file has set before.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub earlier_variables: BTreeSet<String>,
    /// Those that the environment file does not set so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableChange>,
    /// Bytes of wheels to fetch, as far as sizes are known.
    pub download_bytes: u64,
    /// Wheels whose size no index gives.
    pub unknown_sizes: usize,
    pub breakages: Vec<Breakage>,
}

/// A Debian package to install.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AptStep {
    pub name: String,
    /// Exactly this version, where the lock has seen one.
    pub version: Option<String>,
}

/// What happens to a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Remove,
    Install,
    Upgrade,
    Downgrade,
    /// The same public version: another build of it, or a broken copy.
    Replace,
}

/// One changed distribution.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Change {
    pub name: PackageName,
    pub kind: Kind,
    pub from: Option<Version>,
    pub to: Option<Version>,
    /// The wheel to install; absent for a removal.
    pub package: Option<LockedPackage>,
    /// Why, where the kind does not say it.
    pub reason: Option<String>,
}

/// A locked distribution that is there already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub name: PackageName,
    pub version: Version,
}

impl Plan {
    /// Whether there is nothing to install or remove. The environment file is compared by the caller, who can see it.
    pub fn is_empty(&self) -> bool {
        self.apt.is_empty() && self.changes.is_empty()
    }

    /// Changes of one kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// What is installed or changed.
    pub fn incoming(&self) -> impl Iterator<Item = &LockedPackage> {
        self.changes.iter().filter_map(|change| change.package.as_ref())
    }

    /// Whether anything is built from source.
    pub fn builds(&self) -> bool {
        self.incoming().any(LockedPackage::is_source)
    }
}

#[cfg(test)]
mod tests;

/// How a distribution gets from one version to another.
pub(super) fn kind_of(from: Option<&Version>, to: &Version) -> Kind {
    match from {
        None => Kind::Install,
        Some(from) if same_public(from, to) => Kind::Replace,
        Some(from) if from < to => Kind::Upgrade,
        Some(_) => Kind::Downgrade,
    }
}

/// `2.11.0` and `2.11.0+cu128`: the local label is another build, neither newer nor older.
fn same_public(a: &Version, b: &Version) -> bool {
    a.clone().without_local() == b.clone().without_local()
}
