//! What several verbs gather: profile, machine, index, lock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use url::Url;

use crate::cli::{IndexOptions, MachineOptions};
use crate::command::state::State;
use crate::diag::{Code, Failure, Finding, Kind, Source};
use crate::host::{Paths, files};
use crate::index::{
    Builder, Cache, Client, Credentials, Limits, Locations, Offline, Online, Scope, Traffic, Trust, find_links_name,
    is_open, locate_default, redact,
};
use crate::ledger::Ledger;
use crate::machine::{
    Looker, Machine, Observed, Overrides, Python, PythonOrigin, apply_overrides, find_runtime, judge, observe,
    observe_python, resolve_gpus,
};
use crate::matrix::{InstalledGpu, Matrix};
use crate::model::catalog::Trouble;
use crate::model::version::range_of;
use crate::model::{PackageName, Version};
use crate::plan::preloads;
use crate::profile::Profile;
use crate::resolve::{Present, Question, Resolution, Target, Unsolved, explain, resolve};

/// The ambient facts of one run, and the bundled matrix.
pub struct Session<'a> {
    pub environment: &'a BTreeMap<String, String>,
    pub paths: Paths,
    pub matrix: &'a Matrix,
    /// Seconds since 1970.
    pub now: u64,
    /// Tells of work in progress, now.
    pub say: &'a dyn Fn(&str),
}

/// A machine with what led to it.
pub struct Seen {
    pub machine: Machine,
    /// `None` for a bundled runtime.
    pub observed: Option<Observed>,
    pub findings: Vec<Finding>,
    /// It is the machine that we run on, not a description or a record.
    pub here: bool,
    /// GPUs that a runtime may hand out, where none was named.
    pub possible_gpus: Vec<InstalledGpu>,
    /// What colab-boot has put there.
    pub ledger: Ledger,
}

/// A solve to be done.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub profile: &'a Profile,
    pub target: &'a Target,
    /// The target's machine.
    pub machine: &'a Machine,
    /// Versions to take where they fit.
    pub preferred: &'a BTreeMap<PackageName, Version>,
}

impl Seen {
    /// What a lock calls the place that has what no index has: a runtime, the release of a Colab image, or `machine`.
    pub(super) fn image(&self) -> String {
        let release =
            || self.observed.as_ref()?.environment.get("COLAB_RELEASE_TAG").filter(|tag| is_word(tag)).cloned();
        self.machine.runtime.clone().or_else(release).unwrap_or_else(|| "machine".to_owned())
    }

    /// What could not be read was not seen to be absent: nothing may be changed on such grounds.
    pub(super) fn must_be_readable(&self) -> Result<(), Failure> {
        let unreadable = self.observed.as_ref().and_then(|observed| {
            // An interpreter that is there and can't be asked is not none: another one would be changed in its place.
            let python = observed.python_errors.iter().filter(|said| Path::new(&said.source).exists());
            observed.unreadable.iter().chain(python).next()
        });
        unreadable.map_or(Ok(()), |said| {
            Err(Failure::world(format!("could not read `{}`", said.source))
                .cause(said.error.clone().unwrap_or_default())
                .help("mend it, or name another Python with --python"))
        })
    }
}

impl Seen {
    /// An error where the user names an interpreter and there is none; one that is there and can't be asked is told elsewhere.
    fn has_python(&self, named: Option<&Path>) -> Result<(), Failure> {
        let mut said = self.observed.iter().flat_map(|observed| &observed.python_errors);
        let nobody_answered = self.observed.as_ref().is_some_and(|observed| observed.python.is_none());
        match named.filter(|_| nobody_answered && !said.any(|said| Path::new(&said.source).exists())) {
            None => Ok(()),
            Some(path) => Err(Failure::input(format!("--python: there is no `{}`", path.display())).help(
                "name an executable, the folder of a virtual environment, a version such as `3.12`, or a command",
            )),
        }
    }

