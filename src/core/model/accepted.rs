//! Findings that a profile accepts: somebody knows better, and says why.

use serde::{Deserialize, Serialize};

use crate::core::diag::{Code, Finding, Severity};
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
    ];
}

/// Turns findings that `accepted` are about into notes which say why.
pub fn accept(findings: &mut [Finding], accepted: &[Accepted]) {
    for finding in findings.iter_mut().filter(|finding| finding.severity != Severity::Note) {
        let of_code = accepted.iter().filter(|one| one.code == finding.code);
        let Some(one) = of_code.into_iter().find(|one| is_about(finding, &one.package)) else { continue };
        finding.severity = Severity::Note;
        finding.help.clear();
        finding.notes.push(format!("the profile accepts it: {}", one.because));
    }
}

/// Whether `finding` names `package`.
fn is_about(finding: &Finding, package: &PackageName) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let names = |text: &str| {
        text.split(move |c| !is_name(c)).any(|word| word.parse().is_ok_and(|name: PackageName| name == *package))
    };
    names(&finding.message) || finding.notes.iter().any(|note| names(note))
}

#[cfg(test)]
mod tests {
    use super::{Accepted, accept};
    use crate::core::diag::{Code, Finding, Severity};

    #[test]
    fn only_what_is_named_is_accepted() {
        let accepted = [Accepted {
            package: "sgl-kernel".parse().expect("a name"),
            code: Code::LibraryMissing,
            because: "CUDA 12 is in /usr/local".to_owned(),
        }];
        let of = |code, message: &str| Finding::error(code, message).with_help("do");
        let mut findings = [
            of(Code::LibraryMissing, "sgl_kernel 0.3.21 needs libcudart.so.12, which nothing here carries"),
            of(Code::LibraryMissing, "xformers 0.0.35 needs libcudart.so.12, which nothing here carries"),
            of(Code::FamilyBroken, "sgl-kernel 0.3.21 needs torch 2.8, and 2.9 is here"),
        ];
        accept(&mut findings, &accepted);
        let severities = findings.each_ref().map(|finding| finding.severity);
        assert_eq!(severities, [Severity::Note, Severity::Error, Severity::Error]);
        assert!(findings[0].help.is_empty() && findings[0].notes[0].contains("/usr/local"));
    }
}
