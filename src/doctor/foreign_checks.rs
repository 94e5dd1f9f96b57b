//! Checks that are not ours: commands of a profile, functions of installed packages. Each in a process of its own, with a limit in time; they run only
//! where the profile or the user asks for them.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::diag::{Code, Failure, Finding, Severity};
use crate::doctor::{Outcome, State};
use crate::host::command::{Finished, NoResult, find_program, last_lines};
use crate::host::{Invocation, files};
use crate::machine::Machine;
use crate::model::PackageName;
use crate::profile::{Fitness, OwnCheck};
use crate::session::Session;

const BRIDGE: &str = include_str!("plugins.py");

/// Groups of entry points: ours, and that of `rapids doctor`, whose checks cuDF and cuML bring.
const ENTRY_POINTS: [&str; 2] = ["colab_boot.doctor", "rapids_doctor_check"];

/// A plugin may take so long.
const LIMIT: Duration = Duration::from_secs(20);

/// Where they stand among the groups.
const OWN: &str = "profile";
const PLUGINS: &str = "plugins";

/// What a foreign check says of one thing.
#[derive(Debug, Deserialize)]
struct Said {
    #[serde(default)]
    severity: Option<String>,
    message: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    help: Option<String>,
}

/// What the last line of a foreign check may be.
#[derive(Debug, Deserialize)]
struct Answered {
    findings: Vec<Said>,
    #[serde(default)]
    said: String,
}

/// All that the profile, a file, and the user ask for.
pub fn foreign_checks(
    wish: &Fitness,
    profile: Option<&Path>,
    all_plugins: bool,
    machine: &Machine,
    session: &Session<'_>,
) -> Result<Vec<Outcome>, Failure> {
    let profile = profile.map(files::absolute).transpose()?;
    let folder = profile.as_deref().and_then(Path::parent);
    let mut outcomes = folder.map(|folder| own_checks(&wish.checks, folder, session)).unwrap_or_default();
    if all_plugins {
        outcomes.extend(plugin_checks(machine, None, session));
    } else if !wish.plugins.is_empty() {
        outcomes.extend(plugin_checks(machine, Some(&wish.plugins), session));
    }
    Ok(outcomes)
}

/// Runs the commands of a profile, from `folder`.
fn own_checks(checks: &[OwnCheck], folder: &Path, session: &Session<'_>) -> Vec<Outcome> {
    checks.iter().map(|check| own_check(check, folder, session)).collect()
}

fn own_check(check: &OwnCheck, folder: &Path, session: &Session<'_>) -> Outcome {
    let search = session.environment.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
    let program = &check.command[0];
    let found = if program.contains('/') { Some(folder.join(program)) } else { find_program(program, search) };
    let Some(program) = found else {
        return outcome(OWN, &check.name, State::Failed, format!("there is no program `{program}`"), Vec::new());
    };
    let arguments: Vec<&str> = check.command[1..].iter().map(String::as_str).collect();
    let mut invocation = Invocation::new(program, &arguments, session.environment);
    invocation.folder = Some(folder.to_owned());
    answered(OWN, &check.name, invocation.output(Duration::from_secs_f64(check.timeout)))
}

/// Runs the checks that installed distributions bring: of all, or of those that are named.
fn plugin_checks(machine: &Machine, only: Option<&[String]>, session: &Session<'_>) -> Vec<Outcome> {
    let Some(python) = machine.python.as_ref().and_then(|python| python.path.as_deref()) else { return Vec::new() };
    let mut outcomes = Vec::new();
    for (name, one) in &machine.installed {
        let meant = only.is_none_or(|only| {
            only.iter().any(|wanted| wanted.parse().is_ok_and(|wanted: PackageName| wanted == *name))
        });
        let Some(site) = one.location.as_deref().filter(|_| meant) else { continue };
        for (check, place) in entry_points(site, name, &one.version.to_string()) {
            session.say(&format!("asking {name}: {check}"));
            let invocation = Invocation::new(python, &["-I", "-c", BRIDGE, &place], session.environment);
            outcomes.push(answered(PLUGINS, &format!("{name}:{check}"), invocation.output(LIMIT)));
        }
    }
    for wanted in only.unwrap_or_default() {
        if !outcomes.iter().any(|outcome| {
            outcome
                .check
                .split(':')
                .next()
                .is_some_and(|name| wanted.parse().is_ok_and(|wanted: PackageName| wanted.as_ref() == name))
        }) {
            let why = "it is not installed, or brings no check".to_owned();
            outcomes.push(outcome(PLUGINS, wanted, State::Skipped, why, Vec::new()));
        }
    }
    outcomes
}

