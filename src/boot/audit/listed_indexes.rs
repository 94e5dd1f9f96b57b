//! The indexes that files of other tools name.

use toml::Value;

use crate::core::model::PackageName;

/// How an index stands to the one that its tool asks by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexRole {
    /// In its place.
    InPlace,
    /// Beside it.
    Beside,
    /// It serves what its packages name, and nothing else.
    Alone,
    /// A folder of wheels beside it, or a page with links to some.
    Links,
}

/// An index that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedIndex {
    pub name: Option<String>,
    /// Its address; the path of a folder of wheels.
    pub url: String,
    /// What the file says comes from it.
    pub packages: Vec<PackageName>,
    pub role: IndexRole,
}

impl ListedIndex {
    pub(super) fn new(role: IndexRole, url: &str) -> Self {
        Self { name: None, url: url.to_owned(), packages: Vec::new(), role }
    }
}

/// Options of pip and uv that name an index, or a folder or page of wheels.
const OPTIONS: [(&str, IndexRole); 8] = [
    ("-i", IndexRole::InPlace),
    ("--index-url", IndexRole::InPlace),
    ("--default-index", IndexRole::InPlace),
    ("--pypi-url", IndexRole::InPlace),
    ("--index", IndexRole::Beside),
    ("--extra-index-url", IndexRole::Beside),
    ("-f", IndexRole::Links),
    ("--find-links", IndexRole::Links),
];

/// The indexes that a line of pip or uv names.
pub(super) fn indexes_in(line: &str) -> Vec<ListedIndex> {
    let mut found = Vec::new();
    let mut words = line.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    while let Some(word) = words.next() {
        let (name, joined) = match word.split_at_checked(2) {
            Some((name @ ("-i" | "-f"), value)) => (name, Some(value.trim_start_matches('='))),
            _ => word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value))),
        };
        let joined = joined.filter(|value| !value.is_empty());
        let Some((_, role)) = OPTIONS.iter().find(|(option, _)| *option == name) else { continue };
        let value = joined.or_else(|| words.next()).map(|value| value.trim_matches(['"', '\'']));
        // uv takes `NAME=URL`, too.
        let value = value
            .map(|value| value.split_once('=').filter(|(name, _)| !name.contains('/')).map_or(value, |(_, url)| url));
        found.extend(value.filter(|value| !value.is_empty()).map(|value| ListedIndex::new(*role, value)));
    }
    found
}

/// Whether a line of pip or uv forbids every index.
pub(super) fn forbids_indexes(line: &str) -> bool {
    line.split_whitespace().any(|word| word == "--no-index")
}

/// Takes out of `table` the indexes that its keys name as pip does (`index-url`); and whether it forbids all.
pub(super) fn take_keys(table: &mut toml::Table) -> (Vec<ListedIndex>, bool) {
    const KEYS: [(&str, IndexRole); 5] = [
        ("index-url", IndexRole::InPlace),
        ("default-index", IndexRole::InPlace),
        ("extra-index-url", IndexRole::Beside),
        ("extra-index-urls", IndexRole::Beside),
        ("find-links", IndexRole::Links),
    ];
    let mut found = Vec::new();
    for (key, role) in KEYS {
        let value = table.remove(key);
        let all = match value.as_ref() {
            Some(Value::Array(all)) => all.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        let text = |one: &'_ Value| {
            one.as_str().or_else(|| one.get("path")?.as_str()).or_else(|| one.get("url")?.as_str()).map(str::to_owned)
        };
        found.extend(all.iter().filter_map(text).map(|url| ListedIndex::new(role, &url)));
    }
    (found, table.remove("no-index").is_some_and(|value| value.as_bool() == Some(true)))
}

/// What a lock says of where each package is from: an index in place of the default one where all are from it, else
/// each index with its packages.
pub(super) fn of_origins(origins: Vec<(PackageName, Option<String>)>) -> Vec<ListedIndex> {
    let all = origins.len();
    let mut found: Vec<ListedIndex> = Vec::new();
    for (package, url) in origins {
        let Some(url) = url else { continue };
        match found.iter_mut().find(|index| index.url == url) {
            Some(known) => known.packages.push(package),
            None => found.push(ListedIndex { packages: vec![package], ..ListedIndex::new(IndexRole::Alone, &url) }),
        }
    }
    match found.as_mut_slice() {
        [only] if only.packages.len() == all => *only = ListedIndex::new(IndexRole::InPlace, &only.url),
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{IndexRole, indexes_in};

    #[test]
    fn what_a_line_names_is_found_in_every_spelling() {
        use IndexRole::{Beside, InPlace, Links};
        for (line, expected) in [
            ("--index-url https://a.example/simple", Some((InPlace, "https://a.example/simple"))),
            ("-i \"https://a.example\"", Some((InPlace, "https://a.example"))),
            ("--index-url=https://a.example", Some((InPlace, "https://a.example"))),
            ("%pip install -q a==1 --default-index https://a.example", Some((InPlace, "https://a.example"))),
            ("uv pip install a --index corp=https://a.example", Some((Beside, "https://a.example"))),
            ("--extra-index-url https://a.example/?x=1", Some((Beside, "https://a.example/?x=1"))),
            ("--find-links wheels", Some((Links, "wheels"))),
            ("-fwheels", Some((Links, "wheels"))),
            ("-ihttps://a.example/?x=1", Some((InPlace, "https://a.example/?x=1"))),
            ("--no-index", None),
            ("--index-url", None),
        ] {
            let found = indexes_in(line);
            let found = found.first().map(|index| (index.role, index.url.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
