//! What the user wants: TOML text → a checked [`Profile`], or all its faults at once, each with a place.

mod accept;
mod asked_line;
mod check;
mod edit;
mod fitness;
mod indexes;
mod package_origin;
mod package_tables;
mod reader;
mod starter;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use pep440_rs::VersionSpecifiers;
use pep508_rs::{ExtraName, PackageName};
use semver::Version as SemanticVersion;
use serde::Serialize;
use url::Url;

use crate::core::diag::{Code, Finding, Source};
use crate::core::model::accepted::Accepted;
use crate::core::model::day::{Date, Moment};
use crate::core::model::wheel_names::file_of;
use crate::core::model::{Condition, CudaVersion, Sha256};

pub use asked_line::AskedLine;
pub use edit::{with_apt, with_packages, without_packages};
pub use fitness::{Fitness, OwnCheck};
pub use indexes::is_index_name;
pub use package_origin::{GitRepository, Origin, OriginPlace};
pub use starter::{PROFILE_SCHEMA, STARTER};
pub use values::{debian_name, variable_fault};

/// A checked profile.
#[derive(Clone, Debug)]
pub struct Profile {
    pub source: Source,
    /// Digest of the text; a lock of another text is stale.
    pub digest: Sha256,
    pub name: PackageName,
    pub version: SemanticVersion,
    pub description: String,
    pub owner: Option<String>,
    /// `2027-02-28`; golden checks fail after it.
    pub review_by: Option<Date>,
    pub target: TargetWish,
    pub wanted: Vec<Wanted>,
    /// `[constraints]`: versions that a package may have if anything needs it.
    pub constraints: Vec<Bound>,
    /// `[overrides]`: versions that a package must have, whatever those that need it ask for.
    pub overrides: Vec<Bound>,
    /// `[[accept]]`: facts that it overrules.
    pub accepted: Vec<Accepted>,
    /// Debian package names.
    pub apt: Vec<String>,
    /// The archive as it was then, `20261101T000000Z`, where the distribution has a snapshot service.
    pub apt_snapshot: Option<String>,
    /// `[env]`, without what its preset and the seed add.
    pub environment: BTreeMap<String, String>,
    /// Where each stands.
    pub environment_spans: BTreeMap<String, Range<usize>>,
    /// `[env] preset`: variables for the releases that the lock has.
    pub preset: Option<String>,
    pub seed: Option<u64>,
    pub indexes: Vec<NamedIndex>,
    pub policy: Policy,
    /// `[doctor]`.
    pub fitness: Fitness,
    /// Packages to smoke-test; all frameworks unless the profile says otherwise.
    pub smoke: Vec<PackageName>,
}

impl Profile {
    /// Whether `text` means to be a profile, right or wrong: a TOML file with one of its tables that is no lock.
    pub fn is_one(text: &str) -> bool {
        let table: Option<toml::Table> = toml::from_str(text).ok();
        let has =
            |table: &toml::Table| ["profile", "frameworks", "packages"].iter().any(|name| table.contains_key(*name));
        table.is_some_and(|table| has(&table) && !table.contains_key("version"))
    }

    /// Name and version, for people.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// `[target]`.
#[derive(Clone, Debug, Default)]
pub struct TargetWish {
    pub cuda: CudaWish,
    /// `(3, 12)`.
    pub python: Option<(u64, u64)>,
    pub gpus: Vec<String>,
    pub runtimes: Vec<String>,
}

/// The CUDA that the profile asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CudaWish {
    /// Whatever the target's driver and GPUs run.
    #[default]
    Auto,
    Major(u32),
    Exact(CudaVersion),
    /// No CUDA library at all.
    Cpu,
}

/// One package the profile asks for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub name: PackageName,
    pub specifiers: VersionSpecifiers,
    pub extras: Vec<ExtraName>,
    pub condition: Condition,
    pub index: Option<String>,
    /// The file of an address that the profile gives; or, once that is there, of what `origin` means.
    pub direct: Option<Direct>,
    pub origin: Option<Origin>,
    pub framework: bool,
    /// The file that it stands in, where that is no profile.
    pub file: Option<Source>,
    /// Where it stands there.
    pub span: Range<usize>,
    /// How a line of pip's asks for it; nothing of that in a profile.
    pub manner: Manner,
}

impl Wanted {
    /// Any version of a package, from wherever it is.
    pub fn any(name: PackageName) -> Self {
        Self {
            name,
            specifiers: VersionSpecifiers::empty(),
            extras: Vec::new(),
            condition: Condition::default(),
            index: None,
            direct: None,
            origin: None,
            framework: false,
            file: None,
            span: 0..0,
            manner: Manner::default(),
        }
    }
}

/// What an installer upgrades though what is installed would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpgradeStrategy {
    #[default]
    Nothing,
    /// `--upgrade`.
    Named,
    /// `--upgrade-strategy eager`, `--force-reinstall`: what that requires as well.
    All,
}

/// How a line asks for a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Of what the newest release is taken, whatever is installed.
    pub upgrade: UpgradeStrategy,
    /// `--no-deps`: nothing of what it requires.
    pub alone: bool,
    /// `--pre`: pre-releases count, of all that the command installs.
    pub pre: bool,
}

/// A line of `[constraints]` or `[overrides]`.
#[derive(Clone, Debug)]
pub struct Bound {
    pub name: PackageName,
    pub specifiers: VersionSpecifiers,
    /// Where it stands in the profile.
    pub span: Range<usize>,
}

