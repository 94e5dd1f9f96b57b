//! The switch: package by package, the old metadata goes first and the new comes last, so that half a package never
//! counts as installed. A folder that holds nothing else is exchanged as a whole, in one call; elsewhere each file is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::boot::files::Claims;
use crate::boot::install::bases::{ASIDE, bases, split, touch};
use crate::boot::install::going::Going;
use crate::boot::install::staged::{Staged, StagedPackage};
use crate::boot::install::switch_journal::{Journal, JournalEntry};
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::PackageName;

/// What `statfs` says of overlayfs (`OVERLAYFS_SUPER_MAGIC` of linux/magic.h).
const OVERLAY: i64 = 0x794c_7630;

/// Puts what is `staged` in its place, and moves aside what it replaces. The journal at `journal` says how far it has
/// come: where this fails or is killed, [`undo`](crate::boot::install::undo) brings back what was.
pub fn switch(staged: &Staged, journal: &Path) -> Result<(), Failure> {
    let layout = &staged.layout;
    let names: BTreeSet<&PackageName> =
        staged.packages.iter().map(|package| &package.name).chain(&staged.removed).collect();
    let others = Claims::of(layout, &|name| !names.contains(name))?;
    let mut going = BTreeMap::new();
    for name in names {
        going.insert(name, Going::of(name, layout, &others, staged.corrections.get(name))?);
    }
    going.values().for_each(copy_up);
    let journal = Journal::begin(journal, &staged.folders)?;
    touch(&staged.folders)?;
    let mut switch = Switch { staged, bases: bases(layout), journal, next: 0, package: 0, come: HashMap::new() };
    for name in &staged.removed {
        switch.package(name, &going[name], None)?;
    }
    for package in &staged.packages {
        switch.package(&package.name, &going[&package.name], Some(package))?;
    }
    Ok(())
}

struct Switch<'a> {
    staged: &'a Staged,
    bases: Vec<PathBuf>,
    journal: Journal,
    /// The number of what is moved aside next.
    next: usize,
    /// How many packages were switched.
    package: usize,
    /// What these have brought and this one brings, each with how many were before; of that, nothing goes.
    come: HashMap<&'a OsStr, usize>,
}

impl<'a> Switch<'a> {
    /// Switches one package.
    fn package(&mut self, name: &PackageName, going: &Going, new: Option<&'a StagedPackage>) -> Result<(), Failure> {
        for info in &going.infos {
            self.move_aside(info)?;
        }
        if let Some(new) = new {
            for file in &new.files {
                self.come.entry(file.place.as_os_str()).or_insert(self.package);
            }
            let info = new.site.join(&new.info);
            for (tree, base) in &new.trees {
                self.bring_all(tree, base, going, Some(&info))?;
            }
            self.remove_the_rest(going)?;
            for (tree, _) in new.trees.iter().filter(|(_, base)| *base == new.site) {
                self.bring(&tree.join(&new.info), &info, going)?;
            }
        } else {
            self.remove_the_rest(going)?;
        }
        self.package += 1;
        self.journal.add(&JournalEntry::Done { name: name.to_string() })
    }

    /// Whether the file at `place` has come, and stays.
    fn has_come(&self, place: &Path) -> bool {
        self.come.contains_key(place.as_os_str())
    }

    /// Whether an earlier package has brought the file at `place`.
    fn came_earlier(&self, place: &Path) -> bool {
        self.come.get(place.as_os_str()).is_some_and(|package| *package < self.package)
    }

    /// Brings the file or folder at `staged` to `live`.
    fn bring(&mut self, staged: &Path, live: &Path, going: &Going) -> Result<(), Failure> {
        let Ok(there) = live.look_at_entry() else {
            // A base may not exist yet: `bin` of an environment without programs.
            live.parent().map_or(Ok(()), files::create_folder)?;
            return self.rename(staged, live);
        };
        let is_folder = staged.look_at_entry().is_ok_and(|data| data.is_dir());
        let onto_folder = is_folder && (there.is_dir() || there.is_symlink() && live.is_folder_there());
        if !onto_folder {
            return self.exchange(staged, live).map_err(|error| cannot(staged, live, error));
        }
        if there.is_dir() && all_goes(live, going, &|place| self.came_earlier(place)) {
            match self.exchange(staged, live) {
                // A folder of a layer below, of overlayfs.
                Err(Errno::XDEV) => {}
                exchanged => return exchanged.map_err(|error| cannot(staged, live, error)),
            }
        }
        self.bring_all(staged, live, going, None)
    }

