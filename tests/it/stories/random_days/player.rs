//! Plays a day's steps in a real environment and a real kernel, and holds every verdict against what is true.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::stories::notebook::{Kernel, cells};
use crate::stories::random_days::packages::{self, Package, differences, fresh_words, installed, named};
use crate::stories::random_days::step::{self, Morning, Part, Step, Tool, VARIABLES};
use crate::stories::random_days::world::World;
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

/// A module of the user's own.
const HIDDEN: &str = "word = 'hidden'\n";

/// The user.
pub struct Player<'a> {
    world: &'a mut World,
    kernel: Kernel,
    wishes: BTreeMap<&'static str, &'static str>,
    variables: BTreeMap<&'static str, &'static str>,
    /// The folder with the profile, of two that it may have.
    folder: &'static str,
    cell: Option<Cell>,
    /// Files that Python takes before those of packages.
    hidden: BTreeSet<PathBuf>,
    /// The versions before the first apply, and the packages that the user has changed since.
    origin: Option<BTreeMap<String, String>>,
    changed_since: BTreeSet<&'static str>,
    /// Packages with files that the user has damaged today.
    damaged: BTreeSet<&'static str>,
    /// Modules that were in the kernel's memory before a boot cell had run in it.
    loaded_unseen: BTreeSet<String>,
    is_booted: bool,
    pub count: Count,
}

/// A cell with what its lock says.
struct Cell {
    boot: String,
    verify: String,
    locked: BTreeMap<String, String>,
    variables: BTreeMap<&'static str, &'static str>,
}

/// What the kernel has in memory.
struct Memory {
    words: BTreeMap<String, String>,
    /// Functions and values that were imported from modules.
    kept: BTreeMap<String, String>,
    variables: BTreeMap<String, Option<String>>,
    /// A mapped library is not the file that is there now.
    maps_old: bool,
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
            origin: None,
            changed_since: BTreeSet::new(),
            damaged: BTreeSet::new(),
            loaded_unseen: BTreeSet::new(),
            is_booted: false,
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
                self.step(step).map_err(|wrong| format!("{step:?}: {wrong}"))?;
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

