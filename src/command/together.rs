//! Whether what is installed goes together: the judges of `audit`, for what a lock is about.

use crate::audit::{Environment, judge_together};
use crate::command::Session;
use crate::command::audit::{installed, surroundings};
use crate::command::gather::Seen;
use crate::diag::Finding;
use crate::lock::LockedTarget;

/// Findings about requirements, families, libraries and collisions in which a locked package has a part. What else is wrong with an
/// image is for `audit` to say.
pub(super) fn together(session: &Session<'_>, seen: &Seen, target: &LockedTarget) -> Vec<Finding> {
    let environment = Environment { held: installed(session, seen), complete: true, ..surroundings(seen) };
    let mut findings = judge_together(&environment, session.matrix);
    findings.retain(|finding| is_about(&finding.message, target));
    findings
}

/// Whether a message names a locked package.
fn is_about(message: &str, target: &LockedTarget) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = message.split(|c| !is_name(c)).filter_map(|word| word.parse().ok());
    words.into_iter().any(|name| target.package(&name).is_some())
}
