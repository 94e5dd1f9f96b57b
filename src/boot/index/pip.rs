//! The index that pip uses, read from pip's own files: its configuration first, then its built-in default. No Python is
//! started for it, and no host is written here.
//!
//! Follows `pip/_internal/configuration.py` and `cli/parser.py` of pip 18.1 to 26.0, read 2026-11-22.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use url::Url;

use crate::boot::machine::Home;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::Archive;

/// The module of pip that names its default index.
const MODULE: &str = "pip/_internal/models/index.py";

/// The largest such module; today's has one kilobyte.
const MODULE_LIMIT: u64 = 256 << 10;

/// Where distributions keep the wheels that ensurepip would install, in place of its own folder.
const SYSTEM_WHEELS: [&str; 2] = ["/usr/share/python-wheels", "/usr/share/python3-wheels"];

/// The address that pip on the Python at `home` would use, and the file that says so. `None` where there is no pip and
/// none bundled.
pub(super) fn index_of(
    environment: &BTreeMap<String, String>,
    home: &Home,
) -> Result<Option<(String, PathBuf)>, Failure> {
    Ok(configured(environment, home)?.or_else(|| built_in(home)))
}

/// What the configuration files say. A later file takes the place of an earlier one, and `[install]` that of
/// `[global]`.
fn configured(environment: &BTreeMap<String, String>, home: &Home) -> Result<Option<(String, PathBuf)>, Failure> {
    let mut settings: BTreeMap<String, (String, PathBuf)> = BTreeMap::new();
    for file in configuration_files(environment, home) {
        // What pip may not read it passes over, too.
        let Some(text) = files::read_optional(&file).ok().flatten() else { continue };
        let parsed = parse(&text).map_err(|line| {
            Failure::input(format!("`{}`: line {line} is not valid pip configuration", file.display()))
                .help("correct it (pip refuses it too), or set --index-url")
        })?;
        settings.extend(parsed.into_iter().map(|(key, value)| (key, (value, file.clone()))));
    }
    let keys = ["install.index-url", "install.pypi-url", "global.index-url", "global.pypi-url"];
    // An empty value counts as none.
    Ok(keys.iter().find_map(|key| settings.remove(*key).filter(|(value, _)| !value.is_empty())))
}

/// pip's configuration files, those that count more later. `PIP_CONFIG_FILE` takes the place of the user's own;
/// `/dev/null` there means none at all.
fn configuration_files(environment: &BTreeMap<String, String>, home: &Home) -> Vec<PathBuf> {
    let get = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    let named = get("PIP_CONFIG_FILE").map(PathBuf::from);
    if named.as_deref() == Some(Path::new("/dev/null")) {
        return Vec::new();
    }
    let global = get("XDG_CONFIG_DIRS").map_or("/etc/xdg", String::as_str).split(':');
    let mut all: Vec<PathBuf> = global.map(|folder| Path::new(folder).join("pip/pip.conf")).collect();
    all.push(PathBuf::from("/etc/pip.conf"));
    if !named.as_ref().is_some_and(|path| path.is_there()) {
        let user = get("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let own = get("XDG_CONFIG_HOME").map_or_else(|| user.join(".config"), PathBuf::from);
        all.extend([user.join(".pip/pip.conf"), own.join("pip/pip.conf")]);
    }
    all.push(home.prefix.join("pip.conf"));
    all.extend(named);
    all
}

/// `section.key` → value, as Python's `RawConfigParser` reads it; the error is the number of the line that it refuses.
fn parse(text: &str) -> Result<BTreeMap<String, String>, usize> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut sections: Vec<&str> = Vec::new();
    let (mut key, mut indent): (Option<String>, usize) = (None, 0);
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let content = line.trim();
        let own = line.len() - line.trim_start().len();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some(key) = key.as_ref().filter(|_| own > indent) {
            let value = found.entry(key.clone()).or_default();
            value.push_str(if value.is_empty() { "" } else { "\n" });
            value.push_str(content);
            continue;
        }
        indent = own;
        if let Some(name) = content.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name) {
            sections.push(name);
            key = None;
            continue;
        }
        let section = sections.last().ok_or(at + 1)?;
        let (name, value) = content.split_once(['=', ':']).ok_or(at + 1)?;
        let name = format!("{section}.{}", name.trim().to_lowercase().replace('_', "-").trim_start_matches("--"));
        found.insert(name.clone(), value.trim().to_owned());
        key = Some(name);
    }
    // `[DEFAULT]` speaks for every section that is there.
    let defaults = found.iter().filter_map(|(name, value)| Some((name.strip_prefix("DEFAULT.")?, value)));
    let defaults: Vec<(String, String)> = defaults.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    for section in sections {
        for (name, value) in &defaults {
            found.entry(format!("{section}.{name}")).or_insert_with(|| value.clone());
        }
    }
    Ok(found)
}

