//! What the solver counts as a package.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Formatter, Result as FmtResult};

use crate::core::model::{ExtraName, PackageName, Version};

/// Releases that can't be used, with the reason.
pub(super) type Barred = BTreeMap<(PackageName, Version), String>;

/// The version of each package in an answer.
pub(super) type Solution = HashMap<Package, Version>;

/// A node of the problem. Machine facts are packages with one version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Package {
    /// The profile itself.
    Profile,
    /// The NVIDIA driver.
    Driver,
    /// The one CUDA major of the environment: 11, 12 or 13.
    CudaMajor,
    /// A target GPU by its place in the list; its version is the compute capability.
    Gpu(usize),
    /// The owner of a path that several distributions would write, by its row in the matrix; its version is the owner's
    /// place.
    Owner(usize),
    Distribution(PackageName),
    /// What the METADATA of a distribution asks for, apart from what the matrix knows of it: a version that the
    /// hardware rules out is ruled out without reading its wheel.
    Published(PackageName),
    /// `name[extra]`: depends on the same version of `name`.
    Extra(PackageName, ExtraName),
}

impl Package {
    /// The distribution it is about, if any.
    pub(super) fn name(&self) -> Option<&PackageName> {
        match self {
            Self::Distribution(name) | Self::Published(name) | Self::Extra(name, _) => Some(name),
            _ => None,
        }
    }

    /// The row of the matrix, where it is about a shared path.
    pub(super) fn owner(&self) -> Option<usize> {
        if let Self::Owner(at) = self { Some(*at) } else { None }
    }
}

impl Display for Package {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        match self {
            Self::Profile => f.write_str("your profile"),
            Self::Driver => f.write_str("the NVIDIA driver"),
            Self::CudaMajor => f.write_str("the CUDA major"),
            Self::Gpu(at) => write!(f, "GPU {at}"),
            Self::Owner(at) => write!(f, "the owner of shared path {at}"),
            Self::Distribution(name) | Self::Published(name) => write!(f, "{name}"),
            Self::Extra(name, extra) => write!(f, "{name}[{extra}]"),
        }
    }
}