    /// An error where the interpreter belongs to the system and nobody has said that it may be changed.
    pub(super) fn may_be_changed(&self, system: bool) -> Result<(), Failure> {
        let Some(python) = self.machine.python.as_ref().filter(|_| self.here && !system) else {
            return Ok(());
        };
        let managed = python.layout.as_ref().is_some_and(|layout| layout.externally_managed);
        let is_kernels = python.origin == PythonOrigin::Kernel || preloads(self.machine.kind);
        let path = python.path.as_deref().unwrap_or(Path::new("python3")).display().to_string();
        let message = if is_kernels {
            return Ok(());
        } else if managed {
            format!("`{path}` is managed by the operating system (PEP 668)")
        } else if python.origin == PythonOrigin::Path && !python.is_virtual {
            format!("no virtual environment is active, and `{path}` is the system's Python")
        } else {
            return Ok(());
        };
        Err(Failure::input(message).help(
            "make an environment with `python3 -m venv .venv`, it is found here and below; or name one with --python; or allow this \
             one with --system",
        ))
    }
}

impl Session<'_> {
    /// Says what is being done.
    pub fn say(&self, line: &str) {
        (self.say)(line);
    }

    /// Reads and checks a profile.
    pub fn profile(&self, path: &Path) -> Result<Profile, Failure> {
        let text = files::read_text(path, "profile").map_err(|failure| {
            if failure.kind == Kind::Input {
                failure.help("`colab-boot init` writes a starter profile")
            } else {
                failure
            }
        })?;
        let source = Source { name: path.display().to_string().into(), text: text.into() };
        let here = files::absolute(path)?;
        let folder = here.parent().unwrap_or(&here);
        Profile::parse(&source, folder).map_err(|findings| Failure::from_findings(Kind::Input, findings))
    }

    /// The machine that the options mean: a bundled runtime, a record, or this one.
    pub fn machine(&self, options: &MachineOptions) -> Result<Seen, Failure> {
        self.machine_near(options, None)
    }

    /// The same, for a verb on the file `beside`: a `.venv` in its folder counts as one in the working directory does.
    pub fn machine_near(&self, options: &MachineOptions, beside: Option<&Path>) -> Result<Seen, Failure> {
        let overrides = Overrides { driver: options.driver.clone(), gpus: options.gpu.clone() };
        let mut seen = match (&options.runtime, &options.machine) {
            (Some(name), _) => self.runtime(name)?,
            (None, Some(path)) => self.judged(read_record(path)?, false),
            (None, None) => {
                let near = near(beside)?;
                let python = options.python.as_deref();
                let looker = Looker { kernel_pid: options.kernel_pid, near: &near, ..self.looker(python) };
                let mut seen = self.judged(observe(looker), true);
                seen.has_python(options.python.as_deref())?;
                seen.ledger = self.ledger(&seen)?;
                seen
            }
        };
        apply_overrides(&mut seen.machine, &overrides, self.matrix)?;
        if options.no_kernel {
            seen.machine.kernel = None;
        }
        if !seen.machine.hardware.gpus.is_empty() {
            seen.possible_gpus.clear();
        }
        Ok(seen)
    }

    fn looker<'b>(&'b self, python: Option<&'b Path>) -> Looker<'b> {
        Looker { paths: &self.paths, environment: self.environment, python, kernel_pid: None, near: &[], now: self.now }
    }

    fn runtime(&self, name: &str) -> Result<Seen, Failure> {
        let runtime = find_runtime(name)?;
        let possible_gpus = resolve_gpus(&runtime.gpus, self.matrix)?;
        let (machine, ledger) = (runtime.machine(), Ledger::default());
        Ok(Seen { machine, observed: None, findings: Vec::new(), here: false, possible_gpus, ledger })
    }

    fn judged(&self, observed: Observed, here: bool) -> Seen {
        let (machine, findings) = judge(&observed, self.matrix);
        let ledger = Ledger::default();
        Seen { machine, observed: Some(observed), findings, here, possible_gpus: Vec::new(), ledger }
    }

    /// What colab-boot has put into the environment that was seen.
    fn ledger(&self, seen: &Seen) -> Result<Ledger, Failure> {
        let layout = seen.machine.python.as_ref().and_then(|python| python.layout.as_ref());
        layout.map_or_else(|| Ok(Ledger::default()), |layout| State::of(&self.paths.state, layout).ledger())
    }

    /// A warning where the cache can't be used; the work goes on without it.
    pub fn cache_finding(&self) -> Option<Finding> {
        let failure = files::create_private_folder(&self.paths.cache).err()?;
        Some(
            Finding::warning(Code::CacheUnusable, failure.to_string())
                .with_help("name another folder with COLAB_BOOT_CACHE_DIR"),
        )
    }

    /// The index addresses: the default index, and those of the profile.
    pub fn locations(
        &self,
        options: &IndexOptions,
        profile: Option<&Profile>,
        python: Option<&Python>,
    ) -> Result<Locations, Failure> {
        let default = self.default_index(options, python)?;
        let of_profile = match profile {
            Some(profile) => Locations::new(default, profile),
            None => Locations::only(default),
        };
        of_profile.addresses().iter().try_for_each(|url| must_be_encrypted(url, options))?;
        Ok(of_profile.beside(&find_links(options)?))
    }

    /// Names and addresses of the explicit indexes, and of the folders that the options name.
    pub(super) fn indexes(options: &IndexOptions, profile: Option<&Profile>) -> Result<Vec<(String, Url)>, Failure> {
        let explicit = profile.iter().flat_map(|profile| &profile.indexes);
        let explicit = explicit.map(|index| (index.name.clone(), index.url.clone()));
        let folders = find_links(options)?.into_iter().enumerate().map(|(at, url)| (find_links_name(at), url));
        Ok(explicit.chain(folders).collect())
    }

    /// A client that knows what credentials there are for `addresses`.
    pub(super) fn client(&self, addresses: &[Url], limits: Limits) -> Result<Client, Failure> {
        Client::new(Credentials::gather(addresses, self.environment), limits)
    }

    /// `--index-url`, else what pip uses on the machine's own Python or, for a machine that is described, on one that is here.
    pub fn default_index(&self, options: &IndexOptions, python: Option<&Python>) -> Result<Url, Failure> {
        let given = options.index_url.as_ref().map(|text| ("COLAB_BOOT_INDEX_URL".to_owned(), text.clone()));
        let mut environment = self.environment.clone();
        environment.extend(given);
        let named = ["COLAB_BOOT_INDEX_URL", "PIP_INDEX_URL"].iter().any(|name| environment.contains_key(*name));
        let own = python.filter(|python| python.path.as_ref().is_some_and(|path| path.exists()));
        let own = own.and_then(|python| python.home.clone());
        let home = own.or_else(|| if named { None } else { observe_python(self.looker(None)).0?.home() });
        let url = locate_default(&environment, home.as_ref())?;
        must_be_encrypted(&url, options).map(|()| url)
    }

    /// Solves what is asked. Also returns what went over the network.
    pub fn solve(&self, asked: Asked<'_>, options: &IndexOptions) -> Result<(Resolution, Traffic), Failure> {
        self.ask(asked, options, resolve)
    }

    /// Has `answer` answer what is asked, with the index or, offline, with the cache at hand. Also returns what went over the
    /// network.
    pub(super) fn ask<T>(
        &self,
        asked: Asked<'_>,
        options: &IndexOptions,
        answer: impl Fn(Question<'_>) -> Result<T, Unsolved>,
    ) -> Result<(T, Traffic), Failure> {
        let Asked { profile, target, machine, preferred } = asked;
        let locations = self.locations(options, Some(profile), machine.python.as_ref())?;
        let mut scope = scope(profile, target)?;
        if !scope.buildable.is_empty() {
            scope.builder = self.builder(machine, &locations);
        }
        for (name, version) in preferred {
            scope.preferred.entry(name.clone()).or_insert_with(|| (version.clone(), false));
        }
        let cache = self.cache(options);
        let ask = |catalog| {
            let question = Question { profile, target, matrix: self.matrix, catalog, preferred };
            answer(question).map_err(|unsolved| refusal(unsolved, question))
        };
        if options.offline {
            return Ok((ask(&Offline::new(self.matrix, locations, scope, cache))?, Traffic::default()));
        }
        let client = self.client(&locations.addresses(), options.limits())?;
        let catalog = Online::new(&client, self.matrix, (locations, scope), cache);
        let answered = ask(&catalog)?;
        Ok((answered, client.traffic()))
    }

    /// The machine's Python with the default index for what a build needs.
    fn builder(&self, machine: &Machine, locations: &Locations) -> Option<Builder> {
        let python = machine.python.as_ref()?.path.clone().filter(|path| path.exists())?;
        let mut environment = self.environment.clone();
        environment.insert("PIP_INDEX_URL".to_owned(), locations.default.to_string());
        Some(Builder { python, environment })
    }

    fn cache(&self, options: &IndexOptions) -> Cache {
        let trust = match (options.offline, options.refresh) {
            (true, _) => Trust::Always,
            (false, true) => Trust::Never,
            (false, false) => Trust::WhileFresh,
        };
        Cache::new(&self.paths.cache, self.now, trust)
    }
}

