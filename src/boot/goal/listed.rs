//! Files that name distributions: requirements, locks, notebooks.

use std::collections::HashMap;
use std::path::Path;

use crate::boot::audit::{Listed, Named, kind_of, read_lock_file, read_other, read_requirements};
use crate::boot::lock::{LockedPackage, Unreadable, read_lock};
use crate::core::diag::{Code, Failure, Finding, Source, counted, few};
use crate::core::host::files;
use crate::core::model::{PackageName, PythonFacts, Tags};

/// Reads a file that names distributions, whichever tool wrote it.
pub fn read_listed(path: &Path, python: &PythonFacts) -> Result<Listed, Failure> {
    read_listed_text(path, &files::read_text(path, "file")?, python)
}

/// The same of `text`, which stands in the file at `path`, or is made of it.
pub fn read_listed_text(path: &Path, text: &str, python: &PythonFacts) -> Result<Listed, Failure> {
    let text = with_newlines(text.to_owned());
    let markers = python.marker_environment().ok_or_else(|| Failure::bug("no marker environment"))?;
    let include = |name: &str| {
        // Names in a file are from its own folder; those of files in between stand before them already.
        let beside = path.parent().unwrap_or(Path::new(".")).join(name);
        files::read_text(&beside, "file").map(with_newlines).map_err(|failure| failure.to_string())
    };
    let source = Source { name: path.display().to_string().into(), text: text.as_str().into() };
    let listed = match (read_other(&source, &markers, &include), kind_of(&text)) {
        (Some(listed), _) => listed,
        (None, _) if is_ours(&text) => ours(&text),
        (None, Some(kind)) => read_lock_file(&text, kind, &markers),
        (None, None) => Ok(read_requirements(&source, &markers, &include)),
    };
    let listed = listed.map(|listed| Listed { named: distinct(listed.named), ..listed });
    let listed = listed.map(|listed| without_strange_wheels(listed, python));
    // A file without a line that makes sense is something else.
    let listed = listed.and_then(|listed| match listed.refused.first() {
        Some(why) if listed.is_empty() => Err(why.clone()),
        _ => Ok(listed),
    });
    listed.map_err(|error| {
        Failure::input(format!("`{}` can't be read", path.display()))
            .cause(error)
            .help("it should be a requirements.txt, the output of `pip freeze`, a pyproject.toml, an environment.yml, a pixi.toml, a notebook, a pylock.toml, a uv.lock or a colab-boot lock")
    })
}

/// What is listed, where wheels that are given by address and fit no such Python are refused.
fn without_strange_wheels(mut listed: Listed, python: &PythonFacts) -> Listed {
    let tags = Tags::of(python);
    let strange = listed.wheels.iter().filter(|(wheel, _)| tags.rank(wheel).is_none());
    let refused = strange.map(|(wheel, place)| {
        let between = if place.is_empty() { "" } else { ": " };
        format!("{place}{between}`{wheel}` is not a wheel for this Python and platform ({})", python.version)
    });
    let refused: Vec<String> = refused.collect();
    listed.refused.extend(refused);
    listed
}

/// Each of `named` once, and a few versions of one name: what is said of more is the same.
fn distinct(named: Vec<Named>) -> Vec<Named> {
    const VERSIONS: usize = 8;
    let mut kept: Vec<Named> = Vec::new();
    let mut places: HashMap<PackageName, Vec<usize>> = HashMap::new();
    for one in named {
        let others = places.entry(one.name.clone()).or_default();
        let is_known = others
            .iter()
            .map(|at| &kept[*at])
            .any(|other| (&other.version, &other.hashes, &other.files) == (&one.version, &one.hashes, &one.files));
        if !is_known && others.len() < VERSIONS {
            others.push(kept.len());
            kept.push(one);
        }
    }
    kept
}

/// Lines that end as those of old Macs do, which pip reads, too.
fn with_newlines(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// Whether a TOML text is a lock of colab-boot.
fn is_ours(text: &str) -> bool {
    text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("target") && !table.contains_key("lock-version"))
}

/// The first target of our own lock, read as every verb reads it.
fn ours(text: &str) -> Result<Listed, String> {
    let lock = read_lock(text).map_err(|unreadable| match unreadable {
        Unreadable::Malformed(why) => why,
        Unreadable::Future { version, .. } => format!("it has format {version}, which a newer colab-boot has written"),
    })?;
    let mut targets = lock.targets.iter();
    let first = targets.next();
    let packages = first.map(|target| target.packages.as_slice()).unwrap_or_default();
    let accepted = first.map(|target| target.accept.clone()).unwrap_or_default();
    let named = packages.iter().map(|package| {
        let file = package.wheel().and_then(|wheel| Some((wheel.file.clone(), wheel.sha256?)));
        Named { files: file.into_iter().collect(), ..Named::new(package.name.clone(), package.version.clone()) }
    });
    let open = targets.map(|target| format!("target {}", target.name)).collect();
    // It knows them by the names of the profile.
    let has_indexes = packages.iter().filter_map(LockedPackage::wheel).any(|wheel| wheel.index != "default");
    Ok(Listed { named: named.collect(), open, accepted, has_indexes, ..Listed::default() })
}

/// What the file `path` is wrong about, or leaves open.
pub fn findings_of(path: &Path, listed: &Listed) -> impl Iterator<Item = Finding> {
    let lines = refused_lines(path, listed).into_iter().chain(other_python(path, listed));
    lines.chain(not_pinned(listed)).chain(not_asked(listed))
}

/// An error where a project is for another Python.
fn other_python(path: &Path, listed: &Listed) -> Option<Finding> {
    let wanted = listed.other_python.as_ref()?;
    let message = format!("`{}` is for Python {wanted}, and the target has another one", path.display());
    Some(Finding::error(Code::RequirementBroken, message).with_note("`requires-python` in `[project]`"))
}

/// A note where a file names indexes of its own.
fn not_asked(listed: &Listed) -> Option<Finding> {
    let message = "indexes named in the file were not used: releases were looked up on the index of this machine";
    listed.has_indexes.then(|| Finding::note(Code::AuditOpen, message).with_help("pass its index with --index-url"))
}

/// An error where installers refuse lines of the file `path`.
fn refused_lines(path: &Path, listed: &Listed) -> Option<Finding> {
    if listed.refused.is_empty() {
        return None;
    }
    let lines = if listed.refused.len() == 1 { "a line" } else { "lines" };
    let message = format!("`{}` has {lines} that can't be read as requirements", path.display());
    Some(few(&listed.refused).into_iter().fold(Finding::error(Code::AuditRefused, message), Finding::with_note))
}

/// A note on what names no exact version.
fn not_pinned(listed: &Listed) -> Option<Finding> {
    let wheels: Vec<String> = listed.wheels.iter().map(|(wheel, _)| format!("{wheel} (not opened)")).collect();
    let conda: Vec<String> = listed.conda.iter().map(|line| format!("{line} (conda)")).collect();
    let count = listed.open.len() + listed.elsewhere.len() + conda.len() + wheels.len();
    if count == 0 {
        return None;
    }
    let message = format!("{} not checked: not from an index, or known only at run time", counted(count, "entry"));
    let all: Vec<&str> =
        listed.open.iter().chain(&listed.elsewhere).chain(&conda).chain(&wheels).map(String::as_str).collect();
    Some(Finding::note(Code::AuditOpen, message).with_note(all.join(", ")))
}
