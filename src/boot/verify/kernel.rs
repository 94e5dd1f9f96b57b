//! Whether the kernel runs what is installed.

use crate::boot::marker::{Now, RESTORE, Standing, is_assumption};
use crate::boot::planned::Planned;
use crate::core::diag::{Code, Finding};

/// Why a kernel must restart: what it holds is true whatever lock the marker is of.
pub fn held_since(planned: &Planned, now: &Now<'_>) -> Vec<String> {
    let marker = planned.marker.as_ref().filter(|marker| marker.boot_id == now.boot_id);
    match (marker, now.kernel) {
        (Some(marker), Some(_)) => marker.because(now),
        (Some(marker), None) => marker.pending(&now.gone).flat_map(|asked| asked.because.clone()).collect(),
        (None, _) => now.evidence.to_vec(),
    }
}

/// Whether the kernel may hold what was replaced, and nothing shows that it does.
pub fn is_assumed(because: &[String]) -> bool {
    because.iter().all(|reason| is_assumption(reason))
}

/// Where the kernel stands, why it must restart, and which variables it does not have as the profile sets them.
pub fn kernel_findings(planned: &Planned, stands: Standing, now: &Now<'_>, because: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    match stands {
        Standing::Interrupted | Standing::Failed => {
            let finding = Finding::error(Code::ApplyFailed, stands.as_str());
            findings.push(finding.with_help("run `colab-boot apply` again"));
        }
        Standing::Fresh | Standing::NewMachine => {
            let other = planned.marker.as_ref().filter(|marker| marker.is_in_doubt() && marker.boot_id == now.boot_id);
            findings.extend(other.map(|marker| {
                let what = match marker.profile.as_str() {
                    RESTORE => "a restore".to_owned(),
                    profile => format!("an apply of {profile}"),
                };
                let message = format!("{what} is not finished; this lock was verified anyway");
                Finding::warning(Code::ApplyFailed, message)
                    .with_help("run that command again, or `colab-boot apply` for this profile")
            }));
            let message = match &planned.marker {
                Some(marker) if marker.boot_id == now.boot_id && marker.profile == RESTORE => {
                    "the last apply in this environment was undone with `colab-boot restore`"
                }
                Some(marker) if marker.boot_id == now.boot_id => {
                    "the last apply in this environment was of another lock"
                }
                _ => "colab-boot has not applied this lock since this machine started",
            };
            findings.push(Finding::note(Code::NothingApplied, message));
        }
        Standing::RestartPending | Standing::Restarted | Standing::Ready => {}
    }
    if !because.is_empty() {
        let (message, help) = if is_assumed(because) {
            (
                "the kernel has not said what it has loaded, and packages changed after it started",
                "in a cell, `%boot verify` compares what it has loaded; or restart the kernel, then verify again",
            )
        } else {
            ("the kernel runs code or uses variables that were replaced since", "restart the kernel, then verify again")
        };
        let finding = Finding::error(Code::VerifyKernelOld, message).with_help(help);
        findings.push(because.iter().cloned().fold(finding, Finding::with_note));
    }
    let live = &planned.decision.environment.live;
    let names: Vec<&str> = live.keys().map(String::as_str).filter(|name| !name.starts_with("COLAB_BOOT_")).collect();
    if !names.is_empty() {
        let message = format!("the kernel lacks variables of the profile: {}", names.join(", "));
        let finding = Finding::error(Code::VerifyEnvironment, message).about_variables(&names);
        findings.push(finding.with_help("run the boot cell to set them, then verify again"));
    } else if planned.decision.environment_differs {
        let names: Vec<&str> = planned.decision.plan.variables.iter().map(|change| change.name.as_str()).collect();
        let what = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let message = format!("the environment file lacks variables of the profile{what}");
        findings.push(
            Finding::error(Code::VerifyEnvironment, message)
                .with_help("run `colab-boot apply` to write it, then verify again"),
        );
    }
    findings
}
