//! Checks that are not ours: commands of a profile, functions of installed packages. Each in a process of its own, with
//! a limit in time; they run only where the profile or the user asks for them.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::boot::machine::Machine;
use crate::boot::profile::{Fitness, OwnCheck};
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Severity, harmless};
use crate::core::host::command::{Finished, NoResult, find_program, last_lines};
use crate::core::host::mounts::Look;
use crate::core::host::{Invocation, files};
use crate::core::model::PackageName;
use crate::core::model::wheel_names::dist_info;
use crate::core::secrets::{Baseline, scrubbed};
use crate::health::doctor::{Outcome, State};

const BRIDGE: &str = include_str!("plugins.py");

/// Groups of entry points: ours, and that of `rapids doctor`, whose checks cuDF and cuML bring.
const ENTRY_POINTS: [&str; 2] = ["colab_boot.doctor", "rapids_doctor_check"];

/// A plugin may take so long.
const LIMIT: Duration = Duration::from_secs(20);

/// So many pieces of evidence are kept.
const EVIDENCE: usize = 50;

/// Where they stand among the groups.
const OWN: &str = "profile";
const PLUGINS: &str = "plugins";

const DESCRIBED: &str = "it runs only on this machine, not for --machine or --runtime";

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

/// What a foreign check may answer: findings, one of them, or a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answered {
    Whole {
        findings: Vec<Said>,
        #[serde(default)]
        said: String,
    },
    One(Said),
    Many(Vec<Said>),
}

impl Answered {
    /// The findings, and what was said besides.
    fn parts(self) -> (Vec<Said>, String) {
        match self {
            Self::Whole { findings, said } => (findings, said),
            Self::One(said) => (vec![said], String::new()),
            Self::Many(findings) => (findings, String::new()),
        }
    }
}

/// Which of them are asked.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Groups and checks, by name; all where there are none.
    pub only: &'a [String],
    /// Those of all distributions, not only of the profile's.
    pub plugins: bool,
    /// The machine is described: nothing that runs here says anything about it.
    pub elsewhere: bool,
}

impl Asked<'_> {
    fn names(&self, name: &str) -> bool {
        self.only.iter().any(|one| one == name)
    }
}

/// All that the profile, a file, and the user ask for.
pub fn foreign_checks(
    wish: &Fitness,
    profile: Option<&Path>,
    asked: Asked<'_>,
    machine: &Machine,
    session: &Session<'_>,
) -> Result<Vec<Outcome>, Failure> {
    let profile = profile.map(files::absolute).transpose()?;
    let folder = profile.as_deref().and_then(Path::parent);
    let mut outcomes = Vec::new();
    for check in
        wish.checks.iter().filter(|check| asked.only.is_empty() || asked.names(OWN) || asked.names(&check.name))
    {
        let Some(folder) = folder.filter(|_| !asked.elsewhere) else {
            outcomes.push(skipped(OWN, &check.name, DESCRIBED));
            continue;
        };
        outcomes.push(own_check(check, folder, session));
    }
    let by_name = asked.names(PLUGINS);
    let whose = match wish.plugins.as_slice() {
        _ if asked.plugins => None,
        [] if by_name => None,
        named if by_name || asked.only.is_empty() => Some(named),
        _ => return Ok(outcomes),
    };
    let python = machine.python.as_ref().and_then(|python| python.path.as_deref());
    match python.filter(|_| !asked.elsewhere) {
        Some(python) => outcomes.extend(plugin_checks(machine, python, whose, session)),
        None => {
            let why = if asked.elsewhere { DESCRIBED } else { "there is no Python to ask" };
            let names = whose.map_or_else(|| vec![PLUGINS], |all| all.iter().map(PackageName::as_ref).collect());
            outcomes.extend(names.iter().map(|name| skipped(PLUGINS, name, why)));
        }
    }
    Ok(outcomes)
}

/// The names of groups and checks that are not ours, where a profile wishes `wish` and `only` are asked for. Fails
/// where the checks of a profile are wanted and it has none.
pub fn foreign_names<'a>(wish: &'a Fitness, only: &[String]) -> Result<Vec<&'a str>, Failure> {
    if wish.checks.is_empty() && only.iter().any(|name| name == OWN) {
        let help = "name a profile with `--profile FILE`: this group runs its `[[doctor.check]]` entries";
        return Err(Failure::input("no profile with `[[doctor.check]]` is named").help(help));
    }
    Ok([OWN, PLUGINS].into_iter().chain(wish.checks.iter().map(|check| check.name.as_str())).collect())
}

fn own_check(check: &OwnCheck, folder: &Path, session: &Session<'_>) -> Outcome {
    let search = session.environment.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
    let program = &check.command[0];
    let found = if program.contains('/') { Some(folder.join(program)) } else { find_program(program, search) };
    let Some(program) = found.filter(|path| path.is_there()) else {
        return unasked(OWN, &check.name, State::Failed, &format!("there is no program `{program}`"));
    };
    let arguments: Vec<&str> = check.command[1..].iter().map(String::as_str).collect();
    let mut invocation = Invocation::new(program, &arguments, session.environment);
    invocation.folder = Some(folder.to_owned());
    invocation.whole = true;
    answered(OWN, &check.name, invocation.output(Duration::from_secs_f64(check.timeout)))
}

