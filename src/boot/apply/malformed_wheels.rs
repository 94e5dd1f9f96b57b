//! Wheels that can't be what the lock takes them for, or that no installer could install and remove again. pip and uv
//! find some of this half way, and some of it never; here it is found before anything changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;

use crate::boot::apply::forbidden_targets::overwrites;
use crate::boot::apply::prepared::Wheels;
use crate::boot::files::Downloaded;
use crate::boot::index::WheelSource;
use crate::boot::lock::LockedPackage;
use crate::boot::machine::{Layout, record_in};
use crate::boot::retrieval::Fetched;
use crate::core::diag::{Code, Failure, Finding, Subject};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;
use crate::core::model::contents::Member;
use crate::core::model::metadata::headers;
use crate::core::model::wheel_names::dist_info;
use crate::core::model::{PackageName, Version};

/// The version of the wheel format (<https://packaging.python.org/specifications/binary-distribution-format/>).
const FORMAT: &str = "1";

/// Where the files of a `.data` folder may go.
const SCHEMES: [&str; 5] = ["purelib", "platlib", "headers", "scripts", "data"];

/// Bytes of a file name, and of a path below site-packages, that file systems take.
const LONGEST_NAME: usize = 255;
const LONGEST_PATH: usize = 3000;

/// Folders within each other; Python makes them by recursion.
const DEEPEST: usize = 200;

/// Called with each wheel that was opened.
pub(super) type Opened<'a> = &'a dyn Fn(&LockedPackage, &Arc<Downloaded>) -> Result<(), Failure>;

/// The wheels of `packages`, by name, and why some of them are not to be installed; `opened` gets the others, in the
/// order in which they arrive. Sources are built later.
pub(super) fn open_all(
    layout: &Layout,
    packages: &[&LockedPackage],
    fetched: &Fetched,
    opened: Opened<'_>,
) -> Result<(Wheels, Vec<Finding>), Failure> {
    let (mut wheels, mut findings) = (BTreeMap::new(), Vec::new());
    let mut all: Vec<_> = packages.iter().filter_map(|package| Some((*package, package.wheel()?))).collect();
    // What is here comes before what arrives; of both, the largest comes first.
    all.sort_by_key(|(_, wheel)| (fetched.is_arriving(&wheel.file), Reverse(wheel.size)));
    for (package, wheel) in all.into_iter().filter(|(_, wheel)| !wheel.is_source()) {
        let source = fetched.sources.get(&wheel.file);
        let source = source.ok_or_else(|| Failure::bug(format!("`{}` was not fetched", wheel.file)))?;
        let wheel = Arc::new(Downloaded::open(source)?);
        let before = findings.len();
        findings.extend(contradictions(layout, (&package.name, &package.version), &wheel)?);
        findings.extend(overwrites(&package.name, &wheel));
        if findings.len() == before {
            opened(package, &wheel)?;
        } else if let WheelSource::Arriving(arrival) = source {
            arrival.only(std::iter::empty());
        }
        wheels.insert(package.name.clone(), wheel);
    }
    Ok((wheels, findings))
}

/// Why a wheel can't be the one of this release; nothing for an honest one.
pub(super) fn contradictions(
    layout: &Layout,
    (name, version): (&PackageName, &Version),
    wheel: &Downloaded,
) -> Result<Vec<Finding>, Failure> {
    let faults =
        identity(name, version, wheel).into_iter().chain(impossible(wheel)).chain(strays(layout, name, wheel)?);
    Ok(faults
        .map(|fault| {
            let message = format!("the wheel of {name} {version} {fault}");
            let finding = Finding::error(Code::WheelMalformed, message);
            let finding = finding.about(Subject::release(name, version));
            finding.with_help("nothing was changed; choose another release")
        })
        .collect())
}

/// Whether it says that it is another distribution, or of a format that nobody knows.
fn identity(package: &PackageName, locked: &Version, wheel: &Downloaded) -> Option<String> {
    let value = |text: &str, wanted: &str| {
        let found = headers(text).into_iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value).unwrap_or_default()
    };
    let name = value(&wheel.metadata, "Name");
    if name.parse::<PackageName>().ok().as_ref() != Some(package) {
        return Some(format!("has METADATA for the package `{}`", name.escape_debug()));
    }
    let version = value(&wheel.metadata, "Version");
    if version.parse::<Version>().ok().as_ref() != Some(locked) {
        return Some(format!("has METADATA for version `{}`", version.escape_debug()));
    }
    let format = value(&wheel.wheel, "Wheel-Version");
    if format.split('.').next().map(str::trim) != Some(FORMAT) {
        return Some(format!("has format version `{}`; installers support {FORMAT}", format.escape_debug()));
    }
    let top =
        |member: &Member| member.path.split('/').next().filter(|top| top.ends_with(".dist-info")).map(str::to_owned);
    let infos: BTreeSet<String> = wheel.files.members.iter().filter_map(top).collect();
    match infos.first() {
        Some(folder) if infos.len() == 1 && dist_info(folder).is_some_and(|(name, _)| name == *package) => None,
        _ => {
            let infos: Vec<String> = infos.iter().map(|folder| folder.escape_debug().to_string()).collect();
            Some(format!("has the dist-info of another package: {}", infos.join(", ")))
        }
    }
}

