//! Kinds of notebook host (`hosts.toml`), and which of them a machine is.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serializer};

use crate::core::matrix::parse;

/// The rows, in their order.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    host: Vec<Host>,
    otherwise: Host,
}

/// A kind of notebook host.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Host {
    /// `colab-enterprise`.
    pub kind: String,
    /// What people call it.
    pub name: String,
    /// `NAME`, or `NAME=VALUE`.
    #[serde(default)]
    variables: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    /// A running notebook kernel is sign enough.
    #[serde(default)]
    kernel: bool,
    /// What the kernel runs on is never moved.
    #[serde(default)]
    pub protects: bool,
    /// A fresh kernel has imported packages before the first cell.
    #[serde(default)]
    pub preloads: bool,
    pub source: String,
}

static BUNDLED: LazyLock<Result<Hosts, String>> = LazyLock::new(|| parse("hosts.toml"));

impl Hosts {
    /// The bundled rows. Fails only if the file is wrong, which a test rules out.
    pub fn bundled() -> Result<&'static Self, String> {
        BUNDLED.as_ref().map_err(Clone::clone)
    }

    /// The host with these values of variables, these paths, and a notebook kernel or none.
    pub fn find<'a>(
        &self,
        variable: impl Fn(&str) -> Option<&'a str>,
        exists: impl Fn(&str) -> bool,
        kernel: bool,
    ) -> &Host {
        self.host
            .iter()
            .find(|host| {
                (kernel && host.kernel)
                    || host.variables.iter().any(|one| is_set(one, &variable))
                    || host.paths.iter().any(|path| exists(path))
            })
            .unwrap_or(&self.otherwise)
    }

    /// The variables that the rows name.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let names = self.host.iter().flat_map(|host| &host.variables);
        names.map(|one| one.split_once('=').map_or(one.as_str(), |(name, _)| name))
    }

    /// The paths that the rows name.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.host.iter().flat_map(|host| &host.paths).map(String::as_str)
    }

    /// Whether a variable says that this process runs in a notebook.
    pub fn is_named<'a>(&self, variable: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.host.iter().flat_map(|host| &host.variables).any(|one| is_set(one, &variable))
    }
}

fn is_set<'a>(condition: &str, variable: impl Fn(&str) -> Option<&'a str>) -> bool {
    match condition.split_once('=') {
        Some((name, wanted)) => variable(name) == Some(wanted),
        None => variable(condition).is_some_and(|value| !value.is_empty()),
    }
}

/// A host by its `kind`, as a description of a runtime names it.
pub fn host_by_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Host, D::Error> {
    let kind = String::deserialize(deserializer)?;
    let hosts = Hosts::bundled().map_err(serde::de::Error::custom)?;
    let found = hosts.host.iter().chain([&hosts.otherwise]).find(|host| host.kind == kind);
    found.ok_or_else(|| serde::de::Error::custom(format!("matrix/hosts.toml has no host `{kind}`")))
}

/// Writes it back.
pub fn host_kind<S: Serializer>(host: &&'static Host, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&host.kind)
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    fn kind(variables: &[(&str, &'static str)], paths: &[&str], kernel: bool) -> String {
        let hosts = Hosts::bundled().expect("the hosts");
        let variable = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        hosts.find(variable, |path| paths.contains(&path), kernel).kind.clone()
    }

    #[test]
    fn the_first_host_with_a_sign_counts() {
        let tag = ("COLAB_RELEASE_TAG", "release-colab-external-images_20261002-060053_RC00");
        let colab = &["/var/colab/hostname"];
        assert_eq!(kind(&[tag, ("KAGGLE_KERNEL_RUN_TYPE", "Interactive")], colab, true), "kaggle");
        assert_eq!(kind(&[tag], colab, true), "colab");
        assert_eq!(kind(&[tag, ("VERTEX_PRODUCT", "COLAB_ENTERPRISE")], colab, true), "colab-enterprise");
        assert_eq!(kind(&[tag, ("VERTEX_PRODUCT", "WORKBENCH")], &[], false), "container");
        assert_eq!(kind(&[("JPY_PARENT_PID", "1")], &[], false), "jupyter");
        assert_eq!(kind(&[("JPY_PARENT_PID", "")], &[], false), "bare");
        assert_eq!(kind(&[], &[], true), "jupyter");
        assert_eq!(kind(&[], &["/.dockerenv"], true), "jupyter");
        assert_eq!(kind(&[], &["/.dockerenv"], false), "container");
    }

    #[test]
    fn rows_have_a_source() {
        let hosts = Hosts::bundled().expect("the hosts");
        assert!(hosts.host.iter().chain([&hosts.otherwise]).all(|host| host.source.len() > 20));
    }
}
