//! Smoke tests: plain Python files, each run in a process of its own, each ending with one line of JSON.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use crate::core::host::Invocation;
use crate::core::host::command::{Finished, NoResult, last_lines};
use crate::core::model::PackageName;

static SCRIPTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/boot/verify/smoke");
static THOROUGH: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/boot/verify/thorough");
static TRAINING: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/boot/verify/training");

/// Importing a framework takes up to 20 s cold; compiling PTX on first use can take minutes.
const LIMIT: Duration = Duration::from_mins(5);

/// Before each of them: it ends with the one who asked (prctl(2), `PR_SET_PDEATHSIG`), or a test that hangs would hold
/// the GPU for good.
const BOUND: &str = "try:\n    import ctypes\n    ctypes.CDLL(None).prctl(1, 9)\nexcept Exception:\n    pass\n";

/// One test to run.
#[derive(Clone, Debug)]
pub(super) struct SmokeTest {
    pub package: PackageName,
    /// Modules to import where the package has no test of its own.
    pub modules: Vec<String>,
    /// The longer test, where there is one.
    pub thorough: bool,
}

/// What the test saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmokeOutcome {
    pub ok: bool,
    /// The version that was imported.
    #[serde(default)]
    pub version: Option<String>,
    /// `None` where the package knows nothing of GPUs.
    #[serde(default)]
    pub gpu: Option<bool>,
    /// Whether a TPU did it; `None` where the test does not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpu: Option<bool>,
    /// What was done and seen, or the last lines of what went wrong.
    pub detail: String,
}

/// Runs `test` with `python`.
pub(super) fn run_smoke(test: &SmokeTest, python: &Path, environment: &BTreeMap<String, String>) -> SmokeOutcome {
    let name = format!("{}.py", test.package);
    let own = THOROUGH.get_file(&name).filter(|_| test.thorough).or_else(|| SCRIPTS.get_file(&name));
    let failed = |detail: String| SmokeOutcome { ok: false, version: None, gpu: None, tpu: None, detail };
    if own.is_none() && test.modules.is_empty() {
        return failed("no module to import was found".to_owned());
    }
    let script =
        own.or_else(|| SCRIPTS.get_file("import.py")).and_then(include_dir::File::contents_utf8).unwrap_or_default();
    let mut arguments = vec!["-I", "-c", script];
    if own.is_none() {
        arguments.extend(test.modules.iter().map(String::as_str));
    }
    run(script, python, &arguments[3..], environment)
}

/// Trains a little, twice, each in a process of its own from `seed`; `None` for a package without such a test.
pub(super) fn train_twice(
    package: &PackageName,
    python: &Path,
    seed: u64,
    environment: &BTreeMap<String, String>,
) -> Option<[SmokeOutcome; 2]> {
    let script = TRAINING.get_file(format!("{package}.py")).and_then(include_dir::File::contents_utf8)?;
    let seed = (seed % (1 << 31)).to_string();
    let once = || run(script, python, &[&seed], environment);
    Some([once(), once()])
}

fn run(script: &str, python: &Path, more: &[&str], environment: &BTreeMap<String, String>) -> SmokeOutcome {
    let failed = |detail: String| SmokeOutcome { ok: false, version: None, gpu: None, tpu: None, detail };
    let script = format!("{BOUND}{script}");
    let arguments: Vec<&str> = ["-I", "-c", &script].into_iter().chain(more.iter().copied()).collect();
    // Not to take the whole GPU for a matrix of four by four.
    let mut environment = environment.clone();
    for (name, value) in [
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        ("TF_CPP_MIN_LOG_LEVEL", "2"),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    match Invocation::new(python, &arguments, &environment).output(LIMIT) {
        Ok(finished) => {
            let line = finished.stdout.lines().rev().find(|line| line.starts_with('{'));
            let outcome = line.and_then(|line| serde_json::from_str(line).ok()).filter(|_| finished.code == 0);
            outcome.unwrap_or_else(|| failed(describe(&finished)))
        }
        Err(NoResult::TimedOut(limit)) => failed(format!("not finished after {} s", limit.as_secs())),
        Err(NoResult::NotFound) => failed(format!("there is no `{}`", python.display())),
        Err(NoResult::Failed(error)) => failed(error.to_string()),
    }
}

fn describe(finished: &Finished) -> String {
    let tail = last_lines(&finished.stderr, 6);
    match finished.signal {
        Some(9) => format!("killed: probably out of memory\n{tail}"),
        _ => format!("{}\n{tail}", finished.how()),
    }
}
