//! Pages of the simple API: JSON (PEP 691, 700) and HTML (PEP 503, 592, 658, 714). Text in, [`Listing`] out; the
//! reply's content type decides which.
//!
//! The largest pages have ten thousand files, of which a target can use some dozens: a file name is taken apart in
//! place, and only the best wheel of each version becomes a value of its own.

mod format;
mod select;

use std::borrow::Cow;
use std::collections::BTreeSet;

use pep508_rs::PackageName;
use url::Url;

use crate::core::model::catalog::{Listing, Sidecar};
use crate::core::model::day::Moment;
use crate::core::model::stated_digest::Stated;
use crate::core::model::{PythonFacts, Tags};

/// What to ask for: JSON, and HTML from servers that have no other.
pub(super) const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";

/// Which source distributions may be used where no wheel fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buildable {
    /// Those of these packages.
    Named(BTreeSet<PackageName>),
    /// Those of all releases that have no wheel for the platform, whichever the Python: what pip builds with some hope.
    WithoutWheels,
}

impl Default for Buildable {
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

/// The target that a page is filtered for.
#[derive(Clone, Debug)]
pub struct Filter {
    pub tags: Tags,
    pub python: PythonFacts,
    /// Later uploads are passed over.
    pub as_of: Option<Moment>,
    pub buildable: Buildable,
}

/// One file of a page, in either form.
#[derive(Debug, Default)]
struct PageFile<'a> {
    file: Cow<'a, str>,
    url: Cow<'a, str>,
    sha256: Option<Cow<'a, str>>,
    /// Of a file without a SHA-256.
    stated: Option<Stated>,
    size: Option<u64>,
    requires_python: Option<Cow<'a, str>>,
    yanked: Option<Cow<'a, str>>,
    sidecar: Sidecar,
    uploaded: Option<Cow<'a, str>>,
}

/// Reads a page. `address` is where it came from, after redirects; `body` its text. Fails with the reason if it is no
/// index page, or one of an unknown version of the API.
pub fn read_page(
    content_type: &str,
    body: &str,
    address: &Url,
    package: &PackageName,
    filter: &Filter,
) -> Result<Listing, String> {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (listed, base) = match kind.as_str() {
        "application/vnd.pypi.simple.v1+json" | "application/json" => (format::read_json(body)?, address.clone()),
        "text/html" | "application/vnd.pypi.simple.v1+html" | "application/xhtml+xml" => {
            format::read_html(body, address)?
        }
        other => return Err(format!("an index page must be JSON or HTML, but this one is `{other}`")),
    };
    Ok(select::select(&listed, address, &base, package, filter))
}

/// Files of a folder as a listing, without digests: those are taken of what is chosen.
pub(super) fn read_folder(files: &[String], folder: &Url, package: &PackageName, filter: &Filter) -> Listing {
    let listed: Vec<PageFile<'_>> = files
        .iter()
        .map(|file| PageFile { file: file.as_str().into(), url: format::escaped(file).into(), ..PageFile::default() })
        .collect();
    select::select(&listed, folder, folder, package, filter)
}

#[cfg(test)]
mod tests;
