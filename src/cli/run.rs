//! A run from its arguments to its exit code: parse, check the named paths, run the verb, report.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{ColorChoice, Parser};
use serde_json::{Value, json};

use crate::boot::retrieval::matrix as read_matrix;
use crate::boot::session::Session;
use crate::boot::verdict::{Evidence, Report, Verdict};
use crate::cli::arguments::{Arguments, Verb};
use crate::cli::exit_code::exit_code;
use crate::cli::output::{render_failure, render_findings, report_page};
use crate::cli::suggestions::with_suggestion;
use crate::cli::verbs::run as run_verb;
use crate::core::diag::{Code, Failure, Finding, Kind, Severity, count_errors, envelope, harmless};
use crate::core::host::Paths;
use crate::core::host::destination::{is_stdout, must_be_apart, must_be_outside, must_have_folders, write_report};
use crate::core::host::mounts::{Unreachable, avoided, must_reach};
use crate::core::host::reads::{note_folder, note_outputs};
use crate::core::host::signals::prepare as prepare_signals;
use crate::core::host::supervisor::{Ended, supervised};
use crate::core::log::{LineSink, Log, ProgressForm, RECORD, Style, Verbosity};
use crate::core::matrix::Hosts;

/// Everything that a run takes from the world around it.
pub struct Ambient<'a> {
    pub arguments: Vec<OsString>,
    pub environment: BTreeMap<String, String>,
    /// Seconds since 1970.
    pub now: u64,
    /// Whether stderr is a terminal.
    pub terminal: bool,
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
    /// Takes lines about work in progress, from any thread.
    pub progress: LineSink,
}

/// Runs colab-boot and returns its exit code.
pub fn run(ambient: Ambient<'_>) -> u8 {
    let Ambient { arguments, mut environment, now, terminal, out, err, progress } = ambient;
    let began = Instant::now();
    prepare_signals();
    match supervised(&arguments, &mut environment) {
        Some(Ended::Exit(code)) => return code,
        Some(Ended::Waits(silent)) => return given_up(silent.to_failure(), &arguments, (out, err)),
        None => {}
    }
    let arguments = joined(arguments);
    let asked_for_json = asked_for_json(&arguments);
    let words = arguments.clone();
    let mut arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = with_suggestion(error, &words);
            let to: &mut dyn Write = if error.use_stderr() { err } else { &mut *out };
            let _ = write!(to, "{}", error.render());
            if let Some(verb) = asked_for_json.filter(|_| error.use_stderr()) {
                let failure = usage_failure(&error);
                let _ = writeln!(out, "{:#}", envelope(&verb, &Value::Null, &[], Some(&failure)));
            }
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let style = style(&arguments, &environment, terminal);
    let environment = with_safe_path(environment);
    let log = Log::new(Verbosity::of(arguments.verbose, arguments.quiet), progress);
    let (paths, not_read) = Paths::from_environment(&environment).with_own_cache();
    let changed = AtomicBool::new(false);
    let named = arguments.named_files();
    let written: Vec<PathBuf> = named.written.iter().cloned().chain(named.begun).collect();
    let apart = must_reach(named.read.iter().chain(&written).chain(&named.touched))
        .and_then(|()| must_be_apart(&named.read, &written))
        .and_then(|()| must_be_outside(&named.folders, &named.reports))
        .and_then(|()| must_have_folders(&named.written));
    note_outputs(&written);
    // What is kept there is read by every later run.
    note_folder(&paths.state);
    // The report must not go where something is read from.
    let json = arguments.json.take().filter(|path| apart.is_ok() || is_stdout(path));
    arguments.json = json;
    let outcome = apart
        .and_then(|()| if arguments.verb.reads_state() { paths.must_be_ours() } else { Ok(()) })
        .and_then(|()| read_matrix(arguments.matrix.as_deref().filter(|place| !place.is_empty()), &paths, &log))
        .and_then(|matrix| {
            let (environment, matrix, changed) = (&environment, &matrix, &changed);
            let session = Session { environment, paths, matrix, now, began, log: log.clone(), changed };
            run_verb(&arguments, &session, style)
        });
    let outcome = with_avoided(with(not_read, outcome)).map(Report::presentable).map_err(Failure::presentable);
    let refused = outcome.as_ref().err().and_then(|failure| verdict_of(failure, &arguments.verb, changed.into_inner()));
    let written = present(&arguments, &outcome, refused.as_ref(), style, (out, err));
    match (written, &outcome) {
        (Err(failure), _) => {
            let _ = write!(err, "{}", render_failure(&failure, style));
            exit_code(&Err(failure))
        }
        (Ok(()), _) => exit_code(&outcome),
    }
}