    fn write_profile(&self) {
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
                self.changed_since.insert(name);
            }
            Step::Uninstall(name) => {
                self.world.uninstall(name);
                self.changed_since.insert(name);
            }
            Step::Edit(name) => self.edit(named(name)),
            Step::Remove(name, part) => {
                remove(&self.world.day.venv.layout(), named(name), part);
                self.damaged.insert(name);
                self.changed_since.insert(name);
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

    /// What the user does in the notebook.
    fn in_kernel(&mut self, step: &Step) {
        match *step {
            Step::Import(name) => self.import(named(name), |module, _| format!("import {module}")),
            Step::Keep(name) => {
                self.import(named(name), |module, name| format!("from {module} import word as kept_{name}"));
            }
            Step::Reload(name) => self.import(named(name), |module, _| {
                format!("import importlib, sys\nif '{module}' in sys.modules:\n    importlib.reload(sys.modules['{module}'])")
            }),
            Step::RestartKernel => {
                self.world.notebook.restart(&mut self.kernel);
                self.new_kernel();
            }
            Step::KillKernel => {
                let killed = Command::new("kill").args(["-KILL", &self.kernel.pid.to_string()]).status();
                assert!(killed.expect("kill starts").success());
                self.kernel = self.world.notebook.restarted(&self.kernel);
                self.new_kernel();
            }
            _ => unreachable!("{step:?}"),
        }
    }

    fn want(&mut self, name: &'static str, range: Option<&'static str>) {
        let before = self.wishes.clone();
        self.wishes.remove(name);
        self.wishes.extend(range.map(|range| (name, range)));
        if !step::is_solvable(&self.wishes) {
            self.wishes = before;
        }
        self.write_profile();
    }

    fn set(&mut self, name: &'static str, value: Option<&'static str>) {
        self.variables.remove(name);
        self.variables.extend(value.map(|value| (name, value)));
        self.write_profile();
    }

    /// Beside the file, then there: who has it open keeps what it was.
    fn edit(&mut self, package: &Package) {
        let day = &self.world.day;
        let (path, beside) = (day.venv.layout().join(package.file), day.test.path("edited"));
        if path.is_file() {
            std::fs::write(&beside, edited(package, &std::fs::read(&path).expect("a file"))).expect("a write");
            let mode = std::fs::metadata(&path).expect("a mode").permissions();
            std::fs::set_permissions(&beside, mode).expect("a mode");
            std::fs::rename(&beside, &path).expect("a file");
            self.damaged.insert(package.name);
        }
    }

    /// Puts something there that Python takes before the package `name`.
    fn hide(&mut self, name: &str) {
        let (site, elsewhere) = (self.world.day.venv.layout(), self.world.day.test.path("elsewhere"));
        let (place, text) = match name {
            "plain" | "opaque" => (site.join(name).join("__init__.py"), HIDDEN.to_owned()),
            "spaced" if site.join("space/spaced").is_dir() => {
                (site.join("space/spaced/inner/__init__.py"), HIDDEN.to_owned())
            }
            "native" if site.join("native").is_dir() => (site.join("native/__init__.so"), HIDDEN.to_owned()),
            "tables" => {
                std::fs::create_dir_all(elsewhere.join("tables")).expect("a folder");
                std::fs::write(elsewhere.join("tables/__init__.py"), HIDDEN).expect("a write");
                let line = format!("import sys; sys.path.insert(0, '{}')\n", elsewhere.display());
                (site.join("own.pth"), line)
            }
            _ => return,
        };
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(&place, text).expect("a write");
        self.hidden.insert(place);
    }

    fn new_kernel(&mut self) {
        self.loaded_unseen.clear();
        self.is_booted = false;
    }

    /// Runs `code` about a module in the kernel; it may fail, as what is damaged does.
    fn import(&mut self, package: &Package, code: impl Fn(&str, &str) -> String) {
        let Some(module) = package.module else { return };
        let code = code(module, package.name).replace('\n', "\n    ");
        self.world.notebook.run(&self.kernel, &format!("try:\n    {code}\nexcept Exception as error:\n    pass"));
        if !self.is_booted {
            self.loaded_unseen.insert(package.name.to_owned());
        }
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
        self.cell = Some(Cell { boot, verify, locked: self.lock(), variables: self.variables.clone() });
        Ok(())
    }

    /// Whether everything of `locked` is there and is what a fresh Python gets.
    fn is_true(&mut self, locked: &BTreeMap<String, String>, said: &str) -> Result<(), Wrong> {
        self.count.verdicts += 1;
        // What has no list of its files is known by its version alone, and the verdict has to say so.
        let has_list = |(name, version): &(&String, &String)| {
            let record = self.world.day.venv.layout().join(format!("{name}-{version}.dist-info/RECORD"));
            record.exists() || !said.contains("compared by version alone")
        };
        let pairs = locked.iter().filter(has_list).map(|(name, version)| (name.clone(), version.clone()));
        let locked: BTreeMap<String, String> = pairs.collect();
        let mut wrong = differences(&self.world.day, &locked);
        let words = fresh_words(&self.world.day);
        for (name, version) in locked.iter().filter(|(name, _)| named(name).module.is_some()) {
            if words.get(name) != Some(version) {
                wrong.push(format!("a fresh Python has {name} {:?}, not {version}", words.get(name)));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nbut it says\n{said}", wrong.join("\n"))) }
    }

    /// Whether the kernel has in memory what is locked, and the variables.
    fn kernel_is_true(&mut self, said: &str) -> Result<(), Wrong> {
        let memory = self.memory();
        let Some(cell) = &self.cell else { return Ok(()) };
        let mut wrong = Vec::new();
        for (name, word) in memory.words.iter().chain(&memory.kept) {
            if cell.locked.get(name).is_some_and(|version| version != word) {
                wrong.push(format!("the kernel has {name} {word}, the lock {}", cell.locked[name]));
            }
        }
        for name in VARIABLES {
            let (there, meant) = (memory.variables[name].as_deref(), cell.variables.get(name).copied());
            if there != meant {
                wrong.push(format!("{name} is {there:?} in the kernel, {meant:?} in the profile"));
            }
        }
        if memory.maps_old {
            wrong.push("the kernel maps a library that is not there any more".to_owned());
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nbut it says\n{said}", wrong.join("\n"))) }
    }

    fn memory(&mut self) -> Memory {
        let code = format!(
            "import json, os, sys\ndef _word(value):\n    try:\n        return value() if callable(value) else value\n    except Exception as error:\n        \
             return repr(error)\nprint(json.dumps({{'words': {{name: _word(getattr(sys.modules[module], 'word', 'none')) for name, module in {} if module in sys.modules}}, \
             'kept': {{name[5:]: _word(value) for name, value in list(globals().items()) if name.startswith('kept_')}}, \
             'variables': {{name: os.environ.get(name) for name in {VARIABLES:?}}}, \
             'maps_old': any('_core.so (deleted)' in line for line in open('/proc/self/maps'))}}))",
            packages::modules()
        );
        let said = self.world.notebook.run(&self.kernel, &code);
        let value: Value = serde_json::from_str(said.trim()).unwrap_or_else(|_| panic!("{said}"));
        let words = |key: &str| serde_json::from_value(value[key].clone()).expect("words");
        let variables = serde_json::from_value(value["variables"].clone()).expect("variables");
        Memory { words: words("words"), kept: words("kept"), variables, maps_old: value["maps_old"] == true }
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
        let said = self.world.notebook.run(&self.kernel, &code);
        self.is_booted = true;
        if said.contains("the kernel restarts now, once") {
            self.kernel = self.world.notebook.restarted(&self.kernel);
            self.count.restarts += 1;
            self.is_true(&locked, &said)?;
            let unseen = std::mem::take(&mut self.loaded_unseen);
            self.new_kernel();
            self.restart_was_needed(&before, &unseen, &said)?;
            return Ok(Some(true));
        }
        if said.contains("ready: ") || said.contains("applied: ") {
            self.is_true(&locked, &said)?;
            self.kernel_is_true(&said)?;
            return Ok(Some(false));
        }
        self.may_be_refused(&said).map(|()| None)
    }

    /// A kernel that held `before` was restarted.
    fn restart_was_needed(&mut self, before: &Memory, unseen: &BTreeSet<String>, said: &str) -> Result<(), Wrong> {
        let now = fresh_words(&self.world.day);
        let held: Vec<(&String, &String)> = before.words.iter().chain(&before.kept).collect();
        if before.maps_old || held.iter().any(|(name, word)| now.get(*name) != Some(word)) {
            return Ok(());
        }
        // Its code and its map tell nothing of when it was loaded, and no cell had run to see it.
        let is_unknown = held.iter().any(|(name, _)| named(name).is_opaque && unseen.contains(*name));
        // Any of what the kernel runs may have read a variable that no row knows.
        let wanted = self.cell.as_ref().and_then(|cell| cell.variables.get("MY_FLAG"));
        let excused = is_unknown || before.variables["MY_FLAG"].as_deref() != wanted.copied();
        if excused {
            self.count.needless += 1;
            return Ok(());
        }
        Err(format!("a restart without need: the kernel held {held:?}, and it said\n{said}"))
    }

    fn judge_apply(&mut self, out: &Outcome) -> Result<(), Wrong> {
        match out.code {
            0 | 10 => {
                let locked = self.lock();
                self.is_true(&locked, &out.stdout)?;
                // Without the kernel's facts it can't be compared, and that is said.
                if out.code == 0 && self.kernel_is_true("").is_err() && !out.stdout.contains("kernel not compared") {
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
        let known = said.contains("kernel-shadowed") && hides || said.contains("plan-breakage") && breaks;
        if known { Ok(()) } else { Err(format!("it says no:\n{said}")) }
    }

    fn verify_in_kernel(&mut self, must: bool) -> Result<(), Wrong> {
        let Some(cell) = &self.cell else { return Ok(()) };
        let (code, locked) = (cell.verify.clone(), cell.locked.clone());
        let said = self.world.notebook.run(&self.kernel, &code);
        if said.contains("\nverified") {
            self.is_true(&locked, &said)?;
            self.kernel_is_true(&said)
        } else if must {
            Err(format!("not verified:\n{said}"))
        } else {
            Ok(())
        }
    }

    fn restore(&mut self) -> Result<(), Wrong> {
        let out = self.world.day.run(&["restore"]);
        if ![0, 10].contains(&out.code) {
            return self.may_be_refused(&format!("{}{}", out.stdout, out.stderr));
        }
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
        self.make_cell()?;
        if self.boot()?.is_none() {
            self.world.uninstall("plain");
            self.boot()?.ok_or("still no")?;
        }
        if self.boot()? != Some(false) {
            return Err("a second restart".to_owned());
        }
        self.verify_in_kernel(true)
    }
}

/// Another content for a file, which Python takes.
fn edited(package: &Package, bytes: &[u8]) -> Vec<u8> {
    if package.name == "native" {
        let versions = packages::VERSIONS.map(|version| {
            crate::support::object::object(if version == "2.0" { "says:two defines:word" } else { "defines:word" })
        });
        let [one, two] = versions;
        return if bytes == one { two } else { one };
    }
    String::from_utf8_lossy(bytes).replace(['1', '2'], "7").into_bytes()
}

fn remove(site: &Path, package: &Package, part: Part) {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(site).expect("site-packages").flatten().map(|entry| entry.path()).collect();
    let infos = entries.iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!("{}-", package.name)) && name.ends_with(".dist-info")
    });
    let file = site.join(package.file);
    match part {
        Part::File => drop(std::fs::remove_file(&file)),
        Part::Modules if package.file.contains("..") => drop(std::fs::remove_file(&file)),
        Part::Modules => match file.strip_prefix(site).ok().and_then(|rest| rest.iter().next()) {
            Some(first) if file.parent() != Some(site) => drop(std::fs::remove_dir_all(site.join(first))),
            _ => drop(std::fs::remove_file(&file)),
        },
        Part::Metadata => infos.for_each(|info| std::fs::remove_dir_all(info).expect("a removal")),
        Part::Record => infos.for_each(|info| drop(std::fs::remove_file(info.join("RECORD")))),
    }
}
