//! `[tool.uv]` of a project (<https://docs.astral.sh/uv/reference/settings/>).

use std::collections::{BTreeMap, BTreeSet};

use pep508_rs::MarkerEnvironment;
use serde::Deserialize;
use toml::Value;

use crate::boot::audit::listed_indexes::{IndexRole, ListedIndex};
use crate::boot::audit::listed_lines::Listed;
use crate::boot::audit::source_tables::placed;
use crate::core::model::requirement::bracketed;
use crate::core::model::{Condition, PackageName, Requirement};

/// Settings that choose no package: how uv runs, and how a project is built and published.
const HOW_UV_RUNS: [&str; 29] = [
    "add-bounds",
    "allow-insecure-host",
    "audit",
    "build-backend",
    "cache-dir",
    "cache-keys",
    "check-url",
    "compile-bytecode",
    "concurrent-builds",
    "concurrent-downloads",
    "concurrent-installs",
    "http-proxy",
    "https-proxy",
    "keyring-provider",
    "link-mode",
    "managed",
    "native-tls",
    "no-proxy",
    "offline",
    "package",
    "preview",
    "preview-features",
    "publish-url",
    "pypy-install-mirror",
    "python-downloads",
    "python-install-mirror",
    "python-preference",
    "required-version",
    "trusted-publishing",
];

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct UvSettings {
    #[serde(default)]
    sources: BTreeMap<PackageName, Value>,
    #[serde(default)]
    index: Vec<UvIndex>,
    #[serde(default)]
    constraint_dependencies: Vec<Value>,
    #[serde(default)]
    override_dependencies: Vec<Value>,
    prerelease: Option<String>,
    exclude_newer: Option<Value>,
    #[serde(flatten)]
    others: toml::Table,
}

#[derive(Deserialize)]
struct UvIndex {
    name: Option<String>,
    url: String,
    /// It is asked last, in place of the usual one.
    #[serde(default)]
    default: bool,
    /// Only its sources come from it.
    #[serde(default)]
    explicit: bool,
}

impl UvSettings {
    /// Adds to what a project names how uv chooses among it, and where uv takes it from.
    pub(super) fn read_into(mut self, listed: &mut Listed, markers: &MarkerEnvironment) {
        let mut of_pip =
            self.others.remove("pip").and_then(|table| Some(table.as_table()?.clone())).unwrap_or_default();
        for table in [&mut self.others, &mut of_pip] {
            listed.take_index_keys(table);
        }
        listed.constraints.extend(bounds("constraint", &self.constraint_dependencies, markers, &mut listed.unread));
        listed.overrides.extend(bounds("override", &self.override_dependencies, markers, &mut listed.unread));
        match self.prerelease.as_deref() {
            Some("allow") => listed.asked.iter_mut().for_each(|line| line.manner.pre = true),
            // A profile's own choice is the same.
            None | Some("if-necessary" | "if-necessary-or-explicit") => {}
            Some(other) => listed.unread.push(format!("[tool.uv] prerelease = \"{other}\"")),
        }
        listed.as_of =
            self.exclude_newer.as_ref().map(|moment| moment.as_str().map_or(moment.to_string(), str::to_owned));
        let others = self.others.keys().filter(|key| !HOW_UV_RUNS.contains(&key.as_str()));
        listed.unread.extend(others.map(|key| format!("[tool.uv] {key}")));
        listed.unread.extend(of_pip.keys().map(|key| format!("[tool.uv.pip] {key}")));
        let sources: BTreeMap<PackageName, Value> = self
            .sources
            .into_iter()
            .filter_map(|(name, all)| Some((name.clone(), source_here(&name, all, markers, listed)?)))
            .collect();
        for UvIndex { name, url, default, explicit } in self.index {
            let role = match (default, explicit) {
                (true, _) => IndexRole::InPlace,
                (false, true) => IndexRole::Alone,
                (false, false) => IndexRole::Beside,
            };
            let is_own = |source: &Value| source.get("index").and_then(Value::as_str) == name.as_deref();
            let packages = sources.iter().filter(|(_, source)| is_own(source));
            let packages = packages.map(|(package, _)| package.clone()).collect();
            listed.indexes.push(ListedIndex { name, url, packages, role });
        }
        place(&sources, listed);
    }
}

/// The one of the sources of a package that counts where `markers` hold. Those of extras and groups are unread.
fn source_here(name: &PackageName, all: Value, markers: &MarkerEnvironment, listed: &mut Listed) -> Option<Value> {
    let all = if let Value::Array(all) = all { all } else { vec![all] };
    let (chosen, all): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|one| one.get("extra").is_some() || one.get("group").is_some());
    listed.unread.extend(chosen.iter().map(|one| format!("[tool.uv.sources] {name} = {one}")));
    let holds = |one: &Value| {
        let marker = one.get("marker").and_then(Value::as_str);
        marker.is_none_or(|marker| Condition::parse(marker).is_ok_and(|marker| marker.holds(markers, None)))
    };
    all.into_iter().find(holds)
}

/// What `lines` allow where `markers` hold; those that are no requirements are unread.
fn bounds(kind: &str, lines: &[Value], markers: &MarkerEnvironment, unread: &mut Vec<String>) -> Vec<Requirement> {
    let mut read = Vec::new();
    for line in lines {
        match line.as_str().and_then(|text| Requirement::parse_strictly(text).ok()).filter(|one| one.url.is_none()) {
            Some(one) if one.applies(markers, None) => read.push(one),
            Some(_) if kind == "constraint" => {}
            // An override whose marker holds nowhere takes its package out.
            _ => unread.push(format!("[tool.uv] {kind}-dependencies: {line}")),
        }
    }
    read
}

/// Takes what comes from folders and repositories out of what is asked of an index.
pub(super) fn place(sources: &BTreeMap<PackageName, Value>, listed: &mut Listed) {
    let others = sources.iter().filter(|(_, source)| source.get("index").is_none());
    let line = |(package, source): (&PackageName, &Value)| {
        let asked = listed.asked.iter().chain(&listed.inapplicable);
        let mut asked = asked.filter(|line| line.requirement.name == *package);
        let extras: BTreeSet<String> =
            asked.clone().flat_map(|line| line.requirement.extras.iter().map(ToString::to_string)).collect();
        let extras: Vec<String> = extras.into_iter().collect();
        let marker = asked.find_map(|line| line.marker.as_ref());
        let marker = marker.map(|marker| format!(" ; {marker}")).unwrap_or_default();
        let placed = placed(&format!("{package}{}", bracketed(&extras)), source);
        placed.map_or_else(|| format!("{package} = {source}"), |line| line + &marker)
    };
    let lines: Vec<String> = others.clone().map(line).collect();
    // A package of that name on an index is another one.
    let names: BTreeSet<&PackageName> = others.map(|(package, _)| package).collect();
    listed.asked.retain(|line| !names.contains(&line.requirement.name));
    listed.named.retain(|one| !names.contains(&one.name));
    listed.inapplicable.retain(|line| !names.contains(&line.requirement.name));
    listed.elsewhere.extend(lines);
}
