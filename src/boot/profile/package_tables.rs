//! `[frameworks]` and `[packages]`: which versions, and from where.

use std::path::Path;
use std::str::FromStr;

use pep508_rs::ExtraName;
use toml::Spanned;
use toml::de::DeValue;
use url::Url;

use crate::boot::profile::indexes::address_of;
use crate::boot::profile::package_origin::{Origin, OriginKeys, OriginPlace};
use crate::boot::profile::reader::{Faults, Placed, Reader, as_text, wrong_type};
use crate::boot::profile::values::specifiers;
use crate::boot::profile::{Direct, Wanted};
use crate::core::diag::Code;
use crate::core::model::Condition;

/// Who gives the login of an address.
const OF_ADDRESS: &str = "leave them out: netrc gives them";

/// The packages of `[frameworks]` or `[packages]`, of a profile in `folder`.
pub(super) fn packages(
    table: Option<Reader<'_, '_>>,
    (framework, folder): (bool, &Path),
    faults: &mut Faults<'_>,
) -> Vec<Wanted> {
    let Some(mut table) = table else {
        return Vec::new();
    };
    let entries = table.all();
    entries.iter().filter_map(|(name, value)| wanted(name, value, (framework, folder), faults)).collect()
}

fn wanted(
    key: &Placed<String>,
    value: &Spanned<DeValue<'_>>,
    (framework, folder): (bool, &Path),
    faults: &mut Faults<'_>,
) -> Option<Wanted> {
    let name = faults.name(key, "a package name")?;
    let mut wanted = Wanted { framework, span: key.span.start..value.span().end, ..Wanted::any(name) };
    match value.get_ref() {
        DeValue::String(_) => {
            let text = as_text(value, &key.value, faults)?;
            wanted.specifiers = faults.value(&text, "a version", specifiers(&text.value))?;
        }
        DeValue::Table(table) => {
            package_table(&mut wanted, Reader::new(&format!("`{}`", key.value), table), folder, faults)?;
        }
        _ => {
            let expected = "a version such as \"2.10.*\", or a table with \
                            `version`, `extras`, `marker`, `index`, `url`, `path` or `git`";
            wrong_type(value, &format!("`{}`", key.value), expected, faults);
            return None;
        }
    }
    Some(wanted)
}

fn package_table(wanted: &mut Wanted, mut table: Reader<'_, '_>, folder: &Path, faults: &mut Faults<'_>) -> Option<()> {
    let version = table.text("version", faults);
    let extras = table.texts("extras", faults);
    let marker = table.text("marker", faults);
    wanted.index = table.text("index", faults).map(|place| place.value);
    let address = table.text("url", faults);
    let digest = table.text("sha256", faults);
    let origin = OriginKeys::read(&mut table, faults);
    table.finish(faults);
    if let Some(place) = version {
        wanted.specifiers = faults.value(&place, "a version", specifiers(&place.value))?;
    }
    for place in extras {
        let parsed = ExtraName::from_str(&place.value);
        wanted.extras.push(faults.value(&place, "an extra", parsed)?);
    }
    if let Some(place) = marker {
        wanted.condition = faults.value(&place, "a marker", Condition::parse(&place.value))?;
    }
    let is_file = |place: &Placed<String>| place.value.starts_with("file:");
    match (address, digest) {
        (None, None) => wanted.origin = origin.check(folder, faults),
        (Some(place), _) | (None, Some(place)) if !origin.is_empty() => {
            let message = format!("`{}` has more than one of `url`, `path` and `git`", wanted.name);
            faults.add(Code::ProfileConflict, place.span, message, "it comes from one place");
        }
        (Some(address), None) if is_file(&address) => {
            let path = Url::parse(&address.value).ok().and_then(|url| url.to_file_path().ok());
            let path = faults.value(&address, "a file", path.ok_or("write the whole path, as file:///path/x.whl"))?;
            wanted.origin = Some(Origin { place: OriginPlace::of_path(path, false), written: address.value });
        }
        (Some(address), Some(digest)) => {
            let url = address_of(&address, ("an address", OF_ADDRESS), faults)?;
            let sha256 = faults.value(&digest, "a sha256", digest.value.parse())?;
            wanted.direct = Some(Direct { url, sha256, size: None, commit: None });
        }
        (Some(place), None) | (None, Some(place)) => {
            let message = format!("`{}` needs both `url` and `sha256`", wanted.name);
            faults.add(Code::ProfileMissingKey, place.span, message, "a direct URL is pinned by its digest");
        }
    }
    Some(())
}
