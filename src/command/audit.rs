//! `audit`: judges an environment that somebody else made. Changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::audit::{Environment, Held, Listed, Named, judge, kind_of, read_lock_file, read_requirements};
use crate::cli::{AuditOptions, MachineOptions};
use crate::command::contested::recorded_files;
use crate::command::gather::Seen;
use crate::command::{Report, Session};
use crate::diag::{Code, Failure, Finding, Severity};
use crate::host::files;
use crate::index::{Cache, Client, Locations, Offline, Online, Scope};
use crate::machine::runtime_names;
use crate::matrix::Build;
use crate::model::catalog::{Candidate, Catalog, Metadata};
use crate::model::{PackageName, PythonFacts, Version, WheelName};

pub(super) fn run(options: &AuditOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let target = Target::of(options)?;
    let seen = session.machine(&target.machine(options))?;
    let mut findings = seen.findings.clone();
    let mut environment = surroundings(&seen);
    match &target {
        Target::Machine | Target::Runtime(_) => environment.held = installed(session, &seen),
        Target::File(path) => {
            let python = python_of(&seen)?;
            let listed = read(path, &python)?;
            findings.extend(open_ends(&listed));
            let (held, unread) = session.look_up(&listed.named, &python, options)?;
            environment.held = held;
            findings.extend(unread);
        }
    }
    if environment.hardware.gpus.is_empty() && environment.held.iter().any(|held| held.build.is_some()) {
        let message = "no GPU is named: whether the builds run on one was not judged";
        findings.push(
            Finding::note(Code::MachineNoGpu, message).with_help("name it with --gpu, and its driver with --driver"),
        );
    }
    findings.retain(|finding| finding.severity != Severity::Warning || !matches!(finding.code, Code::MachineNoGpu));
    findings.extend(judge(&environment, session.matrix));
    let summary = summary(&target, &environment, &findings);
    let gpus: Vec<&str> = environment.hardware.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    let data = json!({
        "target": target.name(),
        "packages": environment.held.len(),
        "driver": environment.hardware.driver,
        "gpus": gpus,
    });
    Ok(Report::new(data, summary).with_findings(findings))
}

/// What is audited.
enum Target {
    Machine,
    Runtime(String),
    File(PathBuf),
}

