//! Facts about CUDA: driver floors, GPU architectures, framework builds, families. They are rows of `matrix/*.toml`,
//! each with its source; this room gives them types, answers a few questions, and judges a build on a machine.

mod builds;
mod carriers;
mod checks;
mod collisions;
mod conda_names;
mod cuda_links;
mod deserializing;
mod figures;
mod gpus;
mod hints;
mod hosts;
mod import_names;
mod leniency;
mod linkage;
mod missing;
mod published;
mod rows;
mod secrets;
mod settings;
mod slots;
mod symbols;
mod symptoms;
mod system;
mod variables;
mod verdict;

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::OnceLock;

use include_dir::{Dir, include_dir};
use pep440_rs::VersionSpecifiers;
use pep508_rs::MarkerEnvironment;
use serde::Deserialize;

use crate::core::model::version::{VersionRange, range_of, release};
use crate::core::model::{CudaVersion, DriverVersion, PackageName, Requirement, Sha256, Version};

pub use builds::{Basis, Build, Builds, read_builds, write_builds};
pub use carriers::{Carried, Soname, carrier_for, is_carrier, is_jaxlib_or_plugin};
pub use checks::{Amount, Check, CredentialPlace, KnownBad, Unit, Working, checks, credential_places, known_bad};
pub use conda_names::CondaPackage;
pub use cuda_links::{ByCuda, Link};
pub use figures::{Card, Figures};
pub use gpus::Gpus;
pub use hints::{Hint, Hints, Seed, seeds};
pub use hosts::{Host, Hosts, host_by_kind, host_kind};
pub use import_names::{distribution_of, distribution_with_module, likely_distribution};
pub use leniency::{Aspect, Lenient, is_like};
pub use linkage::{LinkFile, LinkRow, Linkage, Linkages};
pub use missing::Missing;
pub use published::{IndexPage, PublishedIndex};
pub use rows::{
    Branch, Collision, Compat, Family, GpuRow, KernelPackages, Library, LibraryCuda, Overlay, Probe, SourceOnly, Title,
    Toolkit, Watch,
};
pub use secrets::{SecretFormat, SecretFormats, secret_formats};
pub use settings::{
    AllocatorOption, Determinism, FlagKnown, Setting, Settings, is_between, is_between_words, is_judged,
    is_setting_word, settings, xla_flag, xla_value,
};
pub use slots::Slot;
pub use symbols::MinorSymbols;
pub use symptoms::{Met, Phrase, Symptom, Symptoms};
pub use system::{SystemLibraries, release_of};
pub use variables::{Read, Variable};
pub use verdict::{
    Hardware, InstalledGpu, Reason, Verdict, check_driver, code_for, coverage, forward_level, ptx_only, verdict,
};

#[cfg(test)]
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/matrix");

/// The same, as JSON, by `build.rs`.
static PACKED: Dir<'_> = include_dir!("$OUT_DIR/matrix");

/// All the rows.
#[derive(Debug)]
pub struct Matrix {
    /// The day of its facts, as locks record it.
    pub version: String,
    pub toolkits: Vec<Toolkit>,
    pub branches: Vec<Branch>,
    oldest_driver: DriverVersion,
    pub gpus: Gpus,
    pub compats: Vec<Compat>,
    pub builds: Builds,
    pub kernel: KernelPackages,
    /// What `upkeep refresh` reads.
    pub watches: Vec<Watch>,
    /// Wheels of these keep METADATA anywhere.
    pub scattered: Vec<PackageName>,
    source_only: Vec<SourceOnly>,
    brings_cuda: Vec<PackageName>,
    libraries: Vec<Library>,
    overlays: Vec<Overlay>,
    families: Vec<Family>,
    pub collisions: Vec<Collision>,
    handed_over: Vec<rows::HandedOver>,
    floors: Vec<rows::Floor>,
    probes: Vec<Probe>,
    pub hosts: &'static Hosts,
    variables: Vec<Variable>,
    titles: Vec<Title>,
    links: Vec<Link>,
    by_cuda: Vec<ByCuda>,
    pub linkages: Linkages,
    /// CUDA's libraries by what the dynamic linker calls them.
    pub sonames: Vec<Soname>,
    /// Libraries of the system that wheels bring as well.
    pub carried: Vec<Carried>,
    /// Indexes that a profile may name.
    pub indexes: Vec<PublishedIndex>,
    /// The packages that `upkeep linking` reads.
    pub linked: Vec<PackageName>,
}

