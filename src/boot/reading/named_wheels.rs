//! Wheels to be read: by name from the index, by address, or from a file; for a Python and a platform.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;

use crate::boot::index::{
    Cache, Client, IndexSettings, Inspected, LocalWheel, Locations, Online, Scope, Traffic, Trust, inspect_address,
};
use crate::boot::machine::MachineRequest;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::model::build::WheelBuild;
use crate::core::model::catalog::{Admission, Candidate, Catalog, Listing, PrereleaseRule, Rejection};
use crate::core::model::linking::Linking;
use crate::core::model::metadata::Metadata;
use crate::core::model::platform::parse_platform;
use crate::core::model::version::is_pin;
use crate::core::model::wheel_names::file_of;
use crate::core::model::{PackageName, PythonFacts, Requirement, Sha256, WheelName};

/// Packed bytes of a wheel's libraries that are read to know what they are linked against.
const LINKING_LIMIT: u64 = 64 << 20;

/// A wheel that was read.
pub struct WheelReading {
    pub wheel: WheelName,
    pub sha256: Option<Sha256>,
    pub size: Option<u64>,
    pub build: WheelBuild,
    pub linking: Linking,
    pub metadata: Metadata,
    /// What reading it took.
    pub traffic: Traffic,
}

impl WheelReading {
    /// What was wrong with the wheel.
    pub fn unreadable(&self) -> Option<Finding> {
        if self.build.unreadable.is_empty() {
            return None;
        }
        let message = format!("`{}` has members that can't be read", self.wheel);
        let finding = Finding::error(Code::WheelMalformed, message);
        Some(self.build.unreadable.iter().fold(finding, |finding, what| finding.with_note(what.clone())))
    }
}

/// One of what the user named.
pub enum Spec {
    Requirement(Box<Requirement>),
    File(PathBuf),
    Address(Url),
}

impl Spec {
    /// `torch==2.15.0`, `wheels/x-1.0-….whl` or `https://…/x-1.0-….whl`.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if let Some("http" | "https") = scheme.as_deref() {
            let url = Url::parse(text).map_err(|error| Failure::input(format!("`{text}`")).because(&error))?;
            return Ok(Self::Address(url));
        }
        if text.ends_with(".whl") {
            return Ok(Self::File(PathBuf::from(text.strip_prefix("file://").unwrap_or(text))));
        }
        let requirement = Requirement::parse(text).map_err(|error| {
            Failure::input(format!("`{text}` is not a requirement, wheel file or URL: {error}"))
                .help("write `torch==2.15.0`, the path of a .whl file, or its address")
        })?;
        Ok(Self::Requirement(Box::new(requirement)))
    }
}

/// Reads wheels over one connection.
pub struct WheelReader<'a> {
    session: &'a Session<'a>,
    pub client: &'a Client,
    pub catalog: Online<'a>,
    pub python: PythonFacts,
    thorough: bool,
}

impl<'a> WheelReader<'a> {
    pub fn new(
        session: &'a Session<'a>,
        client: &'a Client,
        index: Url,
        python: PythonFacts,
        thorough: bool,
    ) -> Result<Self, Failure> {
        let scope = Scope::of(&python).ok_or_else(|| Failure::bug("no marker environment"))?;
        let cache = Cache::new(&session.paths.cache, session.now, Trust::WhileFresh);
        let catalog = Online::new(client, session.matrix, Locations::only(index), scope, cache);
        Ok(Self { session, client, catalog, python, thorough })
    }

    pub fn read(&self, spec: &Spec) -> Result<WheelReading, Failure> {
        match spec {
            Spec::File(path) => self.file(path),
            Spec::Address(url) => self.address(url),
            Spec::Requirement(requirement) => self.candidate(&self.find(requirement)?),
        }
    }

    /// What the index has of a package.
    pub fn listing(&self, name: &PackageName) -> Result<Arc<Listing>, Failure> {
        let listing = self.catalog.listing(name)?;
        listing.ok_or_else(|| Failure::answer(format!("the index has no package `{name}`")).help("check the spelling"))
    }

    fn find(&self, requirement: &Requirement) -> Result<Candidate, Failure> {
        let listing = self.listing(&requirement.name)?;
        let admission = Admission { prereleases: PrereleaseRule::Last, yanked: is_pin(&requirement.range) };
        listing.choose(&requirement.range, admission).cloned().ok_or_else(|| self.not_found(requirement, &listing))
    }

