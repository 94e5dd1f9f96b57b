//! From a profile to a decision: the lock that answers it or a new solve, what else a plan depends on, and the plan.

use std::path::{Path, PathBuf};

use url::Url;

use crate::cli::{PlanOptions, lock_path};
use crate::diag::{Code, Failure, Finding, Kind, Severity};
use crate::index::Traffic;
use crate::lock::{Lock, LockedPackage, LockedTarget, stale, uncovered};
use crate::machine::owned_elsewhere;
use crate::marker::Marker;
use crate::model::accepted::accept;
use crate::model::{PackageName, Version};
use crate::notebook::Loaded;
use crate::plan::{Basis, Decision, Plan, Wish, decide, variables_for, wanted_back};
use crate::profile::Profile;
use crate::resolve::caveats;
use crate::script::{Context, Part, render_script};
use crate::session::Session;
use crate::session::doubt::doubtful;
use crate::session::findings::{compiled, judged, refused, secrets_set, unhashed};
use crate::session::index::Asked;
use crate::session::kernel::{environment_file, folders, loaded, modules};
use crate::session::lacking::without_libraries;
use crate::session::lock::{missing_lock, stale_lock};
use crate::session::machine::Seen;
use crate::state::State;

/// A plan with all that led to it.
pub struct Planned {
    pub wish: Wish,
    /// `None` where nothing is wanted any more.
    pub profile: Option<Profile>,
    pub seen: Seen,
    pub target: LockedTarget,
    pub lock: Lock,
    pub decision: Decision,
    /// What the kernel has loaded.
    pub loaded: Loaded,
    /// The folders that modules are installed to.
    pub folders: Vec<PathBuf>,
    pub marker: Option<Marker>,
    pub findings: Vec<Finding>,
    /// This is a new answer, and no lock that still means something lies in its place.
    pub keep_lock: bool,
    /// Absent where a lock answered.
    pub traffic: Option<Traffic>,
    /// Addresses of the explicit indexes and of folders of wheels, by name.
    pub indexes: Vec<(String, Url)>,
}

/// What is to be made true, and how that is known.
pub struct Answer {
    pub profile: Option<Profile>,
    pub wish: Wish,
    pub seen: Seen,
    pub target: LockedTarget,
    pub lock: Lock,
    pub findings: Vec<Finding>,
    pub keep_lock: bool,
    pub traffic: Option<Traffic>,
}

/// Lock (the one beside the profile where it is fresh and fits, else a new solve) minus machine.
pub fn make(options: &PlanOptions, session: &Session<'_>) -> Result<Planned, Failure> {
    decided(answer(options, session)?, options, session)
}

/// What is to be made true for the profile.
pub fn answer(options: &PlanOptions, session: &Session<'_>) -> Result<Answer, Failure> {
    let profile = session.profile(&options.profile)?;
    let seen = session.machine_near(&options.machine, Some(&options.profile))?;
    seen.may_be_changed(options.machine.system)?;
    let mut findings = seen.findings.clone();
    let path = lock_path(&options.profile, options.lock.as_ref());
    let mut keep_lock = false;
    let (lock, target, traffic) = match beside(session, &profile, &path, &seen, options.locked)? {
        Beside::Usable(both) => {
            session.log.detail(|| {
                format!("`{}` answers with its target `{}`: no index is asked", path.display(), both.1.name)
            });
            (both.0, both.1, None)
        }
        other => {
            session.log.detail(|| format!("`{}` does not answer: solving", path.display()));
            let mut solved = session.target(&profile, &seen)?;
            // A version that colab-boot has replaced and no index has any more is no choice here.
            solved.installed.retain(|name, present| seen.has_or_can_have(name, present));
            keep_lock = matches!(other, Beside::Replaceable(_));
            let old = if let Beside::Replaceable(old) = &other { old.as_ref() } else { None };
            let preferred = old.map(|old| old.versions(&solved.name)).unwrap_or_default();
            if let Beside::Elsewhere(reasons) = other {
                let message = format!("`{}` was made for other machines and is left alone", path.display());
                let finding = Finding::note(Code::MachineNotPlanned, message);
                findings.push(reasons.into_iter().fold(finding, Finding::with_note));
            }
            let asked = Asked { profile: &profile, target: &solved, machine: &seen.machine, preferred: &preferred };
            let (resolution, traffic) = session.solve(asked, &options.index)?;
            findings.extend(session.cache_finding());
            findings.extend(caveats(&resolution));
            let target = session.locked_target(&profile, &solved, &seen, &resolution);
            (session.lock_of(&profile, vec![target.clone()]), target, Some(traffic))
        }
    };
    let variables = variables_for(&profile, &target);
    findings.extend(variables.findings);
    findings.extend(secrets_set(&profile)?);
    let wish = Wish::of(&profile, variables.all);
    Ok(Answer { profile: Some(profile), wish, seen, target, lock, findings, keep_lock, traffic })
}

