//! Pages of the simple API: JSON (PEP 691, 700) and HTML (PEP 503, 592, 658, 714). Text in, [`Listing`] out; the reply's
//! content type decides which.

use std::collections::BTreeMap;

use html5gum::{Token, Tokenizer};
use pep440_rs::{Version, VersionSpecifiers};
use pep508_rs::PackageName;
use serde::Deserialize;
use url::Url;

use crate::model::catalog::{Candidate, Listing, Rejection};
use crate::model::wheel::NotAWheel;
use crate::model::{PythonFacts, Sha256, Tags, WheelName};

/// What to ask for: JSON, and HTML from servers that have no other.
pub(super) const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";

/// The target that a page is filtered for.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub tags: Tags,
    pub python: PythonFacts,
    /// `2026-11-01`: later uploads are passed over.
    pub as_of: Option<String>,
}

/// One file of a page, in either form.
#[derive(Debug, Default)]
struct Listed {
    file: String,
    url: String,
    sha256: Option<Sha256>,
    size: Option<u64>,
    requires_python: Option<String>,
    yanked: Option<String>,
    has_sidecar: bool,
    uploaded: Option<String>,
}

/// Reads a page. `address` is where it came from, after redirects; `body` its text.
pub(super) fn read_page(
    content_type: &str,
    body: &str,
    address: &Url,
    package: &PackageName,
    filter: &Filter,
) -> Result<Listing, String> {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (listed, base) = match kind.as_str() {
        "application/vnd.pypi.simple.v1+json" | "application/json" => (read_json(body)?, address.clone()),
        "text/html" | "application/vnd.pypi.simple.v1+html" | "application/xhtml+xml" => read_html(body, address),
        other => return Err(format!("an index page should be JSON or HTML, this one is `{other}`")),
    };
    Ok(sort_out(listed, &base, package, filter))
}

