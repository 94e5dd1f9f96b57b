//! Plays a day's steps in a real environment and a real kernel, and holds every verdict against what is true.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{rc::Rc, time::Duration};

use crate::stories::notebook::{Kernel, cells};
use crate::stories::random_days::acts::remove;
use crate::stories::random_days::packages::{self, differences, installed, named};
use crate::stories::random_days::step::{Morning, Part, Step, Tool};
use crate::stories::random_days::world::World;
use crate::support::said::Said as _;
use crate::support::test::Outcome;

/// What a day came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub steps: usize,
    pub verdicts: usize,
    pub restarts: usize,
    /// Restarts of kernels that held nothing old, where no evidence could have said so.
    pub needless: usize,
}

impl Count {
    pub fn with(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            verdicts: self.verdicts + other.verdicts,
            restarts: self.restarts + other.restarts,
            needless: self.needless + other.needless,
        }
    }
}

/// What is wrong with a verdict, or what should not have happened.
pub type Wrong = String;

/// The user.
pub struct Player<'a> {
    pub(super) world: &'a mut World,
    pub(super) kernel: Kernel,
    pub(super) wishes: BTreeMap<&'static str, &'static str>,
    pub(super) variables: BTreeMap<&'static str, &'static str>,
    /// The folder with the profile, of two that it may have.
    pub(super) folder: &'static str,
    pub(super) cell: Option<Rc<Cell>>,
    /// Files that Python takes before those of packages.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// There was such a file today: the kernel may have loaded it.
    pub(super) has_hidden: bool,
    /// The versions before the first apply, and the packages that the user has changed since.
    origin: Option<BTreeMap<String, String>>,
    pub(super) changed_since: BTreeSet<&'static str>,
    /// Packages with files that the user has damaged today.
    pub(super) damaged: BTreeSet<&'static str>,
    /// Packages that lost their metadata, and no apply had seen their files as they are: nothing says whose they are.
    pub(super) orphaned: BTreeSet<&'static str>,
    /// Packages that an apply has left as locked.
    pub(super) applied: BTreeSet<String>,
    /// Modules that were in the kernel's memory before a boot cell had run in it.
    pub(super) loaded_unseen: BTreeSet<String>,
    pub(super) is_booted: bool,
    /// The cell that has run last in this kernel: what its verify cell is about.
    pub(super) booted: Option<Rc<Cell>>,
    /// An apply was killed, and none has ended since: when its changes were over is not known.
    pub(super) is_half_done: bool,
    /// Packages that had another version since the kernel has started: only files of the installed one are known.
    pub(super) went_away: BTreeSet<String>,
    /// Packages that the user has installed, removed or damaged since then.
    pub(super) touched: BTreeSet<&'static str>,
    /// What the boot cell has said last.
    said: String,
    pub count: Count,
}

/// A cell with what its lock says.
pub(super) struct Cell {
    boot: String,
    pub(super) verify: String,
    pub(super) locked: BTreeMap<String, String>,
    pub(super) variables: BTreeMap<&'static str, &'static str>,
}

impl<'a> Player<'a> {
    pub fn new(world: &'a mut World, morning: &Morning) -> Self {
        world.reset();
        for (name, version) in &morning.image {
            world.install(name, version, Tool::Uv);
        }
        let kernel = world.notebook.kernel();
        let player = Self {
            kernel,
            world,
            wishes: morning.wishes.clone(),
            variables: BTreeMap::new(),
            folder: "here",
            cell: None,
            hidden: BTreeSet::new(),
            has_hidden: false,
            origin: None,
            changed_since: BTreeSet::new(),
            damaged: BTreeSet::new(),
            orphaned: BTreeSet::new(),
            applied: BTreeSet::new(),
            loaded_unseen: BTreeSet::new(),
            is_booted: false,
            booted: None,
            is_half_done: false,
            went_away: BTreeSet::new(),
            touched: BTreeSet::new(),
            said: String::new(),
            count: Count::default(),
        };
        player.write_profile();
        player
    }

    /// Plays all steps, then ends the day: whatever happened, it leads to "ready" and "verified".
    pub fn play(&mut self, steps: &[Step]) -> Result<Count, Wrong> {
        let mut played = || {
            for step in steps {
                self.count.steps += 1;
                let before = installed(&self.world.day);
                self.step(step).map_err(|wrong| format!("{step:?}: {wrong}"))?;
                let after = installed(&self.world.day);
                let gone = before.into_iter().filter(|(name, version)| after.get(name) != Some(version));
                self.went_away.extend(gone.map(|(name, _)| name));
            }
            self.end().map_err(|wrong| format!("at the end: {wrong}"))
        };
        let ended = played();
        self.world.notebook.stop(&self.kernel);
        ended.map(|()| self.count)
    }

    fn profile(&self) -> String {
        format!("{}/p.toml", self.folder)
    }

