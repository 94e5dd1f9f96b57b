//! Wheels are staged: all of them are beside the environment, whole and checked, before anything in it changes. They
//! are unpacked on all cores while others are looked at, or still arrive.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::boot::files::{Downloaded, WrittenFile};
use crate::boot::install::bases::{StageFolders, drop_folder, split};
use crate::boot::install::output::write_made;
use crate::boot::install::own_metadata::record;
use crate::boot::install::packed::{MemberTarget, Packed, unreadable};
use crate::boot::install::queue::{BEHIND_THE_NETWORK, Queue};
use crate::boot::install::staged::{Staged, StagedPackage};
use crate::boot::install::stored_members::keep_in;
use crate::boot::install::unpacked_members::{Unpacking, tasks_of};
use crate::boot::install::wheel_tree::WheelTree;
use crate::boot::machine::Layout;
use crate::boot::store::Store;
use crate::core::diag::{Code, Failure, Finding, Kind, Subject};
use crate::core::host::bell::Bell;
use crate::core::host::mounts::Look;
use crate::core::host::mutex::held;
use crate::core::host::stamps::Stamp;
use crate::core::model::wheel_names::INSTALLER;
use crate::core::model::{PackageName, Sha256, Version};

/// A wheel that is to be installed.
#[derive(Clone)]
pub struct Incoming {
    pub name: PackageName,
    pub version: Version,
    pub wheel: Arc<Downloaded>,
    pub sha256: Sha256,
    /// Somebody has asked for it by name.
    pub requested: bool,
    /// The text of its `direct_url.json`, where it is from no index.
    pub direct_url: Option<String>,
}

/// Where wheels are staged.
#[derive(Clone, Copy)]
pub struct Staging<'a> {
    pub layout: &'a Layout,
    /// The interpreter that scripts name.
    pub python: &'a Path,
    /// Where what is unpacked is kept for others.
    pub store: &'a Store,
    /// Whether to end at once, with whatever is there.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Rings when something of a wheel has arrived.
    pub bell: &'a Arc<Bell>,
    /// Called where the rest is not needed any more; what waits for wheels has to end then.
    pub give_up: &'a (dyn Fn(&Failure) + Sync),
}

/// Stages what `fill` adds. Wheels are unpacked while `fill` is at work. Where it or that fails, for a wheel that is
/// not what it should be or a disk that is full, nothing is left of it.
pub fn stage<R>(
    staging: &Staging<'_>,
    fill: impl FnOnce(&Stage<'_>) -> Result<R, Failure>,
) -> Result<(R, Staged), Failure> {
    let stage = Stage::new(staging)?;
    let filled = std::thread::scope(|scope| {
        let watching = Watching::begin(&stage);
        std::thread::Builder::new()
            .spawn_scoped(scope, || stage.watch())
            .map_err(|error| Failure::world("could not start a thread").because(&error))?;
        let filled = stage.fill(fill);
        drop(watching);
        filled
    });
    let outcome = stage.outcome(filled);
    if outcome.is_err() {
        drop_folders(stage.beside.folders());
    }
    outcome
}

/// Ends the work where adding to it has panicked: threads that nobody ends are waited for without end.
struct Closing<'a>(&'a Stage<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.queue.give_up(None);
        }
    }
}

/// While it lives, a thread looks whether the user wants the end.
struct Watching<'a>(&'a Stage<'a>);

impl<'a> Watching<'a> {
    fn begin(stage: &'a Stage<'a>) -> Self {
        stage.is_watched.store(true, Ordering::Release);
        Self(stage)
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.is_watched.store(false, Ordering::Release);
        self.0.staging.bell.ring();
    }
}

/// That the wheel has a `fault`.
fn malformed(one: &Incoming, fault: &str) -> Failure {
    let message = format!("the wheel of {} {} {fault}", one.name, one.version);
    let finding = Finding::error(Code::WheelMalformed, message).about(Subject::release(&one.name, &one.version));
    let finding = finding.with_help("nothing was changed; choose another release");
    Failure::from_findings(Kind::Answer, vec![finding])
}

