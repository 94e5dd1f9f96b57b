//! Where things live: the root that facts are read under, the cache, the state.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::core::diag::{Code, Failure, Finding};
use crate::core::host::files::{must_be_ours, names_if_any, others_in};
use crate::core::host::mounts::Look;

/// The folders of one run, decided once from the environment.
#[derive(Clone, Debug)]
pub struct Paths {
    /// `/`, or a copy of a machine's files (`COLAB_BOOT_ROOT`).
    pub root: PathBuf,
    /// What can be fetched again: pages, metadata, wheels.
    pub cache: PathBuf,
    /// The marker, the journal and the records of what was installed.
    pub state: PathBuf,
    /// What the user has decided: whom to trust.
    pub config: PathBuf,
}

impl Paths {
    /// `COLAB_BOOT_ROOT`, `COLAB_BOOT_CACHE_DIR`, `COLAB_BOOT_STATE_DIR` and `COLAB_BOOT_CONFIG_DIR` first; then
    /// `/var/lib/colab-boot` for root and the XDG folders for everybody else. Relative ones are seen from the working
    /// directory; of XDG's and HOME they don't count, as their specification says
    /// (<https://specifications.freedesktop.org/basedir-spec/latest/>).
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Self {
        let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let get = |name: &str| set(name).map(|path| std::path::absolute(&path).unwrap_or(path));
        let fixed = |name: &str| set(name).filter(|path| path.is_absolute());
        let home = fixed("HOME").unwrap_or_else(|| PathBuf::from("/"));
        let cache = get("COLAB_BOOT_CACHE_DIR")
            .or_else(|| fixed("XDG_CACHE_HOME").map(|folder| folder.join("colab-boot")))
            .unwrap_or_else(|| home.join(".cache/colab-boot"));
        let state = get("COLAB_BOOT_STATE_DIR").unwrap_or_else(|| {
            if is_root() {
                PathBuf::from("/var/lib/colab-boot")
            } else {
                fixed("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("colab-boot")
            }
        });
        let config = get("COLAB_BOOT_CONFIG_DIR")
            .or_else(|| fixed("XDG_CONFIG_HOME").map(|folder| folder.join("colab-boot")))
            .unwrap_or_else(|| home.join(".config/colab-boot"));
        Self { root: get("COLAB_BOOT_ROOT").unwrap_or_else(|| PathBuf::from("/")), cache, state, config }
    }

    /// Fails where others have a say in the folders of state and settings: they decide what is taken for installed, and
    /// whose signature counts.
    pub fn must_be_ours(&self) -> Result<(), Failure> {
        must_be_ours(&self.state, "COLAB_BOOT_STATE_DIR", false)?;
        // Into one that others may enter, they may have a way further down.
        let is_open = self.state.look().is_ok_and(|data| data.mode() & 0o011 != 0);
        let names = if is_open { names_if_any(&self.state) } else { Vec::new() };
        let inner = names.iter().map(|name| self.state.join(name));
        inner
            .filter(|place| place.look_at_entry().is_ok_and(|data| data.is_dir() || data.is_symlink()))
            .try_for_each(|folder| must_be_ours(&folder, "COLAB_BOOT_STATE_DIR", false))?;
        let keys = [self.config.clone(), self.config.join("golden"), self.config.join("runtimes")];
        keys.iter().try_for_each(|folder| must_be_ours(folder, "COLAB_BOOT_CONFIG_DIR", true))
    }

    /// With a cache of our own where that folder is one in which others have a say: what lies there decides what is
    /// installed. Returns why, too.
    #[must_use]
    pub fn with_own_cache(mut self) -> (Self, Option<Finding>) {
        let why = self.cache.look().ok().as_ref().and_then(others_in);
        let finding = why.map(|why| {
            let own = self.state.join("cache");
            let message = format!("`{}` is not read: {why}", self.cache.display());
            let help = format!(
                "create a private one with `mkdir -m 700 FOLDER`, and set COLAB_BOOT_CACHE_DIR to it; `{}` is used",
                own.display()
            );
            self.cache = own;
            Finding::warning(Code::CacheUnusable, message).with_help(help)
        });
        (self, finding)
    }

    /// `path`, an absolute one, under the root.
    pub fn under_root(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Whether this process may change the system.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