impl Matrix {
    /// Reads the bundled files. Fails only if a file in `matrix/` is wrong, which a test rules out.
    pub fn bundled() -> Result<Self, String> {
        let head: rows::Head = parse("matrix.toml")?;
        let drivers: rows::DriversFile = parse("drivers.toml")?;
        let packages: rows::PackagesFile = parse("packages.toml")?;
        let watch: rows::WatchFile = parse("watch.toml")?;
        Ok(Self {
            version: head.version,
            toolkits: parse::<rows::ToolkitsFile>("toolkits.toml")?.toolkit,
            branches: drivers.branch,
            oldest_driver: drivers.oldest_in_use.driver,
            gpus: parse::<gpus::GpusFile>("gpus.toml")?.into(),
            compats: parse::<rows::CompatFile>("forward-compat.toml")?.compat,
            builds: Builds::bundled(),
            kernel: packages.kernel,
            brings_cuda: packages.brings_cuda,
            libraries: packages.library,
            overlays: packages.overlay,
            families: parse::<rows::FamiliesFile>("families.toml")?.family,
            titles: packages.title,
            links: packages.link,
            by_cuda: packages.by_cuda,
            linkages: Linkages::bundled(packages.lenient),
            linked: watch.linked,
            sonames: packages.soname,
            carried: packages.carried,
            indexes: PublishedIndex::bundled()?,
            floors: packages.floor,
            collisions: packages.collision,
            handed_over: packages.handed_over,
            scattered: watch.scattered,
            watches: watch.watch,
            source_only: watch.source_only,
            probes: parse::<rows::ProbesFile>("probes.toml")?.probe,
            hosts: Hosts::bundled()?,
            variables: parse::<variables::EnvironmentFile>("environment.toml")?.variable,
        })
    }

    /// These rows with those of `text`, an overlay, added; a row with the same key takes the place of ours. The version
    /// then says so, for locks must tell which facts they were made from.
    pub fn with_overlay(mut self, text: &str) -> Result<Self, String> {
        let overlay: rows::OverlayFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let key = |row: &Build| (row.package.clone(), row.version.clone(), row.local.clone());
        let twice = |row: &&Build| overlay.build.iter().filter(|other| key(other) == key(row)).count() > 1;
        if let Some(row) = overlay.build.iter().find(twice) {
            return Err(format!("{} {} is listed twice", row.package, row.version));
        }
        if overlay.collision.iter().any(|row| row.packages.len() < 2) {
            return Err("a `[[collision]]` needs two or more packages".to_owned());
        }
        self.builds.replace(overlay.build);
        replace(&mut self.toolkits, overlay.toolkit, |row| row.cuda);
        self.toolkits.sort_by_key(|row| row.cuda);
        replace(&mut self.branches, overlay.branch, |row| row.branch);
        self.branches.sort_by_key(|row| row.branch);
        replace(&mut self.gpus.products, overlay.gpu, |row| row.product.clone());
        replace(&mut self.families, overlay.family, |row| (row.anchor.clone(), row.version.clone()));
        replace(&mut self.indexes, overlay.index, |row| row.name.clone());
        // The first that fits counts.
        self.probes.splice(..0, overlay.probe);
        self.collisions.extend(overlay.collision);
        if let Some(row) = self.builds.all().find(|row| row.cuda.is_some_and(|cuda| self.driver_floor(cuda).is_none()))
        {
            return Err(format!("{} {} has a CUDA version that no `[[toolkit]]` defines", row.package, row.version));
        }
        self.version = format!("{}+{}", self.version, Sha256::of(text.as_bytes()).short());
        Ok(self)
    }

    /// The toolkit row of `cuda`.
    pub fn toolkit(&self, cuda: CudaVersion) -> Option<&Toolkit> {
        self.toolkits.iter().find(|row| row.cuda == cuda)
    }

    /// The oldest toolkit whose compiler emits PTX of `isa`.
    pub fn toolkit_of_isa(&self, isa: CudaVersion) -> Option<CudaVersion> {
        self.toolkits.iter().find(|row| row.ptx_isa == Some(isa)).map(|row| row.cuda)
    }

    /// Where the wheels of `package` say what they were built for.
    pub fn probe(&self, package: &PackageName) -> Option<&Probe> {
        self.probes.iter().find(|row| is_like(package.as_ref(), &row.package))
    }

