//! A verification as a record to be published beside a release.

use crate::boot::planned::Planned;
use crate::boot::profile::Profile;
use crate::boot::session::Session;
use crate::boot::verify::SmokeOutcome;
use crate::core::diag::{Finding, Severity};
use crate::core::model::day::day_of;
use crate::core::model::{PackageName, Sha256};
use crate::golden::attestation::{Record, RecordedGpu, RecordedTest, SCHEMA};

/// Whether files were compared with a RECORD, or a framework was tested.
fn has_compared(planned: &Planned, smokes: &[(PackageName, SmokeOutcome)]) -> bool {
    let files = planned.files.evidence(&[]);
    files.against_wheel + files.against_own > 0 || smokes.iter().any(|(_, outcome)| outcome.ok)
}

/// What was found of `profile` and its lock, which has this digest.
pub fn verification_record(
    session: &Session<'_>,
    planned: &Planned,
    (profile, lock): (&Profile, Sha256),
    smokes: &[(PackageName, SmokeOutcome)],
    findings: &[Finding],
) -> Record {
    let machine = &planned.seen.machine;
    let image = match planned.seen.image() {
        image if image == "machine" => machine.os.clone(),
        image => image,
    };
    let mut codes: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity != Severity::Note)
        .map(|finding| finding.code.to_string())
        .collect();
    codes.sort();
    codes.dedup();
    let gpu = |gpu: &crate::core::matrix::InstalledGpu| RecordedGpu {
        name: gpu.name.clone(),
        capability: gpu.capability.to_string(),
    };
    let test = |(name, outcome): &(PackageName, SmokeOutcome)| {
        (name.clone(), RecordedTest { ok: outcome.ok, version: outcome.version.clone() })
    };
    Record {
        schema: SCHEMA,
        profile: profile.name.clone(),
        version: profile.version.clone(),
        lock,
        target: planned.target.name.clone(),
        on: day_of(session.now).to_string(),
        image,
        python: machine.python.as_ref().map(|python| python.facts.version.to_string()).unwrap_or_default(),
        driver: machine.hardware.driver.as_ref().map(ToString::to_string),
        gpus: machine.hardware.gpus.iter().map(gpu).collect(),
        smoke: smokes.iter().map(test).collect(),
        findings: codes,
        // Only where something was compared or tested: an empty lock, or one that is known by versions alone, proves
        // nothing.
        ok: has_compared(planned, smokes) && !findings.iter().any(Finding::is_error),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
