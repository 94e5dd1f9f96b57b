//! The Python that is meant on this machine.

use std::path::{Path, PathBuf};

use crate::boot::machine::{Looker, MachineRequest, RawPython, observe_interpreter};
use crate::boot::session::Session;
use crate::core::diag::Failure;
use crate::core::host::files;

impl Session<'_> {
    /// The Python that the request means on this machine, of which nothing else is observed.
    pub fn interpreter_near(
        &self,
        request: &MachineRequest,
        beside: Option<&Path>,
    ) -> Result<Option<RawPython>, Failure> {
        let near = near(beside)?;
        let looker = Looker { kernel_pid: request.kernel_pid, near: &near, ..self.looker(request.python.as_deref()) };
        Ok(observe_interpreter(looker))
    }

    /// What to look at, by default without a kernel and without folders near.
    pub fn looker<'b>(&'b self, python: Option<&'b Path>) -> Looker<'b> {
        Looker {
            paths: &self.paths,
            environment: self.environment,
            hosts: self.matrix.hosts,
            python,
            kernel_pid: None,
            near: &[],
            now: self.now,
        }
    }
}

/// Where a `.venv` is looked for: the working directory, and the folder of the file that a verb is about.
pub(super) fn near(beside: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    // A working directory that is gone has none.
    let mut folders: Vec<PathBuf> = files::absolute(Path::new(".")).into_iter().collect();
    if let Some(file) = beside {
        folders.extend(files::absolute(file)?.parent().map(Path::to_owned));
    }
    Ok(folders)
}
