//! `explain`: what a code means, or why a package is in the lock at its version.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::ExplainOptions;
use crate::diag::{Code, Failure, Finding, Kind};
use crate::host::files;
use crate::lock::{Lock, LockedTarget, stale};
use crate::model::PackageName;
use crate::model::version::range_of;
use crate::output::Report;
use crate::profile::Profile;
use crate::resolve::{Asker, Newer, Why, explain};
use crate::session::Session;
use crate::session::{Asked, lock_path};

/// Moves that are told one by one.
const SHOWN: usize = 8;

pub(super) fn run(options: &ExplainOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let Some(text) = &options.topic else {
        let list: String = Code::ALL.iter().map(|code| format!("{code}\n")).collect();
        return Ok(Report::new(json!(Code::ALL), list));
    };
    if let Some(code) = Code::find(text) {
        let data = json!({ "code": code, "explanation": code.explanation() });
        return Ok(Report::new(data, format!("{code}\n\n{}\n", code.explanation())));
    }
    let profile = match &options.profile {
        Some(path) => Some(path.clone()),
        None => only_locked_profile(),
    };
    match (text.parse::<PackageName>(), profile) {
        (Ok(name), Some(profile)) => package(&name, &profile, options, session),
        _ => Err(unknown(text)),
    }
}

fn unknown(text: &str) -> Failure {
    let nearest =
        Code::ALL.iter().max_by(|a, b| strsim::jaro(a.as_str(), text).total_cmp(&strsim::jaro(b.as_str(), text)));
    let nearest = nearest.filter(|code| strsim::jaro(code.as_str(), text) > 0.8);
    let failure = Failure::input(format!("there is no code `{text}`"));
    let failure = match nearest {
        Some(code) => failure.help(format!("did you mean `{code}`? `colab-boot explain` lists all")),
        None => failure.help("`colab-boot explain` lists all codes"),
    };
    failure.help(format!("for a package, name the profile: `colab-boot explain {text} PROFILE`"))
}

/// The one profile of this folder that has a lock beside it.
fn only_locked_profile() -> Option<PathBuf> {
    let names = files::names_if_any(Path::new("."));
    let mut locked = names
        .iter()
        .map(PathBuf::from)
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml") && path.with_extension("lock").exists());
    locked.next().filter(|_| locked.next().is_none())
}

fn package(
    name: &PackageName,
    path: &Path,
    options: &ExplainOptions,
    session: &Session<'_>,
) -> Result<Report, Failure> {
    let profile = session.profile(path)?;
    let place = lock_path(path, options.lock.as_ref());
    let lock = session.read_lock(&place)?.ok_or_else(|| {
        let finding = Finding::error(Code::LockMissing, format!("there is no lock at `{}`", place.display()))
            .with_help(format!("run `colab-boot lock {}`", path.display()));
        Failure::from_findings(Kind::Answer, vec![finding])
    })?;
    let locked = chosen(&lock, options)?;
    let mut findings = Vec::new();
    if let Some(why) = stale(&lock, &profile.digest, &session.matrix.version) {
        let message = format!("`{}` is stale: {why}; what follows is about a lock made now", place.display());
        findings.push(Finding::note(Code::LockStale, message));
    }
    let mut machine = options.machine.clone();
    machine.runtime = machine.runtime.or_else(|| locked.runtime.clone());
    let seen = session.machine_near(&machine, Some(path))?;
    let target = session.target(&profile, &seen)?;
    let preferred = lock.versions(&locked.name);
    let asked = Asked { profile: &profile, target: &target, machine: &seen.machine, preferred: &preferred };
    let (why, conflict) = session.why(asked, &options.index, name)?;
    let Some(why) = why else {
        return Err(not_there(name, &lock, locked));
    };
    let has = target.installed.get(name).map(|present| &present.version);
    let kept = locked.package(name).is_some_and(|package| Some(&package.version) == has);
    let text = told(name, &why, &profile, (kept, conflict.as_ref()));
    Ok(Report::new(as_json(name, &why, conflict.as_ref()), text).with_findings(findings))
}

fn chosen<'l>(lock: &'l Lock, options: &ExplainOptions) -> Result<&'l LockedTarget, Failure> {
    let wanted = options.machine.runtime.as_deref();
    let fits = |target: &&LockedTarget| {
        wanted.is_none_or(|name| target.runtime.as_deref() == Some(name) || target.name == name)
    };
    lock.targets.iter().find(fits).ok_or_else(|| {
        let names: Vec<&str> = lock.targets.iter().map(|target| target.name.as_str()).collect();
        Failure::answer("the lock has no such target").help(format!("its targets: {}", names.join(", ")))
    })
}

fn not_there(name: &PackageName, lock: &Lock, locked: &LockedTarget) -> Failure {
    let failure = Failure::answer(format!("`{name}` is not in the lock: nothing needs it on `{}`", locked.name));
    let names = lock.targets.iter().flat_map(|target| &target.packages).map(|package| package.name.to_string());
    let nearest = names.max_by(|a, b| strsim::jaro(a, name.as_ref()).total_cmp(&strsim::jaro(b, name.as_ref())));
    match nearest.filter(|nearest| strsim::jaro(nearest, name.as_ref()) > 0.8) {
        Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
        None => failure,
    }
}

