//! `explain`: what a code means, or why a package is in the lock at its version.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::boot::index::IndexSettings;
use crate::boot::lock::{Lock, LockedTarget, lock_path, stale};
use crate::boot::project::ProjectSearch;
use crate::boot::resolve::{Newer, Question, Why, explain};
use crate::boot::retrieval::Asked;
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::ExplainOptions;
use crate::cli::output::ShownWhy;
use crate::core::diag::{Code, Failure, Finding, nearest};
use crate::core::model::{PackageName, Version};
use crate::health::doctor::{Knowledge, explained_log, explained_text, is_known_error};

/// The word for all codes; in a notebook, no word means the last error.
const ALL: &str = "codes";

const LISTS: &str = "`colab-boot explain codes` lists all codes";

#[derive(Serialize)]
struct CodeReport {
    code: Code,
    explanation: &'static str,
}

pub(super) fn run(options: &ExplainOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let Some(text) = options.topic.as_ref().filter(|text| !["", ALL].contains(&text.trim())) else {
        let list: String = Code::ALL.iter().map(|code| format!("{code}\n")).collect();
        return Ok(Report::new(Code::ALL, list));
    };
    if let Some(code) = Code::find(text) {
        let data = CodeReport { code, explanation: code.explanation() };
        return Ok(Report::new(data, format!("{code}\n\n{}\n", code.explanation())));
    }
    // Several words are no name: somebody has pasted an error. So is one of an error that is known.
    let is_error = text.trim().contains(char::is_whitespace);
    if text == "-" || is_error || options.profile.is_none() && is_known_error(text, session.matrix) {
        let versions = known_versions(options, session)?;
        let version_of = |name: &PackageName| versions.get(name).cloned();
        let knowledge = Knowledge { matrix: session.matrix, version_of: &version_of };
        return if text == "-" { explained_log(Path::new(text), &knowledge) } else { explained_text(text, &knowledge) };
    }
    let profile = match &options.profile {
        Some(path) => Some(path.clone()),
        None => session.only_locked_profile(),
    };
    match (text.parse::<PackageName>(), profile) {
        (Ok(name), Some(profile)) => package(&name, &profile, options, session),
        _ => Err(unknown(text)),
    }
}

/// The versions that a text is about: of the lock, if a profile is named, else of the machine.
fn known_versions(options: &ExplainOptions, session: &Session<'_>) -> Result<BTreeMap<PackageName, Version>, Failure> {
    let Some(profile) = &options.profile else { return session.installed_versions(&options.machine.request()) };
    let lock = session.existing_lock(&lock_path(profile, options.lock.as_ref()), profile.display())?;
    let packages = chosen(&lock, options)?.packages.iter();
    Ok(packages.map(|package| (package.name.clone(), package.version.clone())).collect())
}

fn unknown(text: &str) -> Failure {
    if text.starts_with('-') {
        return Failure::input(format!("there is no option `{text}`")).help("`colab-boot explain --help` lists them");
    }
    let failure = Failure::input(format!("there is no code `{text}`"));
    let failure = match nearest(Code::ALL.iter().map(|code| code.as_str()), text) {
        Some(code) => failure.help(format!("did you mean `{code}`? {LISTS}")),
        None => failure.help(LISTS),
    };
    failure.help(format!("for a package, name the profile: `colab-boot explain {text} PROFILE`"))
}

fn package(
    name: &PackageName,
    path: &Path,
    options: &ExplainOptions,
    session: &Session<'_>,
) -> Result<Report, Failure> {
    let profile = session.profile(path)?;
    let place = lock_path(path, options.lock.as_ref());
    let lock = session.existing_lock(&place, path.display())?;
    let locked = chosen(&lock, options)?;
    let mut findings = Vec::new();
    if let Some(why) = stale(&lock, &profile.digest, &session.matrix.version) {
        let message = format!("`{}` is stale: {why}; this explains a new lock", place.display());
        findings.push(Finding::note(Code::LockStale, message));
    }
    let mut machine = options.machine.request();
    machine.runtime = machine.runtime.or_else(|| locked.runtime.clone());
    let seen = session.machine_near(&machine, Some(path))?;
    let settings = options.index.settings();
    let search = ProjectSearch::answering(Some(&seen.machine), &settings, Some(&lock));
    let profile = session.with_projects(&profile, search)?;
    let target = session.target(&profile, &seen)?;
    let preferred = lock.versions(&locked.name);
    let asked = Asked { profile: &profile, target: &target, machine: &seen.machine, preferred: &preferred };
    let (why, conflict) = why(session, asked, &settings, name)?;
    let Some(why) = why else {
        return Err(not_there(name, &lock, locked));
    };
    let has = target.installed.get(name).map(|present| &present.version);
    let kept = locked.package(name).is_some_and(|package| Some(&package.version) == has);
    let shown = ShownWhy { name, why: &why, profile: &profile, kept, conflict: conflict.as_ref() };
    Ok(Report::new(shown.report(), shown.render()).with_findings(findings))
}

fn chosen<'l>(lock: &'l Lock, options: &ExplainOptions) -> Result<&'l LockedTarget, Failure> {
    let wanted = options.machine.runtime.as_deref();
    lock.targets
        .iter()
        .find(|target| wanted.is_none_or(|name| target.runtime.as_deref() == Some(name) || target.name == name))
        .ok_or_else(|| {
            let names: Vec<&str> = lock.targets.iter().map(|target| target.name.as_str()).collect();
            Failure::answer("the lock has no such target").help(format!("its targets: {}", names.join(", ")))
        })
}

fn not_there(name: &PackageName, lock: &Lock, locked: &LockedTarget) -> Failure {
    let failure = Failure::answer(format!("`{name}` is not in the lock: no package needs it on `{}`", locked.name));
    let names = lock.targets.iter().flat_map(|target| &target.packages).map(|package| package.name.as_ref());
    match nearest(names, name.as_ref()) {
        Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
        None => failure.help(LISTS),
    }
}

/// Why `name` is in the answer to what is asked; and what stands in the way of its newest release, where that is
/// impossible.
fn why(
    session: &Session<'_>,
    asked: Asked<'_>,
    settings: &IndexSettings,
    name: &PackageName,
) -> Result<(Option<Why>, Option<Finding>), Failure> {
    let ask = |question: Question<'_>| {
        let why = crate::boot::resolve::why(question, name)?;
        let finding = why.as_ref().and_then(|why| match &why.newer {
            Newer::Impossible(conflict) => Some(explain(conflict, question, &|_| Some(false))),
            _ => None,
        });
        Ok((why, finding))
    };
    session.ask(asked, settings, ask).map(|(answer, _)| answer)
}
