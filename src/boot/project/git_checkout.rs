//! Commits of repositories, by the user's own git: it knows the credentials.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::boot::profile::GitRepository;
use crate::core::diag::Failure;
use crate::core::host::locks::lock_folder;
use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files};
use crate::core::model::Sha256;

/// How long one command of git may take.
const AT_MOST: Duration = Duration::from_mins(30);

/// A copy of a repository in the cache.
pub(super) struct GitClone<'a> {
    folder: PathBuf,
    repository: &'a GitRepository,
    environment: BTreeMap<String, String>,
}

/// Whether `revision` is a whole commit, which no fetch can change.
pub(super) fn is_commit(revision: &str) -> bool {
    [40, 64].contains(&revision.len()) && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `environment` without what leads git to another repository, as within a hook.
pub(super) fn elsewhere(environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let leads = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"];
    let others = environment.iter().filter(|(name, _)| !leads.contains(&name.as_str()));
    others.map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl<'a> GitClone<'a> {
    /// The copy below `cache`, which need not be there yet.
    pub(super) fn of(repository: &'a GitRepository, cache: &Path, environment: &BTreeMap<String, String>) -> Self {
        let mut environment = environment.clone();
        // git must not ask for a password: the user can't answer it here.
        environment.insert("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned());
        environment.entry("GIT_SSH_COMMAND".to_owned()).or_insert_with(|| "ssh -o BatchMode=yes".to_owned());
        let folder = cache.join("git").join(Sha256::of(repository.address.as_bytes()).short());
        Self { folder, repository, environment: elsewhere(&environment) }
    }

    /// Holds the copy, so that no other colab-boot fetches into it or checks out of it.
    pub(super) fn hold(&self, say: &dyn Fn(&str)) -> Result<Option<File>, Failure> {
        let folder = self.folder.with_extension("held");
        files::create_folder(&folder)?;
        let waiting = || say(&format!("waiting for another colab-boot that fetches {}", self.repository.address));
        lock_folder(&folder, AT_MOST, &waiting)
    }

    fn git(&self, arguments: &[&str]) -> Result<String, Failure> {
        let finished = Invocation::new("git", arguments, &self.environment).must_succeed(AT_MOST);
        finished.map(|finished| finished.stdout.trim().to_owned()).map_err(|failure| {
            let shown = &self.repository.address;
            failure.help(format!("git must be installed, and `git ls-remote {shown}` must succeed"))
        })
    }

    fn in_clone(&self, arguments: &[&str]) -> Result<String, Failure> {
        let place = format!("--git-dir={}", self.folder.display());
        self.git(&[&[place.as_str()], arguments].concat())
    }

    /// Brings the copy up to date.
    fn fetch(&self) -> Result<(), Failure> {
        if self.folder.join("HEAD").is_there() {
            return self.in_clone(&["fetch", "--quiet", "--prune", "--tags", "--force", "origin"]).map(drop);
        }
        self.folder.parent().map_or(Ok(()), files::create_folder)?;
        let new = self.folder.with_extension("new");
        let _ = std::fs::remove_dir_all(&new);
        let place = new.display().to_string();
        let address = &self.repository.address;
        self.git(&["clone", "--quiet", "--mirror", "--filter=blob:none", "--", address, &place])?;
        std::fs::rename(&new, &self.folder)
            .map_err(|error| Failure::world(format!("could not rename `{place}`")).because(&error))
    }

    /// The commit that the revision means now.
    pub(super) fn commit(&self) -> Result<String, Failure> {
        self.fetch()?;
        let revision = self.repository.revision.as_deref().unwrap_or("HEAD");
        let shown = &self.repository.address;
        let names = [format!("{revision}^{{commit}}"), format!("origin/{revision}^{{commit}}")];
        let found = names
            .iter()
            .find_map(|name| self.in_clone(&["rev-parse", "--verify", "--quiet", "--end-of-options", name]).ok());
        found.ok_or_else(|| {
            Failure::answer(format!("`{shown}` has no branch, tag or commit `{revision}`"))
                .help(format!("`git ls-remote {shown}` lists what it has"))
        })
    }

    /// Calls `read` with a folder that has the files of `commit`, and of its submodules. The folder goes afterwards.
    pub(super) fn with_files<T>(
        &self,
        commit: &str,
        read: impl FnOnce(&Path) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.in_clone(&["cat-file", "-e", &format!("{commit}^{{commit}}")]).is_err() {
            self.fetch()?;
        }
        let folder = self.folder.with_extension(commit.get(..12).unwrap_or(commit));
        let _ = std::fs::remove_dir_all(&folder);
        let place = folder.display().to_string();
        let checked_out = self
            .in_clone(&["worktree", "prune"])
            .and_then(|_| self.in_clone(&["worktree", "add", "--quiet", "--force", "--detach", &place, commit]))
            .and_then(|_| self.git(&["-C", &place, "submodule", "--quiet", "update", "--init", "--recursive"]));
        let done = checked_out.and_then(|_| {
            let within = self.repository.subdirectory.as_ref().map_or_else(|| folder.clone(), |path| folder.join(path));
            read(&within)
        });
        let _ = self.in_clone(&["worktree", "remove", "--force", &place]);
        let _ = std::fs::remove_dir_all(&folder);
        done
    }
}
