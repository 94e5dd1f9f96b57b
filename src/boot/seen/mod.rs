//! The machine that a request means: a bundled runtime, a record, or this one; what is installed on it, who owns which
//! file, and what a profile is to be solved for on it.

mod installed_for_audit;
mod broken_environment;
mod environment;
mod interpreter;
mod kept_libraries;
mod system_libraries;
mod missing_files;
mod owners;
mod target;

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;

use crate::boot::files::{Claims, placed};
use crate::boot::install::{SWITCH, Undone, stage_places, undo};
use crate::boot::ledger::{Entry, Ledger};
use crate::boot::machine::{
    Home, Layout, Looker, Machine, MachineRequest, Observed, Overrides, Python, PythonOrigin, RawDistribution, Said,
    apply_overrides, assumed_driver, judge, observe, resolve_gpus,
};
use crate::boot::seen::broken_environment::without_python;
use crate::boot::seen::interpreter::near;
use crate::boot::session::Session;
use crate::boot::state::{Hold, State, hold};
use crate::core::diag::{Failure, Finding, listed};
use crate::core::host::digests::has_digest;
use crate::core::host::files;
use crate::core::host::mounts::{Look, must_reach, reach};
use crate::core::host::reads::note_folder;
use crate::core::matrix::InstalledGpu;
use crate::core::model::day::day_of;
use crate::core::model::{PythonFacts, Version};

pub use installed_for_audit::{installed, recorded_files, surroundings};
pub use missing_files::missing_files;
pub use owners::{entry, hidden, hidden_by_user, is_code, owners, places_of, recorded_paths};
pub use system_libraries::{lacking, without_libraries};

/// A machine with what led to it.
#[derive(Clone)]
pub struct Seen {
    pub machine: Machine,
    pub source: Source,
    pub findings: Vec<Finding>,
    /// GPUs that a runtime may hand out, where none was named.
    pub possible_gpus: Vec<InstalledGpu>,
    /// What colab-boot has put there; empty where that can't be known.
    pub ledger: Ledger,
}

/// Where a machine is known from.
#[derive(Clone)]
pub enum Source {
    /// It is the one that we run on, as it was observed.
    Here(Box<Observed>),
    /// A record of another one, or of an earlier day.
    Record(Box<Observed>),
    /// A bundled description.
    Runtime,
}

impl Seen {
    /// Whether it is the machine that we run on, not a description or a record.
    pub const fn is_here(&self) -> bool {
        self.here().is_some()
    }

    /// What was observed of it, if it is the machine that we run on.
    pub const fn here(&self) -> Option<&Observed> {
        match &self.source {
            Source::Here(observed) => Some(observed),
            Source::Record(_) | Source::Runtime => None,
        }
    }

    /// What was observed of it, here or elsewhere.
    pub fn observed(&self) -> Option<&Observed> {
        match &self.source {
            Source::Here(observed) | Source::Record(observed) => Some(observed),
            Source::Runtime => None,
        }
    }

    /// The distributions that were observed.
    pub fn distributions(&self) -> &[RawDistribution] {
        self.observed().map(|observed| observed.distributions.as_slice()).unwrap_or_default()
    }

    /// Where the interpreter of this machine has things installed.
    pub fn layout(&self) -> Option<&Layout> {
        self.python_here()?.layout.as_ref()
    }

    /// Where the interpreter of this machine finds its own files.
    pub fn home(&self) -> Option<&Home> {
        self.python_here()?.home.as_ref()
    }

    /// The interpreter of this machine.
    pub fn interpreter(&self) -> Option<&Path> {
        self.python_here()?.path.as_deref()
    }

    fn python_here(&self) -> Option<&Python> {
        self.machine.python.as_ref().filter(|_| self.is_here())
    }

