//! Rows of `matrix/builds-*.toml`: what each wheel was built for. Derived rows are made from wheels and name them with
//! their digest; curated ones are copied from a publisher's table and carry its link and a date.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;

use include_dir::{Dir, File};
use serde::{Deserialize, Serialize};

use crate::core::model::build::{ReadBasis, WheelBuild};
use crate::core::model::metadata::Metadata;
use crate::core::model::{Architecture, CudaVersion, PackageName, Sha256, Version, WheelName};

/// The GPU build of one wheel. Without SASS, PTX and CUDA: the wheel holds no GPU code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Build {
    pub package: PackageName,
    pub version: Version,
    /// `cu128` for a build of PyTorch's own index; `version` is then the series it was built for.
    pub local: Option<String>,
    /// Absent where the wheel does not say: then the CUDA libraries that it asks for decide.
    pub cuda: Option<CudaVersion>,
    pub sass: Vec<Architecture>,
    pub ptx: Vec<Architecture>,
    /// ISA of the PTX in it; by default that of the toolkit.
    pub ptx_isa: Option<CudaVersion>,
    /// The oldest cuDNN that it asks for: the one it was compiled against.
    pub cudnn: Option<Version>,
    pub nccl: Option<Version>,
    pub basis: Basis,
    /// The wheel that was read.
    pub wheel: Option<String>,
    pub sha256: Option<Sha256>,
    /// Where a curated row comes from, and the day it was copied.
    pub link: Option<String>,
    pub checked: Option<String>,
}

/// How a build row is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// All that could say something in this wheel was read.
    WholeMember,
    /// The first containers of its library were.
    FirstContainers,
    /// The first bytes were, and there was no GPU code.
    FirstBytes,
    /// From the publisher's own tables.
    Published,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildsFile {
    #[serde(default)]
    build: Vec<Build>,
}

/// The rows of each package, read when somebody asks for that package: most plans know one family.
#[derive(Debug)]
pub struct Builds(BTreeMap<PackageName, OnceLock<Vec<Build>>>);

impl Builds {
    pub(super) fn bundled() -> Self {
        let folder = super::PACKED.get_dir("builds").into_iter().flat_map(Dir::files);
        let package = |file: &File<'_>| file.path().file_stem()?.to_str()?.parse().ok();
        Self(folder.filter_map(package).map(|package| (package, OnceLock::new())).collect())
    }

    /// The rows of `package`. Those of a bundled file are right, which a test makes sure of.
    pub fn of(&self, package: &PackageName) -> &[Build] {
        self.0
            .get(package)
            .map(|rows| rows.get_or_init(|| super::parse(&format!("builds/{package}")).unwrap_or_default()).as_slice())
            .unwrap_or_default()
    }

    /// Every row, by package.
    pub fn all(&self) -> impl Iterator<Item = &Build> {
        self.0.keys().flat_map(|package| self.of(package))
    }

    /// The packages that have rows.
    pub fn packages(&self) -> impl Iterator<Item = &PackageName> {
        self.0.keys()
    }

    /// Adds `rows`; one of the same package, version and label takes the place of ours.
    pub(super) fn replace(&mut self, rows: Vec<Build>) {
        for row in rows {
            let mut known = self.of(&row.package).to_vec();
            known.retain(|other| (&other.version, &other.local) != (&row.version, &row.local));
            let package = row.package.clone();
            known.push(row);
            self.0.insert(package, OnceLock::from(known));
        }
    }
}

impl Build {
    /// The row of a wheel that was read.
    pub fn of_wheel(wheel: &WheelName, sha256: Option<Sha256>, read: &WheelBuild, metadata: &Metadata) -> Self {
        let gpu = read.is_gpu();
        Self {
            package: wheel.name.clone(),
            version: wheel.version.clone(),
            local: None,
            // A compiler that a package runs asks nothing of the driver; what it makes does.
            cuda: read.cuda.filter(|_| gpu && read.compilers.is_empty()),
            sass: read.sass.clone(),
            ptx: read.ptx.clone(),
            ptx_isa: read.ptx_isa,
            cudnn: floor(metadata, "nvidia-cudnn-cu").filter(|_| gpu),
            nccl: floor(metadata, "nvidia-nccl-cu").filter(|_| gpu),
            basis: match read.basis {
                ReadBasis::FirstContainers(_) => Basis::FirstContainers,
                ReadBasis::FirstBytes(_) | ReadBasis::Unreadable => Basis::FirstBytes,
                ReadBasis::NoNativeCode | ReadBasis::NotRead | ReadBasis::WholeMember => Basis::WholeMember,
            },
            wheel: Some(wheel.to_string()),
            sha256,
            link: None,
            checked: None,
        }
    }

