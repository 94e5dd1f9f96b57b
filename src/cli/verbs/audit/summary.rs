//! What an audit says in one line.

use crate::boot::audit::Environment;
use crate::boot::goal::{Effects, Together};
use crate::cli::verbs::audit::target::Target;
use crate::core::diag::{Code, Finding, Severity, counted};

/// The last line: what was audited, whether it can be installed, and how many findings there are.
pub(super) fn summary(
    target: &Target,
    environment: &Environment,
    (together, effects, unchecked): (&Together, &Effects, usize),
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
    let is_refused = |finding: &Finding| {
        finding.severity == Severity::Error && matches!(finding.code, Code::AuditRefused | Code::AuditHash)
    };
    if together.was_solved() && findings.iter().any(is_refused) {
        return format!("audit of {} ({}): pip refuses it; {verdict}\n", target.name(), parts.join("; "));
    }
    let installs = installs(together, (effects.broken.len(), unchecked), errors)
        .map(|text| format!("{text}; "))
        .unwrap_or_default();
    format!("audit of {} ({}): {installs}{verdict}\n", target.name(), parts.join("; "))
}

/// Whether what was solved can be installed; `None` where nothing was.
fn installs(together: &Together, (broken, unchecked): (usize, usize), errors: usize) -> Option<String> {
    if !together.was_solved() {
        return None;
    }
    if !together.is_met() {
        let why = match (together.for_other_python, together.for_want_of_wheels) {
            (true, _) => " on this Python",
            (false, true) => " from wheels",
            (false, false) => "",
        };
        return Some(format!("cannot be installed{why}"));
    }
    let built = match together.built.len() + together.from_source {
        0 => String::new(),
        count => format!(" if pip builds {} from source", counted(count, "package")),
    };
    let except = match unchecked {
        0 => String::new(),
        count => format!(", except for {} that could not be checked", counted(count, "entry")),
    };
    let but = match (errors, broken) {
        (0, 0) => String::new(),
        (0, broken) => format!(", but breaks the requirements of {}", counted(broken, "installed package")),
        _ => ", but does not work as it is".to_owned(),
    };
    Some(format!("can be installed{built}{except}{but}"))
}
