//! Why there is no solution.

use crate::boot::resolve::explain::derivation::Fact;
use crate::core::diag::Failure;
use crate::core::model::{PackageName, Version};

/// Why there is no resolution.
#[derive(Debug)]
pub enum Unsolved {
    /// An index did not answer.
    Failure(Failure),
    /// There is no solution.
    Conflict(Box<Conflict>),
    /// The target's Python makes no marker environment.
    Target(String),
}

impl From<Failure> for Unsolved {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
/// Why there is no solution.
#[derive(Clone, Debug)]
pub struct Conflict {
    pub(in crate::boot::resolve) facts: Vec<Fact>,
    pub(in crate::boot::resolve) fixes: Vec<Fix>,
    /// Packages whose versions were a supposition: that no other fits is not said of these.
    pub(in crate::boot::resolve) supposed: Vec<PackageName>,
}

/// A change of the profile that was solved.
#[derive(Clone, Debug)]
pub(in crate::boot::resolve) enum Fix {
    /// Another version: of these releases, one a series, each was solved; the newest first.
    Version {
        name: PackageName,
        extras: Vec<String>,
        solved: Vec<Version>,
        with: Vec<(PackageName, Version)>,
    },
    Without {
        name: PackageName,
    },
    Unbound {
        name: PackageName,
        overridden: bool,
    },
}