/// Sees what else a plan depends on, and decides it.
pub fn decided(answer: Answer, options: &PlanOptions, session: &Session<'_>) -> Result<Planned, Failure> {
    let Answer { profile, wish, seen, target, lock, mut findings, keep_lock, traffic } = answer;
    let layout = seen.machine.python.as_ref().and_then(|python| python.layout.as_ref()).filter(|_| seen.here);
    let state = layout.map(|layout| State::of(&session.paths.state, layout));
    let marker = state.as_ref().map_or(Ok(None), State::marker)?;
    let broken = match layout.zip(state.as_ref()) {
        Some((layout, state)) => doubtful(layout, state, &target, &seen, marker.as_ref())?,
        None => Vec::new(),
    };
    let wanted = if wish.prune { wanted_back(&seen.ledger, &target, &seen.machine, &broken) } else { Vec::new() };
    // A restoration without the index would be none; another apply goes on, and says what stays.
    let before = match session.wheels_back(&wanted, options, &seen) {
        Err(failure) if profile.is_none() => return Err(failure),
        other => other.unwrap_or_default(),
    };
    let loaded = loaded(session, &seen, &options.machine)?;
    let known = marker.as_ref().filter(|marker| marker.boot_id == seen.machine.boot_id);
    let (folders, environment) = (folders(&seen), environment_file(&seen)?);
    let basis = Basis {
        wish: &wish,
        target: &target,
        machine: &seen.machine,
        matrix: session.matrix,
        prune: wish.prune && seen.here,
        ledger: &seen.ledger,
        before: &before,
        broken: &broken,
        linked: &session.linked_here(&seen),
        environment_file: environment.as_deref(),
        history: known.map(|marker| marker.touched.as_slice()).unwrap_or_default(),
        loaded: &loaded,
        modules: &modules(&seen, moving(&seen, &target, &broken))?,
        folders: &folders,
    };
    let decision = decide(basis);
    explain_decision(session, &decision);
    let mut more = decision.findings.clone();
    more.extend(judged(&wish, &decision.plan, &target, &seen));
    let lacking = without_libraries(session, &seen, &target)?;
    more.extend(unhashed(&target).into_iter().chain(refused(session, &seen, &target)).chain(lacking));
    if traffic.is_none() {
        // A new answer has said so itself.
        more.extend(compiled(session, &seen, &target));
    }
    accept(&mut more, &target.accept);
    let new: Vec<Finding> = more.into_iter().filter(|finding| !findings.contains(finding)).collect();
    findings.extend(new);
    let indexes = session.indexes(&options.index, profile.as_ref(), &target)?;
    Ok(Planned {
        wish,
        profile,
        seen,
        target,
        lock,
        decision,
        loaded,
        folders,
        marker,
        findings,
        keep_lock,
        traffic,
        indexes,
    })
}

/// Says what is changed and why.
fn explain_decision(session: &Session<'_>, decision: &Decision) {
    for change in &decision.plan.changes {
        session.log.detail(|| {
            let shown =
                |version: &Option<Version>| version.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
            let reason = change.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{} from {} to {}{reason}", change.name, shown(&change.from), shown(&change.to))
        });
    }
    session.log.detail(|| match decision.restart.because.as_slice() {
        [] => "no restart: no kernel holds what changes".to_owned(),
        because => format!("restart: {}", because.join("; ")),
    });
}

