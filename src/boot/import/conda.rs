//! Packages of conda as requirements on a Python index.

use std::str::FromStr;

use pep440_rs::VersionSpecifiers;

use crate::core::matrix::CondaPackage;
use crate::core::model::version::range_of;
use crate::core::model::{PackageName, PythonFacts};

/// What a line of conda asks for, such as `numpy=1.26`, `pytorch::pytorch>=2.1` or `python 3.12.*`: a package and its
/// versions, nothing where this Python satisfies it, or the reason why it can't be taken over.
pub(super) fn of_conda(line: &str, python: &PythonFacts) -> Result<Option<(PackageName, VersionSpecifiers)>, String> {
    let spec = line.rsplit("::").next().unwrap_or(line).trim();
    let end = spec.find(|c: char| c.is_whitespace() || "=<>!~[".contains(c)).unwrap_or(spec.len());
    let (name, wanted) = (spec[..end].to_ascii_lowercase(), spec[end..].trim());
    let specifiers = specifiers_of(wanted).ok_or_else(|| format!("`{wanted}` has no equal on a Python index"))?;
    if name == "python" {
        let fits = range_of(&specifiers).contains(&python.version);
        return if fits { Ok(None) } else { Err(format!("this Python is {}", python.version)) };
    }
    match CondaPackage::named(&name) {
        CondaPackage::Distribution(name) if name.as_ref() == "pip" => Ok(None),
        CondaPackage::Distribution(name) => Ok(Some((name, specifiers))),
        CondaPackage::NotPython(why) => Err(why.to_owned()),
        CondaPackage::Unknown => {
            Err(format!("if an index has it under this name: `colab-boot add {name}`", name = shown(&name)))
        }
    }
}

/// A name as it may stand in a command.
fn shown(name: &str) -> String {
    name.parse::<PackageName>().map_or_else(|_| "NAME".to_owned(), |name| name.to_string())
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

/// One clause: `=1.26` and `1.26.*` are a prefix, `=1.26.4=py312_0` an exact version with a build.
fn clause(text: &str) -> Option<String> {
    let text = text.trim();
    let length = text.find(|c| !"=<>!~".contains(c))?;
    let (operator, version) = text.split_at(length);
    let mut parts = version.trim().split(['=', ' ']);
    let (version, build) = (parts.next()?, parts.next());
    let stem = version.trim_end_matches('*').trim_end_matches('.');
    let has_star = stem.len() < version.len();
    Some(match operator {
        "" | "=" | "==" if stem.is_empty() => return None,
        "" | "==" if has_star => format!("=={stem}.*"),
        "" | "==" => format!("=={version}"),
        "=" if build.is_some() => format!("=={version}"),
        "=" => format!("=={stem}.*"),
        "!=" if has_star => format!("!={stem}.*"),
        ">=" | "<=" | ">" | "<" | "!=" | "~=" => format!("{operator}{stem}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::of_conda;
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
            Ok(Some((name, specifiers))) => format!("{name}{specifiers}"),
            Ok(None) => "nothing".to_owned(),
            Err(why) => why,
        };
        for (line, expected) in [
            ("numpy=1.26", "numpy==1.26.*"),
            ("numpy=1.26.4=py312hc5e2394_0", "numpy==1.26.4"),
            ("numpy 1.26.*", "numpy==1.26.*"),
            ("numpy ==1.26.4", "numpy==1.26.4"),
            ("numpy", "numpy"),
            ("conda-forge::pytorch>=2.1,<3", "torch>=2.1, <3"),
            ("pytorch 2.4.0", "torch==2.4.0"),
            ("python=3.12", "nothing"),
            ("python >=3.10,<3.13", "nothing"),
            ("pip", "nothing"),
            ("python=3.11", "this Python is 3.12.3"),
            ("numpy=1.25|1.26", "`=1.25|1.26` has no equal on a Python index"),
            ("libfoo", "if an index has it under this name: `colab-boot add libfoo`"),
            ("_libgcc_mutex=0.1", "if an index has it under this name: `colab-boot add NAME`"),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
        assert!(read("ffmpeg").contains("[apt]"));
    }
}