/// What a catalog is to be made for.
pub(super) fn scope(profile: &Profile, target: &Target) -> Result<Scope, Failure> {
    let scope = Scope::of(&target.python).ok_or_else(|| Failure::bug("no marker environment"))?;
    let known = |present: &Present| (present.version.clone(), present.requires.is_some());
    let preferred = target.installed.iter().map(|(name, present)| (name.clone(), known(present))).collect();
    let bounds = profile.constraints.iter().chain(&profile.overrides);
    Ok(Scope {
        as_of: profile.policy.as_of.clone(),
        buildable: profile.policy.buildable.clone(),
        preferred,
        bounds: bounds.map(|bound| (bound.name.clone(), range_of(&bound.specifiers))).collect(),
        ..scope
    })
}

/// An error for an index over plain HTTP on another machine, unless the options allow its host.
fn must_be_encrypted(url: &Url, options: &IndexOptions) -> Result<(), Failure> {
    let allowed = url.host_str().is_some_and(|host| options.allow_insecure_host.iter().any(|one| one == host));
    if allowed || !is_open(url) {
        return Ok(());
    }
    let message = format!("the index `{}` is not encrypted: anybody on the way could change what it says", redact(url));
    Err(Failure::input(message).help("use https, or allow its host with --allow-insecure-host"))
}