/// `name = module:function` of the groups that are ours, of the distribution's `entry_points.txt`.
fn entry_points(site: &Path, name: &PackageName, version: &str) -> Vec<(String, String)> {
    let folder = format!("{}-{version}.dist-info", name.as_dist_info_name());
    let is_meant = |one: &String| {
        one.eq_ignore_ascii_case(&folder)
            || one
                .strip_suffix(".dist-info")
                .and_then(|one| one.rsplit_once('-'))
                .is_some_and(|(stem, _)| stem.parse().is_ok_and(|stem: PackageName| stem == *name))
    };
    let Some(folder) = files::names_if_any(site).into_iter().find(is_meant) else { return Vec::new() };
    let text = files::read_optional(&site.join(folder).join("entry_points.txt")).ok().flatten().unwrap_or_default();
    let (mut all, mut inside) = (Vec::new(), false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(group) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = ENTRY_POINTS.contains(&group.trim());
        } else if let Some((check, place)) = line.split_once('=').filter(|_| inside) {
            let place = place.split('[').next().unwrap_or_default().trim();
            all.push((check.trim().to_owned(), place.to_owned()));
        }
    }
    all
}

fn answered(group: &str, check: &str, result: Result<Finished, NoResult>) -> Outcome {
    let finished = match result {
        Ok(finished) => finished,
        Err(NoResult::TimedOut(limit)) => {
            let why = format!("no end after {:.0} s", limit.as_secs_f64());
            return outcome(group, check, State::TimedOut, why, Vec::new());
        }
        Err(NoResult::NotFound) => {
            return outcome(group, check, State::Failed, "there is no such program".to_owned(), Vec::new());
        }
        Err(NoResult::Failed(error)) => return outcome(group, check, State::Failed, error.to_string(), Vec::new()),
    };
    let last = last_lines(&finished.stdout, 1);
    let answer = serde_json::from_str::<Answered>(&last).ok();
    let answer =
        answer.or_else(|| Some(Answered { findings: vec![serde_json::from_str(&last).ok()?], said: String::new() }));
    match answer {
        Some(answer) if finished.code == 0 || !answer.findings.is_empty() => {
            let findings: Vec<Finding> = answer.findings.into_iter().map(|said| finding(check, said)).collect();
            let said = findings.first().map_or(answer.said, |finding| finding.message.clone());
            let state = if findings.is_empty() { State::Ok } else { State::Finding };
            outcome(group, check, state, said, findings)
        }
        None if last.starts_with('{') => {
            let why = format!("its answer can't be read: {last}");
            outcome(group, check, State::Failed, why, Vec::new())
        }
        _ if finished.code == 0 => outcome(group, check, State::Ok, last, Vec::new()),
        _ => {
            let said = if last.is_empty() { last_lines(&finished.stderr, 1) } else { last };
            let how = match finished.code {
                code if code > 128 => format!("ended by signal {}", code - 128),
                code => format!("exit code {code}"),
            };
            let message = if said.is_empty() { how } else { format!("{said} ({how})") };
            let said = Said { severity: None, message, evidence: Vec::new(), help: None };
            let finding = finding(check, said);
            outcome(group, check, State::Finding, finding.message.clone(), vec![finding])
        }
    }
}

fn finding(check: &str, said: Said) -> Finding {
    let severity = match said.severity.as_deref() {
        Some("warning") => Severity::Warning,
        Some("note" | "info") => Severity::Note,
        _ => Severity::Error,
    };
    let mut finding = Finding::error(Code::PluginCheck, format!("{check}: {}", said.message));
    finding.severity = severity;
    finding.notes = said.evidence;
    finding.help = said.help.into_iter().collect();
    finding
}

fn outcome(group: &str, check: &str, state: State, said: String, findings: Vec<Finding>) -> Outcome {
    Outcome { check: check.to_owned(), group: group.to_owned(), state, said, findings }
}
