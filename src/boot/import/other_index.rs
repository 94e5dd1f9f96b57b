//! Files that install from another index than the default one.

use url::Url;

use crate::boot::import::Imported;
use crate::boot::index::{IndexSettings, without_login};
use crate::boot::session::Session;

/// Options and settings that replace the default index.
const REPLACING: [&str; 6] = ["-i", "--index-url", "--default-index", "--index", "index-url", "default-index"];

/// What a line of an installer has in place of the default index, as written: an address, or `--no-index`.
pub(super) fn replaced_by(line: &str) -> Option<&str> {
    let mut words = line.split([' ', '\t', '=']).map(|word| word.trim_matches(['"', '\'']));
    while let Some(word) = words.next() {
        if word == "--no-index" {
            return Some(word);
        }
        if REPLACING.contains(&word) {
            return words.find(|word| !word.is_empty());
        }
    }
    None
}

/// What the files of `made` have in place of the default index, unless `settings` name an index or a folder, or it is the
/// default one all the same, or one that a framework publishes: of those the solver chooses itself.
pub fn other_index<'i>(made: &'i Imported, settings: &IndexSettings, session: &Session<'_>) -> Option<&'i str> {
    if made.indexes.is_empty() || settings.index_url.is_some() || !settings.find_links.is_empty() {
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
    made.indexes.iter().map(String::as_str).find(|text| !is_known(text))
}

#[cfg(test)]
mod tests {
    use super::replaced_by;

    #[test]
    fn what_replaces_the_default_index_is_found_in_every_spelling() {
        for (line, index) in [
            ("--index-url https://a.example/simple", Some("https://a.example/simple")),
            ("-i \"https://a.example\"", Some("https://a.example")),
            ("--index-url=https://a.example", Some("https://a.example")),
            ("cell 2: %pip install -q a==1 --default-index https://a.example", Some("https://a.example")),
            ("--no-index", Some("--no-index")),
            ("cell 1: !pip install --no-index -f wheels a", Some("--no-index")),
            ("[tool.uv] index-url = \"https://a.example\"", Some("https://a.example")),
            ("--extra-index-url https://a.example", None),
            ("--find-links wheels", None),
        ] {
            assert_eq!(replaced_by(line), index, "{line}");
        }
    }
}