/// The first member that can't become a file where it says.
fn impossible(wheel: &Downloaded) -> Option<String> {
    wheel.files.members.iter().find_map(|member| {
        let why = why_impossible(&member.path)?;
        let shown: String = member.path.chars().take(80).collect();
        Some(format!("has a file that can't be created, `{}`: {why}", shown.escape_debug()))
    })
}

fn why_impossible(path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let scheme = parts[0].ends_with(".data").then(|| parts.get(1)).flatten();
    if path.chars().any(char::is_control) {
        Some("its name has a control character")
    } else if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        Some("its path leads out of its folder")
    } else if parts.iter().any(|part| part.len() > LONGEST_NAME) || path.len() > LONGEST_PATH {
        Some("its name is longer than file systems allow")
    } else if parts.len() > DEEPEST {
        Some("its path is nested too deep for Python to create")
    } else if parts[0].starts_with(".colab-boot-") || parts[0].starts_with('~') && parts.len() > 1 {
        Some("installers treat folders of that name as leftovers")
    } else if scheme.is_some_and(|scheme| !SCHEMES.contains(scheme)) {
        Some("its scheme is not purelib, platlib, headers, scripts or data")
    } else if scheme == Some(&"scripts") && parts.len() + usize::from(path.ends_with('/')) > 3 {
        Some("scripts can't be in folders")
    } else {
        None
    }
}

/// The first file that is somebody else's, or would be, and that removing this distribution would delete: RECORD names
/// it, and the wheel does not bring it.
fn strays(layout: &Layout, name: &PackageName, wheel: &Downloaded) -> Result<Option<String>, Failure> {
    let own: BTreeSet<&str> = wheel.files.members.iter().map(|member| member.path.as_str()).collect();
    let made = |path: &str| path.ends_with(".pyc") || path.contains(".dist-info/");
    let mut before = None;
    let entries = wheel.entries();
    if entries.is_empty() {
        return Ok(Some("has a RECORD that lists no file".to_owned()));
    }
    for entry in entries {
        if own.contains(entry.path.as_str()) {
            continue;
        }
        let shown = entry.path.escape_debug().to_string();
        let inside = Path::new(&entry.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Ok(Some(format!("lists `{shown}` in its RECORD, but does not contain that file")));
        }
        let exists = layout.folders().into_iter().any(|site| site.join(&entry.path).look_at_entry().is_ok());
        if made(&entry.path) || !exists && entry.sha256.is_none() {
            continue;
        }
        if !exists {
            return Ok(Some(format!("lists `{shown}` in its RECORD, but does not contain that file")));
        }
        let recorded = match &before {
            Some(recorded) => recorded,
            None => before.insert(recorded_before(layout, name)?),
        };
        if !recorded.contains(&entry.path) {
            return Ok(Some(format!("lists the existing file `{shown}` in its RECORD, but does not contain it")));
        }
    }
    Ok(None)
}

/// What the distribution of that name has now.
fn recorded_before(layout: &Layout, name: &PackageName) -> Result<BTreeSet<String>, Failure> {
    let mut paths = BTreeSet::new();
    for site in layout.folders() {
        for entry in files::names_in(site)? {
            if dist_info(&entry).is_some_and(|(of, _)| of == *name) {
                let record = record_in(&site.join(&entry))?.unwrap_or_default();
                paths.extend(parse_record(&record).into_iter().map(|entry| entry.path));
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::why_impossible;

    #[test]
    fn paths_that_cannot_be_files_are_refused() {
        let long = "x".repeat(256);
        let deep = "x/".repeat(201);
        for (path, refused) in [
            ("demo/__init__.py", false),
            ("demo/", false),
            ("demo/a b, c.py", false),
            ("demo-1.0.data/scripts/run", false),
            ("demo-1.0.data/scripts/", false),
            ("demo-1.0.data/scripts/tools/", true),
            ("demo-1.0.data/scripts/tools/run", true),
            ("~notes.py", false),
            ("demo/~backup/x.py", false),
            ("/etc/passwd", true),
            ("demo/../../x", true),
            ("demo//x", true),
            ("demo/a\nb.py", true),
            ("demo/\u{1b}[31m", true),
            (long.as_str(), true),
            (deep.as_str(), true),
            (".colab-boot-trash/x", true),
            ("~emo/x.py", true),
            ("demo-1.0.data/wat/x", true),
        ] {
            assert_eq!(why_impossible(path).is_some(), refused, "{}", &path[..path.len().min(40)]);
        }
    }
}
