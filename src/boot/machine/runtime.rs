//! The description of a notebook image, so that a laptop can plan for it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use include_dir::{Dir, File, include_dir};
use serde::{Deserialize, Serialize};
use toml::value::Datetime;

use crate::boot::machine::{Installed, Machine, Python, PythonOrigin, Recorded};
use crate::core::diag::{Code, Failure, Finding};
use crate::core::host::files;
use crate::core::matrix::{Hardware, Host, host_by_kind, host_kind};
use crate::core::model::day::{Date, days_between};
use crate::core::model::{DriverVersion, PackageName, PythonFacts, Requirement, Version};

/// So many days an image that changes counts as the one that a notebook gets.
const FRESH: i64 = 30;

/// The bundled descriptions, and the lists of what their packages require.
pub(super) static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/runtimes");

/// A runtime: image, accelerator and what is installed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Runtime {
    /// `colab-2026.07`.
    pub name: String,
    /// The day on which the list of its packages was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Datetime>,
    /// The service changes it; others it keeps as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moves: bool,
    /// `gpu`, `cpu` or `tpu`; absent for a machine that one has seen, and for a bare target, which has nothing
    /// installed and may have any GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator: Option<String>,
    /// The host that gives out this image.
    #[serde(deserialize_with = "host_by_kind", serialize_with = "host_kind")]
    pub host: &'static Host,
    pub os: String,
    pub python: Version,
    pub glibc: String,
    pub architecture: String,
    /// Without the global interpreter lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free_threaded: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverVersion>,
    /// GPUs the service may hand out; which one is not known before it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<String>,
    /// Installed from an address: no index has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub direct_url: Vec<PackageName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colab_pins: Vec<String>,
    /// The CUDA packages of the image.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apt: BTreeMap<String, String>,
    #[serde(default)]
    pub packages: BTreeMap<PackageName, Version>,
    /// What packages require, where the bundled lists of requirements do not say it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requires: BTreeMap<PackageName, Vec<String>>,
}

