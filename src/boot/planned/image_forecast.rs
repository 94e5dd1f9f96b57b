//! What would become of a profile on machines that are only described: image by image, GPU by GPU.

use std::path::Path;

use serde::Serialize;

use crate::boot::goal::{ProfileRequest, Request};
use crate::boot::index::IndexSettings;
use crate::boot::lock::Lock;
use crate::boot::machine::MachineRequest;
use crate::boot::planned::make;
use crate::boot::session::Session;
use crate::boot::situation::Reading;
use crate::core::diag::{Code, Failure, Finding, Kind, Severity};

/// Of what `plan` says of an image, this is said of a lock, too.
const SAID_OF_LOCKS: [Code; 4] =
    [Code::FrameworkCpuBuild, Code::JaxPluginMismatch, Code::PlanBreakage, Code::FamilyBroken];

/// One profile on one image with one GPU.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Outlook {
    /// Name and version.
    pub profile: String,
    /// The image, or the file of the machine.
    pub runtime: String,
    #[serde(skip)]
    pub is_image: bool,
    /// `None` on an image without one.
    pub gpu: Option<String>,
    /// It would boot.
    pub survives: bool,
    /// Packages that would change, and that stay as the image has them.
    pub changes: usize,
    pub kept: usize,
    /// Bytes of wheels to fetch.
    pub download: u64,
    pub restart: bool,
    /// Codes of warnings.
    pub warnings: Vec<String>,
    /// Why it would not boot: a code and a sentence.
    pub code: Option<String>,
    pub because: Option<String>,
}

/// The kinds of GPU that an image hands out or a machine has; `None` alone where it has none.
pub fn gpus_of(session: &Session<'_>, machine: &MachineRequest) -> Result<Vec<Option<String>>, Failure> {
    let seen = session.machine(machine)?;
    let gpus = seen.possible_gpus.iter().chain(&seen.machine.hardware.gpus);
    let mut names: Vec<Option<String>> = gpus.map(|gpu| Some(gpu.name.clone())).collect();
    names.dedup();
    if names.is_empty() {
        names.push(None);
    }
    Ok(names)
}

/// What is said besides of a fresh lock: whether `apply` would refuse it on the images that it is for, what it breaks
/// there, and whether their GPUs are used. Warnings.
pub fn said_of_lock(
    session: &Session<'_>,
    (profile, place): (&Path, &Path),
    lock: &Lock,
    index: &IndexSettings,
) -> Vec<Finding> {
    let images = lock.targets.iter().filter_map(|target| target.runtime.clone());
    let judged = images.flat_map(|image| {
        let machine = MachineRequest { runtime: Some(image.clone()), ..MachineRequest::default() };
        let wanted = ProfileRequest { profile: profile.to_owned(), lock: Some(place.to_owned()), locked: true };
        let request = Request { machine, index: IndexSettings { offline: true, ..index.clone() } };
        let planned = make(&wanted, &request, session, Reading::Least);
        let (errors, rest): (Vec<Finding>, Vec<Finding>) =
            planned.map(|planned| planned.findings).unwrap_or_default().into_iter().partition(Finding::is_error);
        let refused = errors.first().map(|Finding { code, help, .. }| {
            let warning = Finding::warning(*code, format!("`apply` refuses this lock on {image}"));
            let warning = errors.iter().fold(warning, |warning, error| warning.with_note(error.message.as_str()));
            help.iter().fold(warning, |warning, help| warning.with_help(help.as_str()))
        });
        refused.into_iter().chain(rest.into_iter().filter(|one| SAID_OF_LOCKS.contains(&one.code)))
    });
    // Targets with the same packages have the same faults.
    let mut all: Vec<Finding> = Vec::new();
    for one in judged {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// What `apply` would do with the profile at `path`, whose lock counts where it fits. A profile that has no answer
/// there is an outlook, too; an index that can't be asked is a failure.
pub fn outlook(
    session: &Session<'_>,
    path: &Path,
    (name, machine, gpu): (&str, &MachineRequest, Option<&str>),
    index: &IndexSettings,
) -> Result<Outlook, Failure> {
    let profile = session.profile(path)?.title();
    let is_image = machine.runtime.is_some();
    let machine = MachineRequest { gpus: gpu.map(str::to_owned).into_iter().collect(), ..machine.clone() };
    let wanted = ProfileRequest { profile: path.to_owned(), lock: None, locked: false };
    let request = Request { machine, index: index.clone() };
    let blank = Outlook {
        profile,
        runtime: name.to_owned(),
        is_image,
        gpu: gpu.map(str::to_owned),
        survives: false,
        changes: 0,
        kept: 0,
        download: 0,
        restart: false,
        warnings: Vec::new(),
        code: None,
        because: None,
    };
    let planned = match make(&wanted, &request, session, Reading::Least) {
        Ok(planned) => planned,
        Err(failure) if failure.kind == Kind::Answer => {
            let first = failure.findings.first();
            let code = first.map(|finding| finding.code.to_string());
            let because = first.map_or_else(|| failure.message.clone(), |finding| finding.message.clone());
            return Ok(Outlook { code, because: Some(because), ..blank });
        }
        Err(failure) => return Err(failure),
    };
    let error = planned.findings.iter().find(|finding| finding.severity == Severity::Error);
    let warnings = planned.findings.iter().filter(|finding| finding.severity == Severity::Warning);
    let mut warnings: Vec<String> = warnings.map(|finding| finding.code.to_string()).collect();
    warnings.sort();
    warnings.dedup();
    let plan = &planned.decision.plan;
    Ok(Outlook {
        survives: error.is_none(),
        changes: plan.changes.len(),
        kept: plan.kept.len(),
        download: plan.download_bytes,
        restart: planned.decision.restart.needed,
        warnings,
        code: error.map(|finding| finding.code.to_string()),
        because: error.map(|finding| finding.message.clone()),
        ..blank
    })
}
