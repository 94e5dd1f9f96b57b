//! What a session knows of indexes.

use url::Url;

use crate::boot::import::asked_indexes::{IndexKind, KnownIndexes};
use crate::boot::index::{IndexSettings, is_same_index};
use crate::boot::session::Session;
use crate::core::model::{PackageName, PythonFacts};

/// Answers as `session` with `settings` gets them for `python`.
pub struct IndexAnswers<'a> {
    pub session: &'a Session<'a>,
    pub settings: &'a IndexSettings,
    pub python: &'a PythonFacts,
}

impl KnownIndexes for IndexAnswers<'_> {
    fn kind(&self, address: &str) -> IndexKind {
        let Ok(url) = address.parse::<Url>() else { return IndexKind::Other };
        // What a run names is none that others use, too.
        let settings = IndexSettings { index_url: None, ..self.settings.clone() };
        if self.session.default_index(&settings, None).is_ok_and(|usual| is_same_index(&usual, &url)) {
            return IndexKind::Usual;
        }
        let mut published = self.session.matrix.indexes.iter().flat_map(|index| &index.pages);
        if published.any(|page| page.address.host() == url.host()) { IndexKind::Published } else { IndexKind::Other }
    }

    fn packages(&self, name: &str, address: &str, asked: &[PackageName]) -> Result<Vec<PackageName>, String> {
        let url = address.parse::<Url>().map_err(|error| error.to_string())?;
        self.session.packages_on((name, url), asked, self.python, self.settings).map_err(|failure| failure.to_string())
    }
}