    pub(super) fn write_profile(&self) {
        let packages: Vec<String> = self.wishes.iter().map(|(name, range)| format!("{name} {range}")).collect();
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        let variables: String = self.variables.iter().map(|(name, value)| format!("{name} = '{value}'\n")).collect();
        self.world.day.profile(&format!("{}/p", self.folder), &packages, &format!("[env]\n{variables}"));
    }

    fn step(&mut self, step: &Step) -> Result<(), Wrong> {
        match *step {
            Step::Want(name, range) => self.want(name, range),
            Step::Set(name, value) => self.set(name, value),
            Step::Lock => self.make_cell()?,
            Step::Boot => drop(self.boot()?),
            Step::VerifyInKernel => self.verify_in_kernel(false)?,
            Step::Apply => {
                let out = self.verb("apply");
                self.judge_apply(&out)?;
            }
            Step::Verify => {
                let out = self.verb("verify");
                if out.code == 0 {
                    self.is_true(&self.lock(), &out.stdout)?;
                }
            }
            Step::Restore => self.restore()?,
            Step::KillApply(after) => self.kill_apply(after),
            Step::Install(name, version, tool) => {
                self.world.install(name, version, tool);
                self.touch(name);
            }
            Step::Uninstall(name) => {
                self.world.uninstall(name);
                self.touch(name);
            }
            Step::Edit(name) => self.edit(named(name)),
            Step::Remove(name, part) => {
                if part == Part::Metadata && self.is_users(name) {
                    self.orphaned.insert(name);
                }
                remove(&self.world.day.venv.layout(), named(name), part);
                self.damaged.insert(name);
                self.touch(name);
            }
            Step::Hide(name) => self.hide(name),
            Step::AddOwn(name) => {
                let file = self.world.day.venv.layout().join(named(name).file);
                let folder = file.parent().filter(|folder| folder.is_dir());
                folder
                    .map_or(Ok(()), |folder| std::fs::write(folder.join("own_notes.py"), "x = 1\n"))
                    .expect("a write");
            }
            Step::Touch(name, hours) => {
                let path = self.world.day.venv.layout().join(named(name).file);
                if path.is_file() {
                    let done = Command::new("touch").args(["-d", &format!("{hours} hours")]).arg(&path).status();
                    assert!(done.expect("touch starts").success());
                }
            }
            Step::MoveFolder => {
                let to = if self.folder == "here" { "there" } else { "here" };
                let test = &self.world.day.test;
                std::fs::rename(test.path(self.folder), test.path(to)).expect("a move");
                self.folder = to;
            }
            Step::Clock(hours) => self.world.set_clock(hours),
            _ => self.in_kernel(step),
        }
        Ok(())
    }

    pub(super) fn new_kernel(&mut self) {
        self.loaded_unseen.clear();
        (self.booted, self.is_booted) = (None, false);
        self.went_away.clear();
        self.touched.clear();
    }

    /// Whether files of a package that loses its metadata count as the user's: nothing known says that they are not.
    fn is_users(&self, name: &str) -> bool {
        let there: BTreeMap<_, _> = installed(&self.world.day).into_iter().filter(|(one, _)| one == name).collect();
        !self.applied.contains(name)
            || self.changed_since.contains(name)
            || !differences(&self.world.day, &there).is_empty()
    }

    fn touch(&mut self, name: &'static str) {
        self.changed_since.insert(name);
        self.touched.insert(name);
    }

    fn verb(&mut self, verb: &str) -> Outcome {
        self.note_origin();
        self.world.day.run(&[verb, &self.profile()])
    }

    /// Remembers what was there before the first apply.
    fn note_origin(&mut self) {
        if self.origin.is_none() {
            self.origin = Some(installed(&self.world.day));
            self.changed_since.clear();
        }
    }

    /// The versions that the lock beside the profile names.
    fn lock(&self) -> BTreeMap<String, String> {
        let path = self.world.day.test.path(self.folder).join("p.lock");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lock: toml::Value = toml::from_str(&text).expect("TOML");
        let targets = lock.get("target").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let packages = targets.first().and_then(|one| one.get("package")).and_then(toml::Value::as_array);
        let text = |one: &toml::Value, key: &str| one[key].as_str().expect("a text").to_owned();
        packages.into_iter().flatten().map(|one| (text(one, "name"), text(one, "version"))).collect()
    }

    fn make_cell(&mut self) -> Result<(), Wrong> {
        let out = self.world.day.run(&["lock", &self.profile()]);
        if out.code != 0 {
            return Err(format!("no lock: {}", out.stderr));
        }
        let (boot, verify) = cells(&self.world.day, &format!("{}/p", self.folder));
        self.cell = Some(Rc::new(Cell { boot, verify, locked: self.lock(), variables: self.variables.clone() }));
        Ok(())
    }

