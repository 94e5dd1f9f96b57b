//! `[[index]]` and addresses: where packages come from, as a profile says it.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use pep508_rs::PackageName;
use url::Url;

use crate::boot::profile::reader::{Faults, Placed, Reader};
use crate::boot::profile::values::{has_credentials, web_address, wheel_folder};
use crate::boot::profile::{NamedIndex, Profile, Wanted};
use crate::core::diag::{Code, Finding};
use crate::core::matrix::{IndexPage, PublishedIndex};

/// The tables `[[index]]`; `wanted` may name them.
pub(super) fn indexes(
    root: &mut Reader<'_, '_>,
    (folder, wanted): (&Path, &[Wanted]),
    faults: &mut Faults<'_>,
) -> Vec<NamedIndex> {
    let tables = root.tables("index", faults);
    let mut indexes: Vec<NamedIndex> = Vec::new();
    for (table, span) in tables {
        let Some(index) = index(table, span.clone(), folder, faults) else { continue };
        if indexes.iter().any(|known| known.name == index.name) {
            let message = format!("two indexes are named `{}`", index.name);
            faults.add(Code::ProfileConflict, span.clone(), message, "use a different name for each");
        }
        let serves_all = index.is_default || index.url.scheme() == "file";
        let is_named = wanted.iter().any(|one| one.index.as_deref() == Some(&index.name));
        if index.is_default && indexes.iter().any(|known| known.is_default) {
            faults.add(Code::ProfileConflict, span, "two indexes have `default = true`", "keep one of them");
        } else if index.packages.is_empty() && !serves_all && !is_named {
            let message = format!("no package comes from the index `{}`", index.name);
            let help = "list its packages in `packages`; `default = true` is for an index that has everything";
            faults.add(Code::ProfileMissingKey, span, message, help);
        }
        indexes.push(index);
    }
    indexes
}

/// The pages of indexes that the matrix knows and `wanted` name.
pub(super) fn published(wanted: &[Wanted], own: &[NamedIndex]) -> Vec<NamedIndex> {
    let known = PublishedIndex::bundled().unwrap_or_default();
    let known = known.into_iter().filter(|index| {
        wanted.iter().any(|one| one.index.as_deref() == Some(&index.name))
            && !own.iter().any(|one| one.name == index.name)
    });
    let pages = known.flat_map(|PublishedIndex { name, packages, pages, .. }| {
        pages.into_iter().map(move |page: IndexPage| (name.clone(), packages.clone(), page))
    });
    pages
        .map(|(name, packages, page)| NamedIndex {
            name,
            url: page.address,
            packages,
            is_default: false,
            page: Some(page.label),
        })
        .collect()
}

impl Profile {
    /// The same with `package` from the index of that name, which the matrix knows.
    #[must_use]
    pub fn with_index(&self, package: &PackageName, name: &str) -> Self {
        let mut changed = self.clone();
        if !changed.wanted.iter().any(|wanted| wanted.name == *package) {
            changed.wanted.push(Wanted::any(package.clone()));
        }
        for wanted in changed.wanted.iter_mut().filter(|wanted| wanted.name == *package) {
            wanted.index = Some(name.to_owned());
        }
        changed.indexes.extend(published(&changed.wanted, &self.indexes));
        changed
    }
}

fn index(mut table: Reader<'_, '_>, span: Range<usize>, folder: &Path, faults: &mut Faults<'_>) -> Option<NamedIndex> {
    let name = table.text("name", faults);
    let address = table.text("url", faults);
    let path = table.text("path", faults);
    let packages = table.texts("packages", faults);
    let is_default = table.flag("default", faults).unwrap_or(false);
    table.finish(faults);
    if let Some(first) = packages.first().filter(|_| is_default) {
        let help = "leave `packages` out: it serves every package that no other index lists";
        faults.add(Code::ProfileConflict, first.span.clone(), "an index with `default = true` lists packages", help);
    }
    if let (Some(_), Some(path)) = (&address, &path) {
        faults.add(Code::ProfileConflict, path.span.clone(), "an `[[index]]` has `url` or `path`, not both", "");
    }
    let (Some(name), Some((place, is_path))) =
        (name, address.map(|place| (place, false)).or(path.map(|place| (place, true))))
    else {
        faults.add(Code::ProfileMissingKey, span, "an `[[index]]` needs `name`, and `url` or `path`", "");
        return None;
    };
    let valid = is_index_name(&name.value).then(|| name.value.clone());
    let rule = "letters, digits and `-`; `default`, `direct` and `find-links` are reserved";
    let parsed_name = faults.value(&name, "an index name", valid.ok_or(rule));
    let url = if is_path {
        faults.value(&place, "a folder of wheels", wheel_folder(folder, &place.value))
    } else {
        address_of(&place, ("an index address", OF_INDEX), faults)
    };
    let packages = packages.into_iter().filter_map(|place| faults.name(&place, "a package name")).collect();
    Some(NamedIndex { name: parsed_name?, url: url?, packages, is_default, page: None })
}

/// Whether an `[[index]]` may have this name.
pub fn is_index_name(name: &str) -> bool {
    let is_taken = matches!(name, "default" | "direct") || name.starts_with("find-links");
    !name.is_empty() && PackageName::from_str(name).is_ok() && !is_taken
}

/// Who gives the login of an index.
const OF_INDEX: &str = "leave them out: COLAB_BOOT_INDEX_NAME_USERNAME and COLAB_BOOT_INDEX_NAME_PASSWORD, with the \
                        name of the index, netrc or the keyring give them";

/// An address of the web. One with credentials is refused without being shown: what is said of it ends up in logs.
pub(super) fn address_of(place: &Placed<String>, (what, help): (&str, &str), faults: &mut Faults<'_>) -> Option<Url> {
    if has_credentials(&place.value) {
        // Its line would be drawn with it: its number has to do.
        let text = &faults.source.text;
        let line = 1 + text[..place.span.start.min(text.len())].matches('\n').count();
        let source = &faults.source.name;
        let message = format!("{what} contains credentials, which do not belong in a profile ({source}, line {line})");
        faults.found.push(Finding::error(Code::ProfileBadValue, message).with_help(help));
        return None;
    }
    faults.value(place, what, web_address(&place.value))
}
