//! A virtual environment whose interpreter is gone.

use std::io::ErrorKind;
use std::path::Path;

use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;

/// That the virtual environment in `folder` has no interpreter, or one that can't be asked, as it `said`.
pub(super) fn without_python(folder: &Path, said: Option<String>) -> Failure {
    let path = folder.join("bin/python");
    let is_hidden = path.look().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    let why = said.unwrap_or_else(|| match files::link_of(&path) {
        Some(to) if is_hidden => format!("it points to `{}`, which this user can't read", to.display()),
        Some(to) => format!("it points to `{}`, which does not exist", to.display()),
        None => "it does not exist".to_owned(),
    });
    Failure::input(format!("the virtual environment `{}` has no usable `bin/python`", folder.display()))
        .cause(why)
        .help(format!(
            "recreate it with `python3 -m venv --clear {}`, or name another Python with --python",
            folder.display()
        ))
}