    /// Brings all that is in the folder `staged` into the folder `live`, but for the one that is to come `last`.
    fn bring_all(&mut self, staged: &Path, live: &Path, going: &Going, last: Option<&Path>) -> Result<(), Failure> {
        let mut sources = BTreeSet::new();
        for name in files::names_in(staged)? {
            let place = live.join(&name);
            if last != Some(place.as_path()) {
                sources.extend(name.strip_suffix(".py").map(str::to_owned));
                self.bring(&staged.join(&name), &place, going)?;
            }
        }
        self.move_compiled(live, &sources)
    }

    /// Moves aside what Python has compiled of `sources`, the names of modules in `folder`.
    fn move_compiled(&mut self, folder: &Path, sources: &BTreeSet<String>) -> Result<(), Failure> {
        let cache = folder.join("__pycache__");
        if sources.is_empty() || !cache.look_at_entry().is_ok_and(|data| data.is_dir()) {
            return Ok(());
        }
        for name in files::names_in(&cache)? {
            let is_of_one = name.ends_with(".pyc") && sources.contains(name.split('.').next().unwrap_or_default());
            let place = cache.join(&name);
            if is_of_one && !self.has_come(&place) {
                self.move_aside(&place)?;
            }
        }
        Ok(())
    }

    /// Moves aside what of `going` is left, folders that hold nothing else as a whole.
    fn remove_the_rest(&mut self, going: &Going) -> Result<(), Failure> {
        let mut folders: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        for place in going.places().filter(|place| !self.has_come(place)) {
            if let (Some(folder), Some(name)) = (place.parent(), place.file_name()) {
                folders.entry(folder.to_owned()).or_default().insert(name.to_string_lossy().into_owned());
            }
        }
        // Outer folders first: with one that goes as a whole, all within it are gone.
        for folder in folders.keys() {
            self.move_whole(folder, going)?;
        }
        for (folder, names) in &folders {
            let mut sources = BTreeSet::new();
            for name in names {
                let place = folder.join(name);
                // A folder in the place of a file has come, unless all of it goes.
                let is_new = |data: &Metadata| data.is_dir() && !all_goes(&place, going, &|one| self.has_come(one));
                if place.look_at_entry().is_ok_and(|data| !is_new(&data)) {
                    self.move_aside(&place)?;
                }
                sources.extend(name.strip_suffix(".py").map(str::to_owned));
            }
            self.move_compiled(folder, &sources)?;
        }
        let mut above: BTreeSet<&Path> = BTreeSet::new();
        for folder in folders.keys() {
            above.extend(self.within_base(folder));
        }
        above.into_iter().rev().try_for_each(|folder| self.remove_empty(folder))
    }

    /// Moves the outermost of `folder` and those above it aside in which everything goes.
    fn move_whole(&mut self, folder: &Path, going: &Going) -> Result<(), Failure> {
        let real = self.within_base(folder).filter(|one| one.look_at_entry().is_ok_and(|data| data.is_dir()));
        let whole =
            real.take_while(|one| all_goes(one, going, &|place| self.has_come(place))).last().map(ToOwned::to_owned);
        match whole.map(|whole| self.try_move_aside(&whole)) {
            // File by file, then.
            None | Some(Ok(()) | Err(Errno::XDEV)) => Ok(()),
            Some(Err(error)) => Err(cannot(folder, &self.staged.folders[0], error)),
        }
    }

    /// Removes `folder`, where it is empty but for an empty folder for what Python compiles.
    fn remove_empty(&mut self, folder: &Path) -> Result<(), Failure> {
        let Ok(data) = folder.look_at_entry() else { return Ok(()) };
        if !data.is_dir() || !is_empty(folder) {
            return Ok(());
        }
        match self.try_move_aside(folder) {
            Ok(()) => Ok(()),
            Err(Errno::XDEV) => {
                self.journal
                    .add(&JournalEntry::Remove { folder: folder.to_owned(), mode: data.permissions().mode() })?;
                // What is not empty stays.
                let _ = std::fs::remove_dir(folder);
                Ok(())
            }
            Err(error) => Err(cannot(folder, &self.staged.folders[0], error)),
        }
    }

