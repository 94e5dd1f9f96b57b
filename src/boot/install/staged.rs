//! What is staged: files beside the environment, each with its place and what it looks like.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::boot::files::{Corrections, WrittenFile, WrittenFiles};
use crate::boot::machine::Layout;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::model::{PackageName, Sha256, Version};

/// The name of that list, in the folder of the environment's state.
pub const STAGED: &str = "staged";

/// The most that is read of a list; that of 30,000 files has 4 MB.
const LARGEST: u64 = 1 << 30;

/// Packages that lie beside the environment, and those that go without a successor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Staged {
    /// The folders that hold all of it, for each base of `layout`; what goes is moved there, too.
    pub folders: Vec<PathBuf>,
    pub layout: Layout,
    pub packages: Vec<StagedPackage>,
    /// Packages that are removed.
    pub removed: Vec<PackageName>,
    /// Packages that are built from source, and installed with the others.
    pub built: Vec<BuiltPackage>,
    /// Of what goes, what its own lists have wrong.
    pub corrections: BTreeMap<PackageName, Corrections>,
}

/// A package whose wheel the install script builds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BuiltPackage {
    pub name: PackageName,
    pub version: Version,
    /// The user has asked for it by name.
    pub requested: bool,
    /// The text of its `direct_url.json`, where it is from no index.
    pub direct_url: Option<String>,
}

/// One package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StagedPackage {
    pub name: PackageName,
    pub version: Version,
    pub wheel: Sha256,
    /// The site-packages that its metadata goes to.
    pub site: PathBuf,
    /// The name of its dist-info folder.
    pub info: String,
    /// Folders with its files, each with the folder of the environment that it is an image of.
    pub trees: Vec<(PathBuf, PathBuf)>,
    pub files: Vec<WrittenFile>,
}

impl Staged {
    /// `packages` that lie in `folders`, for `layout`.
    pub(super) fn new(layout: Layout, folders: Vec<PathBuf>, packages: Vec<StagedPackage>) -> Self {
        let (removed, built, corrections) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { folders, layout, packages, removed, built, corrections }
    }

    /// No package at all.
    pub fn nothing(layout: Layout) -> Self {
        Self::new(layout, Vec::new(), Vec::new())
    }

    /// The packages in the order in which they are switched.
    pub(super) fn order(&self) -> impl Iterator<Item = &PackageName> {
        self.removed.iter().chain(self.packages.iter().map(|package| &package.name))
    }

    /// Adds what `other` has staged.
    pub fn add(&mut self, other: Self) {
        self.folders.extend(other.folders);
        self.packages.extend(other.packages);
    }

    /// All files of all packages.
    pub fn files(&self) -> WrittenFiles<'_> {
        WrittenFiles::new(self.packages.iter().flat_map(|package| &package.files))
    }

    /// Reads the list at `path`; `None` where there is none, or none that can be read.
    pub fn read(path: &Path) -> Option<Self> {
        postcard::from_bytes(&files::read_bytes(path, LARGEST).ok()?).ok()
    }

    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let bytes = postcard::to_stdvec(self)
            .map_err(|error| Failure::bug("a list of files could not be serialized").because(&error))?;
        files::write_whole_fast(path, &bytes).map_err(|error| files::writing_failed(path, &error))
    }
}