    /// Runs the cell; whether the kernel was restarted for it, where it came to a verdict.
    fn boot(&mut self) -> Result<Option<bool>, Wrong> {
        if self.cell.is_none() {
            self.make_cell()?;
        }
        self.note_origin();
        let before = self.memory();
        let cell = self.cell.as_ref().expect("a cell");
        let (code, locked) = (cell.boot.clone(), cell.locked.clone());
        let to_change = self.to_change(&locked);
        let said = self.world.notebook.run(&self.kernel, &code);
        self.said.clone_from(&said);
        self.is_booted = true;
        self.booted.clone_from(&self.cell);
        if said.contains("the kernel restarts now, once") {
            self.kernel = self.world.notebook.restarted(&self.kernel);
            self.count.restarts += 1;
            self.is_true(&locked, &said)?;
            self.restart_was_needed(&before, &to_change, &said)?;
            self.new_kernel();
            self.is_half_done = false;
            return Ok(Some(true));
        }
        if said.concludes("ready") || said.concludes("applied") {
            self.is_half_done = false;
            self.is_true(&locked, &said)?;
            let cell = self.cell.clone().expect("a cell");
            self.kernel_is_true(&cell, &said)?;
            return Ok(Some(false));
        }
        self.may_be_refused(&said).map(|()| None)
    }

    fn judge_apply(&mut self, out: &Outcome) -> Result<(), Wrong> {
        match out.code {
            0 | 10 => {
                self.is_half_done = false;
                let locked = self.lock();
                self.is_true(&locked, &out.stdout)?;
                // Without the kernel's facts it can't be compared, and that is said.
                let holds_other = |player: &mut Self| {
                    player.cell.clone().is_some_and(|cell| player.kernel_is_true(&cell, "").is_err())
                };
                if out.code == 0 && holds_other(self) && !out.stdout.contains("kernel not compared") {
                    return Err(format!("a kernel runs, and it says\n{}", out.stdout));
                }
                Ok(())
            }
            _ => self.may_be_refused(&format!("{}{}", out.stdout, out.stderr)),
        }
    }

    /// Whether there is a cause for "no".
    fn may_be_refused(&self, said: &str) -> Result<(), Wrong> {
        let there = installed(&self.world.day);
        let hides = self.hidden.iter().any(|path| path.exists());
        let breaks = there.get("plain").is_some_and(|version| version == "2.0");
        let is_held = self.has_hidden && said.contains("the kernel has loaded `");
        let is_orphaned = |name: &&str| said.contains(&format!("the wheel of {name} would write over the file"));
        let known = said.contains("kernel-shadowed") && hides
            || is_held
            || said.contains("plan-breakage") && breaks
            || self.orphaned.iter().any(is_orphaned);
        if known { Ok(()) } else { Err(format!("it says no:\n{said}")) }
    }

    fn restore(&mut self) -> Result<(), Wrong> {
        let out = self.world.day.run(&["restore"]);
        if ![0, 10].contains(&out.code) {
            return self.may_be_refused(&format!("{}{}", out.stdout, out.stderr));
        }
        self.applied.clear();
        let Some(origin) = self.origin.take() else { return Ok(()) };
        if out.stdout.contains("except for") {
            return Ok(());
        }
        self.count.verdicts += 1;
        let there = installed(&self.world.day);
        for package in &packages::PACKAGES {
            if self.changed_since.contains(package.name) {
                continue;
            }
            let (is, was) = (there.get(package.name), origin.get(package.name));
            if is != was {
                return Err(format!("{} was {was:?} and is {is:?}, and it says\n{}", package.name, out.stdout));
            }
            let whole = was.map(|version| (package.name.to_owned(), version.clone()));
            let wrong = differences(&self.world.day, &whole.into_iter().collect());
            if !wrong.is_empty() && !self.damaged.contains(package.name) {
                return Err(format!("{}\nbut it says\n{}", wrong.join("\n"), out.stdout));
            }
        }
        Ok(())
    }

    fn kill_apply(&mut self, after: u64) {
        self.note_origin();
        self.is_half_done = true;
        let python = self.world.day.python();
        let mut command = self.world.day.test.command(&["apply", &self.profile(), "--python", &python]);
        let mut child =
            command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("apply starts");
        std::thread::sleep(Duration::from_millis(after));
        let _ = child.kill();
        child.wait().expect("a child");
    }

    /// The user does what was asked for, and then everything is in order.
    fn end(&mut self) -> Result<(), Wrong> {
        for path in std::mem::take(&mut self.hidden) {
            let _ = std::fs::remove_file(&path);
            // A folder that was there for it alone.
            let _ = path.parent().map(std::fs::remove_dir);
        }
        let _ = std::fs::remove_dir_all(self.world.day.test.path("elsewhere"));
        self.make_cell()?;
        if self.boot()?.is_none() {
            // The user does what the last message asks for: removes the files without an owner, ends the kernel that
            // has loaded a copy, adds the package that breaks to the profile.
            self.move_orphans_away();
            self.world.notebook.restart(&mut self.kernel);
            self.new_kernel();
            if self.boot()?.is_none() {
                self.want("plain", Some("*"));
                self.make_cell()?;
                self.boot()?.ok_or("still no")?;
            }
        }
        if self.boot()? != Some(false) {
            return Err(format!("a second restart: {}", self.said));
        }
        self.verify_in_kernel(true)
    }
}