/// Runs the checks that installed distributions bring: of all, or of those that are named.
fn plugin_checks(
    machine: &Machine,
    python: &Path,
    only: Option<&[PackageName]>,
    session: &Session<'_>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (name, one) in &machine.installed {
        let meant = only.is_none_or(|only| only.contains(name));
        let Some(site) = one.location.as_deref().filter(|_| meant) else { continue };
        for (check, place) in entry_points(site, name, &one.version.to_string()) {
            session.say(&format!("running the check {check} of {name}"));
            let mut invocation = Invocation::new(python, &["-I", "-c", BRIDGE, &place], session.environment);
            invocation.whole = true;
            outcomes.push(answered(PLUGINS, &format!("{name}:{check}"), invocation.output(LIMIT)));
        }
    }
    for wanted in only.unwrap_or_default() {
        let brings = format!("{wanted}:");
        if !outcomes.iter().any(|outcome| outcome.check.starts_with(&brings)) {
            let why = "it is not installed, or has no check";
            outcomes.push(unasked(PLUGINS, wanted.as_ref(), State::Failed, why));
        }
    }
    if only.is_none() && outcomes.is_empty() {
        outcomes.push(skipped(PLUGINS, PLUGINS, "no installed package has a check"));
    }
    outcomes
}

/// What is not asked here.
fn skipped(group: &str, check: &str, why: &str) -> Outcome {
    outcome(group, check, State::Skipped, why.to_owned(), Vec::new())
}

/// `name = module:function` of the groups that are ours, of the distribution's `entry_points.txt`.
fn entry_points(site: &Path, name: &PackageName, version: &str) -> Vec<(String, String)> {
    let folder = format!("{}-{version}.dist-info", name.as_dist_info_name());
    let is_meant =
        |one: &String| one.eq_ignore_ascii_case(&folder) || dist_info(one).is_some_and(|(stem, _)| stem == *name);
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
            return unasked(group, check, State::TimedOut, &format!("not finished after {:.0} s", limit.as_secs_f64()));
        }
        Err(NoResult::NotFound) => {
            let why = "it can't be started: its first line names a missing program";
            return unasked(group, check, State::Failed, why);
        }
        Err(NoResult::Failed(error)) => return unasked(group, check, State::Failed, &error.to_string()),
    };
    let last = last_lines(&finished.stdout, 1);
    if let Some((findings, said)) = answer_of(&finished.stdout).map(Answered::parts)
        && (finished.code == 0 || !findings.is_empty())
    {
        let findings: Vec<Finding> = findings.iter().map(|said| finding(check, said)).collect();
        let said = findings.first().map_or_else(|| plain(&said), |finding| finding.message.clone());
        let state = if findings.is_empty() { State::Ok } else { State::Finding };
        return outcome(group, check, state, said, findings);
    }
    let is_torn = last.starts_with('{') || last.starts_with("[{");
    if is_torn
        || finished.code == 0
            && (group == PLUGINS || ["}", "]"].contains(&last.trim_end()) || is_followed(&finished.stdout))
    {
        let why = if last.is_empty() { "no answer".to_owned() } else { format!("its answer can't be read: {last}") };
        return unasked(group, check, State::Failed, &why);
    }
    if finished.code == 0 {
        return outcome(group, check, State::Ok, plain(&last), Vec::new());
    }
    let said = if last.is_empty() { last_lines(&finished.stderr, 1) } else { last };
    let how = finished.how();
    let message = if said.is_empty() { how } else { format!("{} ({how})", plain(&said)) };
    let finding = finding(check, &Said { severity: None, message, evidence: Vec::new(), help: None });
    outcome(group, check, State::Finding, finding.message.clone(), vec![finding])
}

/// JSON in the last lines: from the last one on that begins what is whole at the end.
fn answer_of(stdout: &str) -> Option<Answered> {
    begun(stdout).into_iter().rev().find_map(|rest| serde_json::from_str(rest).ok())
}

/// Whether an answer was given, and something else was said after it.
fn is_followed(stdout: &str) -> bool {
    begun(stdout)
        .into_iter()
        .any(|rest| matches!(serde_json::Deserializer::from_str(rest).into_iter::<Answered>().next(), Some(Ok(_))))
}

/// What is left of a text from each line on that may begin an answer.
fn begun(stdout: &str) -> Vec<&str> {
    let line_starts = std::iter::once(0).chain(stdout.match_indices('\n').map(|(at, _)| at + 1));
    line_starts.map(|at| &stdout[at..]).filter(|rest| rest.starts_with(['{', '['])).collect()
}

/// As much of a text is kept, in characters.
const LONGEST: usize = 2000;

/// A text of somebody else as people and files may see it: in one line, without secrets and control characters.
fn plain(text: &str) -> String {
    let short: String = text.trim().chars().take(10 * LONGEST).collect();
    let clean = scrubbed("check", &short, &Baseline::default()).ok().and_then(|(_, clean)| clean).unwrap_or(short);
    let mut line = harmless(&clean.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    if let Some((at, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// A check that somebody wants and that says nothing.
fn unasked(group: &str, check: &str, state: State, why: &str) -> Outcome {
    let why = plain(why);
    let finding = Finding::warning(Code::PluginCheck, format!("{check} gave no result: {why}"));
    outcome(group, check, state, why, vec![finding])
}

fn finding(check: &str, said: &Said) -> Finding {
    let severity = match said.severity.as_deref() {
        Some("warning") => Severity::Warning,
        Some("note" | "info") => Severity::Note,
        _ => Severity::Error,
    };
    let mut finding = Finding::error(Code::PluginCheck, format!("{check}: {}", plain(&said.message)));
    finding.severity = severity;
    finding.notes = said.evidence.iter().take(EVIDENCE).map(|text| plain(text)).collect();
    finding.help = said.help.iter().map(|text| plain(text)).collect();
    finding
}

fn outcome(group: &str, check: &str, state: State, said: String, findings: Vec<Finding>) -> Outcome {
    Outcome { check: check.to_owned(), group: group.to_owned(), state, said, findings }
}
