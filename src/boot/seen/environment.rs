//! Whether the environment that was found is whole, may be changed, and is one that its Python imports from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::boot::machine::{MachineRequest, PythonOrigin};
use crate::boot::seen::Seen;
use crate::boot::seen::broken_environment::without_python;
use crate::boot::session::Session;
use crate::boot::state::State;
use crate::core::diag::{Code, Failure, Finding, Subject, shell_word};
use crate::core::host::mounts::Look;
use crate::core::model::{PackageName, Version};

impl Seen {
    /// An error where the interpreter belongs to the system and the user has not said that it may be changed.
    pub fn may_be_changed(&self, system: bool) -> Result<(), Failure> {
        let Some(python) = self.python_here().filter(|_| !system) else {
            return Ok(());
        };
        let managed = python.layout.as_ref().is_some_and(|layout| layout.externally_managed);
        let is_kernels = python.origin == PythonOrigin::Kernel || self.machine.host.preloads;
        let path = python.path.as_deref().unwrap_or(Path::new("python3")).display().to_string();
        let message = if is_kernels {
            return Ok(());
        } else if managed {
            format!("`{path}` is managed by the operating system (PEP 668)")
        } else if python.origin == PythonOrigin::Path && !python.is_virtual {
            format!("no virtual environment is active, and `{path}` is the system's Python")
        } else if matches!(python.origin, PythonOrigin::VirtualEnv | PythonOrigin::DotVenv) && !python.is_virtual {
            let prefix = python.home.as_ref().map(|home| home.prefix.display().to_string()).unwrap_or_default();
            format!(
                "`{path}` is in no virtual environment (its `pyvenv.cfg` is missing or damaged): it uses `{prefix}`"
            )
        } else {
            return Ok(());
        };
        Err(Failure::input(message).help(
            "create an environment with `python3 -m venv .venv`, pass one with --python, or allow this \
             one with --system",
        ))
    }

    /// An error where the folder that packages are installed to is there and no Python of this environment looks into
    /// it.
    pub(super) fn off_the_path(&self) -> Option<Finding> {
        let purelib = &self.layout()?.purelib;
        let search = &self.observed()?.python.as_ref()?.search;
        let real = purelib.real().ok();
        let is_it = |entry: &PathBuf| entry == purelib || real.is_some() && entry.real().ok() == real;
        if !purelib.is_folder_there() || search.iter().any(is_it) {
            return None;
        }
        let message =
            format!("`{}` is not on this Python's `sys.path`: packages in it can't be imported", purelib.display());
        let finding = Finding::error(Code::KernelShadowed, message).about(Subject::file(purelib));
        Some(finding.with_help(
            "a `.pth` file in it, or `sitecustomize.py`, removes it: \
             `python -X importtime -c pass` lists what runs; delete that line",
        ))
    }
}

impl Session<'_> {
    /// The versions of what is installed on the machine of `request`; none where no machine is named and no Python is
    /// found.
    pub fn installed_versions(&self, request: &MachineRequest) -> Result<BTreeMap<PackageName, Version>, Failure> {
        let is_named = request.runtime.is_some() || request.record.is_some() || request.python.is_some();
        match self.machine(request) {
            Ok(Seen { machine, .. }) => {
                Ok(machine.installed.into_iter().map(|(name, one)| (name, one.version)).collect())
            }
            Err(failure) if is_named => Err(failure),
            Err(_) => Ok(BTreeMap::new()),
        }
    }

    pub(super) fn has_whole_environment(&self, seen: &Seen, near: &[PathBuf]) -> Result<(), Failure> {
        let origin = seen.machine.python.as_ref().map(|python| python.origin);
        if origin.is_some_and(|origin| origin != PythonOrigin::Path) {
            return Ok(());
        }
        let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| self.environment.get(*name));
        let near = near.iter().flat_map(|folder| folder.ancestors()).map(|folder| folder.join(".venv"));
        let meant: Vec<PathBuf> = active.map(PathBuf::from).chain(near).collect();
        let Some(folder) = meant.iter().find(|folder| folder.join("pyvenv.cfg").is_file_there()) else {
            return self.has_lost_none(&meant);
        };
        let path = folder.join("bin/python");
        let errors = seen.observed().into_iter().flat_map(|observed| &observed.python_errors);
        let said = errors.filter(|said| Path::new(&said.source) == path).find_map(|said| said.error.clone());
        Err(without_python(folder, said))
    }

    /// An error where one of `folders` is gone that colab-boot has installed packages in: another environment is not
    /// what was meant.
    fn has_lost_none(&self, folders: &[PathBuf]) -> Result<(), Failure> {
        let gone: Vec<&PathBuf> = folders.iter().filter(|folder| !folder.is_there()).collect();
        if gone.is_empty() || !self.paths.state.join("python").is_there() {
            return Ok(());
        }
        for state in State::all(&self.paths.state)? {
            let Ok(ledger) = state.ledger() else { continue };
            let lost = gone.iter().find(|folder| ledger.python.starts_with(folder));
            if let Some(folder) = lost.filter(|_| !ledger.distributions.is_empty()) {
                let create = format!("python3 -m venv {}", shell_word(folder));
                return Err(Failure::input(format!("the virtual environment `{}` is gone", folder.display()))
                    .help(format!("create it with `{create}`, or name another Python with --python")));
            }
        }
        Ok(())
    }
}
