//! CUDA's libraries by the names that the dynamic linker looks for, and the packages that have them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::core::model::PackageName;

/// A CUDA library by its soname.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Soname {
    /// `libcudart.so`: what stands before the number.
    pub library: String,
    /// Whose wheels have it, with `-cuNN` behind or not.
    pub carrier: String,
    /// The CUDA major of each number that belongs to one alone.
    #[serde(default)]
    pub cuda: BTreeMap<String, u32>,
    /// The number is the major version of the carrier.
    #[serde(default)]
    pub by_version: bool,
}

/// A library of the system that wheels bring as well.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// Its soname.
    pub library: String,
    /// The packages whose wheels have it, where others find it.
    pub by: Vec<PackageName>,
    /// For people who read the file.
    #[serde(rename = "source")]
    _source: String,
}

/// The package of `carrier` for CUDA `major`: without a suffix since CUDA 13.
pub fn carrier_for(carrier: &str, major: u32) -> String {
    if major < 13 { format!("{carrier}-cu{major}") } else { carrier.to_owned() }
}

/// Whether `package` is jaxlib or one of its CUDA plugins, which work in one version alone (`jax._src.lib`).
pub fn is_jaxlib_or_plugin(package: &PackageName) -> bool {
    let name = package.as_ref();
    name == "jaxlib" || name.starts_with("jax-cuda") && (name.ends_with("-plugin") || name.ends_with("-pjrt"))
}

/// Whether `package` is `carrier`, with `-cuNN` behind or not.
pub fn is_carrier(carrier: &str, package: &PackageName) -> bool {
    let rest = package.as_ref().strip_prefix(carrier);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-cu"))
}
