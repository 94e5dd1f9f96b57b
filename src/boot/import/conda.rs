//! Packages of conda as requirements on a Python index.

use std::str::FromStr;

use pep440_rs::{Operator, VersionSpecifiers};

use crate::core::matrix::CondaPackage;
use crate::core::model::version::range_of;
use crate::core::model::{PackageName, PythonFacts};

/// What a line of conda asks for.
pub(super) enum CondaLine {
    Asked(PackageName, VersionSpecifiers),
    /// A Python that is this one, or its pip.
    Met,
    /// A package that no table knows.
    Unknown,
    /// It can't be taken over, for this reason.
    LeftOut(String),
}

/// What `line` asks for, such as `numpy=1.26`, `pytorch::pytorch>=2.1` or `python 3.12.*`.
pub(super) fn of_conda(line: &str, python: &PythonFacts) -> CondaLine {
    let spec = line.rsplit("::").next().unwrap_or(line).trim();
    let end = spec.find(|c: char| c.is_whitespace() || "=<>!~[".contains(c)).unwrap_or(spec.len());
    let (name, wanted) = (spec[..end].to_ascii_lowercase(), spec[end..].trim());
    let Some(specifiers) = specifiers_of(wanted) else {
        return CondaLine::LeftOut(format!("`{wanted}` has no equal on a Python index"));
    };
    if name == "python" {
        let fits = is_this_python(&specifiers, python);
        let why = || format!("this Python is {}; `--python` names another one", python.version);
        return if fits { CondaLine::Met } else { CondaLine::LeftOut(why()) };
    }
    match CondaPackage::named(&name) {
        CondaPackage::Distribution(name) if name.as_ref() == "pip" => CondaLine::Met,
        CondaPackage::Distribution(name) => CondaLine::Asked(name, specifiers),
        CondaPackage::NotPython(why) => CondaLine::LeftOut(why.to_owned()),
        CondaPackage::Unknown => CondaLine::Unknown,
    }
}

/// Whether `specifiers` allow `python`, whatever its patch release: an export of conda pins the one that it had.
fn is_this_python(specifiers: &VersionSpecifiers, python: &PythonFacts) -> bool {
    let exact = specifiers.iter().find(|one| matches!(one.operator(), Operator::Equal | Operator::EqualStar));
    match exact.map(|one| one.version().release()) {
        Some([major, minor, ..]) => (*major, *minor) == python.minor(),
        _ => range_of(specifiers).contains(&python.version),
    }
}

/// What versions a match specification of conda allows
/// (<https://docs.conda.io/projects/conda/en/stable/user-guide/concepts/pkg-specs.html>). `None` where PEP 440 has no
/// equal.
fn specifiers_of(wanted: &str) -> Option<VersionSpecifiers> {
    let wanted = wanted.trim_matches(['"', '\'']);
    if wanted.is_empty() || wanted == "*" {
        return Some(VersionSpecifiers::empty());
    }
    if wanted.contains(['|', '[']) {
        return None;
    }
    let clauses: Option<Vec<String>> = wanted.split(',').map(clause).collect();
    VersionSpecifiers::from_str(&clauses?.join(",")).ok()
}

/// One clause: `=1.26` and `1.26.*` are a prefix, and so is `=4.9.0=py312_0`, an exact version with a build: on an
/// index it may have one part more (`opencv-python` 4.9.0.80).
fn clause(text: &str) -> Option<String> {
    let text = text.trim();
    let length = text.find(|c| !"=<>!~".contains(c))?;
    let (operator, version) = text.split_at(length);
    let mut parts = version.trim().split(['=', ' ']);
    let version = parts.next()?;
    let stem = version.trim_end_matches('*').trim_end_matches('.');
    let has_star = stem.len() < version.len();
    Some(match operator {
        "" | "=" | "==" if stem.is_empty() => return None,
        "" | "==" if has_star => format!("=={stem}.*"),
        "" | "==" => format!("=={version}"),
        "=" => format!("=={stem}.*"),
        "!=" if has_star => format!("!={stem}.*"),
        ">=" | "<=" | ">" | "<" | "!=" | "~=" => format!("{operator}{stem}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{CondaLine, of_conda};
    use crate::core::model::{Libc, PythonFacts};

    #[test]
    fn match_specifications_become_specifiers() {
        let python = PythonFacts {
            version: "3.12.3".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let read = |line: &str| match of_conda(line, &python) {
            CondaLine::Asked(name, specifiers) => format!("{name}{specifiers}"),
            CondaLine::Met => "nothing".to_owned(),
            CondaLine::Unknown => "unknown".to_owned(),
            CondaLine::LeftOut(why) => why,
        };
        for (line, expected) in [
            ("numpy=1.26", "numpy==1.26.*"),
            ("numpy=1.26.4=py312hc5e2394_0", "numpy==1.26.4.*"),
            ("numpy 1.26.*", "numpy==1.26.*"),
            ("numpy ==1.26.4", "numpy==1.26.4"),
            ("numpy", "numpy"),
            ("conda-forge::pytorch>=2.1,<3", "torch>=2.1, <3"),
            ("pytorch 2.4.0", "torch==2.4.0"),
            ("python=3.12", "nothing"),
            ("python >=3.10,<3.13", "nothing"),
            ("python=3.12.1=hab00c5b_1_cpython", "nothing"),
            ("python 3.12", "nothing"),
            ("pip", "nothing"),
            ("python=3.11", "this Python is 3.12.3; `--python` names another one"),
            ("numpy=1.25|1.26", "`=1.25|1.26` has no equal on a Python index"),
            ("libfoo", "unknown"),
            ("_libgcc_mutex=0.1", "unknown"),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
        assert!(read("ffmpeg").contains("[apt]"));
    }
}
