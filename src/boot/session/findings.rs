//! What a plan means for the user: breakages, builds that do not run here, files that nothing proves.

use std::ops::Range;

use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::boot::plan::{Plan, Wish};
use crate::boot::profile::Profile;
use crate::boot::resolve::compiled_on_use;
use crate::boot::session::Session;
use crate::boot::session::machine::Seen;
use crate::core::diag::{Code, Failure, Finding, Subject, listed};
use crate::core::matrix::{Build, Reason, Verdict, ptx_only, verdict};
use crate::core::model::accepted::{Accepted, accept};
use crate::core::secrets::scan;

impl Session<'_> {
    /// `findings` without what a row of the matrix knows to do no harm; what the profile accepts is a note.
    pub fn weighed(&self, findings: Vec<Finding>, accepted: &[Accepted]) -> Vec<Finding> {
        accept(self.matrix.without_handed_over(findings), accepted)
    }
}

/// What the plan means for the user: breakages, moves whose effect only the machine knows, CUDA without a GPU.
pub(super) fn judged(wish: &Wish, plan: &Plan, target: &LockedTarget, seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    for breakage in &plan.breakages {
        let becomes = breakage.to.as_ref().map_or_else(|| "removed".to_owned(), |to| format!("{to}"));
        let message = format!("{} requires {}, which becomes {becomes}", breakage.package, breakage.requires);
        let severe = wish.breakage_is_error;
        let finding = if severe {
            Finding::error(Code::PlanBreakage, message)
        } else {
            Finding::warning(Code::PlanBreakage, message)
        };
        let finding = breakage.because.iter().cloned().fold(finding, Finding::with_note);
        findings.push(finding.with_help(wish.help_for_breakage));
    }
    let moves = plan.changes.iter().filter(|change| change.from.is_some()).count();
    if seen.machine.runtime.is_some() && moves > 0 {
        let message = format!(
            "{moves} packages of the image move; which others that would break is known only on the machine itself"
        );
        findings.push(Finding::note(Code::PlanBlind, message));
    }
    if target.cuda.is_some() && seen.machine.hardware.gpus.is_empty() && seen.machine.hardware.driver.is_none() {
        let message = "the plan has CUDA libraries, but this machine has no NVIDIA GPU to use them";
        findings.push(
            Finding::note(Code::MachineNoGpu, message).with_help("plan for another machine with --runtime and --gpu"),
        );
    }
    findings
}

/// What looks like a credential in the profile's `[env]`. `colab-boot: allow` in its line accepts it.
pub(super) fn secrets_set(profile: &Profile) -> Result<Vec<Finding>, Failure> {
    let text = profile.source.text.as_ref();
    let found = scan(text)?;
    let of = |(name, span): (&String, &Range<usize>)| {
        let secret = found.iter().find(|secret| span.start < secret.span.end && secret.span.start < span.end)?;
        let message = format!("`{name}` looks like a credential ({})", secret.rule);
        let help = "everybody who has the profile or the environment can read it: leave it out, and set it in the notebook by the service's own \
                    secrets; where it is none, `# colab-boot: allow` in its line says so";
        Some(
            Finding::error(Code::SecretInEnvironmentFile, message)
                .at(&profile.source, span.clone(), "")
                .with_help(help),
        )
    };
    Ok(profile.environment_spans.iter().filter_map(of).collect())
}

/// Locked files that nothing proves to be what they were.
pub(super) fn unhashed(target: &LockedTarget) -> Option<Finding> {
    let without = |package: &&LockedPackage| package.wheel().is_some_and(|wheel| wheel.sha256.is_none());
    let packages: Vec<Subject> =
        target.packages.iter().filter(without).map(|one| Subject::release(&one.name, &one.version)).collect();
    let names: Vec<String> = packages.iter().map(ToString::to_string).collect();
    let message = format!("the lock has no digest for {}", listed(&names));
    let finding = Finding::error(Code::LockUnhashed, message).with_help("lock from an index that gives digests");
    (!packages.is_empty()).then(|| packages.into_iter().fold(finding, Finding::about))
}