/// Says why a run was ended from outside.
fn given_up(failure: Failure, arguments: &[OsString], (out, err): (&mut dyn Write, &mut dyn Write)) -> u8 {
    let style = Style { color: false, progress: ProgressForm::Lines };
    let _ = write!(err, "{}", render_failure(&failure, style));
    if let Some(verb) = asked_for_json(&joined(arguments.to_vec())) {
        let _ = writeln!(out, "{:#}", envelope(&verb, &Value::Null, &[], Some(&failure)));
    }
    exit_code(&Err(failure))
}

/// The outcome with one finding more.
fn with(finding: Option<Finding>, outcome: Result<Report, Failure>) -> Result<Report, Failure> {
    outcome.map(|mut report| {
        report.findings.extend(finding);
        report
    })
}

/// The outcome with the mounts that were not looked into: what lies below them counts as absent in all the rest that is
/// said.
fn with_avoided(outcome: Result<Report, Failure>) -> Result<Report, Failure> {
    match outcome {
        Ok(mut report) => {
            let is_said = report.findings.iter().any(|one| [Code::MountHangs, Code::MountDead].contains(&one.code));
            let more = if is_said { Vec::new() } else { avoided() };
            report.findings.extend(more.iter().map(Unreachable::to_finding));
            Ok(report)
        }
        Err(mut failure) => {
            for mount in avoided() {
                let finding = mount.to_finding();
                let is_cause = failure.causes.iter().any(|cause| cause.contains(&mount.path.display().to_string()));
                if is_cause
                    || failure
                        .findings
                        .iter()
                        .any(|one| one.about.iter().any(|subject| finding.about.contains(subject)))
                {
                    continue;
                }
                if failure.findings.is_empty() {
                    failure = failure.cause(format!("{}: {}", finding.message, finding.notes.join(", ")));
                } else {
                    failure.findings.push(finding);
                }
            }
            Err(failure)
        }
    }
}

/// `--json -` as `--json=-`: the option takes its file after `=`, so that `--json p.toml` does not overwrite a profile,
/// but a lone dash can mean nothing else than stdout.
fn joined(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match joined.last_mut() {
            Some(last) if argument == "-" && last == "--json" => last.push("=-"),
            _ => joined.push(argument),
        }
    }
    joined
}

/// The verb of a command line that wants its JSON on stdout, for one that can't be read otherwise.
fn asked_for_json(arguments: &[OsString]) -> Option<String> {
    let wanted = arguments.iter().any(|argument| argument == "--json" || argument == "--json=-");
    let verb = arguments.iter().skip(1).find(|argument| !argument.to_string_lossy().starts_with('-'));
    wanted.then(|| verb.map(|verb| verb.to_string_lossy().into_owned()).unwrap_or_default())
}

/// The first line of clap's error; the rest is how the command is used.
fn usage_failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    Failure::input(first.strip_prefix("error: ").unwrap_or(first)).help("try --help")
}

/// How `verb` ended, which has failed: one that changes environments has refused where it had not begun to, and one
/// that verifies has not verified. `None` for other verbs, and where trying again may help.
fn verdict_of(failure: &Failure, verb: &Verb, changed: bool) -> Option<Verdict> {
    let errors = count_errors(&failure.findings).max(1);
    let is_no = matches!(failure.kind, Kind::Answer | Kind::Input);
    match verb {
        Verb::Plan(_) | Verb::Apply(_) | Verb::Restore(_) if is_no && !changed => Some(Verdict::refused(errors)),
        Verb::Verify(_) if is_no => Some(Verdict::verified(Evidence::default(), errors)),
        _ => None,
    }
}

