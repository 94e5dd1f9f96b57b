//! `audit`: judges an environment that somebody else made. Changes nothing.

mod summary;
mod target;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use url::Url;

use crate::boot::audit::{Environment, IndexRole, Listed, ListedIndex, judge};
use crate::boot::goal::{Effects, Request, Together, findings_of, maybe_elsewhere, read_listed};
use crate::boot::index::is_same_index;
use crate::boot::seen::{installed, missing_files, surroundings};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::AuditOptions;
use crate::core::diag::{Code, Failure, Finding, Severity};
use crate::core::model::accepted::accept;
use crate::core::model::{DriverVersion, PackageName, Version};
use summary::summary;
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
    /// Installed packages that no longer have what they need.
    breaks: &'a BTreeSet<String>,
    /// Installed packages that a notebook uninstalls.
    removes: &'a BTreeSet<PackageName>,
    /// Installed packages in another version, from before and after.
    replaces: &'a BTreeMap<PackageName, (Version, Version)>,
}

pub(super) fn run(options: &AuditOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let target = Target::of(options, session)?;
    let seen = session.machine_near(&target.machine(options), None)?;
    let mut findings = seen.findings.clone();
    let mut environment = surroundings(&seen);
    let mut accepted = Vec::new();
    let (mut together, mut others, mut unchecked) = (Together::default(), Vec::new(), 0);
    let mut effects = Effects::default();
    match &target {
        Target::Machine(_) | Target::Runtime(_) => {
            environment.held = installed(session, &seen);
            findings.extend(missing_files(&seen));
            environment.complete = true;
        }
        Target::File(path) => {
            let python = seen.python_facts()?;
            let mut listed = read_listed(path, &python)?;
            accepted.clone_from(&listed.accepted);
            let index = session.default_index(&options.index.settings(), seen.machine.python.as_ref())?;
            let unproven = unproven(&mut listed, &index, options);
            findings.extend(findings_of(path, &listed));
            let found = session.find(&listed.named, &python, index, options.index.offline)?;
            environment.held = found.held;
            let is_unknown = |one: &Finding| unproven.contains(&one.code);
            let (unknown, known): (Vec<Finding>, Vec<Finding>) = found.findings.into_iter().partition(is_unknown);
            let request = Request { machine: target.machine(options), index: options.index.settings() };
            unchecked = listed.open.iter().filter(|entry| !entry.starts_with('[')).count()
                + listed.wheels.len()
                + listed.elsewhere.len();
            unchecked += unknown.len();
            together = session.solve_in_order((&path.display().to_string(), &listed), &seen, &request)?;
            effects = session.effects(&seen, &together, &mut environment.held);
            let found = known.into_iter().chain(unknown.into_iter().map(maybe_elsewhere));
            others.extend(found.filter(|finding| !together.says(finding)));
            others.append(&mut effects.findings);
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
    unchecked += together.unasked;
    let summary = summary(&target, &environment, (&together, &effects, unchecked), &findings);
    let data = AuditReport {
        target: target.name(),
        packages: environment.held.len(),
        driver: environment.hardware.driver.as_ref(),
        gpus: environment.gpu_names(),
        installs: together.was_solved().then(|| together.is_met()),
        built: together.built.iter().map(|(name, version)| format!("{name} {version}")).collect(),
        breaks: &effects.broken,
        removes: &together.removed,
        replaces: &effects.replaced,
    };
    Ok(Report::new(data, summary).with_findings(findings))
}

/// Notes in `listed` whether it names other indexes than the one at `url`; which findings then prove nothing. The files
/// of an index that the user names are those of the file.
fn unproven(listed: &mut Listed, url: &Url, options: &AuditOptions) -> Vec<Code> {
    let is_other = |one: &&ListedIndex| !one.url.parse::<Url>().is_ok_and(|other| is_same_index(&other, url));
    let others: Vec<&ListedIndex> = listed.indexes.iter().filter(is_other).collect();
    let is_named = options.index.settings().index_url.is_some();
    let has_other_files = listed.has_indexes || others.iter().any(|one| !is_named || one.role != IndexRole::InPlace);
    listed.has_indexes |= !others.is_empty();
    let of_names = [Code::ResolveUnknownPackage, Code::AuditMissing].into_iter().filter(|_| listed.has_indexes);
    of_names.chain(has_other_files.then_some(Code::AuditHash)).collect()
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