/// The addresses of the folders that `--find-links` names.
pub(super) fn find_links(options: &IndexOptions) -> Result<Vec<Url>, Failure> {
    let folder = |path: &PathBuf| {
        let path = files::absolute(path)?;
        if !path.is_dir() {
            return Err(Failure::input(format!("--find-links: there is no folder `{}`", path.display())));
        }
        Url::from_directory_path(&path).map_err(|()| Failure::bug("an absolute path makes no address"))
    };
    options.find_links.iter().map(folder).collect()
}

pub(super) fn from_trouble(trouble: Trouble) -> Failure {
    let mut failure = Failure::world(trouble.message);
    failure.causes = trouble.causes;
    failure.help = trouble.help;
    failure
}

fn refusal(unsolved: Unsolved, question: Question<'_>) -> Failure {
    match unsolved {
        Unsolved::Trouble(trouble) => from_trouble(trouble),
        Unsolved::Target(why) => Failure::bug(why),
        Unsolved::Conflict(conflict) => Failure::from_findings(Kind::Answer, vec![explain(&conflict, question)]),
    }
}

/// A record written by `fingerprint --json`: the envelope or the bare record.
fn read_record(path: &Path) -> Result<Observed, Failure> {
    let text = files::read_text(path, "machine record")?;
    let wrong = |error: &serde_json::Error| {
        Failure::input(format!("`{}` is not a machine record", path.display()))
            .because(error)
            .help("write one with `colab-boot fingerprint --json FILE`")
    };
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if let Some(observed) = value.pointer_mut("/report/observed") {
        value = observed.take();
    }
    serde_json::from_value(value).map_err(|error| wrong(&error))
}

/// Where a `.venv` is looked for: the working directory, and the folder of the file that a verb is about.
fn near(beside: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    // A working directory that is gone has none.
    let mut folders: Vec<PathBuf> = files::absolute(Path::new(".")).into_iter().collect();
    if let Some(file) = beside {
        folders.extend(files::absolute(file)?.parent().map(Path::to_owned));
    }
    Ok(folders)
}

/// Whether a lock may hold `text` as a name.
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// Beside the profile: `pytorch.toml` → `pytorch.lock`.
pub(super) fn lock_path(profile: &Path, given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| profile.with_extension("lock"))
}