impl Target {
    fn of(options: &AuditOptions) -> Result<Self, Failure> {
        let Some(text) = &options.target else {
            let runtime = options.machine.runtime.clone();
            return Ok(runtime.map_or(Self::Machine, Self::Runtime));
        };
        if Path::new(text).exists() {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let known = runtime_names()?.iter().any(|name| name == text || name.strip_suffix("-gpu") == Some(text));
        if known {
            return Ok(Self::Runtime(text.clone()));
        }
        Err(Failure::input(format!("`{text}` is neither a file nor a notebook image"))
            .help("give a requirements.txt, pylock.toml, uv.lock, the output of `pip freeze`, or an image such as `colab-2026.07`"))
    }

    fn name(&self) -> String {
        match self {
            Self::Machine => "this machine".to_owned(),
            Self::Runtime(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// A file is judged for the machine that the options mean, an image for itself.
    fn machine(&self, options: &AuditOptions) -> MachineOptions {
        let mut machine = options.machine.clone();
        if let Self::Runtime(name) = self {
            machine.runtime = Some(name.clone());
        }
        machine
    }
}

fn surroundings(seen: &Seen) -> Environment {
    let mut hardware = seen.machine.hardware.clone();
    hardware.gpus.extend(seen.possible_gpus.iter().cloned());
    let path = seen.observed.as_ref().map(|observed| observed.library_path.as_slice()).unwrap_or_default();
    Environment {
        held: Vec::new(),
        hardware,
        debian: seen.machine.debian.iter().map(|(name, version)| (name.clone(), version.clone())).collect(),
        compat_in_use: path.iter().any(|folder| folder.contains("/compat")),
    }
}

fn python_of(seen: &Seen) -> Result<PythonFacts, Failure> {
    seen.machine.python.as_ref().map(|python| python.facts.clone()).ok_or_else(|| {
        Failure::world("no usable Python was found to judge the wheels for")
            .help("name one with --python, or a notebook image with --runtime")
    })
}

/// Every distribution of the machine or image; one that is there twice, twice.
fn installed(session: &Session<'_>, seen: &Seen) -> Vec<Held> {
    let held = |name: PackageName, version: Version, folder: Option<PathBuf>| Held {
        build: session.matrix.build(&name, &version).cloned(),
        files: folder.as_ref().filter(|_| seen.here).and_then(|folder| recorded_files(folder)).map(Arc::new),
        folder: folder.and_then(|folder| Some(folder.parent()?.display().to_string())),
        name,
        version,
    };
    let described = || {
        let all = seen.machine.installed.iter().map(|(name, one)| held(name.clone(), one.version.clone(), None));
        all.collect()
    };
    let Some(observed) = &seen.observed else {
        return described();
    };
    let raw = observed.distributions.iter().filter_map(|raw| {
        let (name, version) = (raw.name.parse().ok()?, raw.version.parse().ok()?);
        Some(held(name, version, Some(raw.folder.clone())))
    });
    let mut all: Vec<Held> = raw.collect();
    all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    all
}

fn read(path: &Path, python: &PythonFacts) -> Result<Listed, Failure> {
    let text = files::read_text(path, "file")?;
    let markers = python.marker_environment().ok_or_else(|| Failure::bug("no marker environment"))?;
    let include = |name: &str| {
        let beside = path.parent().unwrap_or(Path::new(".")).join(name);
        files::read_text(&beside, "file").map_err(|failure| failure.to_string())
    };
    let listed = match kind_of(&text) {
        Some(kind) => read_lock_file(&text, kind, &markers),
        None => read_requirements(&text, &markers, &include),
    };
    listed.map_err(|error| {
        Failure::input(format!("`{}` can't be read", path.display()))
            .cause(error)
            .help("it should be a requirements.txt, the output of `pip freeze`, a pylock.toml, a uv.lock or a colab-boot lock")
    })
}

fn open_ends(listed: &Listed) -> Option<Finding> {
    let count = listed.open.len() + listed.elsewhere.len();
    if count == 0 {
        return None;
    }
    let message = format!("{count} entries name no exact version of an index and were not judged");
    let all: Vec<&str> = listed.open.iter().chain(&listed.elsewhere).map(String::as_str).take(12).collect();
    Some(Finding::note(Code::AuditOpen, message).with_note(all.join(", ")))
}

impl Session<'_> {
    /// What the index and the matrix know of `named`.
    fn look_up(
        &self,
        named: &[Named],
        python: &PythonFacts,
        options: &AuditOptions,
    ) -> Result<(Vec<Held>, Vec<Finding>), Failure> {
        let markers = python.marker_environment().ok_or_else(|| Failure::bug("no marker environment"))?;
        let scope = Scope { python: python.clone(), markers, as_of: None, preferred: BTreeMap::new() };
        let index = self.default_index(&options.index, None)?;
        let cache = Cache::new(&self.paths.cache, self.now, options.index.offline);
        if options.index.offline {
            return Ok(self.look_up_in(named, &Offline::new(Locations::only(index), scope, cache)));
        }
        let client = Client::new(vec![index.clone()])?;
        let catalog = Online::new(&client, self.matrix, (Locations::only(index), scope), cache);
        let names: Vec<PackageName> = named.iter().map(|one| one.name.clone()).collect();
        // Ahead and together; what fails is asked for again below, and told.
        let _ = catalog.listings(&names);
        Ok(self.look_up_in(named, &catalog))
    }

    fn look_up_in(&self, named: &[Named], catalog: &dyn Catalog) -> (Vec<Held>, Vec<Finding>) {
        let candidates: Vec<Option<Candidate>> = named.iter().map(|one| candidate(catalog, one)).collect();
        let known: Vec<Candidate> = candidates.iter().flatten().cloned().collect();
        catalog.expect_metadata(&known);
        let mut files = catalog.files(&known).into_iter();
        let mut held = Vec::new();
        let mut unread = Vec::new();
        for (one, candidate) in named.iter().zip(candidates) {
            let Named { name, version } = one.clone();
            let files = candidate.as_ref().and_then(|_| files.next().flatten());
            let row = self.matrix.build(&name, &version).cloned();
            let read = |candidate: &Candidate| self.read_build(catalog, &name, candidate);
            let build = row.or_else(|| candidate.as_ref().and_then(read));
            if candidate.is_none() && build.is_none() && !version.is_local() {
                unread.push(format!("{name} {version}"));
            }
            held.push(Held { name, version, build, files, folder: None });
        }
        let finding = (!unread.is_empty()).then(|| {
            let message = format!("{} releases have no wheel for the target on the index", unread.len());
            unread.truncate(12);
            Finding::note(Code::AuditUnread, message).with_note(unread.join(", "))
        });
        (held, finding.into_iter().collect())
    }

    /// The build of a wheel that the matrix has no row for, where it may be one for GPUs.
    fn read_build(&self, catalog: &dyn Catalog, name: &PackageName, candidate: &Candidate) -> Option<Build> {
        let metadata = catalog.metadata(candidate).ok()?;
        let asks = || metadata.requires.iter().any(|one| self.matrix.is_cuda_library(&one.name));
        let blind = || self.matrix.probe(name).is_none() && !self.matrix.is_cuda_library(name) && asks();
        if !self.matrix.is_watched(name, &candidate.version) && !blind() {
            return None;
        }
        let wheel: WheelName = candidate.file.parse().ok()?;
        let build = catalog.build(candidate).ok()??;
        Some(Build::of_wheel(&wheel, Some(candidate.sha256), &build, &Metadata::clone(&metadata)))
    }
}

fn candidate(catalog: &dyn Catalog, one: &Named) -> Option<Candidate> {
    let listing = catalog.listing(&one.name).ok()??;
    listing.get(&one.version).cloned()
}

fn summary(target: &Target, environment: &Environment, findings: &[Finding]) -> String {
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut parts = vec![plural(environment.held.len(), "package")];
    let driver = environment.hardware.driver.as_ref();
    parts.push(driver.map_or_else(|| "no NVIDIA driver".to_owned(), |driver| format!("driver {driver}")));
    let gpus: Vec<&str> = environment.hardware.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    if !gpus.is_empty() {
        parts.push(gpus.join(", "));
    }
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let verdict = match (errors, warnings) {
        (0, 0) => "nothing to object to".to_owned(),
        (0, warnings) => plural(warnings, "warning"),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
    };
    format!("audit of {} ({}): {verdict}\n", target.name(), parts.join("; "))
}