    /// The Python of the machine. Where there is none, an error with the reason, and `help`.
    pub fn python(&self, help: &str) -> Result<&Python, Failure> {
        self.machine.python.as_ref().ok_or_else(|| {
            let failure = Failure::world("no usable Python was found").help(help);
            let mut errors = self.observed().into_iter().flat_map(|observed| &observed.python_errors);
            match errors.find_map(|said| Some((&said.source, said.error.as_ref()?))) {
                Some((source, error)) => failure.cause(format!("`{source}`: {error}")),
                None => failure,
            }
        })
    }

    /// What a lock calls the place that has what no index has: a runtime, the release of a Colab image, or `machine`.
    pub fn image(&self) -> String {
        self.machine
            .runtime
            .clone()
            .or_else(|| self.observed()?.environment.get("COLAB_RELEASE_TAG").filter(|tag| is_word(tag)).cloned())
            .unwrap_or_else(|| "machine".to_owned())
    }

    /// The Python to judge wheels for.
    pub fn python_facts(&self) -> Result<PythonFacts, Failure> {
        Ok(self.python("pass one with --python, or a notebook image with --runtime")?.facts.clone())
    }

    /// An unreadable file is an error, not an absent one: nothing may be changed on such grounds.
    pub fn must_be_readable(&self) -> Result<(), Failure> {
        let unreadable = self.observed().and_then(|observed| {
            // An interpreter that is there and can't be asked is not none: another one would be changed in its place.
            let may_be_there = |path: &Path| reach(path).is_err() || path.is_there();
            let python = observed.python_errors.iter().filter(|said| may_be_there(Path::new(&said.source)));
            observed.unreadable.iter().chain(python).next()
        });
        unreadable.map_or(Ok(()), |said| {
            Err(Failure::world(format!("could not read `{}`", said.source))
                .cause(said.error.clone().unwrap_or_default())
                .help("repair it, or name another Python with --python"))
        })
    }
}

impl Seen {
    fn add_unreadable(&mut self, path: &Path, error: &std::io::Error) {
        let (source, error) = (path.display().to_string(), Some(error.to_string()));
        let said = Said { source, error, text: None, timed_out: false };
        if let Source::Here(observed) = &mut self.source {
            observed.unreadable.push(said);
        }
    }

    /// An error where the user names an interpreter and there is none; one that is there and can't be asked is reported
    /// elsewhere.
    fn has_python(&self, named: Option<&Path>) -> Result<(), Failure> {
        must_reach(named.map(Path::to_owned).as_ref())?;
        let mut said = self.observed().into_iter().flat_map(|observed| &observed.python_errors);
        let none_answered = self.observed().is_some_and(|observed| observed.python.is_none());
        let absent = named.filter(|_| none_answered && !said.any(|said| Path::new(&said.source).is_there()));
        let Some(path) = absent else { return Ok(()) };
        let folder = path.ancestors().take(3).find(|folder| folder.join("pyvenv.cfg").is_file_there());
        if let Some(folder) = folder.filter(|folder| folder.join("bin/python").is_missing()) {
            return Err(without_python(folder, None));
        }
        if path.is_folder_there() {
            let message = format!("`{}` is not a virtual environment", path.display());
            return Err(Failure::input(message).help("it has no `bin/python`; name an environment, or a file"));
        }
        let failure = if is_kept(path) || is_kept(&path.join("bin/python")) {
            Failure::input(format!("--python: no permission to read `{}`", path.display()))
        } else {
            Failure::input(format!("--python: there is no `{}`", path.display()))
        };
        let help = "name an executable, the folder of a virtual environment, a version such as `3.12`, or a command";
        Err(failure.help(help))
    }
}

