//! `audit`: judges an environment that somebody else made. Changes nothing.

mod target;

use serde::Serialize;

use crate::boot::audit::{Audited, Environment, judge};
use crate::boot::goal::{Request, Together, findings_of, read_listed};
use crate::boot::seen::{installed, missing_files, surroundings};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::AuditOptions;
use crate::core::diag::{Code, Failure, Finding, Severity, counted};
use crate::core::model::DriverVersion;
use crate::core::model::accepted::accept;
use target::Target;

#[derive(Serialize)]
struct AuditReport<'a> {
    target: String,
    /// How many.
    packages: usize,
    driver: Option<&'a DriverVersion>,
    gpus: Vec<&'a str>,
    /// Whether what a file asks for can be installed; absent where nothing was asked, or solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    installs: Option<bool>,
    /// Releases that have no wheel.
    built: Vec<String>,
}

pub(super) fn run(options: &AuditOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let target = Target::of(options)?;
    let seen = session.machine_near(&target.machine(options), None)?;
    let mut findings = seen.findings.clone();
    let mut environment = surroundings(&seen);
    let mut accepted = Vec::new();
    let (mut together, mut others, mut unchecked) = (Together::default(), Vec::new(), 0);
    match &target {
        Target::Machine(_) | Target::Runtime(_) => {
            environment.held = installed(session, &seen);
            findings.extend(missing_files(&seen));
            environment.complete = true;
        }
        Target::File(path) => {
            let python = seen.python_facts()?;
            let listed = read_listed(path, &python)?;
            findings.extend(findings_of(path, &listed));
            accepted.clone_from(&listed.accepted);
            let index = session.default_index(&options.index.settings(), seen.machine.python.as_ref())?;
            let found = session.find(&listed.named, &python, index, options.index.offline)?;
            environment.held = found.held;
            let request = Request { machine: target.machine(options), index: options.index.settings() };
            unchecked = listed.open.iter().filter(|entry| !entry.starts_with('[')).count()
                + listed.wheels.len()
                + listed.elsewhere.len();
            together = session.solve_together((&path.display().to_string(), &listed), &seen, &request)?;
            // What comes along counts as there.
            for pick in together.picks.iter().flatten().filter(|pick| !pick.present) {
                if !environment.held.iter().any(|held| held.name == pick.name) {
                    environment.held.push(Audited::new(pick.name.clone(), pick.version.clone()));
                }
            }
            others.extend(found.findings.into_iter().filter(|finding| !together.says(finding)));
        }
    }
    if environment.held.is_empty() && !together.was_solved() {
        findings.push(Finding::note(Code::AuditOpen, "no entry could be checked"));
    }
    findings.extend(not_judged(&environment));
    findings.retain(|finding| finding.severity != Severity::Warning || !matches!(finding.code, Code::MachineNoGpu));
    let is_of_image = |finding: &Finding| target.is_file() && finding.code == Code::CompatOld;
    others.extend(judge(&environment, session.matrix).into_iter().filter(|finding| !is_of_image(finding)));
    findings.extend(together.with(others));
    findings = accept(findings, &accepted);
    let summary = summary(&target, &environment, (&together, unchecked), &findings);
    let data = AuditReport {
        target: target.name(),
        packages: environment.held.len(),
        driver: environment.hardware.driver.as_ref(),
        gpus: environment.gpu_names(),
        installs: together.was_solved().then(|| together.is_met()),
        built: together.built.iter().map(|(name, version)| format!("{name} {version}")).collect(),
    };
    Ok(Report::new(data, summary).with_findings(findings))
}

/// What could not be judged, for the machine is not known well enough, or there is nothing.
fn not_judged(environment: &Environment) -> Option<Finding> {
    let Environment { held, hardware, .. } = environment;
    let note = |message: &str| Some(Finding::note(Code::MachineNoGpu, message));
    if !held.iter().any(|held| held.build.is_some()) {
        return None;
    }
    match (hardware.gpus.is_empty(), &hardware.driver) {
        (true, _) => note("no GPU is set, so the GPU code of the builds was not checked")
            .map(|finding| finding.with_help("set it with --gpu, and its driver with --driver")),
        (false, None) => note("the driver is unknown, so the CUDA versions of the builds were not checked")
            .map(|finding| finding.with_help("set it with --driver")),
        (false, Some(_)) => None,
    }
}

fn summary(
    target: &Target,
    environment: &Environment,
    (together, unchecked): (&Together, usize),
    findings: &[Finding],
) -> String {
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let solved = together.picks.as_ref().map_or(environment.held.len(), Vec::len);
    let mut parts = vec![counted(solved, "package")];
    let driver = environment.hardware.driver.as_ref();
    parts.push(driver.map_or_else(|| "no driver known".to_owned(), |driver| format!("driver {driver}")));
    let gpus = environment.gpu_names();
    if !gpus.is_empty() {
        parts.push(gpus.join(", "));
    }
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let verdict = match (errors, warnings) {
        (0, 0) if environment.held.is_empty() && together.picks.is_none() => "nothing was checked".to_owned(),
        (0, 0) => "no problems found".to_owned(),
        (0, warnings) => counted(warnings, "warning"),
        (errors, 0) => counted(errors, "error"),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    let installs = installs(together, unchecked, errors).map(|text| format!("{text}; ")).unwrap_or_default();
    format!("audit of {} ({}): {installs}{verdict}\n", target.name(), parts.join("; "))
}

/// Whether what was solved can be installed; `None` where nothing was.
fn installs(together: &Together, unchecked: usize, errors: usize) -> Option<String> {
    if !together.was_solved() {
        return None;
    }
    if !together.is_met() {
        let why = if together.for_want_of_wheels { " from wheels" } else { "" };
        return Some(format!("cannot be installed{why}"));
    }
    let built = match together.built.len() + together.from_source {
        0 => String::new(),
        count => format!(" if pip builds {} from source", counted(count, "package")),
    };
    let but = match (unchecked, errors) {
        (0, 0) => String::new(),
        (0, _) => ", but does not work as it is".to_owned(),
        (count, _) => format!(", except for {} that could not be checked", counted(count, "entry")),
    };
    Some(format!("can be installed{built}{but}"))
}
