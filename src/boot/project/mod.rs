//! Packages that the profile takes from a folder, a repository or a file: each becomes a source distribution, or is a
//! wheel, that is pinned by its digest. A lock names the digest, and of a repository the commit.

mod git_checkout;
mod source_archive;
mod tree_files;

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::boot::index::{IndexSettings, ProjectMetadata, package_info_in, project_metadata, states_all};
use crate::boot::lock::{Lock, LockedTarget, LockedWheel, lock_path, uncovered};
use crate::boot::machine::Machine;
use crate::boot::profile::{Direct, GitRepository, Origin, OriginPlace, Profile, Wanted};
use crate::boot::session::Session;
use crate::core::diag::Failure;
use crate::core::host::digests::{digest, has_digest};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::wheel_names::sdist_version;
use crate::core::model::{PackageName, Sha256};

use git_checkout::{GitClone, is_commit};
use source_archive::{pack, stem};
use tree_files::{files_of, files_of_fields};

/// What is known when projects are looked for.
#[derive(Clone, Copy)]
pub struct ProjectSearch<'a> {
    /// The machine whose Python builds metadata that no file states; `None` where a lock knows it all.
    pub machine: Option<&'a Machine>,
    pub settings: &'a IndexSettings,
    /// An earlier lock: its commits stay.
    pub lock: Option<&'a Lock>,
    /// Which packages are to move on from it.
    pub moves: &'a dyn Fn(&PackageName) -> bool,
    /// What no file states is built again, though the files are those of the lock.
    pub again: bool,
    /// The folders were just compared with the lock, and have not changed.
    pub unchanged: bool,
}

impl<'a> ProjectSearch<'a> {
    /// What answers a lock: all of it stays.
    pub fn answering(machine: Option<&'a Machine>, settings: &'a IndexSettings, lock: Option<&'a Lock>) -> Self {
        Self { machine, settings, lock, moves: &|_| false, again: false, unchanged: false }
    }
}

/// An archive in the cache.
#[derive(Deserialize, Serialize)]
struct PackedProject {
    file: String,
    sha256: Sha256,
}

