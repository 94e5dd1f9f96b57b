//! What proves that a file is an installer's, and no user's.

use std::path::Path;

use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;

/// Whether `is_one` holds of what lies at `place`; of a folder, if it does of all that lies in it.
pub(super) fn all_are(place: &Path, is_one: &dyn Fn(&Path) -> bool) -> bool {
    if !place.look_at_entry().is_ok_and(|data| data.is_dir()) {
        return is_one(place);
    }
    let mut inside = Vec::new();
    files_below(place, true, &|_| false, &mut inside);
    !inside.is_empty()
        && inside.iter().all(|file| file.parent().is_some_and(|folder| folder.ends_with("__pycache__")) || is_one(file))
}

/// Whether `script` is what an installer makes for an entry point of `module`: pip, uv, and both for interpreters with
/// long paths.
pub(super) fn is_generated(script: &str, module: &str) -> bool {
    let begins = [
        "#!",
        "# -*- coding",
        "import re",
        "import sys",
        "if __name__ ==",
        "if sys.argv[0]",
        "elif sys.argv[0]",
        "sys.argv[0] =",
        "sys.exit(",
        "'''exec' ",
        "' '''",
    ];
    let import = format!("from {module} import ");
    let lines = || script.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().any(|line| line.starts_with(&import))
        && lines().all(|line| line.starts_with(&import) || begins.iter().any(|begin| line.starts_with(begin)))
}