    /// `folder` and those above it, up to the base that they lie in.
    fn within_base<'b>(&self, folder: &'b Path) -> impl Iterator<Item = &'b Path> + use<'_, 'a, 'b> {
        folder.ancestors().take_while(|one| split(one, &self.bases).is_some_and(|(_, rest)| rest != ""))
    }

    fn move_aside(&mut self, place: &Path) -> Result<(), Failure> {
        let moved = match self.try_move_aside(place) {
            Err(Errno::XDEV) => {
                let aside = self.next_aside(place);
                self.take_apart(place, &aside)
            }
            moved => moved,
        };
        moved.map_err(|error| cannot(place, &self.staged.folders[0], error))
    }

    fn try_move_aside(&mut self, place: &Path) -> Result<(), Errno> {
        let aside = self.next_aside(place);
        self.move_to(place, &aside)
    }

    /// Where what lies at `place` goes: on the same file system.
    fn next_aside(&mut self, place: &Path) -> PathBuf {
        let base = split(place, &self.bases).map_or(0, |(base, _)| base);
        self.next += 1;
        self.staged.folders[base].join(ASIDE).join(self.next.to_string())
    }

    fn move_to(&mut self, place: &Path, aside: &Path) -> Result<(), Errno> {
        let inode = inode_of(place)?;
        self.add(&JournalEntry::Move { from: place.to_owned(), to: aside.to_owned(), inode })?;
        let moved = rustix::fs::rename(place, aside);
        self.or_refused(moved)
    }

    /// Notes it where what is in the journal has not happened.
    fn or_refused(&mut self, done: Result<(), Errno>) -> Result<(), Errno> {
        if done.is_err() {
            self.add(&JournalEntry::Refused)?;
        }
        done
    }

    /// Moves what is in the folder `place` to `aside`, and removes the folder: one of a layer below, of overlayfs,
    /// can't be renamed.
    fn take_apart(&mut self, place: &Path, aside: &Path) -> Result<(), Errno> {
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        std::fs::create_dir(aside).map_err(failed)?;
        for name in files::names_if_any(place) {
            let (from, to) = (place.join(&name), aside.join(&name));
            match self.move_to(&from, &to) {
                Err(Errno::XDEV) => self.take_apart(&from, &to)?,
                moved => moved?,
            }
        }
        let mode = place.look_at_entry().map_err(failed)?.permissions().mode();
        self.add(&JournalEntry::Remove { folder: place.to_owned(), mode })?;
        std::fs::remove_dir(place).map_err(failed)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), Failure> {
        let inode = inode_of(from).map_err(|error| cannot(from, to, error))?;
        self.journal.add(&JournalEntry::Move { from: from.to_owned(), to: to.to_owned(), inode })?;
        rustix::fs::rename(from, to).map_err(|error| cannot(from, to, error))
    }

    /// Exchanges what is at `staged` with what is at `live`, in one call where the file system can.
    fn exchange(&mut self, staged: &Path, live: &Path) -> Result<(), Errno> {
        let inode = inode_of(staged)?;
        self.add(&JournalEntry::Exchange { from: staged.to_owned(), to: live.to_owned(), inode })?;
        let exchanged = renameat_with(CWD, staged, CWD, live, RenameFlags::EXCHANGE);
        match self.or_refused(exchanged) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            exchanged => return exchanged,
        }
        self.try_move_aside(live)?;
        self.add(&JournalEntry::Move { from: staged.to_owned(), to: live.to_owned(), inode })?;
        rustix::fs::rename(staged, live)
    }

    /// Adds to the journal, within calls to the system.
    fn add(&mut self, entry: &JournalEntry) -> Result<(), Errno> {
        self.journal.add(entry).map_err(|_| Errno::IO)
    }
}

/// Has files of a layer below copied to the one above now, if they lie on overlayfs: a rename would do it in the middle
/// of the switch. Of what can't be opened, it does.
fn copy_up(going: &Going) {
    let on_overlay = |place: &Path| rustix::fs::statfs(place).is_ok_and(|system| system.f_type == OVERLAY);
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    if going.infos.iter().any(|info| on_overlay(info)) {
        for place in going.places() {
            let _ = File::options().append(true).custom_flags(flags).open(place);
        }
    }
}

/// Whether `folder` holds nothing, or what Python has compiled alone.
fn is_empty(folder: &Path) -> bool {
    let names = files::names_in(folder).ok();
    let is_cache = |name: &String| name == "__pycache__" && all_goes(&folder.join(name), &Going::default(), &|_| false);
    names.is_some_and(|names| names.iter().all(is_cache))
}

/// Whether everything in `folder` goes, and nothing of it `stays`. Of an empty folder it is not known whose it is.
fn all_goes(folder: &Path, going: &Going, stays: &dyn Fn(&Path) -> bool) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let is_cache = folder.ends_with("__pycache__");
    let mut entries = entries.peekable();
    (is_cache || entries.peek().is_some())
        && entries.all(|entry| {
            let Ok(entry) = entry else { return false };
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                return all_goes(&path, going, stays);
            }
            let is_compiled = is_cache && path.extension().is_some_and(|end| end == "pyc");
            (is_compiled || going.has(&path)) && !stays(&path)
        })
}

pub(super) fn inode_of(path: &Path) -> Result<u64, Errno> {
    match path.look_at_entry() {
        Ok(data) => Ok(data.ino()),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

fn cannot(from: &Path, to: &Path, error: Errno) -> Failure {
    Failure::world(format!("could not move `{}` to `{}`", from.display(), to.display())).because(&error)
}
