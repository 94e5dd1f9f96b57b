//! Files that install from another index than the default one.

use url::Url;

use crate::boot::import::Imported;
use crate::boot::index::{IndexSettings, without_login};
use crate::boot::session::Session;

/// What the files of `made` have in place of the default index: nothing where `settings` name an index or a folder,
/// where it is the default one all the same, or one that a framework publishes; of those the solver chooses itself.
pub fn other_index<'i>(made: &'i Imported, settings: &IndexSettings, session: &Session<'_>) -> Option<&'i str> {
    if made.replaced.is_empty() || settings.index_url.is_some() || !settings.find_links.is_empty() {
        return None;
    }
    let default = session.default_index(settings, None).ok();
    let bare = |url: &Url| without_login(url).as_str().trim_end_matches('/').to_owned();
    let is_known = |text: &str| {
        let Ok(url) = text.parse::<Url>() else { return false };
        let mut published = session.matrix.indexes.iter().flat_map(|index| &index.pages);
        default.as_ref().is_some_and(|default| bare(default) == bare(&url))
            || published.any(|page| page.address.host() == url.host())
    };
    made.replaced.iter().map(String::as_str).find(|text| !is_known(text))
}