impl Session<'_> {
    /// `profile` with a file and its digest for each package that comes from a folder, a repository or a file.
    pub fn with_projects(&self, profile: &Profile, known: ProjectSearch<'_>) -> Result<Profile, Failure> {
        let mut whole = profile.clone();
        for wanted in &mut whole.wanted {
            let Some(origin) = wanted.origin.clone() else { continue };
            let failed = |failure| comes_from(failure, &wanted.name);
            let locked = known.lock.and_then(|lock| locked_file(lock, &wanted.name, &origin));
            let direct = match &origin.place {
                OriginPlace::File(path) => file(path),
                OriginPlace::Folder { path, editable } => {
                    self.folder(profile, wanted, (path, *editable), (locked, known))
                }
                OriginPlace::Repository(repository) => {
                    let locked = locked.filter(|_| !(known.moves)(&wanted.name));
                    self.repository(profile, wanted, repository, (locked, known))
                }
            };
            wanted.direct = Some(direct.map_err(failed)?);
        }
        Ok(whole)
    }

    /// Why `lock`, of which `targets` are used, does not answer `profile`: it lacks something, or a folder or a file
    /// has changed since. `None` if it answers.
    pub fn unanswered<'l>(
        &self,
        profile: &Profile,
        lock: &'l Lock,
        mut targets: impl Iterator<Item = &'l LockedTarget>,
    ) -> Result<Option<String>, Failure> {
        match targets.find_map(|target| uncovered(profile, target)) {
            Some(why) => Ok(Some(why)),
            None => self.changed_project(profile, lock),
        }
    }

    /// Why `lock` no longer answers for a package from a folder or a file, which has changed since; `None` where
    /// nothing has.
    fn changed_project(&self, profile: &Profile, lock: &Lock) -> Result<Option<String>, Failure> {
        for wanted in &profile.wanted {
            let Some(origin) = &wanted.origin else { continue };
            let Some(locked) = locked_file(lock, &wanted.name, origin) else {
                return Ok(Some(format!("it does not contain `{}` from `{}`", wanted.name, origin.written)));
            };
            let failed = |failure| comes_from(failure, &wanted.name);
            let is_same = match &origin.place {
                OriginPlace::File(path) => Some(file(path).map_err(failed)?.sha256) == locked.sha256,
                OriginPlace::Folder { path, editable } => self
                    .packed_as(profile, wanted, (path, *editable), locked)
                    .map_err(failed)?
                    .is_some_and(|packed| Some(Sha256::of(&packed)) == locked.sha256),
                OriginPlace::Repository(_) => true,
            };
            if !is_same {
                return Ok(Some(format!("`{}` has changed since", origin.written)));
            }
        }
        Ok(None)
    }

    /// The project in the folder at `path`.
    fn folder(
        &self,
        profile: &Profile,
        wanted: &Wanted,
        (path, editable): (&Path, bool),
        (locked, known): (Option<&LockedWheel>, ProjectSearch<'_>),
    ) -> Result<Direct, Failure> {
        let unchanged = locked.filter(|_| known.unchanged);
        if let Some(direct) = unchanged.and_then(|locked| self.in_cache(&locked.file, locked.sha256?, None)) {
            return Ok(direct);
        }
        if let Some(locked) = locked.filter(|_| !known.again || states_all(path))
            && let Some(packed) = self.packed_as(profile, wanted, (path, editable), locked)?
            && Some(Sha256::of(&packed)) == locked.sha256
        {
            return self.kept(&locked.file, &packed, None);
        }
        let (stem, info) = self.stem_of(profile, wanted, (path, editable), known)?;
        let packed = pack(path, &self.files_in(profile, path, editable)?, &stem, info.as_deref())?;
        self.kept(&format!("{stem}.tar.gz"), &packed, None)
    }

    /// The folder at `path` packed as the version that `locked` is; `None` where that is no source distribution.
    fn packed_as(
        &self,
        profile: &Profile,
        wanted: &Wanted,
        (path, editable): (&Path, bool),
        locked: &LockedWheel,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let Some(version) = sdist_version(&locked.file, &wanted.name) else { return Ok(None) };
        must_be_folder(path)?;
        // What a build has said of an editable project is not said by the files that are compared.
        let info = locked.sha256.filter(|_| editable && !states_all(path));
        let info = info.and_then(|sha256| package_info_in(&self.place_of(&locked.file, sha256)));
        pack(path, &self.files_in(profile, path, editable)?, &stem(&wanted.name, &version), info.as_deref()).map(Some)
    }

    /// The files of the project at `path`, without the profile and its lock: they may lie there, and change. Of an
    /// editable one, those that say how it is built.
    fn files_in(&self, profile: &Profile, path: &Path, editable: bool) -> Result<Vec<String>, Failure> {
        if editable {
            let is_its = |name: &String| {
                name == "setup.py" || [".toml", ".cfg", ".txt", ".in"].iter().any(|end| name.ends_with(end))
            };
            let own = own_files(profile)?;
            let names = files::names_in(path)?.into_iter().filter(is_its).chain(files_of_fields(path)?);
            let names: BTreeSet<String> = names.collect();
            return Ok(names
                .into_iter()
                .filter(|name| path.join(name).is_file_there() && !own.contains(&path.join(name)))
                .collect());
        }
        files_of(path, &own_files(profile)?, self.environment)
    }

    /// What the archive of the project in `folder` is named, without its ending; and its PKG-INFO where it is
    /// `editable` and its files do not state what it requires.
    fn stem_of(
        &self,
        profile: &Profile,
        wanted: &Wanted,
        (folder, editable): (&Path, bool),
        known: ProjectSearch<'_>,
    ) -> Result<(String, Option<String>), Failure> {
        must_be_folder(folder)?;
        let builder = known.machine.and_then(|machine| self.project_builder(known.settings, Some(profile), machine));
        let ProjectMetadata { name, version, requirements } = project_metadata(folder, editable, builder.as_ref())?;
        if name != wanted.name {
            return Err(Failure::input(format!("the project in `{}` is called `{name}`", folder.display()))
                .help(format!("use `{name}` in place of `{}`", wanted.name)));
        }
        let info = requirements.filter(|_| editable);
        let info = info.map(|lines| format!("Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n{lines}"));
        Ok((stem(&name, &version), info))
    }

    /// The project at the commit that is locked, else at that of its revision now.
    fn repository(
        &self,
        profile: &Profile,
        wanted: &Wanted,
        repository: &GitRepository,
        (locked, known): (Option<&LockedWheel>, ProjectSearch<'_>),
    ) -> Result<Direct, Failure> {
        let clone = GitClone::of(repository, &self.paths.cache, self.environment);
        let whole = repository.revision.clone().filter(|revision| is_commit(revision));
        let pinned = locked.and_then(|locked| locked.commit.clone()).or(whole);
        let commit = match pinned {
            Some(commit) => commit,
            None if known.settings.offline => {
                return Err(Failure::world(format!(
                    "the commit of `{}` is unknown without a network",
                    repository.address
                ))
                .help("run `colab-boot lock` once without --offline"));
            }
            None => {
                let _alone = clone.hold(&|line| self.say(line))?;
                self.say(&format!("fetching {}", repository.address));
                clone.commit()?
            }
        };
        let words =
            format!("{} {commit} {}", repository.address, repository.subdirectory.as_deref().unwrap_or_default());
        let note = self.archives().join(format!("{}.json", Sha256::of(words.as_bytes()).short()));
        let text = files::read_optional(&note)?.unwrap_or_default();
        if let Ok(PackedProject { file, sha256 }) = serde_json::from_str::<PackedProject>(&text)
            && let Some(direct) = self.in_cache(&file, sha256, Some(&commit))
        {
            return Ok(direct);
        }
        let locked = locked.filter(|locked| locked.commit.as_ref() == Some(&commit));
        if let Some(direct) = locked.and_then(|locked| in_wheelhouse(locked, known.settings)) {
            return Ok(direct);
        }
        let _alone = clone.hold(&|line| self.say(line))?;
        let (stem, packed) = clone.with_files(&commit, |folder| {
            let version = locked.and_then(|locked| sdist_version(&locked.file, &wanted.name));
            let stem = match version {
                Some(version) => stem(&wanted.name, &version),
                None => self.stem_of(profile, wanted, (folder, false), known)?.0,
            };
            let paths = files_of(folder, &[], self.environment)?;
            pack(folder, &paths, &stem, None).map(|packed| (stem, packed))
        })?;
        let file = format!("{stem}.tar.gz");
        let direct = self.kept(&file, &packed, Some(commit))?;
        let text = serde_json::to_string(&PackedProject { file, sha256: direct.sha256 }).unwrap_or_default();
        files::write_whole(&note, text.as_bytes())?;
        Ok(direct)
    }

    /// The archive `file`, if the cache has it.
    fn in_cache(&self, file: &str, sha256: Sha256, commit: Option<&String>) -> Option<Direct> {
        let place = self.place_of(file, sha256);
        let size = place.look().ok().filter(Metadata::is_file)?.len();
        direct(&place, (sha256, size), commit.cloned()).ok()
    }

    fn archives(&self) -> PathBuf {
        self.paths.cache.join("projects")
    }

    fn place_of(&self, file: &str, sha256: Sha256) -> PathBuf {
        self.archives().join(sha256.short()).join(file)
    }

    /// Keeps an archive in the cache.
    fn kept(&self, file: &str, packed: &[u8], commit: Option<String>) -> Result<Direct, Failure> {
        let sha256 = Sha256::of(packed);
        let place = self.place_of(file, sha256);
        if !place.is_file_there() {
            files::create_private_folder(&self.archives().join(sha256.short()))?;
            files::write_whole(&place, packed)?;
        }
        direct(&place, (sha256, packed.len() as u64), commit)
    }
}

/// `failure`, with the package that the profile takes from there.
fn comes_from(failure: Failure, name: &PackageName) -> Failure {
    failure.help(format!("`{name}` of the profile comes from there"))
}

/// What `lock` has for the package `name`, where that is from the same place.
fn locked_file<'l>(lock: &'l Lock, name: &PackageName, origin: &Origin) -> Option<&'l LockedWheel> {
    let mut packages = lock.targets.iter().filter_map(|target| target.package(name)?.wheel());
    packages.find(|wheel| wheel.from.as_deref() == Some(&*origin.written))
}

