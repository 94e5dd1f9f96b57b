//! What a script depends on beside its plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use url::Url;

use crate::boot::lock::LockedTarget;
use crate::core::model::{PackageName, Sha256};

/// What a script says beside its plan.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// Name and version of the profile.
    pub profile: String,
    pub lock: Sha256,
    /// Packages that lie elsewhere on the path, too, where no installer may touch them: Debian's own.
    pub beside: BTreeSet<PackageName>,
    /// The interpreter to install for, where it is known.
    pub python: Option<String>,
    pub externally_managed: bool,
    /// Addresses of the `[[index]]` tables.
    pub indexes: BTreeMap<&'a str, &'a Url>,
    /// Addresses of direct wheels, by file name.
    pub direct: BTreeMap<String, &'a Url>,
    /// The folders of editable projects.
    pub editable: BTreeMap<PackageName, &'a Path>,
    pub builds: BuildContext<'a>,
}

/// What builds depend on.
#[derive(Clone, Debug)]
pub struct BuildContext<'a> {
    pub target: &'a LockedTarget,
    /// Packages of the target that use CUDA: what is built against one release of them does not run with another.
    pub frameworks: BTreeSet<&'a PackageName>,
    /// Packages whose build sees the environment.
    pub shared: &'a BTreeSet<PackageName>,
}