fn is_kept(place: &Path) -> bool {
    place.look().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

impl Session<'_> {
    /// The machine that a request means: a bundled runtime, a record, or this one.
    pub fn machine(&self, request: &MachineRequest) -> Result<Seen, Failure> {
        self.look(request, None)
    }

    /// The same for a verb on the file `beside`: a `.venv` in its folder counts as one in the working directory does.
    /// An environment that is active or near, and whose interpreter is gone, is an error: no other one is meant.
    pub fn machine_near(&self, request: &MachineRequest, beside: Option<&Path>) -> Result<Seen, Failure> {
        let seen = self.look(request, beside)?;
        if seen.is_here() && request.python.is_none() {
            self.has_whole_environment(&seen, &near(beside)?)?;
        }
        Ok(seen)
    }

    /// Holds the environment that the request means, so that no other colab-boot changes it.
    pub fn hold(&self, request: &MachineRequest, beside: Option<&Path>) -> Result<Hold, Failure> {
        self.hold_layout(request, beside).map(|(held, _)| held)
    }

    /// The same, to change it: an install that was interrupted is undone first, so that what is seen is whole.
    pub fn hold_to_change(&self, request: &MachineRequest, beside: Option<&Path>) -> Result<Hold, Failure> {
        let (held, layout) = self.hold_layout(request, beside)?;
        let Some(layout) = layout else { return Ok(held) };
        let held = held.also(&stage_places(&layout), &|line| self.say(line))?;
        let aside = State::of(&self.paths.state, &layout).aside_folder();
        let undone = undo(&held.folder.join(SWITCH), &layout, &aside)?;
        if !undone.by_others.is_empty() {
            let names: Vec<String> = undone.by_others.iter().map(ToString::to_string).collect();
            self.say(&format!(
                "an install was interrupted, and another tool has changed {} since: what was installed stays",
                listed(&names)
            ));
        } else if undone.any {
            self.say("undid an install that was interrupted: the packages are as before it");
        }
        self.say_undone(&undone);
        Ok(held)
    }

    /// Says what could not be as it was, or is kept elsewhere.
    pub fn say_undone(&self, undone: &Undone) {
        for place in &undone.changed_since {
            self.say(&format!("left as it is: `{}` was changed since", place.display()));
        }
        for (path, kept) in &undone.kept {
            self.say_kept(path, kept);
        }
    }

    /// Says where a file is `kept` that others have put at `path` among the files of packages.
    pub fn say_kept(&self, path: &Path, kept: &Path) {
        self.say(&format!("kept `{}` as `{}`: no package owns it", path.display(), kept.display()));
    }

    fn hold_layout(&self, request: &MachineRequest, beside: Option<&Path>) -> Result<(Hold, Option<Layout>), Failure> {
        let is_here = request.runtime.is_none() && request.record.is_none();
        let python = if is_here { self.interpreter_near(request, beside)? } else { None };
        let layout = python.map(|python| python.layout);
        let held = hold(&self.paths.state, layout.as_ref(), &|line| self.say(line))?;
        Ok((held, layout))
    }

    /// What is there, usable or not.
    fn look(&self, request: &MachineRequest, beside: Option<&Path>) -> Result<Seen, Failure> {
        let overrides = Overrides { driver: request.driver.clone(), gpus: request.gpus.clone() };
        let mut seen = match (&request.runtime, &request.record) {
            (Some(name), _) => self.runtime(name)?,
            (None, Some(path)) => self.judged(read_record(path)?, Source::Record),
            (None, None) => {
                let near = near(beside)?;
                let python = request.python.as_deref();
                let looker = Looker { kernel_pid: request.kernel_pid, near: &near, ..self.looker(python) };
                let mut seen = self.judged(observe(looker), Source::Here);
                seen.has_python(request.python.as_deref())?;
                seen.findings.extend(seen.off_the_path());
                match reach(&self.paths.state) {
                    Ok(()) => seen.ledger = self.ledger(&seen)?,
                    // Who only looks goes on without it.
                    Err(error) => seen.add_unreadable(&self.paths.state, &error),
                }
                seen
            }
        };
        for folder in seen.layout().into_iter().flat_map(|layout| [&layout.purelib, &layout.platlib, &layout.scripts]) {
            note_folder(folder);
        }
        apply_overrides(&mut seen.machine, &overrides, self.matrix)?;
        seen.findings.extend(assumed_driver(&seen.machine));
        if request.no_kernel {
            seen.machine.kernel = None;
        }
        if !seen.machine.hardware.gpus.is_empty() {
            seen.possible_gpus.clear();
        }
        Ok(seen)
    }

    fn runtime(&self, name: &str) -> Result<Seen, Failure> {
        let known = self.runtimes()?;
        let runtime = known.find(name)?;
        let possible_gpus = resolve_gpus(&runtime.gpus, self.matrix)?;
        let findings = runtime.outdated(day_of(self.now)).into_iter().collect();
        let (machine, ledger) = (runtime.machine(), Ledger::default());
        Ok(Seen { machine, source: Source::Runtime, findings, possible_gpus, ledger })
    }

    fn judged(&self, observed: Observed, source: fn(Box<Observed>) -> Source) -> Seen {
        let (machine, findings) = judge(&observed, self.matrix);
        Seen {
            machine,
            source: source(Box::new(observed)),
            findings,
            possible_gpus: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    /// What colab-boot has put into the environment that was seen.
    fn ledger(&self, seen: &Seen) -> Result<Ledger, Failure> {
        let Some(layout) = seen.layout() else { return Ok(Ledger::default()) };
        let state = State::of(&self.paths.state, layout);
        let mut ledger = state.ledger()?;
        for (name, entry) in &mut ledger.distributions {
            entry.lacks_metadata = !seen.machine.installed.contains_key(name) && has_files(entry, &state, layout)?;
        }
        Ok(ledger)
    }
}

/// Whether files that `entry` has brought are in `layout` and no distribution lists them. An empty one proves nothing.
fn has_files(entry: &Entry, state: &State, layout: &Layout) -> Result<bool, Failure> {
    let record = entry.sha256.map_or(Ok(None), |wheel| state.record(&wheel))?.unwrap_or_default();
    let record: Vec<_> = record.into_iter().filter(|one| one.size > 0).collect();
    let mut own = placed(&record, layout).filter(|(place, sha256)| sha256.is_some_and(|own| has_digest(place, own)));
    let Some(first) = own.next() else { return Ok(false) };
    let claims = Claims::of(layout, &|_| true)?;
    Ok([first].into_iter().chain(own).any(|(place, _)| !claims.has(&place)))
}

/// A record written by `fingerprint --json`: the envelope or the bare record.
fn read_record(path: &Path) -> Result<Observed, Failure> {
    let text = files::read_text(path, "machine record")?;
    let help = "create one with `colab-boot fingerprint --json=FILE`";
    let wrong = || Failure::input(format!("`{}` is not a machine record", path.display()));
    let mut value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| wrong().because(&error).help(help))?;
    if value.pointer("/report/observed").is_some_and(serde_json::Value::is_null) {
        return Err(Failure::input(format!("`{}` is about a described image, not about a machine", path.display()))
            .help("name the image with --runtime"));
    }
    if let Some(observed) = value.pointer_mut("/report/observed") {
        value = observed.take();
    }
    // Every field may be missing, but not all of them.
    let is_record =
        value.get("schema").and_then(serde_json::Value::as_u64).is_some() && value.get("os-release").is_some();
    if !is_record {
        return Err(wrong().help(help));
    }
    serde_json::from_value(value).map_err(|error| wrong().because(&error).help(help))
}

/// Whether a lock may hold `text` as a name.
pub fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// The interpreter, as reports name it.
#[derive(Clone, Debug, Serialize)]
pub struct PythonReport {
    pub path: Option<String>,
    pub version: Option<Version>,
    /// How it was found.
    pub found: Option<PythonOrigin>,
}

impl PythonReport {
    pub fn of(seen: &Seen) -> Self {
        let python = seen.machine.python.as_ref();
        Self {
            path: python.and_then(|python| python.path.as_ref().map(|path| path.display().to_string())),
            version: python.map(|python| python.facts.version.clone()),
            found: python.map(|python| python.origin),
        }
    }
}
