//! Findings that a profile accepts: somebody knows better, and says why.

use serde::{Deserialize, Serialize};

use crate::core::diag::{Code, Finding, Severity, Subject, grouped};
use crate::core::model::PackageName;

/// A fact about a package that a profile overrules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    pub package: PackageName,
    pub code: Code,
    pub because: String,
}

impl Accepted {
    /// The codes that can be accepted: what the matrix knows of wheels. What METADATA says is for `[overrides]`.
    pub const CODES: &[Code] = &[
        Code::LibraryMissing,
        Code::FamilyBroken,
        Code::LibraryTooOld,
        Code::CudaMixedMajors,
        Code::GpuNotCovered,
        Code::GpuPtxOnly,
        Code::DriverTooOld,
        Code::FilesCollide,
        Code::VerifyImport,
    ];
}

/// Turns findings about accepted packages into notes which say why, and puts those together that say the same of
/// several packages. One about several packages is accepted when all of them are.
pub fn accept(mut findings: Vec<Finding>, accepted: &[Accepted]) -> Vec<Finding> {
    for finding in findings.iter_mut().filter(|finding| finding.severity != Severity::Note) {
        let Some(one) = acceptance(finding, accepted) else { continue };
        finding.severity = Severity::Note;
        finding.help.clear();
        finding.notes.push(format!("the profile accepts it: {}", one.because));
    }
    grouped(findings)
}

/// What accepts `finding`: a row for each package that it is about, or for each that these do not agree with.
fn acceptance<'a>(finding: &Finding, accepted: &'a [Accepted]) -> Option<&'a Accepted> {
    let row =
        |subject: &Subject| accepted.iter().find(|one| one.code == finding.code && subject.is_package(&one.package));
    let rows = |subjects: &[Subject]| subjects.iter().map(row).collect::<Option<Vec<_>>>()?.first().copied();
    rows(&finding.about).or_else(|| rows(&finding.against))
}

#[cfg(test)]
mod tests {
    use super::{Accepted, accept};
    use crate::core::diag::{Code, Finding, Severity, Subject};
    use crate::core::model::PackageName;

    fn name(text: &str) -> PackageName {
        text.parse().expect("a name")
    }

    fn accepted(package: &str, code: Code) -> Accepted {
        Accepted { package: name(package), code, because: "CUDA 12 is in /usr/local".to_owned() }
    }

    #[test]
    fn only_the_package_and_code_that_are_named_are_accepted() {
        let finding = |code, package| {
            Finding::error(code, "needs what is not here").about(Subject::package(&name(package))).with_help("do")
        };
        let findings = vec![
            finding(Code::LibraryMissing, "sgl_kernel"),
            finding(Code::LibraryMissing, "xformers"),
            finding(Code::FamilyBroken, "sgl-kernel"),
        ];
        let findings = accept(findings, &[accepted("sgl-kernel", Code::LibraryMissing)]);
        let severities: Vec<Severity> = findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Note, Severity::Error, Severity::Error]);
        assert!(findings[0].help.is_empty() && findings[0].notes[0].contains("/usr/local"));
    }

    #[test]
    fn one_of_a_group_is_accepted_alone_and_the_rest_stays_one_finding() {
        let names: Vec<String> = (0..12).map(|at| format!("package-{at}")).collect();
        let finding =
            |package: &String| Finding::error(Code::DriverTooOld, "no").about(Subject::package(&name(package)));
        let found = accept(names.iter().map(finding).collect(), &[accepted("package-9", Code::DriverTooOld)]);
        let counts: Vec<(Severity, usize)> = found.iter().map(|one| (one.severity, one.about.len())).collect();
        assert_eq!(counts, [(Severity::Error, 11), (Severity::Note, 1)]);
    }

    #[test]
    fn a_pair_is_accepted_by_either_and_several_by_all() {
        let pair = Finding::error(Code::FilesCollide, "both own it")
            .about(Subject::package(&name("a")))
            .against(Subject::package(&name("b")));
        let both = Finding::warning(Code::CudaMixedMajors, "two majors")
            .about(Subject::package(&name("a")))
            .about(Subject::package(&name("b")));
        let rows = [accepted("b", Code::FilesCollide), accepted("b", Code::CudaMixedMajors)];
        let found = accept(vec![pair, both], &rows);
        assert_eq!(found[0].severity, Severity::Note);
        assert_eq!(found[1].severity, Severity::Warning);
    }
}
