//! The checks as JUnit XML, a test case each, for the reports of CI.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::core::diag::{Failure, Finding, Severity};
use crate::health::doctor::text_report::by_group;
use crate::health::doctor::{Outcome, State};

/// The XML. Errors are failures (and warnings, where they count as such); what was not seen is skipped, with the
/// reason.
pub(super) fn junit(outcomes: &[Outcome], strict: bool) -> Result<String, Failure> {
    let mut report = Report::new("colab-boot doctor");
    for (group, own) in by_group(outcomes)? {
        let mut suite = TestSuite::new(format!("doctor.{group}"));
        suite.add_test_cases(own.into_iter().map(|outcome| case(group, outcome, strict)));
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| Failure::bug(format!("JUnit: {error}")))
}

fn case(group: &str, outcome: &Outcome, strict: bool) -> TestCase {
    let counts =
        |finding: &&Finding| finding.severity == Severity::Error || strict && finding.severity == Severity::Warning;
    let failure = outcome.findings.iter().find(counts);
    let mut status = match (outcome.state, failure) {
        (State::Failed | State::TimedOut, _) => TestCaseStatus::non_success(NonSuccessKind::Error),
        (_, Some(_)) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        (State::Skipped, None) => TestCaseStatus::skipped(),
        (_, None) => TestCaseStatus::success(),
    };
    status.set_message(failure.map_or(outcome.said.as_str(), |finding| finding.message.as_str()));
    let lines = outcome.findings.iter().flat_map(|finding| {
        let head = format!("{:?}: {}", finding.severity, finding.message);
        std::iter::once(head)
            .chain(finding.notes.iter().map(|note| format!("  {note}")))
            .chain(finding.help.iter().map(|help| format!("  help: {help}")))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut case = TestCase::new(outcome.check.clone(), status);
    case.set_classname(format!("doctor.{group}"));
    if !text.is_empty() {
        case.set_system_out(text);
    }
    case
}