/// The profile and its lock.
fn own_files(profile: &Profile) -> Result<[PathBuf; 2], Failure> {
    let own = files::absolute(Path::new(&*profile.source.name))?;
    Ok([lock_path(&own, None), own])
}

/// The archive of a repository in a folder that `fetch` has filled.
fn in_wheelhouse(locked: &LockedWheel, settings: &IndexSettings) -> Option<Direct> {
    let sha256 = locked.sha256?;
    let mut places = settings.find_links.iter().filter_map(|folder| files::absolute(&folder.join(&locked.file)).ok());
    let place = places.find(|place| has_digest(place, sha256))?;
    direct(&place, (sha256, locked.size?), locked.commit.clone()).ok()
}

fn must_be_folder(path: &Path) -> Result<(), Failure> {
    if path.is_folder_there() {
        return Ok(());
    }
    Err(Failure::input(format!("there is no folder `{}`", path.display())))
}

/// A wheel or a source distribution of this machine.
fn file(path: &Path) -> Result<Direct, Failure> {
    let found =
        digest(path).map_err(|error| Failure::input(format!("could not read `{}`", path.display())).because(&error))?;
    direct(path, found, None)
}

fn direct(path: &Path, (sha256, size): (Sha256, u64), commit: Option<String>) -> Result<Direct, Failure> {
    let url = Url::from_file_path(path);
    let url = url.map_err(|()| Failure::input(format!("the path `{}` can't be converted to a URL", path.display())))?;
    Ok(Direct { url, sha256, size: Some(size), commit })
}
