//! Packages that come from no index: projects in folders and repositories, files of this machine.

use std::path::{Component, Path, PathBuf};

use crate::boot::profile::reader::{Faults, Placed, Reader};
use crate::core::diag::Code;
use crate::core::model::wheel_names::is_distribution;

/// Where a package comes from that no index has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub place: OriginPlace,
    /// As a lock writes it: the path as in the profile, with `-e` before an editable one, or
    /// `git+ADDRESS@REVISION#subdirectory=PATH`.
    pub written: String,
}

/// The prefix of an editable project's path, as in a requirements.txt.
const EDITABLE: &str = "-e ";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPlace {
    /// The folder of a project, by its absolute path.
    Folder {
        path: PathBuf,
        editable: bool,
    },
    /// A wheel or a source distribution, by its absolute path.
    File(PathBuf),
    Repository(GitRepository),
}

/// A project in a repository of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRepository {
    pub address: String,
    /// A branch, a tag or a commit; the branch that the repository checks out where there is none.
    pub revision: Option<String>,
    pub subdirectory: Option<String>,
}

impl Origin {
    /// The folder of an editable project.
    pub fn editable(&self) -> Option<&Path> {
        match &self.place {
            OriginPlace::Folder { path, editable: true } => Some(path),
            _ => None,
        }
    }
}

impl OriginPlace {
    /// What `path` is, by its name: a file, or the folder of a project.
    pub(super) fn of_path(path: PathBuf, editable: bool) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if is_distribution(&name) { Self::File(path) } else { Self::Folder { path, editable } }
    }
}

/// The keys of a package that say where it comes from, as written.
pub(super) struct OriginKeys {
    path: Option<Placed<String>>,
    editable: bool,
    git: Option<Placed<String>>,
    rev: Option<Placed<String>>,
    subdirectory: Option<Placed<String>>,
}

impl OriginKeys {
    pub(super) fn read(table: &mut Reader<'_, '_>, faults: &mut Faults<'_>) -> Self {
        Self {
            path: table.text("path", faults),
            editable: table.flag("editable", faults).unwrap_or(false),
            git: table.text("git", faults),
            rev: table.text("rev", faults),
            subdirectory: table.text("subdirectory", faults),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.path.is_none() && self.git.is_none()
    }

    /// Where they say that it comes from; `None` if they say nothing, or what makes no sense.
    pub(super) fn check(self, folder: &Path, faults: &mut Faults<'_>) -> Option<Origin> {
        let Self { path, editable, git, rev, subdirectory } = self;
        let mut alone = |place: Option<&Placed<String>>, key: &str, needs: &str| {
            let message = format!("`{key}` needs `{needs}`");
            if let Some(one) = place {
                faults.add(Code::ProfileMissingKey, one.span.clone(), message, "");
            }
        };
        if git.is_none() {
            alone(rev.as_ref(), "rev", "git");
            alone(subdirectory.as_ref(), "subdirectory", "git");
        }
        match (path, git) {
            (None, None) => None,
            (Some(_), Some(place)) => {
                faults.add(Code::ProfileConflict, place.span, "a package has `path` or `git`, not both", "");
                None
            }
            (Some(place), None) => {
                let path = faults.value(&place, "a path", beside(folder, &place.value))?;
                let origin = OriginPlace::of_path(path, editable);
                if editable && matches!(origin, OriginPlace::File(_)) {
                    faults.add(Code::ProfileConflict, place.span, "a file can't be editable, only a folder", "");
                    return None;
                }
                let flag = if editable { EDITABLE } else { "" };
                Some(Origin { place: origin, written: format!("{flag}{}", place.value) })
            }
            (None, Some(place)) => {
                let address = faults.value(&place, "a repository", repository(folder, &place.value))?;
                let revision = match rev {
                    Some(rev) => Some(faults.value(&rev, "a revision", revision(&rev.value))?),
                    None => None,
                };
                let subdirectory = match subdirectory {
                    Some(place) => Some(faults.value(&place, "a path", within(&place.value))?),
                    None => None,
                };
                let at = revision.as_ref().map(|rev| format!("@{rev}")).unwrap_or_default();
                let below = subdirectory.as_ref().map(|path| format!("#subdirectory={path}")).unwrap_or_default();
                let written = format!("git+{}{at}{below}", place.value);
                let repository = GitRepository { address, revision, subdirectory };
                Some(Origin { place: OriginPlace::Repository(repository), written })
            }
        }
    }
}

/// The absolute path of `text`, which is relative to `folder`.
pub(super) fn beside(folder: &Path, text: &str) -> Result<PathBuf, &'static str> {
    if text.is_empty() || text.contains(['\0', '\n']) {
        return Err("write a path, relative to the profile");
    }
    let mut path = folder.to_owned();
    for part in Path::new(text).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    Ok(path)
}

/// The address of a repository as git takes it.
fn repository(folder: &Path, text: &str) -> Result<String, &'static str> {
    let rule = "write https://HOST/PATH, ssh://HOST/PATH, git@HOST:PATH or the path of a folder";
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) || text.starts_with('-') || text.contains("::") {
        return Err(rule);
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let user = rest.split('/').next().and_then(|host| host.rsplit_once('@')).map_or("", |(user, _)| user);
        return match scheme {
            "https" if !user.is_empty() => {
                Err("leave out the user and the password: git's credential helpers know them")
            }
            "ssh" if user.contains(':') => Err("leave out the password"),
            "https" | "ssh" | "file" => Ok(text.to_owned()),
            "http" | "git" => Err("it is not encrypted: use https or ssh"),
            _ => Err(rule),
        };
    }
    if text.starts_with(['.', '/']) {
        return beside(folder, text).map(|path| path.display().to_string());
    }
    if text.split_once(':').is_some_and(|(host, path)| host.contains('@') && !path.is_empty()) {
        return Ok(text.to_owned());
    }
    Err(rule)
}

/// A name of a branch, a tag or a commit (`git-check-ref-format(1)`).
fn revision(text: &str) -> Result<String, &'static str> {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\@".contains(c);
    if text.is_empty() || text.starts_with('-') || text.contains("..") || text.chars().any(is_odd) {
        return Err("write the name of a branch or a tag, or a commit");
    }
    Ok(text.to_owned())
}

/// A path that stays within the repository.
fn within(text: &str) -> Result<String, &'static str> {
    let path = Path::new(text);
    let is_within = !text.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_within { Ok(text.to_owned()) } else { Err("write a path within the repository") }
}
