//! Rows of `matrix/import-names.toml`: the distributions whose modules have another name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::core::diag::misspelt;
use crate::core::matrix::{Hints, parse};
use crate::core::model::PackageName;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportNamesFile {
    /// By module, as `import` names it.
    distribution: BTreeMap<String, PackageName>,
}

static BUNDLED: LazyLock<ImportNamesFile> = LazyLock::new(|| parse("import-names.toml").unwrap_or_default());

/// The distribution that `module` is in, where its name is another one: `scikit-learn` for `sklearn`, and for
/// `google.cloud.storage` that of the longest part that a row has. A file that can't be read has no rows (a test reads
/// it).
pub fn distribution_of(module: &str) -> Option<&'static PackageName> {
    let mut part = module;
    loop {
        if let Some(found) = BUNDLED.distribution.get(part) {
            return Some(found);
        }
        part = part.rsplit_once('.')?.0;
    }
}

/// The distribution with a module that is called like `name`, as scikit-learn for `sklearn`, pillow for `pil`.
pub fn distribution_with_module(name: &PackageName) -> Option<&'static PackageName> {
    let is_own = |module: &str| !module.contains('.') && module.parse().is_ok_and(|own: PackageName| own == *name);
    BUNDLED.distribution.iter().find(|(module, _)| is_own(module)).map(|(_, distribution)| distribution)
}

/// What somebody may mean by `name`, which no index has: the distribution with a module of that name, else a known one
/// that is spelled almost so.
pub fn likely_distribution(name: &PackageName) -> Option<&'static PackageName> {
    let known = BUNDLED.distribution.values().chain(Hints::bundled().names()).filter(|known| *known != name);
    distribution_with_module(name).or_else(|| misspelt(known, name.as_ref(), 6))
}

#[cfg(test)]
mod tests {
    use super::{ImportNamesFile, distribution_of, likely_distribution};

    #[test]
    fn modules_lead_to_their_distributions() {
        let file: ImportNamesFile = crate::core::matrix::parse("import-names.toml").expect("import-names.toml");
        assert!(file.distribution.len() > 100);
        for (module, distribution) in file.distribution.iter().filter(|(module, _)| !module.contains('.')) {
            assert_ne!(module.replace('_', "-").to_lowercase(), distribution.as_ref(), "{module} needs no row");
        }
        let name_of = |module| distribution_of(module).map(AsRef::as_ref);
        assert_eq!(
            [name_of("sklearn"), name_of("sklearn.svm"), name_of("cv2")],
            [Some("scikit-learn"), Some("scikit-learn"), Some("opencv-python")]
        );
        assert_eq!(
            [name_of("google.cloud.storage.blob"), name_of("google"), name_of("torch")],
            [Some("google-cloud-storage"), None, None]
        );
    }

    #[test]
    fn a_slip_leads_to_the_distribution_that_was_meant() {
        let meant = |name: &str| likely_distribution(&name.parse().expect(name)).map(AsRef::as_ref);
        for (name, wanted) in [
            ("sklearn", Some("scikit-learn")),
            ("pil", Some("pillow")),
            ("yaml", Some("pyyaml")),
            ("torhc", Some("torch")),
            ("trasformers", Some("transformers")),
            ("nunpy", Some("numpy")),
            ("colab-boot-has-no-such", None),
            ("x", None),
        ] {
            assert_eq!(meant(name), wanted, "{name}");
        }
    }
}