pub(super) fn drop_folders(folders: &[PathBuf]) {
    for folder in folders.iter().collect::<BTreeSet<_>>() {
        drop_folder(folder);
    }
}

/// Wheels that are being unpacked beside the environment.
pub struct Stage<'a> {
    staging: Staging<'a>,
    beside: StageFolders,
    python: Arc<Path>,
    queue: Queue<Unpacking>,
    wheels: Mutex<Vec<Arc<InStage>>>,
    /// Bytes that are still to be written.
    outstanding: AtomicU64,
    is_watched: AtomicBool,
}

/// A wheel in a stage.
struct InStage {
    incoming: Incoming,
    tree: WheelTree,
    /// Tasks that are left.
    left: AtomicUsize,
    files: Mutex<Vec<WrittenFile>>,
    staged: Mutex<Option<StagedPackage>>,
}

impl<'a> Stage<'a> {
    fn new(staging: &Staging<'a>) -> Result<Self, Failure> {
        Ok(Self {
            staging: *staging,
            beside: StageFolders::create(staging.layout)?,
            python: Arc::from(staging.python),
            queue: Queue::new(Arc::clone(staging.bell)),
            wheels: Mutex::default(),
            outstanding: AtomicU64::new(0),
            is_watched: AtomicBool::new(false),
        })
    }

