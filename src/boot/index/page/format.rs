//! The two forms of a page, read into the same list of files.

use std::borrow::Cow;
use std::collections::HashMap;

use html5gum::{StartTag, Token, Tokenizer};
use serde::Deserialize;
use url::Url;

use crate::boot::index::page::PageFile;
use crate::core::model::catalog::Sidecar;
use crate::core::model::stated_digest::{DigestKind, Stated};
use crate::core::model::wheel_names::file_of;

/// A start tag of a page.
type Tag = StartTag<()>;

/// The most bytes that a page may say of a file. No wheel comes near, and what is larger would only spoil the sums.
const LARGEST: u64 = 1 << 40;

/// The major version of the API that this program understands.
const MAJOR: &str = "1";

#[derive(Deserialize)]
struct JsonPage<'a> {
    #[serde(borrow, default)]
    meta: JsonMeta<'a>,
    #[serde(borrow)]
    files: Vec<JsonFile<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct JsonMeta<'a> {
    #[serde(borrow)]
    api_version: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct JsonFile<'a> {
    #[serde(borrow)]
    filename: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow, default)]
    hashes: Hashes<'a>,
    #[serde(borrow)]
    requires_python: Option<Cow<'a, str>>,
    size: Option<u64>,
    #[serde(borrow)]
    upload_time: Option<Cow<'a, str>>,
    #[serde(borrow)]
    yanked: Option<Yanked<'a>>,
    #[serde(borrow)]
    core_metadata: Option<JsonSidecar<'a>>,
    #[serde(borrow)]
    dist_info_metadata: Option<JsonSidecar<'a>>,
}

/// Of most files the first alone is there.
#[derive(Default, Deserialize)]
struct Hashes<'a> {
    #[serde(borrow)]
    sha256: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sha512: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sha384: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sha224: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sha1: Option<Cow<'a, str>>,
    #[serde(borrow)]
    md5: Option<Cow<'a, str>>,
}

impl Hashes<'_> {
    fn of(&self, kind: DigestKind) -> Option<String> {
        let text = match kind {
            DigestKind::Sha512 => &self.sha512,
            DigestKind::Sha384 => &self.sha384,
            DigestKind::Sha224 => &self.sha224,
            DigestKind::Sha1 => &self.sha1,
            DigestKind::Md5 => &self.md5,
        };
        text.as_deref().map(str::to_owned)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Yanked<'a> {
    Flag(bool),
    #[serde(borrow)]
    Reason(Cow<'a, str>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum JsonSidecar<'a> {
    Flag(bool),
    #[serde(borrow)]
    Hashes(HashMap<Cow<'a, str>, Cow<'a, str>>),
}

impl From<&JsonSidecar<'_>> for Sidecar {
    fn from(value: &JsonSidecar<'_>) -> Self {
        match value {
            JsonSidecar::Flag(false) => Self::Absent,
            JsonSidecar::Flag(true) => Self::There,
            JsonSidecar::Hashes(hashes) => {
                hashes.get("sha256").and_then(|digest| digest.parse().ok()).map_or(Self::There, Self::Hashed)
            }
        }
    }
}

/// What the page has instead of a SHA-256: that one is enough, and nearly every file has it.
fn stated(is_hashed: bool, of: impl Fn(DigestKind) -> Option<String>) -> Option<Stated> {
    if is_hashed { None } else { Stated::strongest(of) }
}

pub(super) fn read_json(body: &str) -> Result<Vec<PageFile<'_>>, String> {
    let page: JsonPage<'_> =
        serde_json::from_str(body).map_err(|error| format!("the page is not PEP 691 JSON: {error}"))?;
    understood(page.meta.api_version.as_deref())?;
    let listed = page.files.into_iter().map(|file| {
        let advertised = [file.core_metadata, file.dist_info_metadata].into_iter().flatten();
        let sidecar = advertised.map(|one| Sidecar::from(&one)).find(|one| *one != Sidecar::Absent);
        PageFile {
            sidecar: sidecar.unwrap_or_default(),
            stated: stated(file.hashes.sha256.is_some(), |kind| file.hashes.of(kind)),
            sha256: file.hashes.sha256,
            yanked: match file.yanked {
                Some(Yanked::Flag(true)) => Some(Cow::Borrowed("")),
                Some(Yanked::Reason(reason)) => Some(reason).filter(|reason| !reason.is_empty()),
                _ => None,
            },
            file: file.filename,
            url: file.url,
            size: file.size.filter(|size| *size <= LARGEST),
            requires_python: file.requires_python.filter(|text| !text.trim().is_empty()),
            uploaded: file.upload_time,
        }
    });
    Ok(listed.collect())
}

/// PEP 629: another major version must not be guessed at.
fn understood(version: Option<&str>) -> Result<(), String> {
    match version.and_then(|version| version.split('.').next()) {
        Some(major) if major.trim() != MAJOR => Err(format!(
            "the page has version {} of the simple API; only {MAJOR} is supported",
            version.unwrap_or_default()
        )),
        _ => Ok(()),
    }
}

/// The links of a page, and what they are relative to.
pub(super) fn read_html(body: &str, address: &Url) -> Result<(Vec<PageFile<'static>>, Url), String> {
    let mut base = None;
    let mut listed = Vec::new();
    for token in Tokenizer::new(body).flatten() {
        let Token::StartTag(tag) = token else {
            continue;
        };
        match tag.name.as_slice() {
            b"meta" if attribute(&tag, "name").is_some_and(|name| name == "pypi:repository-version") => {
                understood(attribute(&tag, "content").as_deref())?;
            }
            // As in a browser, the first one counts.
            b"base" if base.is_none() => base = attribute(&tag, "href").and_then(|href| address.join(&href).ok()),
            b"a" => listed.extend(attribute(&tag, "href").map(|href| link(&href, &tag))),
            _ => {}
        }
    }
    Ok((listed, base.unwrap_or_else(|| address.clone())))
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
}

fn link(href: &str, tag: &Tag) -> PageFile<'static> {
    let (url, fragment) = href.trim().split_once('#').unwrap_or((href.trim(), ""));
    let path = url.split('?').next().unwrap_or(url);
    let digest =
        |name: &str| fragment.split('&').find_map(|part| Some(part.strip_prefix(name)?.strip_prefix('=')?.to_owned()));
    let sha256 = digest("sha256");
    PageFile {
        file: file_of(path).into(),
        stated: stated(sha256.is_some(), |kind| digest(kind.as_str())),
        sha256: sha256.map(Cow::Owned),
        size: None,
        requires_python: attribute(tag, "data-requires-python").filter(|text| !text.trim().is_empty()).map(Cow::Owned),
        yanked: attribute(tag, "data-yanked").map(Cow::Owned),
        sidecar: ["data-core-metadata", "data-dist-info-metadata"]
            .iter()
            .find_map(|name| Some(sidecar(&attribute(tag, name)?)))
            .unwrap_or_default(),
        uploaded: attribute(tag, "data-upload-time").map(Cow::Owned),
        url: url.to_owned().into(),
    }
}

/// What the attribute of a link says of a METADATA file beside it (PEP 658, 714).
fn sidecar(value: &str) -> Sidecar {
    if value == "false" {
        return Sidecar::Absent;
    }
    let digest = value.strip_prefix("sha256=").and_then(|digest| digest.parse().ok());
    digest.map_or(Sidecar::There, Sidecar::Hashed)
}

/// A file name as the last part of an address.
pub(super) fn escaped(file: &str) -> String {
    file.replace('%', "%25").replace('#', "%23").replace('?', "%3F")
}
