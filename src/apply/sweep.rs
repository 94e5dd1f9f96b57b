//! Leftovers of killed installers. pip moves what it replaces to `~name` and `~name-1.0.dist-info` and never looks at them again;
//! `importlib.metadata` does, for ever.

use std::path::Path;

use crate::diag::Failure;
use crate::host::files;
use crate::machine::Layout;

/// Removes entries of site-packages that begin with `~`. Returns their names.
pub fn sweep(layout: &Layout) -> Result<Vec<String>, Failure> {
    let mut swept = Vec::new();
    let mut folders = vec![&layout.purelib, &layout.platlib];
    folders.dedup();
    for folder in folders {
        for name in leftovers(folder) {
            let path = folder.join(&name);
            let removed = if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(&path)
            } else {
                std::fs::remove_file(&path)
            };
            removed.map_err(|error| {
                Failure::world(format!("could not remove the leftover `{}`", path.display())).because(&error)
            })?;
            swept.push(name);
        }
    }
    Ok(swept)
}

/// The entries that begin with `~`.
pub fn leftovers(folder: &Path) -> Vec<String> {
    files::names_in(folder).into_iter().filter(|name| name.starts_with('~')).collect()
}
