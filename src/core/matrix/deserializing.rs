//! Ranges and requirements in rows, as they are written in requirement files.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::core::matrix::{range_from_text, requirement_from_text};
use crate::core::model::Requirement;
use crate::core::model::version::VersionRange;

pub(super) fn range<'de, D: Deserializer<'de>>(deserializer: D) -> Result<VersionRange, D::Error> {
    range_from_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn requirement<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Requirement, D::Error> {
    requirement_from_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn requirements<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Requirement>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| requirement_from_text(text).map_err(D::Error::custom)).collect()
}