    /// Whether there is anything in it that a GPU would run.
    pub fn is_gpu(&self) -> bool {
        !self.sass.is_empty() || !self.ptx.is_empty()
    }

    /// Names of the fields in which two rows say different things.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let text = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        let list = |all: &[Architecture]| text((!all.is_empty()).then(|| join(all)));
        let cuda = |value: Option<CudaVersion>| text(value.map(|value| value.to_string()));
        let version = |value: &Option<Version>| text(value.as_ref().map(ToString::to_string));
        let pairs = [
            ("cuda", cuda(self.cuda), cuda(other.cuda)),
            ("sass", list(&self.sass), list(&other.sass)),
            ("ptx", list(&self.ptx), list(&other.ptx)),
            ("ptx-isa", cuda(self.ptx_isa), cuda(other.ptx_isa)),
            ("cudnn", version(&self.cudnn), version(&other.cudnn)),
            ("nccl", version(&self.nccl), version(&other.nccl)),
            ("wheel", text(self.wheel.clone()), text(other.wheel.clone())),
            ("sha256", text(self.sha256.map(|digest| digest.short())), text(other.sha256.map(|digest| digest.short()))),
        ];
        let differing = pairs.into_iter().filter(|(_, own, theirs)| own != theirs);
        differing.map(|(field, own, theirs)| format!("{field}: {own} in the matrix, {theirs} in the wheel")).collect()
    }
}

/// The oldest version of the library called `prefix` and a CUDA major that METADATA allows, where it names one.
fn floor(metadata: &Metadata, prefix: &str) -> Option<Version> {
    use pep440_rs::Operator::{Equal, EqualStar, GreaterThanEqual, TildeEqual};
    let of_library: Vec<_> = metadata.all().filter(|one| one.name.as_ref().starts_with(prefix)).collect();
    let floors = of_library.iter().flat_map(|one| one.specifiers.iter());
    let floors = floors.filter(|one| matches!(one.operator(), Equal | EqualStar | GreaterThanEqual | TildeEqual));
    floors.map(|one| one.version().clone()).max()
}

fn join(all: &[Architecture]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// `rows` as a file of the matrix: `head` (its comment) first, then by package, label and version. The same rows give
/// the same bytes.
pub fn write_builds(head: &str, rows: &[Build]) -> String {
    let mut rows: Vec<&Build> = rows.iter().collect();
    rows.sort_by(|a, b| (&a.package, &a.local, &a.version).cmp(&(&b.package, &b.local, &b.version)));
    let mut text = head.trim_end().to_owned();
    text.push('\n');
    for row in rows {
        text.push_str("\n[[build]]\n");
        for (key, value) in cells(row) {
            let _ = writeln!(text, "{key} = {value}");
        }
    }
    text
}

/// The keys of a row that have a value, each as TOML.
fn cells(row: &Build) -> Vec<(&'static str, toml::Value)> {
    let text = |value: Option<String>| value.map(toml::Value::String);
    let list = |all: &[Architecture]| {
        Some(toml::Value::Array(all.iter().map(|one| toml::Value::String(one.to_string())).collect()))
    };
    let all = [
        ("package", text(Some(row.package.to_string()))),
        ("version", text(Some(row.version.to_string()))),
        ("local", text(row.local.clone())),
        ("cuda", text(row.cuda.map(|cuda| cuda.to_string()))),
        ("sass", list(&row.sass)),
        ("ptx", list(&row.ptx)),
        ("ptx-isa", text(row.ptx_isa.map(|isa| isa.to_string()))),
        ("cudnn", text(row.cudnn.as_ref().map(ToString::to_string))),
        ("nccl", text(row.nccl.as_ref().map(ToString::to_string))),
        ("basis", text(Some(row.basis.as_str().to_owned()))),
        ("wheel", text(row.wheel.clone())),
        ("sha256", text(row.sha256.map(|digest| digest.to_string()))),
        ("link", text(row.link.clone())),
        ("checked", text(row.checked.clone())),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

impl Basis {
    const fn as_str(self) -> &'static str {
        match self {
            Self::WholeMember => "whole-member",
            Self::FirstContainers => "first-containers",
            Self::FirstBytes => "first-bytes",
            Self::Published => "published",
        }
    }
}

/// The rows of a file as [`write_builds`] makes it, and the comment it begins with.
pub fn read_builds(text: &str) -> Result<(String, Vec<Build>), String> {
    let head: String = text.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let file: BuildsFile = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok((head, file.build))
}
