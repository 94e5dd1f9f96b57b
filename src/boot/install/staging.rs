//! Wheels are staged: all of them are beside the environment, whole and checked, before anything in it changes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::boot::files::{Downloaded, WrittenFile};
use crate::boot::install::bases::{STAGE_PREFIX, StageFolders, bases, split};
use crate::boot::install::own_metadata::{INSTALLER, record};
use crate::boot::install::staged::{Staged, StagedPackage};
use crate::boot::install::unpacked_members::{MemberTarget, Packed, unpack, write_made};
use crate::boot::install::wheel_tree::WheelTree;
use crate::boot::machine::Layout;
use crate::core::diag::{Code, Failure, Finding, Kind, Subject};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::parse_record;
use crate::core::model::{PackageName, Sha256, Version};

/// A wheel that is to be installed.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    pub name: &'a PackageName,
    pub version: &'a Version,
    pub wheel: &'a Downloaded,
    pub sha256: Sha256,
    /// Somebody has asked for it by name.
    pub requested: bool,
}

/// Where wheels are staged.
#[derive(Clone, Copy)]
pub struct Staging<'a> {
    pub layout: &'a Layout,
    /// The interpreter that scripts name.
    pub python: &'a Path,
    /// Whether to end at once, with whatever is there.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Stages `incoming`; `removed` go without a successor. Where it fails, for a wheel that is not what it should be or a
