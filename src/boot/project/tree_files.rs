//! The files of a project: those that git would commit, else all but what tools leave behind.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::boot::project::git_checkout::elsewhere;
use crate::core::diag::Failure;
use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files};
use crate::core::model::pyproject::files_of_field;

/// How long git may take to list the files of a project.
const AT_MOST: Duration = Duration::from_mins(1);

/// Folders that no build reads, in a project that is in no repository.
const LEFT_BEHIND: [&str; 14] = [
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "node_modules",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".ipynb_checkpoints",
    "build",
    "dist",
];

/// The paths of the files in `folder`, relative to it and sorted, without those in `except`, which are absolute.
pub(super) fn files_of(
    folder: &Path,
    except: &[PathBuf],
    environment: &BTreeMap<String, String>,
) -> Result<Vec<String>, Failure> {
    let mut all = match committable(folder, environment) {
        Some(all) if !all.is_empty() => all,
        _ => {
            let mut all = Vec::new();
            walk(folder, "", &mut all)?;
            all
        }
    };
    // A submodule is a repository of its own. A link to a folder is not followed: it may lead up.
    let is_folder = |path: &String| {
        let place = folder.join(path);
        files::link_of(&place).is_none() && place.is_folder_there()
    };
    let modules: Vec<String> = all.extract_if(.., |path| is_folder(path)).collect();
    for module in modules {
        let below = files_of(&folder.join(&module), except, environment)?;
        all.extend(below.into_iter().map(|path| format!("{}/{path}", module.trim_end_matches('/'))));
    }
    let is_made = |path: &String| {
        path.split('/').any(|part| part == "__pycache__" || part.ends_with(".egg-info")) || path.ends_with(".pyc")
    };
    all.retain(|path| !is_made(path) && !except.contains(&folder.join(path)));
    // What is deleted and not yet committed.
    all.retain(|path| folder.join(path).look_at_entry().is_ok());
    all.sort();
    all.dedup();
    Ok(all)
}

/// The files in `folder` that setuptools reads fields of the project from, besides pyproject.toml; setuptools refuses
/// others (<https://setuptools.pypa.io/en/latest/userguide/pyproject_config.html#dynamic-metadata>).
pub(super) fn files_of_fields(folder: &Path) -> Result<Vec<String>, Failure> {
    let text = files::read_optional(&folder.join("pyproject.toml"))?.unwrap_or_default();
    let project = text.parse::<toml::Table>().unwrap_or_default();
    let fields = project.get("tool").and_then(|tool| tool.get("setuptools")?.get("dynamic")?.as_table());
    let names = fields.into_iter().flatten().flat_map(|(_, field)| files_of_field(field));
    let is_below = |name: &&str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    Ok(names.filter(is_below).map(str::to_owned).collect())
}

/// What git knows or would add; `None` where `folder` is in no repository, or git is not there.
fn committable(folder: &Path, environment: &BTreeMap<String, String>) -> Option<Vec<String>> {
    folder.ancestors().find(|above| above.join(".git").is_there())?;
    let place = folder.display().to_string();
    let arguments = ["-C", &place, "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Invocation::new("git", &arguments, &elsewhere(environment)).must_succeed(AT_MOST).ok()?;
    Some(listed.stdout.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walk(folder: &Path, prefix: &str, all: &mut Vec<String>) -> Result<(), Failure> {
    for name in files::names_in(folder)? {
        let path = folder.join(&name);
        let is_link = files::link_of(&path).is_some();
        if is_link || !path.is_folder_there() {
            all.push(format!("{prefix}{name}"));
        } else if !LEFT_BEHIND.contains(&name.as_str()) && !path.join("pyvenv.cfg").is_there() {
            walk(&path, &format!("{prefix}{name}/"), all)?;
        }
    }
    Ok(())
}
