//! Whether what is installed goes together: the judges of `audit`, for what a lock is about.

use crate::audit::{Environment, judge_together};
use crate::command::Session;
use crate::command::audit::{installed, surroundings};
use crate::command::plan::Planned;
use crate::diag::{Finding, Severity};
use crate::model::PackageName;

/// Findings about requirements, families, libraries and collisions. They are errors where a locked package itself lacks something; what
/// others lack because of one is a warning, as the plan has said before. What else is wrong with an image is for `audit` to say.
pub(super) fn together(session: &Session<'_>, planned: &Planned) -> Vec<Finding> {
    let (seen, target) = (&planned.seen, &planned.target);
    let environment = Environment { held: installed(session, seen), complete: true, ..surroundings(seen) };
    let mut findings = judge_together(&environment, session.matrix);
    findings.retain(|finding| names(&finding.message).any(|name| target.package(&name).is_some()));
    for finding in &mut findings {
        let is_locked = names(&finding.message).next().is_some_and(|name| target.package(&name).is_some());
        if !is_locked || !planned.wish.breakage_is_error {
            finding.severity = finding.severity.max(Severity::Warning);
        }
    }
    findings
}

/// The names in a message, that of its subject first.
fn names(message: &str) -> impl Iterator<Item = PackageName> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    message.split(move |c| !is_name(c)).filter_map(|word| word.parse().ok())
}
