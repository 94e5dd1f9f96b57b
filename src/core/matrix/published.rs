//! Rows of `matrix/indexes.toml`: indexes that frameworks publish themselves, with a page for each CUDA.

use serde::Deserialize;
use url::Url;

use crate::core::model::{CudaVersion, PackageName};

/// An index that a profile may name without an `[[index]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedIndex {
    /// `pytorch`.
    pub name: String,
    /// What it serves.
    pub packages: Vec<PackageName>,
    #[serde(rename = "page")]
    pub pages: Vec<IndexPage>,
    /// For people who read the file.
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "checked")]
    _checked: String,
}

/// The builds of one CUDA.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexPage {
    /// `cu126`, as its versions have it behind `+`; `cpu`.
    pub label: String,
    /// Absent for builds that use none.
    pub cuda: Option<CudaVersion>,
    pub address: Url,
}

/// The file `indexes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IndexesFile {
    pub index: Vec<PublishedIndex>,
}

impl PublishedIndex {
    /// The bundled ones. Fails only if the file is wrong, which a test rules out.
    pub fn bundled() -> Result<Vec<Self>, String> {
        Ok(super::parse::<IndexesFile>("indexes.toml")?.index)
    }
}