    /// The oldest driver that runs `cuda`: its own row's, else that of its major (a toolkit newer than the matrix).
    pub fn driver_floor(&self, cuda: CudaVersion) -> Option<&DriverVersion> {
        self.toolkit(cuda)
            .or_else(|| self.toolkits.iter().find(|row| row.cuda.major == cuda.major))
            .map(|row| &row.minor_compat_driver)
    }

    /// The driver to judge `gpus` with where none is known: the oldest in use that runs them.
    pub fn driver_for(&self, gpus: &[InstalledGpu]) -> DriverVersion {
        let needs = |gpu: &InstalledGpu| {
            self.toolkits
                .iter()
                .find(|row| row.sm.iter().any(|code| code.capability == gpu.capability))
                .and_then(|row| row.driver.clone())
        };
        let newest = gpus.iter().filter_map(needs).chain([self.oldest_driver.clone()]).max();
        let oldest = gpus
            .iter()
            .filter_map(|gpu| {
                let architecture = &self.gpu(&gpu.name)?.architecture;
                let branch = self.branches.iter().find(|row| row.last_for.contains(architecture))?;
                branch.branch.to_string().parse::<DriverVersion>().ok()
            })
            .min();
        let newest = newest.unwrap_or_else(|| self.oldest_driver.clone());
        oldest.filter(|oldest| *oldest < newest).unwrap_or(newest)
    }

    /// The CUDA majors there are, newest first.
    pub fn majors(&self) -> Vec<u32> {
        let mut majors: Vec<u32> = self.toolkits.iter().map(|row| row.cuda.major).collect();
        majors.dedup();
        majors.reverse();
        majors
    }

    /// What the branch of `driver` implements: the newest row that is not newer than it.
    pub fn branch(&self, driver: &DriverVersion) -> Option<&Branch> {
        self.branches.iter().filter(|row| row.branch <= driver.branch()).max_by_key(|row| row.branch)
    }

    /// The GPU that a person calls `name` (`T4`) or that nvidia-smi prints as `name` (`Tesla T4`).
    pub fn gpu(&self, name: &str) -> Option<&GpuRow> {
        self.gpus.find(name)
    }

    /// The names a person may give a GPU, for suggestions.
    pub fn gpu_names(&self) -> Vec<&str> {
        self.gpus.products.iter().filter_map(|row| row.names.first().map(String::as_str)).collect()
    }

    /// The rows of `package`.
    pub fn builds_of(&self, package: &PackageName) -> &[Build] {
        self.builds.of(package)
    }

    /// The build of `package` at `version`. A local label (`+cu128`) looks for the build of that series and label;
    /// without one, the wheel of the default index.
    pub fn build(&self, package: &PackageName, version: &Version) -> Option<&Build> {
        let label = version.local().iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        let mut of_package = self.builds_of(package).iter();
        if label.is_empty() {
            return of_package.find(|row| row.local.is_none() && row.version == *version);
        }
        of_package
            .find(|row| row.local.as_ref() == Some(&label) && version.release().starts_with(row.version.release()))
    }

    /// Whether releases of `package` are ruled out by rows here, without reading their metadata.
    pub fn knows(&self, package: &PackageName) -> bool {
        self.brings_cuda(package)
            || self.is_cuda_library(package)
            || self.families.iter().any(|row| row.members.contains_key(package))
    }

    /// Whether `package` is a GPU framework, which a profile lists in `[frameworks]`.
    pub fn is_framework(&self, package: &PackageName) -> bool {
        self.knows(package) && !self.is_part_of_cuda(package)
    }

    /// Whether `package` is a CUDA library, of whichever major.
    pub fn is_cuda_library(&self, package: &PackageName) -> bool {
        self.libraries.iter().any(|row| row.matches(package))
    }

    /// Whether the wheel of `package` pulls in the CUDA it was built for, without being asked by an extra.
    pub fn brings_cuda(&self, package: &PackageName) -> bool {
        self.brings_cuda.contains(package)
    }

    /// Which CUDA a library package belongs to, at `version`.
    pub fn library_cuda(&self, package: &PackageName, version: &Version) -> Option<LibraryCuda> {
        let row = self.libraries.iter().find(|row| row.matches(package))?;
        let by_name_alone = row.is_suffix() && !self.titles.iter().any(|title| title.names(package));
        if by_name_alone && self.is_of_no_cuda(package, version) {
            return None;
        }
        Some(row.cuda_of(version))
    }

    /// What people call the library that `package` is the wheel of: `cuDNN`.
    pub fn library_title(&self, package: &PackageName) -> Option<&str> {
        self.titles.iter().find(|row| row.names(package)).map(|row| row.title.as_str())
    }