/// The locked packages with a GPU build, each with how it runs on the machine.
fn judged_builds<'a>(
    session: &'a Session<'_>,
    seen: &'a Seen,
    target: &'a LockedTarget,
) -> impl Iterator<Item = (&'a LockedPackage, &'a Build, Verdict)> {
    target.packages.iter().filter_map(|package| {
        let build = session.matrix.build(&package.name, &package.version).filter(|build| build.is_gpu())?;
        Some((package, build, verdict(session.matrix, build, &seen.machine.hardware)))
    })
}

/// Locked builds that do not run on the machine: what is kept of an image may be such.
pub(super) fn refused(session: &Session<'_>, seen: &Seen, target: &LockedTarget) -> Vec<Finding> {
    let of = |(package, _, verdict): (&LockedPackage, &Build, Verdict)| {
        let Verdict::No(reason) = verdict else {
            return None;
        };
        let code = match reason {
            // A GPU by name alone, without a driver: nothing is known to be wrong.
            Reason::NoDriver => return None,
            Reason::DriverTooOld { .. } | Reason::UnknownCuda { .. } => Code::DriverTooOld,
            _ => Code::GpuNotCovered,
        };
        let message = format!("{} {} does not run here: {reason}", package.name, package.version);
        Some(Finding::error(code, message).about(Subject::release(&package.name, &package.version)))
    };
    judged_builds(session, seen, target).filter_map(of).collect()
}

/// Locked builds that the driver has to compile here.
pub(super) fn compiled(session: &Session<'_>, seen: &Seen, target: &LockedTarget) -> Vec<Finding> {
    let of = |(package, build, _): (&LockedPackage, &Build, Verdict)| {
        let gpus = ptx_only(session.matrix, build, &seen.machine.hardware);
        let gpus: Vec<String> = gpus.map(|gpu| gpu.name.clone()).collect();
        (!gpus.is_empty()).then(|| compiled_on_use(&package.name, &package.version, &gpus))
    };
    judged_builds(session, seen, target).filter_map(of).collect()
}

/// Whether a package looks for CUDA's libraries when it runs, and neither the lock nor what is installed has them.
fn is_idle(session: &Session<'_>, seen: &Seen, target: &LockedTarget, package: &LockedPackage) -> bool {
    let matrix = session.matrix;
    let link = matrix.link(&package.name).filter(|link| link.opened && seen.machine.runtime.is_none());
    let build = matrix.build(&package.name, &package.version);
    let Some((link, cuda)) = link.zip(build.and_then(|build| build.cuda)) else { return false };
    let locked = target.packages.iter().map(|one| (&one.name, &one.version));
    let installed = seen.machine.installed.iter().map(|(name, one)| (name, &one.version));
    let of_debian = seen.machine.debian.packages().keys().any(|name| name.starts_with("cuda-cudart-"));
    !of_debian && !matrix.carried(link, locked.chain(installed)).contains(&cuda.major)
}

/// How each locked package with a GPU build runs on the machine.
pub fn verdicts(session: &Session<'_>, seen: &Seen, target: &LockedTarget) -> Vec<String> {
    let of = |(package, build, verdict): (&LockedPackage, &Build, Verdict)| {
        let how = match verdict {
            _ if is_idle(session, seen, target, package) => {
                "on the CPU: it finds none of its CUDA's libraries".to_owned()
            }
            Verdict::CpuOnly => "on the CPU: no GPU here".to_owned(),
            other => other.to_string(),
        };
        let cuda = build.cuda.map(|cuda| format!(" (CUDA {cuda})")).unwrap_or_default();
        format!("{} {}{cuda}: {how}", package.name, package.version)
    };
    judged_builds(session, seen, target).map(of).collect()
}