/// pip's default, from the pip on the search path, else from the wheel that ensurepip would install.
fn built_in(home: &Home) -> Option<(String, PathBuf)> {
    for folder in &home.search {
        let module = folder.join(MODULE);
        if let Some(index) = files::read_optional(&module).ok().flatten().as_deref().and_then(default_in) {
            return Some((index, module));
        }
    }
    let bundled = home.stdlib.join("ensurepip/_bundled");
    for folder in std::iter::once(bundled).chain(SYSTEM_WHEELS.map(PathBuf::from)) {
        let names = files::names_if_any(&folder);
        for name in names.iter().rev().filter(|name| name.starts_with("pip-") && name.ends_with(".whl")) {
            let wheel = folder.join(name);
            if let Some(index) = module_in(&wheel).as_deref().and_then(default_in) {
                return Some((index, wheel));
            }
        }
    }
    None
}

fn module_in(wheel: &Path) -> Option<String> {
    let mut archive = Archive::open(files::open(wheel).ok()?).ok()?;
    let member = archive.files().members.iter().find(|member| member.path == MODULE)?.clone();
    archive.text(&member, MODULE_LIMIT).ok()
}

/// The default in the text of the module: `PyPI = PackageIndex("https://…/", file_storage_domain="…")`, of which pip
/// takes `simple`.
fn default_in(module: &str) -> Option<String> {
    let (_, call) = module.split_once("\nPyPI = PackageIndex(")?;
    let quote = call.find(['"', '\''])?;
    let mark = call[quote..].chars().next()?;
    let address = call[quote + 1..].split(mark).next()?;
    Some(Url::parse(address).ok()?.join("simple").ok()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::{default_in, parse};

    #[test]
    fn the_default_is_found_however_it_is_written() {
        for text in [
            "x\nPyPI = PackageIndex(\"https://index.example/\", file_storage_domain=\"f\")\nTest = 1",
            "x\nPyPI = PackageIndex(\n    'https://index.example/', file_storage_domain='f'\n)\n",
        ] {
            assert_eq!(default_in(text).as_deref(), Some("https://index.example/simple"));
        }
        assert_eq!(default_in("PyPI is elsewhere"), None);
    }

    #[test]
    fn configuration_is_read_as_python_reads_it() {
        let parsed = parse(
            "# pip\n[global]\nindex_url = https://a/simple # no comment here\nextra-index-url =\n    https://b\n    https://c\n\
             [install]\nIndex-URL: https://d\n; another\n[DEFAULT]\ntimeout = 3\n",
        )
        .expect("a configuration");
        let get = |key: &str| parsed.get(key).map(String::as_str);
        assert_eq!(get("global.index-url"), Some("https://a/simple # no comment here"));
        assert_eq!(get("global.extra-index-url"), Some("https://b\nhttps://c"));
        assert_eq!(get("install.index-url"), Some("https://d"));
        assert_eq!(get("install.timeout"), Some("3"));
        assert_eq!(parse("index-url = x"), Err(1), "no section");
        assert_eq!(parse("[global]\nnonsense\n"), Err(2));
    }
}
