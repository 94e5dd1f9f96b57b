//! Maintains `matrix/`: reads the wheels of new releases and writes their rows, compares rows with wheels, updates
//! hints.

mod arguments;
mod releases;
mod check;
mod hints;
mod images;
mod link_rows;
mod refresh;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use colab_boot::boot::retrieval::matrix;
use colab_boot::boot::session::Session;
use colab_boot::cli::output::{render_failure, render_findings};
use colab_boot::core::diag::{Failure, Finding};
use colab_boot::core::host::Paths;
use colab_boot::core::log::{Log, ProgressForm, Style, Verbosity};

use crate::arguments::{Arguments, Verb};
use crate::releases::{Releases, online};

const STYLE: Style = Style { color: false, progress: ProgressForm::Lines };

/// What a verb has to say.
#[derive(Default)]
struct Outcome {
    lines: Vec<String>,
    findings: Vec<Finding>,
    /// Whether the rows are not as they should be.
    is_no: bool,
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads environment and clock")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map(|elapsed| elapsed.as_secs()).unwrap_or_default();
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    match run(&arguments, &environment, now) {
        Ok(outcome) => {
            outcome.lines.iter().for_each(|line| drop(writeln!(out, "{line}")));
            let findings: Vec<&Finding> = outcome.findings.iter().collect();
            let _ = write!(err, "{}", render_findings(&findings, STYLE));
            ExitCode::from(u8::from(outcome.is_no))
        }
        Err(failure) => {
            let _ = write!(err, "{}", render_failure(&failure, STYLE));
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments, environment: &BTreeMap<String, String>, now: u64) -> Result<Outcome, Failure> {
    let log = Log::new(Verbosity::default(), Arc::new(|line| drop(writeln!(std::io::stderr(), "upkeep: {line}"))));
    let (paths, _) = Paths::from_environment(environment).with_own_cache();
    let matrix = matrix(arguments.matrix.as_deref(), &paths, &log)?;
    let changed = AtomicBool::new(false);
    let session = Session { environment, paths, matrix: &matrix, now, began: Instant::now(), log, changed: &changed };
    let (client, index) = online(&session, &arguments.verb.index().settings())?;
    let releases = Releases { session: &session, client: &client, index };
    let outcome = match &arguments.verb {
        Verb::Refresh(options) => refresh::run(options, &session, &releases),
        Verb::Check(options) => check::run(options, &session, &releases),
        Verb::Linking(options) => link_rows::run(options, &session, &releases),
        Verb::Hints(options) => hints::run(options, &session, &releases),
        Verb::Images(options) => images::run(options, &session, &releases),
    }?;
    session.say(&format!("{} requests", client.traffic().requests));
    Ok(outcome)
}