fn asker_of(asker: &Asker) -> String {
    match &asker.package {
        Some((package, version)) => format!("{package} {version}"),
        None => "your profile".to_owned(),
    }
}

fn told(name: &PackageName, why: &Why, profile: &Profile, (kept, conflict): (bool, Option<&Finding>)) -> String {
    let mut text = format!("{name} {}\n", why.version);
    let chain: Vec<String> = why.chain.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let _ = writeln!(text, "  why       your profile -> {}", chain.join(" -> "));
    if kept {
        text.push_str("  kept      the target has this version\n");
    }
    for asker in &why.askers {
        let verb = if asker.package.is_some() { "needs" } else { "asks for" };
        let cap = if asker.caps { ": this holds it back" } else { "" };
        let _ = writeln!(text, "  asked     {} {verb} {name} {}{cap}", asker_of(asker), asker.range);
    }
    if let Some(bound) = profile.constraint_of(name) {
        let _ = writeln!(text, "  bound     your profile's [constraints] let it be {} only", bound.specifiers);
    }
    let Some(newest) = &why.newest else {
        text.push_str("  newest    yes: the target could have no newer release\n");
        return text;
    };
    let _ = writeln!(text, "  newest    no: {newest} is there");
    match &why.newer {
        Newer::No => {}
        Newer::Moves(moves) => {
            let own = profile.wanted.iter().find(|one| one.name == *name).map(|one| &one.specifiers);
            match own.filter(|own| !range_of(own).contains(newest)) {
                Some(own) => drop(writeln!(text, "  with it   nothing but your profile's `{own}` stands in its way")),
                None if kept => {
                    text.push_str("  with it   nothing stands in its way but that the target has this one\n");
                }
                None => moved(&mut text, name, newest, moves),
            }
        }
        Newer::Impossible(_) => {
            let _ = writeln!(text, "  with it   there is no solution");
            let places = conflict.iter().flat_map(|finding| finding.labels.iter().map(|label| label.text.clone()));
            let message = conflict.iter().map(|finding| finding.message.clone());
            let notes = conflict.iter().flat_map(|finding| finding.notes.iter().cloned());
            for line in message.chain(places.filter(|text| text != "asked for here")).chain(notes).take(SHOWN) {
                let _ = writeln!(text, "            {line}");
            }
        }
    }
    text
}

type Move = (PackageName, Option<crate::model::Version>, Option<crate::model::Version>);

fn moved(text: &mut String, name: &PackageName, newest: &crate::model::Version, moves: &[Move]) {
    let others: Vec<&Move> = moves.iter().filter(|(other, ..)| other != name).collect();
    if others.is_empty() {
        let _ = writeln!(text, "  with it   nothing else would move: `lock --upgrade-package {name}` takes {newest}");
        return;
    }
    let line = |(other, from, to): &Move| match (from, to) {
        (Some(from), Some(to)) => format!("{other} moves from {from} to {to}"),
        (None, Some(to)) => format!("{other} {to} comes along"),
        (Some(from), None) => format!("{other} {from} goes"),
        (None, None) => String::new(),
    };
    let more = others.len().saturating_sub(SHOWN);
    let lines = others.iter().take(SHOWN).map(|one| line(one));
    for line in lines.chain((more > 0).then(|| format!("and {more} more"))) {
        let _ = writeln!(text, "  with it   {line}");
    }
}

fn as_json(name: &PackageName, why: &Why, conflict: Option<&Finding>) -> Value {
    let pair = |(name, version): &(PackageName, crate::model::Version)| json!({ "name": name, "version": version });
    let askers: Vec<Value> = why
        .askers
        .iter()
        .map(|asker| json!({ "package": asker.package.as_ref().map(pair), "range": asker.range, "caps": asker.caps }))
        .collect();
    let moves: Option<Vec<Value>> = match &why.newer {
        Newer::Moves(moves) => {
            Some(moves.iter().map(|(name, from, to)| json!({ "name": name, "from": from, "to": to })).collect())
        }
        _ => None,
    };
    json!({
        "name": name,
        "version": why.version,
        "chain": why.chain.iter().map(pair).collect::<Vec<_>>(),
        "askers": askers,
        "newest": why.newest,
        "moves": moves,
        "conflict": conflict.map(|finding| &finding.message),
    })
}

impl Session<'_> {
    /// Why `name` is in the answer to what is asked; and what stands in the way of its newest release, where that is impossible.
    fn why(
        &self,
        asked: Asked<'_>,
        options: &crate::cli::IndexOptions,
        name: &PackageName,
    ) -> Result<(Option<Why>, Option<Finding>), Failure> {
        self.ask(asked, options, |question| {
            let why = crate::resolve::why(question, name)?;
            let finding = why.as_ref().and_then(|why| match &why.newer {
                Newer::Impossible(conflict) => Some(explain(conflict, question)),
                _ => None,
            });
            Ok((why, finding))
        })
        .map(|(answer, _)| answer)
    }
}