/// disk that is full, nothing is left of it.
pub fn stage(incoming: &[Incoming<'_>], removed: Vec<PackageName>, staging: &Staging<'_>) -> Result<Staged, Failure> {
    let Staging { layout, python, is_stopped } = *staging;
    let trees = incoming
        .iter()
        .map(|one| WheelTree::of(one.wheel, one.name, layout, python).map_err(|fault| malformed(one, &fault)));
    let trees: Vec<WheelTree<'_>> = trees.collect::<Result<_, _>>()?;
    must_have_room_for_each_other(incoming, &trees)?;
    if incoming.is_empty() && removed.is_empty() {
        return Ok(Staged { folders: Vec::new(), layout: layout.clone(), packages: Vec::new(), removed });
    }
    let beside = StageFolders::create(layout)?;
    let staged = Stage { incoming, trees, beside: &beside, python, is_stopped }.fill();
    let packages = staged.inspect_err(|_| drop_folders(beside.folders()))?;
    Ok(Staged { folders: beside.folders().to_vec(), layout: layout.clone(), packages, removed })
}

/// Fails where one wheel has a file that is a folder for another one, or for itself.
fn must_have_room_for_each_other(incoming: &[Incoming<'_>], trees: &[WheelTree<'_>]) -> Result<(), Failure> {
    let places = || {
        let each = incoming.iter().zip(trees);
        each.flat_map(|(one, tree)| tree.places().map(|place| (place.as_path(), one.name)))
    };
    let owners: HashMap<&Path, &PackageName> = places().collect();
    let mut seen: HashSet<&Path> = HashSet::new();
    for (place, name) in places() {
        // With a folder that was looked at, those above it were.
        let mut new = place.ancestors().skip(1).take_while(|folder| seen.insert(folder));
        let Some((file, owner)) = new.find_map(|folder| owners.get_key_value(folder)) else { continue };
        let message = format!("`{}` is a file of {owner} and a folder of {name}", file.display());
        let finding = Finding::error(Code::WheelMalformed, message).about(Subject::package(name));
        let finding = finding.about(Subject::package(owner));
        let finding = finding.with_help("nothing was changed; choose another release of one of them");
        return Err(Failure::from_findings(Kind::Answer, vec![finding]));
    }
    Ok(())
}

/// That the wheel has a `fault`.
fn malformed(one: &Incoming<'_>, fault: &str) -> Failure {
    let message = format!("the wheel of {} {} {fault}", one.name, one.version);
    let finding = Finding::error(Code::WheelMalformed, message).about(Subject::release(one.name, one.version));
    let finding = finding.with_help("nothing was changed; choose another release");
    Failure::from_findings(Kind::Answer, vec![finding])
}

pub(super) fn drop_folders(folders: &[PathBuf]) {
    for folder in folders.iter().collect::<BTreeSet<_>>() {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Removes what runs that were killed have staged in `layout`.
pub(super) fn drop_abandoned(layout: &Layout) {
    for base in bases(layout) {
        let names = files::names_if_any(&base).into_iter().filter(|name| name.starts_with(STAGE_PREFIX));
        drop_folders(&names.map(|name| base.join(name)).collect::<Vec<_>>());
    }
}

/// A stage that is being filled.
struct Stage<'a> {
    incoming: &'a [Incoming<'a>],
    trees: Vec<WheelTree<'a>>,
    beside: &'a StageFolders,
    python: &'a Path,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Stage<'_> {
    fn fill(&self) -> Result<Vec<StagedPackage>, Failure> {
        self.create_folders()?;
        let mut packed = Vec::new();
        for (at, one) in self.incoming.iter().enumerate() {
            let path = &one.wheel.path;
            let file = files::open(path)
                .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error))?;
            let targets = self.trees[at].planned.iter().map(|planned| MemberTarget {
                member: planned.member,
                path: self.staged_path(at, &planned.place),
                place: planned.place.clone(),
                executable: planned.executable,
                python: planned.is_script.then_some(self.python),
            });
            packed.push(Packed {
                path,
                stamp: Stamp::of_open(&file).unwrap_or(Stamp::UNKNOWN),
                file,
                sha256: one.sha256,
                targets: targets.collect(),
            });
        }
        let unpacked = unpack(&mut packed, self.is_stopped)?;
        drop(packed);
        unpacked.into_iter().enumerate().map(|(at, files)| self.finish(at, files)).collect()
    }

    /// Where the file of the wheel `at` that will stand at `place` lies until then.
    fn staged_path(&self, at: usize, place: &Path) -> PathBuf {
        match split(place, self.beside.bases()) {
            Some((base, rest)) => self.tree_folder(at, base).join(rest),
            // No scheme leads there.
            None => self.beside.folders()[0].join(at.to_string()).join("nowhere"),
        }
    }

    /// The folder of the wheel `at` that is an image of the base with this number.
    fn tree_folder(&self, at: usize, base: usize) -> PathBuf {
        self.beside.folders()[base].join(at.to_string()).join(base.to_string())
    }

    fn create_folders(&self) -> Result<(), Failure> {
        let mut folders = BTreeSet::new();
        for (at, tree) in self.trees.iter().enumerate() {
            folders.extend(tree.places().filter_map(|place| Some(self.staged_path(at, place).parent()?.to_owned())));
            folders.insert(self.staged_path(at, &tree.site.join(&tree.info)));
        }
        let mut all: BTreeSet<&Path> = BTreeSet::new();
        for folder in &folders {
            all.extend(folder.ancestors().take_while(|one| !self.beside.folders().iter().any(|top| top == one)));
        }
        // Outer ones come first.
        let failed = |folder: &Path, error: &std::io::Error| {
            Failure::world(format!("could not create the folder `{}`", folder.display())).because(error)
        };
        for folder in &all {
            std::fs::create_dir(folder).map_err(|error| failed(folder, &error))?;
        }
        // Whatever the umask is, others may read what is installed.
        let usual = std::fs::Permissions::from_mode(0o755);
        let is_cut = |folder: &Path| folder.look().is_ok_and(|data| data.permissions().mode() & 0o777 != 0o755);
        if all.first().is_some_and(|folder| is_cut(folder)) {
            for folder in &all {
                std::fs::set_permissions(folder, usual.clone()).map_err(|error| failed(folder, &error))?;
            }
        }
        Ok(())
    }

    /// What is staged of the wheel `at`, with the files that are made for it.
    fn finish(&self, at: usize, mut files: Vec<WrittenFile>) -> Result<StagedPackage, Failure> {
        let (one, tree) = (&self.incoming[at], &self.trees[at]);
        self.must_be_as_recorded(at, &files)?;
        let info = tree.site.join(&tree.info);
        let write = |place: PathBuf, bytes: &[u8], executable: bool| {
            write_made(&self.staged_path(at, &place), place, bytes, executable)
        };
        for script in &tree.scripts {
            files.push(write(script.place.clone(), &script.bytes, true)?);
        }
        files.push(write(info.join("INSTALLER"), format!("{INSTALLER}\n").as_bytes(), false)?);
        if one.requested {
            files.push(write(info.join("REQUESTED"), b"", false)?);
        }
        let list = record(&files, &tree.info, tree.site)?;
        files.push(write(info.join("RECORD"), &list, false)?);
        let used: BTreeSet<usize> =
            files.iter().filter_map(|file| Some(split(&file.place, self.beside.bases())?.0)).collect();
        let trees = used.into_iter().map(|base| (self.tree_folder(at, base), self.beside.bases()[base].clone()));
        Ok(StagedPackage {
            name: one.name.clone(),
            version: one.version.clone(),
            wheel: one.sha256,
            site: tree.site.to_owned(),
            info: tree.info.clone(),
            trees: trees.collect(),
            files,
        })
    }

    /// Fails where a file of the wheel `at` has other bytes than its RECORD says.
    fn must_be_as_recorded(&self, at: usize, files: &[WrittenFile]) -> Result<(), Failure> {
        let (one, tree) = (&self.incoming[at], &self.trees[at]);
        let recorded: HashMap<String, Sha256> =
            parse_record(&one.wheel.record).into_iter().filter_map(|entry| Some((entry.path, entry.sha256?))).collect();
        let written: HashMap<&Path, Sha256> = files.iter().map(|file| (file.place.as_path(), file.sha256)).collect();
        let differs = tree.planned.iter().filter(|planned| !planned.is_script).find(|planned| {
            let expected = recorded.get(&planned.member.path);
            expected.is_some_and(|expected| written.get(planned.place.as_path()) != Some(expected))
        });
        let Some(planned) = differs else { return Ok(()) };
        let path = planned.member.path.escape_debug();
        Err(malformed(one, &format!("has other bytes in `{path}` than its RECORD says")))
    }
}
