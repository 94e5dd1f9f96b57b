//! Rows of `matrix/linking/*.toml`, a file for each package: what its releases are linked against, read from their
//! wheels. Releases that are alike stand in one row, with the digests of those that were read: the first, the last, and
//! some between.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::OnceLock;

use include_dir::{Dir, File};
use serde::{Deserialize, Serialize};

use crate::core::matrix::symbols::MinorSymbols;
use crate::core::matrix::{Aspect, Lenient, Overlay};
use crate::core::model::linking::{Demands, NumpyInterface, SymbolVersion};
use crate::core::model::{Libc, PackageName, Requirement, Sha256, Version, VersionRange, WheelName};

/// What importing a release asks of an environment, beside what its METADATA says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Linkage {
    /// Sets of libraries, of which one must be there whole; none where nothing is needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<BTreeSet<String>>,
    /// Libraries that parts of it need.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub some: BTreeSet<String>,
    /// Built for NumPy 1: its import fails beside NumPy 2.
    #[serde(skip_serializing_if = "is_false")]
    pub numpy_1: bool,
    /// Its METADATA does not ask for NumPy.
    #[serde(skip_serializing_if = "is_false")]
    pub numpy_parts: bool,
    /// The releases of torch that have all that it asks for: `>=2.8,<2.9`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch: Option<String>,
    /// Parts of it alone use torch.
    #[serde(skip_serializing_if = "is_false")]
    pub torch_parts: bool,
    /// The releases of TensorFlow that have what its custom operations ask for; it is not brought along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensorflow: Option<String>,
    /// The glibc that it asks for, where that is newer than its tag says: `2.34`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glibc: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a function of a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Linkage {
    /// What follows from what was read of `wheel`.
    pub fn of(demands: &Demands, wheel: &WheelName, symbols: &MinorSymbols) -> Self {
        let tagged = wheel.platforms.split('.').filter_map(glibc_of_tag).min();
        let torch = symbols.range(&demands.torch, demands.torch_cxx);
        Self {
            needs: demands.needs.clone(),
            some: demands.some.clone(),
            numpy_1: demands.numpy == Some(NumpyInterface::First),
            numpy_parts: false,
            torch_parts: torch.is_some() && !demands.torch_whole,
            torch,
            tensorflow: None,
            glibc: demands
                .glibc
                .as_ref()
                .filter(|version| tagged.as_ref().is_none_or(|tagged| *version > tagged))
                .map(ToString::to_string),
        }
    }

    /// The same for a release that `requires` this: what its METADATA does not ask for, only parts of it need.
    #[must_use]
    pub fn beside<'a>(self, requires: impl IntoIterator<Item = &'a Requirement>) -> Self {
        Self { numpy_parts: !requires.into_iter().any(|one| one.name.as_ref() == "numpy"), ..self }
    }

    /// The glibc that it asks for, where `libc` is an older one.
    pub fn newer_glibc(&self, libc: Libc) -> Option<&str> {
        let text = self.glibc.as_deref()?;
        let (_, wanted) = SymbolVersion::split(&format!("GLIBC_{text}"))?;
        let Libc::Glibc(major, minor) = libc else { return None };
        (wanted > SymbolVersion(vec![major, minor])).then_some(text)
    }

    /// Whether nothing is asked for that METADATA does not say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The glibc that a platform tag promises to be enough.
fn glibc_of_tag(tag: &str) -> Option<SymbolVersion> {
    match crate::core::model::platform::parse_platform(tag)?.0 {
        Libc::Glibc(major, minor) => Some(SymbolVersion(vec![major, minor])),
        Libc::Musl(..) | Libc::Other => None,
    }
}

/// A row: releases that are linked alike.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LinkRow {
    pub first: Version,
    pub last: Version,
    /// The wheels that were read.
    pub read: BTreeMap<Version, Sha256>,
    #[serde(flatten)]
    pub linkage: Linkage,
}

/// The file of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkFile {
    #[serde(default, rename = "releases", skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<LinkRow>,
}

