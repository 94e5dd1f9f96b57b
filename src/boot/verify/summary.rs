//! A verification in a few lines.

use std::fmt::Write;

use crate::boot::marker::Standing;
use crate::boot::verdict::{Compared, Evidence};
use crate::boot::verify::SmokeOutcome;
use crate::core::diag::counted;
use crate::core::model::PackageName;

/// What each smoke test says, in a line.
pub fn shown_tests(smokes: &[(PackageName, SmokeOutcome)]) -> Vec<(PackageName, String)> {
    let said = |outcome: &SmokeOutcome| {
        let state = if outcome.ok { "works" } else { "fails" };
        let version = outcome.version.clone().unwrap_or_default();
        format!("{version} {state}: {}", outcome.detail.lines().next().unwrap_or_default())
    };
    smokes.iter().map(|(name, outcome)| (name.clone(), said(outcome))).collect()
}

/// What a verification looked at, for people; its verdict comes behind it.
pub fn summary(python: String, evidence: &Evidence, stands: Standing, tests: &[(PackageName, String)]) -> String {
    let files = &evidence.files;
    let mut text = String::new();
    let mut row = |key: &str, value: String| {
        let _ = writeln!(text, "  {key:<12}{value}");
    };
    row("python", python);
    row(
        "files",
        format!(
            "{} as in their wheels, {} as in their own RECORD, {} compared by version alone; {} faulty",
            counted(files.against_wheel, "package"),
            files.against_own,
            files.by_version,
            files.faulty.len()
        ),
    );
    row("apply", stands.as_str().to_owned());
    match &evidence.kernel {
        Compared::Nothing => {}
        Compared::Same(count) => row("kernel", format!("{} compared", counted(count, "module"))),
        Compared::Differs(_) => row("kernel", "runs replaced code".to_owned()),
        Compared::Not(why) => row("kernel", format!("not compared: {why}")),
    }
    for (name, said) in tests {
        row(name.as_ref(), said.clone());
    }
    text
}