/// What may change: the modules of these are looked at.
fn moving(seen: &Seen, target: &LockedTarget, broken: &[PackageName]) -> Vec<PackageName> {
    let owned = seen.ledger.distributions.keys().chain(seen.ledger.removed.keys());
    let moves = |package: &&LockedPackage| {
        let installed = seen.machine.installed.get(&package.name);
        installed.is_some_and(|one| one.version != package.version) || broken.contains(&package.name)
    };
    target.packages.iter().filter(moves).map(|package| &package.name).chain(owned).cloned().collect()
}

impl Planned {
    /// Whether a finding forbids the plan.
    pub fn has_error(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// What the lock beside the profile is worth here.
enum Beside {
    Usable(Box<(Lock, LockedTarget)>),
    /// There is none, or it answers another question: a new one may take its place.
    Replaceable(Option<Lock>),
    /// It is fresh, and made for other machines; the reasons.
    Elsewhere(Vec<String>),
}

/// The lock of `path` with its target for this machine. `locked` insists on it.
fn beside(session: &Session<'_>, profile: &Profile, path: &Path, seen: &Seen, locked: bool) -> Result<Beside, Failure> {
    let no = |finding: Finding| Failure::from_findings(Kind::Answer, vec![finding]);
    let name = &profile.source.name;
    let Some(lock) = session.read_lock(path)? else {
        return if locked { Err(no(missing_lock(path, name))) } else { Ok(Beside::Replaceable(None)) };
    };
    if let Some(why) = stale(&lock, &profile.digest, &session.matrix.version) {
        return if locked { Err(no(stale_lock(path, Some(&why), name))) } else { Ok(Beside::Replaceable(Some(lock))) };
    }
    match session.fitting(&lock, seen) {
        Ok(target) => match uncovered(profile, target) {
            None => {
                let target = target.clone();
                Ok(Beside::Usable(Box::new((lock, target))))
            }
            Some(why) if locked => Err(no(stale_lock(path, Some(&why), name))),
            Some(_) => Ok(Beside::Replaceable(Some(lock))),
        },
        Err(reasons) if locked => {
            let message = format!("no target of the lock fits: {}", reasons.join("; "));
            let finding = Finding::error(Code::MachineNotPlanned, message);
            Err(no(finding.with_help(format!("run `colab-boot lock {name}`"))))
        }
        Err(reasons) => Ok(Beside::Elsewhere(reasons)),
    }
}

/// The script for `plan`, all of what was planned or a part of it.
pub fn script_of(planned: &Planned, plan: &Plan, part: Part) -> String {
    let python = planned.seen.machine.python.as_ref();
    let layout = python.and_then(|python| python.layout.as_ref());
    let direct = planned.profile.iter().flat_map(|profile| &profile.wanted).filter_map(|one| one.direct.as_ref());
    let search = planned.seen.observed.as_ref().and_then(|observed| Some(&observed.python.as_ref()?.search));
    let incoming = plan.changes.iter().filter(|change| change.package.is_some()).map(|change| change.name.clone());
    let beside = layout.zip(search).filter(|_| planned.seen.here);
    let beside = beside.map(|(layout, search)| owned_elsewhere(search, layout, &incoming.collect()));
    let context = Context {
        beside: beside.unwrap_or_default(),
        part,
        profile: planned.wish.title.clone(),
        lock: planned.lock.digest(),
        python: python.and_then(|python| python.path.as_ref()).map(|path| path.display().to_string()),
        externally_managed: layout.is_some_and(|layout| layout.externally_managed),
        indexes: planned.indexes.iter().map(|(name, url)| (name.as_str(), url)).collect(),
        direct: direct.map(|direct| (direct.file(), &direct.url)).collect(),
    };
    render_script(plan, &context)
}