impl Runtime {
    /// Reads a description that `runtime import` wrote.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = files::read_text(path, "description of a notebook image")?;
        toml::from_str(&text).map_err(|error| {
            Failure::input(format!("`{}` does not describe a notebook image", path.display()))
                .because(&error)
                .help("`colab-boot runtime import` writes such a file")
        })
    }

    /// The description of a machine that was recorded on `day`; nothing where it has no Python.
    pub fn of_machine(name: &str, day: Date, machine: &Machine) -> Option<Self> {
        let facts = &machine.python.as_ref()?.facts;
        let kept = machine.debian.packages().iter().filter(|(name, _)| is_of_cuda(name));
        let installed = machine.installed.iter();
        let requires =
            installed.clone().filter_map(|(name, one)| Some((name.clone(), one.requires.as_ref()?.lines().to_vec())));
        Some(Self {
            name: name.to_owned(),
            as_of: day.to_string().parse().ok(),
            moves: !is_kept(name),
            accelerator: None,
            host: machine.host,
            os: machine.os.clone(),
            python: facts.version.clone(),
            glibc: facts.libc.to_string(),
            architecture: facts.architecture.clone(),
            free_threaded: facts.free_threaded,
            driver: machine.hardware.driver.clone(),
            gpus: machine.hardware.gpus.iter().map(|gpu| gpu.name.clone()).collect(),
            direct_url: installed.clone().filter(|(_, one)| one.direct).map(|(name, _)| name.clone()).collect(),
            colab_pins: Vec::new(),
            apt: kept.map(|(name, version)| (name.clone(), version.clone())).collect(),
            packages: installed.map(|(name, one)| (name.clone(), one.version.clone())).collect(),
            requires: requires.collect(),
        })
    }

    /// As a file, with the first line `title`.
    pub fn to_toml(&self, title: &str) -> Result<String, Failure> {
        let text =
            toml::to_string(self).map_err(|error| Failure::bug(format!("a description of {}: {error}", self.name)))?;
        Ok(format!("# {title}\n\n{text}"))
    }

    /// `colab-2026.07-gpu`, `bare-3.12`.
    pub fn full_name(&self) -> String {
        self.accelerator.as_ref().map_or_else(|| self.name.clone(), |one| format!("{}-{one}", self.name))
    }

    /// The day of its list of packages.
    pub fn day(&self) -> Option<Date> {
        self.as_of.as_ref()?.to_string().parse().ok()
    }

    /// A note where the image may be another one by `today`.
    pub fn outdated(&self, today: Date) -> Option<Finding> {
        let day = self.day().filter(|_| self.moves)?;
        let name = self.full_name();
        let message = format!(
            "the package list of `{name}` is from {day}, more than {FRESH} days ago; the image has changed since"
        );
        let finding = Finding::note(Code::RuntimeOutdated, message);
        (days_between(day, today) > FRESH).then(|| {
            finding.with_help(
                "import the current one with `colab-boot runtime import`, name a version that the service keeps, \
                 such as `colab-2026.07`, or plan on the machine itself",
            )
        })
    }

    /// What packages of images with its Python require, by name and version: as the index has it of their releases, of
    /// labelled builds as it has it of the public ones, without CUDA's libraries but those of the image.
    fn bundled_requirements(&self) -> HashMap<(&'static str, String), &'static str> {
        let mut parts = self.python.release().iter();
        let (major, minor) = (parts.next().copied().unwrap_or(0), parts.next().copied().unwrap_or(0));
        let file = FILES.get_file(format!("requires-{major}.{minor}.txt"));
        let lines = file.and_then(File::contents_utf8).unwrap_or_default().lines();
        lines
            .filter_map(|line| {
                let (title, requires) = line.split_once(':')?;
                let (name, version) = title.split_once(' ')?;
                Some(((name, version.to_owned()), requires))
            })
            .collect()
    }

    /// The packages whose requirements are not known. A build with a label has others in each image.
    pub fn unrecorded(&self) -> BTreeMap<PackageName, Version> {
        let known = self.bundled_requirements();
        let is_known = |name: &PackageName, version: &Version| {
            self.requires.contains_key(name)
                || !version.is_local() && known.contains_key(&(name.as_ref(), version.to_string()))
        };
        let unknown = self.packages.iter().filter(|(name, version)| !is_known(name, version));
        unknown.map(|(name, version)| (name.clone(), version.clone())).collect()
    }

    /// The machine it describes, with no GPU chosen yet.
    pub fn machine(&self) -> Machine {
        let direct = |name: &PackageName| self.direct_url.contains(name);
        let known = self.bundled_requirements();
        let installed = self.packages.iter().map(|(name, version)| {
            let own = self.requires.get(name).map(|lines| Recorded::new(lines.clone()));
            let one = Installed {
                version: version.clone(),
                requires: own.or_else(|| known.get(&(name.as_ref(), version.to_string())).map(|line| recorded(line))),
                direct: direct(name),
                location: None,
                installer: String::new(),
            };
            (name.clone(), one)
        });
        let facts = PythonFacts {
            version: self.python.clone(),
            architecture: self.architecture.clone(),
            libc: self.glibc.clone().into(),
            free_threaded: self.free_threaded,
        };
        let source = format!("runtime {}", self.full_name());
        Machine {
            python: Some(Python {
                path: None,
                facts,
                layout: None,
                origin: PythonOrigin::Named,
                is_virtual: false,
                home: None,
            }),
            hardware: Hardware { driver: self.driver.clone(), ..Hardware::default() },
            os: self.os.clone(),
            host: self.host,
            is_root: true,
            has_apt: true,
            installed: installed.collect(),
            kernel: None,
            boot_id: String::new(),
            debian: self.apt.clone().into(),
            runtime: Some(self.full_name()),
            pins: self.colab_pins.iter().filter_map(|line| Requirement::parse(line).ok()).collect(),
            origins: ["driver", "python", "installed"].map(|fact| (fact, source.clone())).into(),
        }
    }
}

/// Whether an image of this name stays as it is: services name those by a year and a month, as `colab-2026.07`.
pub fn is_kept(name: &str) -> bool {
    let last = name.rsplit(['-', '_']).next().and_then(|last| last.split_once('.'));
    last.is_some_and(|(year, month)| {
        let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let is_year = year.len() == 4 && year.starts_with("20") && is_number(year);
        is_year && month.len() == 2 && is_number(month) && ("01"..="12").contains(&month)
    })
}

/// Whether a Debian package brings CUDA's libraries.
pub fn is_of_cuda(name: &str) -> bool {
    let libraries = ["cuda-cudart-", "cuda-compat-", "libcudnn", "libnccl"];
    libraries.iter().any(|start| name.starts_with(start)) && !name.contains("-dev")
}

/// `a>=1; b` as METADATA would record it.
fn recorded(line: &str) -> Recorded {
    Recorded::new(line.split(';').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect())
}
