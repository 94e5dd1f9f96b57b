//! `audit`: judges an environment that somebody else made. Changes nothing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::boot::audit::{Environment, judge};
use crate::boot::goal::{findings_of, read_listed};
use crate::boot::machine::{MachineRequest, runtime_names};
use crate::boot::seen::{installed, surroundings};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::AuditOptions;
use crate::core::diag::{Code, Failure, Finding, Severity, counted};
use crate::core::host::mounts::Look;
use crate::core::model::DriverVersion;
use crate::core::model::accepted::accept;

#[derive(Serialize)]
struct AuditReport<'a> {
    target: String,
    /// How many.
    packages: usize,
    driver: Option<&'a DriverVersion>,
    gpus: Vec<&'a str>,
}

pub(super) fn run(options: &AuditOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let target = Target::of(options)?;
    let seen = session.machine_near(&target.machine(options), None)?;
    let mut findings = seen.findings.clone();
    let mut environment = surroundings(&seen);
    let mut accepted = Vec::new();
    match &target {
        Target::Machine(_) | Target::Runtime(_) => {
            environment.held = installed(session, &seen);
            environment.complete = true;
        }
        Target::File(path) => {
            let python = seen.python_facts()?;
            let listed = read_listed(path, &python)?;
            findings.extend(findings_of(path, &listed));
            accepted = listed.accepted;
            let index = session.default_index(&options.index.settings(), seen.machine.python.as_ref())?;
            let found = session.find(&listed.named, &python, index, options.index.offline)?;
            environment.held = found.held;
            findings.extend(found.findings);
        }
    }
    findings.extend(not_judged(&environment));
    findings.retain(|finding| finding.severity != Severity::Warning || !matches!(finding.code, Code::MachineNoGpu));
    findings.extend(judge(&environment, session.matrix));
    findings = accept(findings, &accepted);
    let summary = summary(&target, &environment, &findings);
    let gpus: Vec<&str> = environment.hardware.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    let data = AuditReport {
        target: target.name(),
        packages: environment.held.len(),
        driver: environment.hardware.driver.as_ref(),
        gpus,
    };
    Ok(Report::new(data, summary).with_findings(findings))
}

/// What could not be judged, for the machine is not known well enough, or there is nothing.
fn not_judged(environment: &Environment) -> Option<Finding> {
    let Environment { held, hardware, .. } = environment;
    let note = |message: &str| Some(Finding::note(Code::MachineNoGpu, message));
    if held.is_empty() {
        return Some(Finding::note(Code::AuditOpen, "no entry could be checked"));
    }
    if !held.iter().any(|held| held.build.is_some()) {
        return None;
    }
    match (hardware.gpus.is_empty(), &hardware.driver) {
        (true, _) => note("no GPU is named, so the builds were not checked against one")
            .map(|finding| finding.with_help("set it with --gpu, and its driver with --driver")),
        (false, None) => note("no driver is known, so the CUDA of the builds was not checked against it")
            .map(|finding| finding.with_help("set it with --driver")),
        (false, Some(_)) => None,
    }
}

/// What is audited.
enum Target {
    /// This machine, a record of one, or another interpreter of it.
    Machine(String),
    Runtime(String),
    File(PathBuf),
}

impl Target {
    fn of(options: &AuditOptions) -> Result<Self, Failure> {
        let Some(text) = &options.target else {
            let runtime = options.machine.runtime.clone();
            let record = options.machine.machine.as_ref().or(options.machine.python.as_ref());
            let place = record.map_or_else(|| "this machine".to_owned(), |path| path.display().to_string());
            return Ok(runtime.map_or(Self::Machine(place), Self::Runtime));
        };
        if text == "-" {
            return Ok(Self::File(PathBuf::from("/dev/stdin")));
        }
        if !Path::new(text).is_missing() {
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
            Self::Machine(place) => place.clone(),
            Self::Runtime(name) => name.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// A file is judged for the machine that the options mean, an image for itself.
    fn machine(&self, options: &AuditOptions) -> MachineRequest {
        let mut machine = options.machine.request();
        if let Self::Runtime(name) = self {
            machine.runtime = Some(name.clone());
        }
        machine
    }
}

fn summary(target: &Target, environment: &Environment, findings: &[Finding]) -> String {
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let mut parts = vec![counted(environment.held.len(), "package")];
    let driver = environment.hardware.driver.as_ref();
    parts.push(driver.map_or_else(|| "no driver known".to_owned(), |driver| format!("driver {driver}")));
    let gpus: Vec<&str> = environment.hardware.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    if !gpus.is_empty() {
        parts.push(gpus.join(", "));
    }
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let verdict = match (errors, warnings) {
        (0, 0) if environment.held.is_empty() => "nothing was checked".to_owned(),
        (0, 0) => "no problems found".to_owned(),
        (0, warnings) => counted(warnings, "warning"),
        (errors, 0) => counted(errors, "error"),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    format!("audit of {} ({}): {verdict}\n", target.name(), parts.join("; "))
}