    /// Calls `fill`, while threads do what it adds; then does what is left.
    fn fill<R>(&self, fill: impl FnOnce(&Self) -> Result<R, Failure>) -> Result<R, Failure> {
        std::thread::scope(|scope| {
            let closing = Closing(self);
            let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
            for _ in 1..cores + BEHIND_THE_NETWORK {
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, || self.work()) {
                    self.queue.give_up(None);
                    return Err(Failure::world("could not start a thread").because(&error));
                }
            }
            let filled = fill(self).and_then(|filled| self.must_have_room_for_each_other().map(|()| filled));
            match &filled {
                Ok(_) => self.queue.close(),
                Err(failure) => {
                    self.queue.give_up(None);
                    (self.staging.give_up)(failure);
                }
            }
            drop(closing);
            self.work();
            filled
        })
    }

    /// Bytes that wheels of this stage are still to become.
    pub fn outstanding(&self) -> u64 {
        self.outstanding.load(Ordering::Relaxed)
    }

    /// Adds a wheel, which begins to be unpacked.
    pub fn add(&self, incoming: Incoming) -> Result<(), Failure> {
        let wheel = Arc::clone(&incoming.wheel);
        let tree = WheelTree::of(&wheel, &incoming.name, self.staging.layout, self.staging.python)
            .map_err(|fault| malformed(&incoming, &fault))?;
        let path = wheel.source.path().to_owned();
        let open = wheel.source.open().map_err(|error| unreadable(&path, &error))?;
        let at = held(&self.wheels).len();
        self.create_folders(at, &tree)?;
        let mut targets = Vec::with_capacity(tree.planned.len());
        for planned in &tree.planned {
            targets.push(MemberTarget {
                member: planned.member,
                path: self.staged_path(at, &planned.place)?,
                place: planned.place.clone(),
                executable: planned.executable,
                python: planned.is_script.then(|| Arc::clone(&self.python)),
            });
        }
        targets.sort_by_key(|target| wheel.files.members[target.member].offset);
        let stamp = open.file().and_then(|file| Stamp::of_open(file).ok()).unwrap_or(Stamp::UNKNOWN);
        if open.stored().is_none() {
            self.outstanding.fetch_add(wheel.files.unpacked(), Ordering::Relaxed);
        }
        let packed =
            Packed { at, path, open, stamp, sha256: incoming.sha256, wheel, targets, templates: Mutex::default() };
        let tasks = tasks_of(&Arc::new(packed));
        let (left, files) = (AtomicUsize::new(tasks.len()), Mutex::default());
        held(&self.wheels).push(Arc::new(InStage { incoming, tree, left, files, staged: Mutex::default() }));
        self.queue.add(tasks);
        Ok(())
    }

    /// Does what there is to do, until all of it is done or one thing has failed.
    fn work(&self) {
        while let Some(taken) = self.queue.next() {
            let done = self.perform(&taken.work);
            self.queue.done(&taken);
            if let Err(failure) = done
                && self.queue.give_up(Some(failure.clone()))
            {
                (self.staging.give_up)(&failure);
            }
        }
    }

    /// Ends the work where the user wants the end.
    fn watch(&self) {
        loop {
            let rung = self.staging.bell.count();
            if !self.is_watched.load(Ordering::Acquire) {
                return;
            }
            if (self.staging.is_stopped)() {
                let stopped = Failure::world("stopped before all wheels were unpacked");
                self.queue.give_up(Some(stopped.clone()));
                (self.staging.give_up)(&stopped);
            }
            self.staging.bell.wait(rung);
        }
    }

    fn perform(&self, task: &Unpacking) -> Result<(), Failure> {
        let written = task.perform()?;
        let wheel = Arc::clone(&held(&self.wheels)[task.packed.at]);
        if task.packed.open.stored().is_none() {
            self.outstanding.fetch_sub(written.iter().map(|file| file.size).sum(), Ordering::Relaxed);
        }
        held(&wheel.files).extend(written);
        if wheel.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            task.packed.must_be_as_opened()?;
            let package = self.finish(&task.packed, &wheel)?;
            *held(&wheel.staged) = Some(package);
        }
        Ok(())
    }

    /// What has become of it.
    fn outcome<R>(&self, filled: Result<R, Failure>) -> Result<(R, Staged), Failure> {
        // What is wrong by what wheels say of themselves is said before what is wrong with their bytes.
        let filled = filled?;
        if let Some(failure) = self.queue.failure() {
            return Err(failure);
        }
        let packages: Option<Vec<StagedPackage>> =
            held(&self.wheels).iter().map(|wheel| held(&wheel.staged).take()).collect();
        let packages = packages.ok_or_else(|| Failure::bug("a wheel was not unpacked"))?;
        Ok((filled, Staged::new(self.staging.layout.clone(), self.beside.folders().to_vec(), packages)))
    }

    /// Fails where one wheel has a file that is a folder for another one, or for itself.
    fn must_have_room_for_each_other(&self) -> Result<(), Failure> {
        let wheels = held(&self.wheels);
        let places = || wheels.iter().flat_map(|one| one.tree.places().map(|place| (place, &one.incoming.name)));
        let owners: HashMap<&OsStr, &PackageName> = places().map(|(place, name)| (place.as_os_str(), name)).collect();
        let mut seen: HashSet<&OsStr> = HashSet::new();
        for (place, name) in places() {
            // With a folder that was looked at, those above it were.
            let mut new = place.ancestors().skip(1).take_while(|folder| seen.insert(folder.as_os_str()));
            let Some((file, owner)) = new.find_map(|folder| owners.get_key_value(folder.as_os_str())) else { continue };
            let message = format!("`{}` is a file of {owner} and a folder of {name}", Path::new(file).display());
            let finding = Finding::error(Code::WheelMalformed, message).about(Subject::package(name));
            let finding = finding.about(Subject::package(owner));
            let finding = finding.with_help("nothing was changed; choose another release of one of them");
            return Err(Failure::from_findings(Kind::Answer, vec![finding]));
        }
        Ok(())
    }

    /// Where the file of the wheel `at` that will stand at `place` lies until then.
    fn staged_path(&self, at: usize, place: &Path) -> Result<PathBuf, Failure> {
        let split = split(place, self.beside.bases());
        let (base, rest) = split.ok_or_else(|| Failure::bug(format!("`{}` is in no scheme", place.display())))?;
        Ok(self.tree_folder(at, base).join(rest))
    }

    /// The folder of the wheel `at` that is an image of the base with this number.
    fn tree_folder(&self, at: usize, base: usize) -> PathBuf {
        self.beside.folders()[base].join(at.to_string()).join(base.to_string())
    }

    fn create_folders(&self, at: usize, tree: &WheelTree) -> Result<(), Failure> {
        let mut folders: BTreeSet<&Path> = tree.places().filter_map(|place| place.parent()).collect();
        let info = tree.site.join(&tree.info);
        folders.insert(&info);
        let mut all: BTreeSet<PathBuf> = BTreeSet::new();
        for folder in folders {
            let staged = self.staged_path(at, folder)?;
            let is_top = |one: &Path| self.beside.folders().iter().any(|top| top == one);
            let new = staged.ancestors().take_while(|one| !all.contains(*one) && !is_top(one));
            let new: Vec<PathBuf> = new.map(Path::to_owned).collect();
            all.extend(new);
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
        let is_cut = |folder: &PathBuf| folder.look().is_ok_and(|data| data.permissions().mode() & 0o777 != 0o755);
        if all.first().is_some_and(is_cut) {
            for folder in &all {
                std::fs::set_permissions(folder, usual.clone()).map_err(|error| failed(folder, &error))?;
            }
        }
        Ok(())
    }

    /// What is staged of a wheel, with the files that are made for it.
    fn finish(&self, packed: &Packed, wheel: &InStage) -> Result<StagedPackage, Failure> {
        let (at, one, tree) = (packed.at, &wheel.incoming, &wheel.tree);
        let mut files = std::mem::take(&mut *held(&wheel.files));
        must_be_as_recorded(one, tree, &files)?;
        if let Some(stored) = packed.open.stored() {
            stored.keep_times();
        } else if tree.is_whole {
            keep_in(self.staging.store, packed, &files);
        }
        let info = tree.site.join(&tree.info);
        let write = |place: PathBuf, bytes: &[u8], executable: bool| {
            write_made(&self.staged_path(at, &place)?, place, bytes, executable)
        };
        for script in &tree.scripts {
            files.push(write(script.place.clone(), &script.bytes, true)?);
        }
        files.push(write(info.join("INSTALLER"), format!("{INSTALLER}\n").as_bytes(), false)?);
        if one.requested {
            files.push(write(info.join("REQUESTED"), b"", false)?);
        }
        if let Some(text) = &one.direct_url {
            files.push(write(info.join("direct_url.json"), text.as_bytes(), false)?);
        }
        let list = record(&files, &tree.info, &tree.site)?;
        files.push(write(info.join("RECORD"), &list, false)?);
        let used: BTreeSet<usize> =
            files.iter().filter_map(|file| Some(split(&file.place, self.beside.bases())?.0)).collect();
        let trees = used.into_iter().map(|base| (self.tree_folder(at, base), self.beside.bases()[base].clone()));
        Ok(StagedPackage {
            name: one.name.clone(),
            version: one.version.clone(),
            wheel: one.sha256,
            site: tree.site.clone(),
            info: tree.info.clone(),
            trees: trees.collect(),
            files,
        })
    }
}

/// Fails where a file of a wheel has other bytes than its RECORD says.
fn must_be_as_recorded(one: &Incoming, tree: &WheelTree, files: &[WrittenFile]) -> Result<(), Failure> {
    let entries = one.wheel.entries().iter();
    let recorded: HashMap<&str, Sha256> =
        entries.filter_map(|entry| Some((entry.path.as_str(), entry.sha256?))).collect();
    let written: HashMap<&OsStr, Sha256> = files.iter().map(|file| (file.place.as_os_str(), file.sha256)).collect();
    let path = |member: usize| one.wheel.files.members[member].path.as_str();
    let differs = tree.planned.iter().filter(|planned| !planned.is_script).find(|planned| {
        let expected = recorded.get(path(planned.member));
        expected.is_some_and(|expected| written.get(planned.place.as_os_str()) != Some(expected))
    });
    let Some(planned) = differs else { return Ok(()) };
    let path = path(planned.member).escape_debug();
    Err(malformed(one, &format!("has other bytes in `{path}` than its RECORD says")))
}
