//! Which interpreter is meant: what the user names, else the kernel's, else the environment that is active or lies
//! near, else the first on `PATH`. Only names candidates; each is asked elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::boot::machine::PythonOrigin;
use crate::boot::machine::looker::{Looker, search_path};
use crate::core::host::command::{find_program, is_executable};
use crate::core::host::files;
use crate::core::host::mounts::Look;

/// An interpreter to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub path: PathBuf,
    pub origin: PythonOrigin,
}

/// The interpreters to ask, best first; with `--python 3.12`, the version that the answer must have.
pub(super) fn candidates(looker: Looker<'_>) -> (Vec<Candidate>, Option<String>) {
    let Some(named) = looker.python else {
        return (discovered(looker), None);
    };
    let text = named.to_string_lossy();
    if is_version(&text) {
        return (of_version(looker, &text), Some(text.into_owned()));
    }
    let kernel = looker.kernel_pid.and_then(|pid| kernel_python(looker, pid));
    let candidate = |path| {
        let origin = if kernel.as_ref() == Some(&path) { PythonOrigin::Kernel } else { PythonOrigin::Named };
        Candidate { path, origin }
    };
    if named.is_folder_there() {
        return (vec![candidate(named.join("bin/python"))], None);
    }
    let found = find_program(&text, search_path(looker)).unwrap_or_else(|| named.to_owned());
    (vec![candidate(found)], None)
}

/// `3`, `3.12`, `3.12.1`.
fn is_version(text: &str) -> bool {
    let mut parts = text.split('.');
    text.split('.').count() <= 3
        && parts.all(|part| !part.is_empty() && part.chars().all(|digit| digit.is_ascii_digit()))
}

/// Where the user names none.
fn discovered(looker: Looker<'_>) -> Vec<Candidate> {
    let mut all = environments(looker);
    let search = search_path(looker);
    let first = ["python3", "python"].into_iter().filter_map(|name| find_program(name, search));
    all.extend(first.map(|path| Candidate { path, origin: PythonOrigin::Path }));
    all
}

/// The kernel's interpreter and the environments that are active or near.
fn environments(looker: Looker<'_>) -> Vec<Candidate> {
    let of = |name: &str, origin| {
        let path = Path::new(looker.environment.get(name).filter(|value| !value.is_empty())?).join("bin/python");
        Some(Candidate { path, origin })
    };
    let kernel = looker.kernel_pid.and_then(|pid| kernel_python(looker, pid));
    let kernel = kernel.map(|path| Candidate { path, origin: PythonOrigin::Kernel });
    let near = looker.near.iter().flat_map(|folder| folder.ancestors());
    let near = near.map(|folder| folder.join(".venv/bin/python")).find(|path| is_executable(path));
    let near = near.map(|path| Candidate { path, origin: PythonOrigin::DotVenv });
    let active = [of("VIRTUAL_ENV", PythonOrigin::VirtualEnv), of("CONDA_PREFIX", PythonOrigin::Conda)];
    kernel.into_iter().chain(active.into_iter().flatten()).chain(near).collect()
}

/// The program that a kernel was started as: its interpreter, under the name that makes it a virtual environment's.
fn kernel_python(looker: Looker<'_>, pid: u32) -> Option<PathBuf> {
    let command = looker.paths.under_root("/proc").join(pid.to_string()).join("cmdline");
    let text = files::read_optional(&command).ok()??;
    let program = PathBuf::from(text.split('\0').next()?);
    let is_python = program.file_name()?.to_string_lossy().starts_with("python");
    (is_python && program.is_absolute()).then_some(program)
}

/// Interpreters that may have the version `text`: environments first, then those on `PATH`, of pyenv and of uv, newest
/// first.
fn of_version(looker: Looker<'_>, text: &str) -> Vec<Candidate> {
    let search = search_path(looker);
    let minor = text.split('.').take(2).collect::<Vec<_>>().join(".");
    let named = find_program(&format!("python{minor}"), search);
    let installed = managed(looker.environment, text);
    let any = ["python3", "python"].into_iter().filter_map(|name| find_program(name, search));
    let others = named.into_iter().chain(installed).chain(any);
    let others = others.map(|path| Candidate { path, origin: PythonOrigin::Named });
    environments(looker).into_iter().chain(others).collect()
}

/// What pyenv and uv have installed of a version.
fn managed(environment: &BTreeMap<String, String>, text: &str) -> Vec<PathBuf> {
    let get = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = get("HOME").unwrap_or_else(|| PathBuf::from("/"));
    let pyenv = get("PYENV_ROOT").unwrap_or_else(|| home.join(".pyenv")).join("versions");
    let data = get("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
    let uv = get("UV_PYTHON_INSTALL_DIR").unwrap_or_else(|| data.join("uv/python"));
    let mut found = Vec::new();
    for (folder, prefix) in [(pyenv, ""), (uv, "cpython-")] {
        for name in files::names_if_any(&folder) {
            let Some(version) = name.strip_prefix(prefix) else { continue };
            let version = version.split('-').next().unwrap_or_default();
            if version == text || version.starts_with(&format!("{text}.")) {
                let patch: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
                found.push((patch, folder.join(&name).join("bin/python3")));
            }
        }
    }
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn versions_and_commands_are_distinguished() {
        for (text, is) in
            [("3", true), ("3.12", true), ("3.12.1", true), ("python3.12", false), ("", false), ("3.", false)]
        {
            assert_eq!(is_version(text), is, "{text}");
        }
    }
}