    /// Whether `package` is a library that is released with each CUDA toolkit.
    pub fn is_part_of_cuda(&self, package: &PackageName) -> bool {
        self.titles.iter().any(|row| row.names(package) && row.with_cuda)
    }

    /// Requirements of `package` at `version` that its METADATA does not state.
    pub fn overlays(&self, package: &PackageName, version: &Version) -> impl Iterator<Item = &Overlay> {
        // A row that was read is about the builds of the default index; one with a label is made from the same sources.
        let (version, public) = (version.clone(), version.clone().without_local());
        self.overlays_of(package).filter(move |row| row.range.contains(&version) || row.range.contains(&public))
    }

    /// The same for any version.
    pub fn overlays_of(&self, package: &PackageName) -> impl Iterator<Item = &Overlay> {
        self.overlays.iter().filter(move |row| row.package == *package).chain(self.linkages.overlays(package))
    }

    /// The package that `package` at `version` was built against, and which versions of it go with it, without labels.
    pub fn family(&self, package: &PackageName, version: &Version) -> Option<(&PackageName, VersionRange)> {
        let version = version.clone().without_local();
        let mut rows = self.families.iter().filter(|row| row.members.get(package) == Some(&version));
        let first = rows.next()?;
        let range = rows.fold(release(&first.version), |all, row| all.union(&release(&row.version)));
        Some((&first.anchor, range))
    }

    /// Whether `package` at `version` is one whose wheels are read into rows.
    pub fn is_watched(&self, package: &PackageName, version: &Version) -> bool {
        self.watches.iter().any(|watch| watch.packages.get(package).is_some_and(|since| version >= since))
    }

    /// Whether a package that the matrix does not watch may hold GPU code: it asks for CUDA libraries itself, and
    /// nothing says that it has none.
    pub fn is_worth_reading(
        &self,
        package: &PackageName,
        requires: &[Requirement],
        markers: &MarkerEnvironment,
    ) -> bool {
        let is_known = self.probe(package).is_some() || self.is_cuda_library(package);
        !is_known && requires.iter().any(|one| self.is_cuda_library(&one.name) && one.applies(markers, None))
    }

    /// What the reading of a wheel of `package` depends on besides the wheel.
    pub fn reading(&self, package: &PackageName) -> Sha256 {
        let toolkits: Vec<_> = self.toolkits.iter().map(|row| (row.cuda, row.ptx_isa, &row.sm)).collect();
        Sha256::of(format!("{:?} {toolkits:?}", self.probe(package)).as_bytes())
    }

    /// Why `package` has no wheel to read.
    pub fn source_only(&self, package: &PackageName) -> Option<&SourceOnly> {
        self.source_only.iter().find(|row| row.package == *package)
    }

    /// The oldest version of `package` worth choosing, with the reason.
    pub fn floor(&self, package: &PackageName) -> Option<(&Version, &str)> {
        self.floors.iter().find(|row| row.package == *package).map(|row| (&row.version, row.why.as_str()))
    }
}

/// Adds `new` to `rows`, each in the place of the row with its key.
fn replace<T, K: PartialEq>(rows: &mut Vec<T>, new: Vec<T>, key: impl Fn(&T) -> K) {
    rows.retain(|row| !new.iter().any(|other| key(other) == key(row)));
    rows.extend(new);
}

/// The bundled file that `matrix/` has as `name`; that includes two folders, `metadata/` and, by package, `builds/`.
fn parse<T: for<'de> Deserialize<'de>>(name: &str) -> Result<T, String> {
    static BY_NAME: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let files = PACKED.files().chain(PACKED.dirs().flat_map(Dir::files));
        files.filter_map(|file| Some((file.path().to_str()?.strip_suffix(".json")?, file.contents_utf8()?))).collect()
    });
    let text = by_name.get(name.trim_end_matches(".toml")).ok_or_else(|| format!("matrix/{name} is not bundled"))?;
    serde_json::from_str(text).map_err(|error| format!("matrix/{name}: {error}"))
}

fn range_from_text(text: &str) -> Result<VersionRange, String> {
    VersionSpecifiers::from_str(text).map(|specifiers| range_of(&specifiers)).map_err(|error| error.to_string())
}

fn requirement_from_text(text: &str) -> Result<Requirement, String> {
    Requirement::parse(text)
}

#[cfg(test)]
mod tests;
