//! A folder of a probe's own, which goes with it. What a killed one has left is swept by the next.

use std::fs;
use std::path::{Path, PathBuf};

use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;

const NAME: &str = ".colab-boot-probe-";

/// An empty folder, removed when this is dropped.
pub(super) struct Scratch {
    pub(super) path: PathBuf,
}

impl Scratch {
    /// Makes one in `place`. Fails where nothing can be written there.
    pub(super) fn new(place: &Path) -> Result<Self, Failure> {
        for name in files::names_if_any(place) {
            let Some(pid) = name.strip_prefix(NAME) else { continue };
            if pid.bytes().all(|byte| byte.is_ascii_digit()) && !Path::new(&format!("/proc/{pid}")).is_there() {
                let _ = fs::remove_dir_all(place.join(&name));
            }
        }
        let path = place.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&path)
            .map_err(|error| Failure::world(format!("could not write to `{}`", place.display())).because(&error))?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