#[derive(Deserialize)]
struct JsonPage {
    files: Vec<JsonFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct JsonFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    requires_python: Option<String>,
    size: Option<u64>,
    upload_time: Option<String>,
    yanked: Option<Yanked>,
    core_metadata: Option<Sidecar>,
    dist_info_metadata: Option<Sidecar>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Yanked {
    Flag(bool),
    Reason(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Sidecar {
    Flag(bool),
    Hashes(#[expect(dead_code, reason = "only its presence counts")] BTreeMap<String, String>),
}

fn read_json(body: &str) -> Result<Vec<Listed>, String> {
    let page: JsonPage =
        serde_json::from_str(body).map_err(|error| format!("the page is not PEP 691 JSON: {error}"))?;
    let sidecar = |sidecar: &Option<Sidecar>| matches!(sidecar, Some(Sidecar::Flag(true) | Sidecar::Hashes(_)));
    let listed = page.files.into_iter().map(|file| Listed {
        has_sidecar: sidecar(&file.core_metadata) || sidecar(&file.dist_info_metadata),
        sha256: file.hashes.get("sha256").and_then(|digest| digest.parse().ok()),
        yanked: match file.yanked {
            Some(Yanked::Flag(true)) => Some(String::new()),
            Some(Yanked::Reason(reason)) => Some(reason),
            _ => None,
        },
        file: file.filename,
        url: file.url,
        size: file.size,
        requires_python: file.requires_python,
        uploaded: file.upload_time,
    });
    Ok(listed.collect())
}

fn read_html(body: &str, address: &Url) -> (Vec<Listed>, Url) {
    let mut base = address.clone();
    let mut listed = Vec::new();
    for token in Tokenizer::new(body).flatten() {
        let Token::StartTag(tag) = token else {
            continue;
        };
        let attribute =
            |name: &str| tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned());
        match tag.name.as_slice() {
            b"base" => {
                if let Some(joined) = attribute("href").and_then(|href| address.join(&href).ok()) {
                    base = joined;
                }
            }
            b"a" => listed.extend(attribute("href").map(|href| link(&href, attribute))),
            _ => {}
        }
    }
    (listed, base)
}

fn link(href: &str, attribute: impl Fn(&str) -> Option<String>) -> Listed {
    let (url, fragment) = href.split_once('#').unwrap_or((href, ""));
    let path = url.split('?').next().unwrap_or(url);
    let encoded = path.rsplit('/').next().unwrap_or(path);
    let sidecar = ["data-core-metadata", "data-dist-info-metadata"];
    Listed {
        file: percent_decoded(encoded),
        sha256: fragment.strip_prefix("sha256=").and_then(|digest| digest.parse().ok()),
        size: None,
        requires_python: attribute("data-requires-python").filter(|text| !text.is_empty()),
        yanked: attribute("data-yanked"),
        has_sidecar: sidecar.iter().any(|name| attribute(name).is_some_and(|value| value != "false")),
        uploaded: attribute("data-upload-time"),
        url: url.to_owned(),
    }
}

/// A file name may come as `torch-2.9.1%2Bcu128-…`.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        match code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Keeps the best wheel of each version, and for versions without one the reason.
fn sort_out(listed: Vec<Listed>, base: &Url, package: &PackageName, filter: &Filter) -> Listing {
    let mut best: BTreeMap<Version, (WheelRank, Candidate)> = BTreeMap::new();
    let mut rejected: BTreeMap<Version, Rejection> = BTreeMap::new();
    let mut listing = Listing::default();
    for file in listed {
        let wheel = match file.file.parse::<WheelName>() {
            Ok(wheel) if wheel.name == *package => wheel,
            Ok(_) | Err(NotAWheel::Malformed) => continue,
            Err(NotAWheel::Variant) => {
                listing.variants += 1;
                continue;
            }
            Err(NotAWheel::OtherFile) => {
                if let Some(version) = sdist_version(&file.file, package) {
                    rejected.entry(version).or_insert(Rejection::NoWheel);
                }
                continue;
            }
        };
        match admit(&file, &wheel, base, filter) {
            Ok((rank, candidate)) => {
                let entry = best.entry(wheel.version.clone());
                let entry = entry.or_insert_with(|| (rank.clone(), candidate.clone()));
                if rank < entry.0 {
                    *entry = (rank, candidate);
                }
            }
            Err(rejection) => note_rejection(&mut rejected, wheel.version, rejection),
        }
    }
    rejected.retain(|version, _| !best.contains_key(version));
    listing.rejected = rejected.into_iter().rev().collect();
    listing.candidates = best.into_values().rev().map(|(_, candidate)| candidate).collect();
    listing
}

/// Smaller is better: tags first, then the higher build number.
type WheelRank = ((u32, u32), std::cmp::Reverse<Option<(u64, String)>>);

fn admit(file: &Listed, wheel: &WheelName, base: &Url, filter: &Filter) -> Result<(WheelRank, Candidate), Rejection> {
    let Some(rank) = filter.tags.rank(wheel) else {
        let tags =
            wheel.pythons.iter().flat_map(|python| wheel.platforms.iter().map(move |at| format!("{python}-{at}")));
        return Err(Rejection::Tags(tags.collect()));
    };
    if let Some(text) = &file.requires_python
        && let Ok(specifiers) = text.parse::<VersionSpecifiers>()
        && !filter.python.satisfies(&specifiers)
    {
        return Err(Rejection::Python(text.clone()));
    }
    // Upload times are ISO 8601 in UTC, so the first ten characters compare as dates.
    if let Some(cutoff) = &filter.as_of {
        let day = file.uploaded.as_ref().and_then(|uploaded| uploaded.get(..10)).ok_or(Rejection::Undated)?;
        if day > cutoff.as_str() {
            return Err(Rejection::TooNew);
        }
    }
    let sha256 = file.sha256.ok_or(Rejection::NoDigest)?;
    let url = base.join(&file.url).map_err(|_| Rejection::NoDigest)?;
    let candidate = Candidate {
        version: wheel.version.clone(),
        file: file.file.clone(),
        url,
        sha256,
        size: file.size,
        yanked: file.yanked.clone(),
        has_sidecar: file.has_sidecar,
    };
    Ok(((rank, std::cmp::Reverse(wheel.build.clone())), candidate))
}

fn note_rejection(rejected: &mut BTreeMap<Version, Rejection>, version: Version, new: Rejection) {
    match (rejected.get_mut(&version), new) {
        (Some(Rejection::Tags(tags)), Rejection::Tags(more)) => {
            tags.extend(more);
            tags.sort();
            tags.dedup();
        }
        // What is nearest to fitting tells most: Python and date before tags, anything before "no wheel".
        (Some(Rejection::NoWheel | Rejection::Tags(_)) | None, new) => {
            rejected.insert(version, new);
        }
        _ => {}
    }
}

fn sdist_version(file: &str, package: &PackageName) -> Option<Version> {
    let stem = file.strip_suffix(".tar.gz").or_else(|| file.strip_suffix(".zip"))?;
    let (name, version) = stem.rsplit_once('-')?;
    (name.parse::<PackageName>().ok()? == *package).then(|| version.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
