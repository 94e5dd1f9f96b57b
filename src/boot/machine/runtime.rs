//! Bundled descriptions of notebook images (`runtimes/*.toml`), so that a laptop can plan for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use include_dir::{Dir, File, include_dir};
use serde::Deserialize;
use toml::value::Datetime;

use crate::boot::machine::{Installed, Machine, Python, PythonOrigin, Recorded};
use crate::core::diag::{Code, Failure, Finding};
use crate::core::matrix::{Hardware, Host, host_by_kind};
use crate::core::model::day::{Date, days_between};
use crate::core::model::{DriverVersion, PackageName, PythonFacts, Requirement, Version};

/// So many days an image that changes counts as the one that a notebook gets.
const FRESH: i64 = 30;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/runtimes");

/// A runtime: image, accelerator and what is installed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Runtime {
    /// `colab-2026.07`.
    pub name: String,
    /// `gpu`, `cpu` or `tpu`; absent for a bare target, which has nothing installed and may have any GPU.
    #[serde(default)]
    pub accelerator: Option<String>,
    /// The day on which the list of its packages was published.
    #[serde(default)]
    as_of: Option<Datetime>,
    /// The service changes it; others it keeps as they are.
    #[serde(default)]
    moves: bool,
    /// The host that gives out this image.
    #[serde(deserialize_with = "host_by_kind")]
    host: &'static Host,
    pub os: String,
    pub python: Version,
    pub glibc: String,
    pub architecture: String,
    pub driver: Option<DriverVersion>,
    /// GPUs the service may hand out; which one is not known before it does.
    #[serde(default)]
    pub gpus: Vec<String>,
    #[serde(default)]
    direct_url: Vec<PackageName>,
    #[serde(default)]
    colab_pins: Vec<String>,
    /// The CUDA packages of the image.
    #[serde(default)]
    pub apt: BTreeMap<String, String>,
    #[serde(default)]
    packages: BTreeMap<PackageName, Version>,
}

static RUNTIMES: LazyLock<Result<Vec<Runtime>, String>> = LazyLock::new(|| {
    let is_description = |file: &&File<'_>| file.path().extension().is_some_and(|ending| ending == "toml");
    let mut files: Vec<_> = FILES.files().filter(is_description).collect();
    files.sort_by_key(|file| file.path());
    files
        .into_iter()
        .map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            toml::from_str(text).map_err(|error| format!("runtimes/{}: {error}", file.path().display()))
        })
        .collect()
});

fn all() -> Result<&'static [Runtime], Failure> {
    RUNTIMES.as_deref().map_err(|error| Failure::bug(error.clone()))
}

/// `colab-2026.07-gpu`, …: what `--runtime` takes.
pub fn runtime_names() -> Result<Vec<String>, Failure> {
    Ok(all()?.iter().map(Runtime::full_name).collect())
}

/// The runtime `name`: `colab-2026.07` (its GPU image) or `colab-2026.07-cpu`. The error suggests near names.
pub fn find_runtime(name: &str) -> Result<&'static Runtime, Failure> {
    let runtimes = all()?;
    let found = runtimes
        .iter()
        .find(|one| one.full_name() == name || (one.name == name && one.accelerator.as_deref() == Some("gpu")));
    found.ok_or_else(|| {
        let mut names: Vec<String> = runtimes.iter().map(|one| one.name.clone()).collect();
        names.dedup();
        Failure::input(format!("unknown runtime `{name}`"))
            .help(format!("runtimes: {}; Colab runtimes may end in -gpu (the default), -cpu or -tpu", names.join(", ")))
    })
}

impl Runtime {
    /// `colab-2026.07-gpu`, `bare-3.12`.
    pub fn full_name(&self) -> String {
        self.accelerator.as_ref().map_or_else(|| self.name.clone(), |one| format!("{}-{one}", self.name))
    }

    /// A note where the image may be another one by `today`.
    pub fn outdated(&self, today: Date) -> Option<Finding> {
        let day: Date = self.as_of.as_ref().filter(|_| self.moves)?.to_string().parse().ok()?;
        let name = self.full_name();
        let message = format!(
            "the package list of `{name}` is from {day}, more than {FRESH} days ago; the image has changed since"
        );
        let finding = Finding::note(Code::RuntimeOutdated, message);
        (days_between(day, today) > FRESH).then(|| {
            finding.with_help(
                "name a version that the service keeps, such as `colab-2026.07`, or plan on the machine itself",
            )
        })
    }

    /// What packages of images with its Python require, by name and version: as the index has it of their releases, of
    /// labelled builds as it has it of the public ones, without CUDA's libraries but those of the image.
    fn requirements(&self) -> HashMap<(&'static str, String), &'static str> {
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

    /// The machine it describes, with no GPU chosen yet.
    pub fn machine(&self) -> Machine {
        let direct = |name: &PackageName| self.direct_url.contains(name);
        let known = self.requirements();
        let installed = self.packages.iter().map(|(name, version)| {
            let one = Installed {
                version: version.clone(),
                requires: known.get(&(name.as_ref(), version.to_string())).map(|line| recorded(line)),
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
            free_threaded: false,
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

/// `a>=1; b` as METADATA would record it.
fn recorded(line: &str) -> Recorded {
    Recorded::new(line.split(';').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect())
}