/// Writes the report where it is wanted: as JSON, as a page, and for people. A closed stdout is the reader's business,
/// not ours.
fn present(
    arguments: &Arguments,
    outcome: &Result<Report, Failure>,
    refused: Option<&Verdict>,
    style: Style,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> Result<(), Failure> {
    let nothing = refused.map_or(Value::Null, |verdict| json!({ "verdict": verdict }));
    let (data, findings, failure) = match outcome {
        Ok(report) => (&report.data, report.findings.as_slice(), None),
        Err(failure) => (&nothing, [].as_slice(), Some(failure)),
    };
    let name = arguments.verb.name();
    let mut instead = None;
    if let Some(path) = &arguments.json {
        let value = envelope(name, data, findings, failure);
        instead = written(path, format!("{value:#}\n"))?;
    }
    if let Some(path) = &arguments.html {
        instead = written(path, report_page(name, outcome, refused, false)?)?.or(instead);
    }
    let said = Said { arguments, outcome, refused, style };
    if let Some(text) = &instead {
        tell(out, text)?;
        said.write((&mut std::io::sink(), err))
    } else if style.progress == ProgressForm::Records {
        let (mut asked_for, mut besides) = (Vec::new(), Vec::new());
        said.write((&mut asked_for, &mut besides))?;
        besides.append(&mut asked_for);
        let record =
            json!({ "text": String::from_utf8_lossy(&besides), "html": report_page(name, outcome, refused, true)? });
        let _ = writeln!(err, "{RECORD}{record}");
        Ok(())
    } else {
        said.write((out, err))
    }
}

/// Writes `text` to a file. Returns it where that is stdout.
fn written(path: &Path, text: String) -> Result<Option<String>, Failure> {
    if is_stdout(path) {
        return Ok(Some(text));
    }
    write_report(path, text.as_bytes())?;
    Ok(None)
}

/// What people read.
struct Said<'a> {
    arguments: &'a Arguments,
    outcome: &'a Result<Report, Failure>,
    refused: Option<&'a Verdict>,
    style: Style,
}

impl Said<'_> {
    /// Writes findings and talk to stderr, what was asked for to stdout.
    fn write(&self, (out, err): (&mut dyn Write, &mut dyn Write)) -> Result<(), Failure> {
        let Self { arguments, outcome, refused, style } = *self;
        match outcome {
            Ok(report) => {
                let said = report.findings.iter();
                let said = said.filter(|finding| !arguments.quiet || finding.severity == Severity::Error);
                let _ = write!(err, "{}", render_findings(&said.collect::<Vec<_>>(), style));
                let talk = report.talk.iter().filter(|_| !arguments.quiet);
                talk.for_each(|line| drop(writeln!(err, "{}", harmless(line))));
                let is_talk = arguments.quiet && arguments.verb.acts() && !report.is_no() && !report.is_verbatim();
                if !is_talk {
                    tell(out, &harmless(&report.text))?;
                }
            }
            Err(failure) => {
                let _ = write!(err, "{}", render_failure(failure, style));
                // Beside the error: stdout may be a script, or a report.
                if let Some(verdict) = refused {
                    let _ = writeln!(err, "{}", verdict.sentence());
                }
            }
        }
        Ok(())
    }
}

/// Writes `text` to stdout. A closed pipe is no failure; a full disk is one, for the user wanted to keep the text.
fn tell(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            Err(Failure::world("could not write to stdout")
                .because(&error)
                .help("free some space at the destination, or write the report to a file with --json=FILE"))
        }
        _ => Ok(()),
    }
}

/// The environment with a `PATH` of absolute folders: an empty entry, or `.`, is the folder that the user works in,
/// where anything may lie.
fn with_safe_path(mut environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
    if let Some(path) = environment.get_mut("PATH") {
        *path = path.split(':').filter(|folder| folder.starts_with('/')).collect::<Vec<_>>().join(":");
    }
    environment
}

fn style(arguments: &Arguments, environment: &BTreeMap<String, String>, terminal: bool) -> Style {
    let color = match arguments.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal
                && environment.get("NO_COLOR").is_none_or(String::is_empty)
                && environment.get("CLICOLOR").is_none_or(|value| value != "0")
        }
    };
    let notebook = Hosts::bundled().is_ok_and(|hosts| hosts.is_named(|name| environment.get(name).map(String::as_str)));
    let progress = match environment.get("COLAB_BOOT_PROGRESS").map(String::as_str) {
        Some("records") => ProgressForm::Records,
        _ if notebook || !terminal => ProgressForm::Lines,
        _ => ProgressForm::Bar,
    };
    Style { color, progress }
}