/// A file given by address and digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direct {
    pub url: Url,
    pub sha256: Sha256,
    /// Bytes, where that is known.
    pub size: Option<u64>,
    /// Of a repository.
    pub commit: Option<String>,
}

impl Direct {
    /// Whether it has to be built.
    pub fn is_source(&self) -> bool {
        !self.file().ends_with(".whl")
    }

    /// The file name that the address ends in.
    pub fn file(&self) -> String {
        file_of(self.url.path())
    }
}

/// `[[index]]`: an index that is the only source of its packages, or of all that no other one names; or a folder of
/// wheels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedIndex {
    pub name: String,
    /// A `file:` address for a folder.
    pub url: Url,
    /// What it serves; a folder that lists nothing is looked into for every package, beside the index.
    pub packages: Vec<PackageName>,
    /// It is the only source of what no other one names, in place of the index that pip uses.
    pub is_default: bool,
    /// Of one that the matrix knows: which of its pages this is, `cu126`.
    pub page: Option<String>,
}

/// `[policy]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the profile")]
pub struct Policy {
    /// Keep what is installed where it satisfies.
    pub prefer_installed: bool,
    /// A breakage of an installed package is an error, not a warning.
    pub breakage_is_error: bool,
    pub one_cuda_major: bool,
    /// What colab-boot has installed and the lock no longer has is removed.
    pub prune: bool,
    /// A file of no package in the place of a wheel's is moved aside, and back when the package goes; else it is an
    /// error.
    pub keeps_aside: bool,
    pub prereleases: Prereleases,
    /// Packages that the installer may build from source where no wheel fits.
    pub buildable: BTreeSet<PackageName>,
    /// Packages whose builds see the environment, as it will be.
    pub shares_environment: BTreeSet<PackageName>,
    /// Where built wheels are kept for other machines.
    pub built_wheels: Option<PathBuf>,
    /// Files uploaded later do not exist; of a day, its last moment.
    pub as_of: Option<Moment>,
    /// What pip would choose: by METADATA alone, whatever the matrix knows, and sources where there is no wheel.
    pub as_pip: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            prefer_installed: true,
            breakage_is_error: true,
            one_cuda_major: true,
            prune: true,
            keeps_aside: false,
            prereleases: Prereleases::IfNecessary,
            buildable: BTreeSet::new(),
            shares_environment: BTreeSet::new(),
            built_wheels: None,
            as_of: None,
            as_pip: false,
        }
    }
}

/// When a pre-release may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prereleases {
    /// Only where no stable version satisfies, as pip and uv do.
    IfNecessary,
    /// Only where the profile names one.
    Explicit,
    Allow,
}

impl Profile {
    /// Reads a profile. `source` is its name and text, `folder` the absolute path that folders of wheels in it start
    /// from; faults come all at once, each with a caret.
    pub fn parse(source: &Source, folder: &Path) -> Result<Self, Vec<Finding>> {
        check::check(source, folder)
    }

    /// What requirements ask for that are no profile's: everything else is as a profile has it that says nothing.
    pub fn of_requirements(source: &Source, wanted: Vec<Wanted>, constraints: Vec<Bound>) -> Result<Self, String> {
        Ok(Self {
            source: source.clone(),
            digest: Sha256::of(source.text.as_bytes()),
            name: "requirements".parse().map_err(|_| "no name")?,
            version: SemanticVersion::new(0, 0, 0),
            description: String::new(),
            owner: None,
            review_by: None,
            target: TargetWish::default(),
            wanted,
            constraints,
            overrides: Vec::new(),
            accepted: Vec::new(),
            apt: Vec::new(),
            apt_snapshot: None,
            environment: BTreeMap::new(),
            environment_spans: BTreeMap::new(),
            preset: None,
            seed: None,
            indexes: Vec::new(),
            policy: Policy::default(),
            fitness: Fitness::default(),
            smoke: Vec::new(),
        })
    }

    /// Whether it is a list of requirements, and was no file of ours.
    pub fn is_of_requirements(&self) -> bool {
        self.wanted.iter().any(|one| one.file.is_some())
    }

    /// Whether it names `package`.
    pub fn wants(&self, package: &PackageName) -> bool {
        self.wanted.iter().any(|wanted| wanted.name == *package)
    }

    /// The line of `[overrides]` about `package`.
    pub fn override_of(&self, package: &PackageName) -> Option<&Bound> {
        self.overrides.iter().find(|bound| bound.name == *package)
    }

    /// The line of `[constraints]` about `package`.
    pub fn constraint_of(&self, package: &PackageName) -> Option<&Bound> {
        self.constraints.iter().find(|bound| bound.name == *package)
    }

    /// Whether the profile overrules what `code` says of `package`.
    pub fn accepts(&self, package: &PackageName, code: Code) -> bool {
        self.policy.as_pip || self.accepted.iter().any(|one| one.package == *package && one.code == code)
    }

    /// The index in place of the one that pip uses.
    pub fn default_index(&self) -> Option<&NamedIndex> {
        self.indexes.iter().find(|index| index.is_default)
    }

    /// The name of the index that alone may serve `package`, where the profile names them together.
    pub fn index_of(&self, package: &PackageName) -> Option<&str> {
        let own = self.wanted.iter().find(|wanted| wanted.name == *package).and_then(|wanted| wanted.index.as_deref());
        own.or_else(|| {
            self.indexes.iter().find(|index| index.packages.contains(package)).map(|index| index.name.as_str())
        })
    }
}

#[cfg(test)]
mod tests;
