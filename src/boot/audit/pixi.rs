//! What pixi's manifests ask for (<https://pixi.sh/latest/reference/pixi_manifest/>): `pixi.toml`, and `[tool.pixi]` of
//! a `pyproject.toml`.

use std::collections::BTreeMap;

use pep508_rs::MarkerEnvironment;
use serde::Deserialize;
use toml::{Spanned, Value};

use crate::boot::audit::listed_lines::Listed;
use crate::boot::audit::requirements_txt::one;
use crate::boot::audit::source_tables::placed;
use crate::core::diag::Source;
use crate::core::model::requirement::bracketed;

/// The tables of a manifest that say what every environment has.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct PixiManifest {
    #[serde(default)]
    dependencies: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    pypi_dependencies: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    pypi_options: toml::Table,
    #[serde(default)]
    feature: BTreeMap<String, Value>,
    #[serde(default)]
    target: BTreeMap<String, Value>,
    #[serde(flatten)]
    others: toml::Table,
}

/// Tables that choose no package: what the project is, and what it runs.
const OF_WORKSPACES: [&str; 5] = ["workspace", "project", "package", "tasks", "environments"];

/// Reads a `pixi.toml`; the error says what makes no sense.
pub(super) fn pixi(source: &Source, markers: &MarkerEnvironment) -> Result<Listed, String> {
    let manifest: PixiManifest = toml::from_str(&source.text).map_err(|error| error.message().to_owned())?;
    let mut listed = Listed::default();
    manifest.read_into(&mut listed, source, markers);
    Ok(listed)
}

impl PixiManifest {
    /// Adds what the manifest asks for, which stands in `source`.
    pub(super) fn read_into(&self, listed: &mut Listed, source: &Source, markers: &MarkerEnvironment) {
        for (name, spec) in &self.dependencies {
            let version = version_in(spec.get_ref()).unwrap_or("*");
            listed.conda.push(format!("{name} {version}"));
        }
        for (name, spec) in &self.pypi_dependencies {
            let known = listed.sizes();
            match requirement_of(name, spec.get_ref()) {
                Some(line) => {
                    let read = one(&line, markers, listed);
                    listed.refused.extend(read.err().map(|error| format!("`{line}`: {error}")));
                }
                None => {
                    let placed = placed(name, spec.get_ref());
                    listed.elsewhere.push(placed.unwrap_or_else(|| format!("{name} = {}", spec.get_ref())));
                }
            }
            listed.place(known, source, spec.span());
        }
        listed.open.extend(self.feature.keys().map(|feature| format!("[feature.{feature}]")));
        listed.open.extend(self.target.keys().map(|target| format!("[target.{target}]")));
        let mut options = self.pypi_options.clone();
        listed.take_index_keys(&mut options);
        listed.unread.extend(options.keys().map(|key| format!("[pypi-options] {key}")));
        let others = self.others.keys().filter(|key| !OF_WORKSPACES.contains(&key.as_str()));
        listed.unread.extend(others.map(|key| format!("[{key}]")));
    }
}

/// The version that a value asks for: a text, or the `version` of a table.
fn version_in(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("version")?.as_str())
}

/// A requirement in pip's words; `None` for a folder, an address or a repository.
fn requirement_of(name: &str, spec: &Value) -> Option<String> {
    if ["path", "git", "url"].iter().any(|key| spec.get(key).is_some()) {
        return None;
    }
    let version = version_in(spec).unwrap_or("*").trim();
    let version = match version {
        "*" => String::new(),
        exact if exact.starts_with(|c: char| c.is_ascii_digit()) => format!("=={exact}"),
        other => other.to_owned(),
    };
    let extras = spec.get("extras").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let extras: Vec<&str> = extras.collect();
    Some(format!("{name}{}{version}", bracketed(&extras)))
}
