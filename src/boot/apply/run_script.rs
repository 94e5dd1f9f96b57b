//! One run of the script: its process, its log, its steps.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use crate::boot::state::{forget_process, record_process};
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::host::command::{end_group, exit_code, last_lines};
use crate::core::host::signals::{Deferred, name_of};
use crate::core::host::supervisor::{Asks, Patrol};
use crate::core::host::{Invocation, files};
use crate::core::model::{PackageName, Version};

/// What the script notes down while it runs, in the folder of the environment's state.
const JOURNAL: &str = "apply.journal";

/// What a run needs.
#[derive(Clone, Debug)]
pub(super) struct Job<'a> {
    pub script: &'a Path,
    pub python: &'a Path,
    /// Its purelib.
    pub site: &'a Path,
    pub wheels: &'a Path,
    /// A folder for log, journal and process record.
    pub state: &'a Path,
    pub environment: &'a BTreeMap<String, String>,
}

/// The script failed.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    /// The step that was under way: `apt`, `remove`, `build`, `wheels`, `environment`.
    pub step: String,
    pub code: i32,
    /// The last lines it wrote.
    pub tail: String,
    pub log: PathBuf,
}

impl Failed {
    /// What failed, and how the environment `is` now.
    pub(super) fn described(&self, is: &str) -> Failure {
        let message = format!("the step `{}` of the install script failed with exit code {}", self.step, self.code);
        let finding = Finding::error(Code::ApplyFailed, message).with_note(self.tail.clone()).with_note(is);
        let finding = finding.with_help(format!(
            "the log is `{}`; fix the cause and run the command again to continue",
            self.log.display()
        ));
        Failure::from_findings(Kind::World, vec![finding])
    }
}

/// What a script has left to do when a signal comes. Longer than an installer takes to remove what it has unpacked.
const GRACE: Duration = Duration::from_secs(20);

/// Runs the script to its end. `on_step` is called with each step as it begins. The outer error is ours, the inner one
/// the script's. A signal that asks for our end is first that of the script and of all it has started.
pub(super) fn run_script(job: &Job<'_>, on_step: &mut dyn FnMut(&str)) -> Result<Result<(), Failed>, Failure> {
    let log = job.state.join("apply.log");
    let journal = job.state.join(JOURNAL);
    files::remove_if_there(&journal)?;
    let mut environment = job.environment.clone();
    for (name, path) in [
        ("COLAB_BOOT_PYTHON", job.python),
        ("COLAB_BOOT_SITE", job.site),
        ("COLAB_BOOT_WHEELS", job.wheels),
        ("COLAB_BOOT_JOURNAL", &journal),
    ] {
        environment.insert(name.to_owned(), path.display().to_string());
    }
    let script = job.script.display().to_string();
    // It waits for a line: what is killed before the script's process is known to later runs ends here.
    let wait = "read -r && exec bash -p -- \"$0\" </dev/null";
    // Privileged: neither BASH_ENV nor functions of the environment have a say.
    // Not where the user stands: what lies there is none of the script's business, and it may be gone.
    let folder = Some(job.state.to_owned());
    let invocation = Invocation { folder, ..Invocation::new("bash", &["-pc", wait, &script], &environment) };
    let output = File::create(&log)
        .map_err(|error| Failure::world(format!("could not write `{}`", log.display())).because(&error))?;
    let signals = Deferred::begin()?;
    let mut child = invocation.spawn_into(output)?;
    let go = |child: &mut Child| {
        let sent = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(b"\n"));
        sent.map_err(|error| Failure::world("the install script did not start").because(&error))
    };
    if let Err(failure) = record_process(job.state, child.id()).and_then(|()| go(&mut child)) {
        let _ = end_group(&mut child, Duration::ZERO, &|| false);
        return Err(failure);
    }
    let (mut shown, mut patrol) = (0, Patrol::new(Duration::from_secs(8), Asks::Twice));
    let status = loop {
        let steps = steps(&journal);
        steps.iter().skip(shown).for_each(|step| on_step(step));
        shown = steps.len();
        let waited = |error| Failure::world(format!("could not wait for `{}`", invocation.line())).because(&error);
        if let Some(signal) = signals.take() {
            // A second signal: do not wait any longer.
            end_group(&mut child, GRACE, &|| signals.take().is_some()).map_err(waited)?;
            forget_process(job.state)?;
            return Err(stopped(signal, steps.last().map(String::as_str)));
        }
        match child.try_wait().map_err(waited)? {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
        patrol.must_go_on(child.id(), "the installer")?;
    };
    if !status.success() {
        // If someone else ended the shell, its installer may still run.
        let _ = end_group(&mut child, GRACE, &|| false);
    }
    forget_process(job.state)?;
    if status.success() {
        return Ok(Ok(()));
    }
    let tail = last_lines(&files::read_end(&log, 64 << 10), 12);
    let step = steps(&journal).pop().unwrap_or_else(|| "start".to_owned());
    Ok(Err(Failed { step, code: exit_code(status), tail, log }))
}

/// The end of an apply that a signal has stopped.
pub(super) fn stopped(signal: i32, step: Option<&str>) -> Failure {
    let step = step.map(|step| format!(", in the step `{step}`")).unwrap_or_default();
    Failure::new(Kind::Signal(signal), format!("stopped by {}{step}", name_of(signal)))
}

/// What builds of the last run have seen of the environment, as its journal in `state` says: `saw k3cx numpy 2.1.3`.
pub(super) fn builds_saw(state: &Path) -> BTreeMap<PackageName, BTreeMap<PackageName, Version>> {
    let mut all: BTreeMap<PackageName, BTreeMap<PackageName, Version>> = BTreeMap::new();
    for line in noted(&state.join(JOURNAL), "saw ") {
        let [built, name, version] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        if let (Ok(built), Ok(name), Ok(version)) = (built.parse(), name.parse(), version.parse()) {
            all.entry(built).or_default().insert(name, version);
        }
    }
    all
}

/// The packages whose built wheels could not be kept.
pub(super) fn unkept(state: &Path) -> Vec<String> {
    noted(&state.join(JOURNAL), "unkept ")
}

/// The steps that have begun, in order.
fn steps(journal: &Path) -> Vec<String> {
    noted(journal, "begin ")
}

/// The lines of a journal that begin with `word`, without it.
fn noted(journal: &Path, word: &str) -> Vec<String> {
    let text = files::read_optional(journal).ok().flatten().unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
}