    fn not_found(&self, requirement: &Requirement, listing: &Listing) -> Failure {
        let Requirement { name, specifiers, range, .. } = requirement;
        let (major, minor) = self.python.minor();
        let platform = self.python.platform_tag();
        let failure =
            Failure::answer(format!("`{name}{specifiers}` has no wheel for Python {major}.{minor} on {platform}"));
        let rejected = listing.rejected.iter().find(|(version, _)| range.contains(version));
        match rejected {
            Some((version, Rejection::Tags(tags))) => {
                let linux: Vec<&str> = tags.iter().map(String::as_str).filter(|tag| tag.contains("linux")).collect();
                failure.cause(format!("{name} {version} has wheels for {}", linux.join(", ")))
            }
            Some((version, Rejection::NoWheel)) => {
                failure.cause(format!("{name} {version} has no wheels, only source"))
            }
            Some((version, Rejection::Python(wanted))) => {
                failure.cause(format!("{name} {version} needs Python {wanted}"))
            }
            _ => failure.cause("no such version"),
        }
        .help("choose another Python with --python, another platform with --platform, or another version")
    }

    /// A wheel of the index.
    pub fn candidate(&self, candidate: &Candidate) -> Result<WheelReading, Failure> {
        let before = self.client.traffic();
        let build = self.catalog.inspect(candidate, self.thorough)?;
        let linking = self.catalog.linking_of(candidate, LINKING_LIMIT)?;
        let metadata = self.catalog.metadata(candidate)?;
        Ok(WheelReading {
            wheel: wheel_name(&candidate.file)?,
            sha256: candidate.sha256,
            size: metadata.size.or(candidate.size),
            build: (*build).clone(),
            linking,
            metadata: (*metadata).clone(),
            traffic: self.client.traffic().since(before),
        })
    }

    fn address(&self, url: &Url) -> Result<WheelReading, Failure> {
        let before = self.client.traffic();
        let wheel = wheel_name(&file_of(url.path()))?;
        let seen = inspect_address(self.client, url, &wheel.name, (self.session.matrix, self.thorough), LINKING_LIMIT)?;
        let Inspected { build, linking, metadata } = seen;
        let (size, traffic) = (metadata.size, self.client.traffic().since(before));
        Ok(WheelReading { wheel, sha256: None, size, build, linking, metadata, traffic })
    }

    fn file(&self, path: &Path) -> Result<WheelReading, Failure> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let wheel = wheel_name(&name)?;
        let mut local = LocalWheel::open(path).map_err(unreadable(path))?;
        let build = local.inspect(&wheel.name, self.session.matrix, self.thorough).map_err(unreadable(path))?;
        let linking = local.linking(u64::MAX).map_err(unreadable(path))?;
        let metadata = local.metadata().map_err(unreadable(path))?;
        let (size, traffic) = (Some(local.size), Traffic::default());
        Ok(WheelReading { wheel, sha256: None, size, build, linking, metadata, traffic })
    }
}

/// The failure to read the wheel at `path`: what is missing or no wheel is the user's to correct.
fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidData => Kind::Input,
            _ => Kind::World,
        };
        Failure::new(kind, format!("could not read `{}`", path.display())).because(&error)
    }
}

fn wheel_name(file: &str) -> Result<WheelName, Failure> {
    file.parse().map_err(|_| {
        Failure::input(format!("`{file}` is not the name of a wheel"))
            .help("wheels are named NAME-VERSION-PYTHON-ABI-PLATFORM.whl")
    })
}

/// Which wheel of a version is meant: for this Python version and platform tag, or those of this machine.
#[derive(Debug, Default)]
pub struct WheelRequest {
    pub python: Option<String>,
    pub platform: Option<String>,
}

/// The index to ask, and the Python to ask for.
pub fn wheel_target(
    session: &Session<'_>,
    index: &IndexSettings,
    wheel: &WheelRequest,
) -> Result<(Url, PythonFacts), Failure> {
    let seen = session.machine(&MachineRequest::default())?;
    let here = seen.machine.python.as_ref();
    let mut python = here.map_or_else(reference_python, |python| python.facts.clone());
    if let Some(text) = &wheel.python {
        python.version =
            text.parse().map_err(|_| Failure::input(format!("--python: `{text}` is not a version such as `3.12`")))?;
    }
    if let Some(text) = &wheel.platform {
        let known =
            parse_platform(text).filter(|(_, architecture)| matches!(architecture.as_str(), "x86_64" | "aarch64"));
        (python.libc, python.architecture) = known.ok_or_else(|| {
            Failure::input(format!("--platform: `{text}` is not a platform tag such as `manylinux_2_35_x86_64`"))
        })?;
    }
    Ok((session.default_index(index, here)?, python))
}

/// Where no Python is at hand: that of the newest Colab images.
fn reference_python() -> PythonFacts {
    PythonFacts {
        version: crate::core::model::Version::new([3, 12, 0]),
        architecture: "x86_64".to_owned(),
        libc: crate::core::model::Libc::Glibc(2, 35),
        free_threaded: false,
    }
}