impl LinkFile {
    /// The rows of a file as [`LinkFile::to_text`] writes it.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// As a file of the matrix.
    pub fn to_text(&self) -> Result<String, String> {
        let mut text = "# Written by `upkeep linking`.\n".to_owned();
        for row in &self.rows {
            let table = toml::Table::try_from(row).map_err(|error| error.to_string())?;
            text.push_str("\n[[releases]]\n");
            for (key, value) in table {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        Ok(text)
    }

    /// The row of `version`: it, or releases around it, were read.
    pub fn row(&self, version: &Version) -> Option<&LinkRow> {
        let version = version.clone().without_local();
        self.rows.iter().find(|row| row.first <= version && version <= row.last)
    }
}

impl Linkage {
    /// What it asks of torch, for releases `range` of `package`.
    pub fn on_torch(&self, package: &PackageName, range: VersionRange) -> Option<Overlay> {
        let adds = format!("torch{}", self.torch.as_ref()?);
        overlay(package, range, &adds, "its libraries need symbols that only these releases of torch have", false)
    }

    /// What it asks of a TensorFlow that is there, for releases `range` of `package`.
    pub fn on_tensorflow(&self, package: &PackageName, range: VersionRange) -> Option<Overlay> {
        let adds = format!("tensorflow{}", self.tensorflow.as_ref()?);
        let why = "its libraries need symbols that only these releases of TensorFlow have";
        overlay(package, range, &adds, why, false).map(|row| Overlay { if_present: true, ..row })
    }

    /// What it asks of NumPy, for releases `range` of `package`.
    pub fn on_numpy(&self, package: &PackageName, range: VersionRange) -> Option<Overlay> {
        self.numpy_1.then(|| overlay(package, range, "numpy<2", "compiled against NumPy 1", true))?
    }

    /// The requirements that follow for releases `range` of `package`, but for what it can do `without`. What its
    /// METADATA does not ask for, or parts of it alone use, is not to be brought along by it.
    fn overlays(&self, package: &PackageName, range: &VersionRange, without: &[Aspect]) -> Vec<Overlay> {
        let torch = self.on_torch(package, range.clone());
        let torch = torch.filter(|_| !self.torch_parts && !without.contains(&Aspect::Torch));
        let numpy = self.on_numpy(package, range.clone());
        let numpy = numpy.filter(|_| !self.numpy_parts && !without.contains(&Aspect::Numpy));
        let tensorflow = self.on_tensorflow(package, range.clone());
        let tensorflow = tensorflow.filter(|_| !without.contains(&Aspect::Tensorflow));
        torch.into_iter().chain(numpy).chain(tensorflow).collect()
    }
}

fn overlay(package: &PackageName, range: VersionRange, adds: &str, why: &str, narrows: bool) -> Option<Overlay> {
    let requirement = super::requirement_from_text(adds).ok()?;
    let source = "read from its wheels".to_owned();
    Some(Overlay {
        package: package.clone(),
        range,
        requirement,
        why: why.to_owned(),
        source,
        narrows,
        if_present: false,
        checked_by: None,
    })
}

impl LinkRow {
    /// The releases that it is about.
    pub fn range(&self) -> VersionRange {
        VersionRange::from_range_bounds(self.first.clone()..=self.last.clone())
    }
}

/// The rows of each package, read when somebody asks for that package.
#[derive(Debug)]
pub struct Linkages {
    packages: BTreeMap<PackageName, OnceLock<Known>>,
    lenient: Vec<Lenient>,
}

/// The rows of one package, and the requirements that follow.
type Known = (LinkFile, Vec<Overlay>);

impl Linkages {
    /// The bundled rows; packages are lenient as `lenient` says.
    pub(super) fn bundled(lenient: Vec<Lenient>) -> Self {
        let folder = super::PACKED.get_dir("linking").into_iter().flat_map(Dir::files);
        let package = |file: &File<'_>| file.path().file_stem()?.to_str()?.parse().ok();
        let packages = folder.filter_map(package).map(|package| (package, OnceLock::new())).collect();
        Self { packages, lenient }
    }

    /// The rows of `package`. Those of a bundled file are right, which a test makes sure of.
    pub fn of(&self, package: &PackageName) -> Option<&LinkFile> {
        self.read(package).map(|(file, _)| file)
    }

    /// Requirements of releases of `package` that follow from what they are linked against.
    pub(super) fn overlays(&self, package: &PackageName) -> &[Overlay] {
        self.read(package).map(|(_, overlays)| overlays.as_slice()).unwrap_or_default()
    }

    /// What releases `range` of `package` ask for that are linked like `linkage`, but for what the package can do
    /// without.
    pub fn asked(&self, package: &PackageName, range: &VersionRange, linkage: &Linkage) -> Vec<Overlay> {
        linkage.overlays(package, range, self.without(package))
    }

    /// What `package` can do without.
    fn without(&self, package: &PackageName) -> &[Aspect] {
        self.leniency(package).map(|row| row.without.as_slice()).unwrap_or_default()
    }

    /// What `package` can do without, and what happens then.
    pub fn leniency(&self, package: &PackageName) -> Option<&Lenient> {
        self.lenient.iter().find(|row| row.package == *package)
    }

    /// The packages that have rows.
    pub fn packages(&self) -> impl Iterator<Item = &PackageName> {
        self.packages.keys()
    }

    fn read(&self, package: &PackageName) -> Option<&Known> {
        self.packages.get(package).map(|rows| {
            rows.get_or_init(|| {
                let file: LinkFile = super::parse(&format!("linking/{package}")).unwrap_or_default();
                let overlays = |row: &LinkRow| self.asked(package, &row.range(), &row.linkage);
                let overlays = file.rows.iter().flat_map(overlays).collect();
                (file, overlays)
            })
        })
    }
}
