//! Rows of `matrix/import-names.toml`: the distributions whose modules have another name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::core::matrix::parse;
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

#[cfg(test)]
mod tests {
    use super::{ImportNamesFile, distribution_of};

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
}
