//! Rows of `matrix/conda-names.toml`: what packages of conda are on a Python index.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::core::matrix::parse;
use crate::core::model::PackageName;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CondaNamesFile {
    same: BTreeSet<PackageName>,
    renamed: BTreeMap<String, PackageName>,
    not_python: BTreeMap<String, String>,
}

static BUNDLED: LazyLock<CondaNamesFile> = LazyLock::new(|| parse("conda-names.toml").unwrap_or_default());

/// What a package of conda is on a Python index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CondaPackage {
    Distribution(PackageName),
    /// It is no Python package. Says what does its work.
    NotPython(&'static str),
    Unknown,
}

impl CondaPackage {
    /// What the package that conda calls `name` is. A file that can't be read has no rows (a test reads it).
    pub fn named(name: &str) -> Self {
        if let Some(distribution) = BUNDLED.renamed.get(name) {
            return Self::Distribution(distribution.clone());
        }
        if let Some(why) = BUNDLED.not_python.get(name) {
            return Self::NotPython(why);
        }
        match name.parse::<PackageName>() {
            Ok(own) if BUNDLED.same.contains(&own) => Self::Distribution(own),
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CondaNamesFile, CondaPackage};

    #[test]
    fn names_of_conda_lead_to_distributions() {
        let file: CondaNamesFile = crate::core::matrix::parse("conda-names.toml").expect("conda-names.toml");
        assert!(file.same.len() > 100 && file.renamed.keys().all(|name| !file.not_python.contains_key(name)));
        let named = |name: &str| CondaPackage::Distribution(name.parse().expect("a name"));
        assert_eq!(CondaPackage::named("pytorch"), named("torch"));
        assert_eq!(CondaPackage::named("scikit-learn"), named("scikit-learn"));
        assert!(matches!(CondaPackage::named("ffmpeg"), CondaPackage::NotPython(_)));
        assert_eq!(CondaPackage::named("libfoo"), CondaPackage::Unknown);
    }
}
