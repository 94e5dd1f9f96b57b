//! What a profile asks of a machine: by the lock that answers it, or by a new solve.

use std::path::Path;

use crate::boot::goal::into_lock::{missing_lock, must_be_of, relock, stale_lock};
use crate::boot::goal::{Goal, ProfileRequest, Request};
use crate::boot::index::Traffic;
use crate::boot::lock::{Lock, LockedTarget, lock_path, stale};
use crate::boot::machine::PythonOrigin;
use crate::boot::plan::{Wish, variables_for};
use crate::boot::profile::Profile;
use crate::boot::project::ProjectSearch;
use crate::boot::resolve::caveats;
use crate::boot::retrieval::Asked;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding, Kind};
use crate::core::secrets::{Secret, scan};

/// What is to be made true, and how that is known.
pub struct Answer {
    pub goal: Goal,
    pub wish: Wish,
    pub seen: Seen,
    pub target: LockedTarget,
    pub findings: Vec<Finding>,
    pub keep_lock: bool,
    pub traffic: Option<Traffic>,
    /// Why the lock that is there does not answer, where it was made for other machines.
    pub other_target: Option<String>,
}

/// What is to be made true for the profile.
pub fn answer(wanted: &ProfileRequest, request: &Request, session: &Session<'_>) -> Result<Answer, Failure> {
    let mut profile = session.profile(&wanted.profile)?;
    let seen = session.machine_near(&request.machine, Some(&wanted.profile))?;
    seen.may_be_changed(request.machine.system)?;
    let mut findings = seen.findings.clone();
    let path = lock_path(&wanted.profile, wanted.lock.as_ref());
    let (mut keep_lock, mut other_target) = (false, None);
    let machine = Some(&seen.machine);
    let known = |lock| ProjectSearch::answering(machine, &request.index, lock);
    let (lock, target, traffic) = match beside(session, &profile, &path, &seen, wanted)? {
        Beside::Usable(both) => {
            profile = session.with_projects(&profile, ProjectSearch { unchanged: true, ..known(Some(&both.0)) })?;
            session.log.detail(|| format!("using target `{}` of `{}`", path.display(), both.1.name));
            (both.0, both.1, None)
        }
        other => {
            session.log.detail(|| format!("`{}` can't be used; resolving again", path.display()));
            profile = session.with_projects(&profile, known(other.earlier()))?;
            let mut solved = session.target(&profile, &seen)?;
            // A version that colab-boot has replaced and no index has any more is no choice here.
            solved.installed.retain(|name, present| seen.has_or_can_have(name, present));
            let old = other.earlier();
            let preferred = old.map(|old| old.versions(&solved.name)).unwrap_or_default();
            let is_left = old.is_some_and(|old| old.targets.iter().any(|one| one.name != solved.name));
            keep_lock = !matches!(other, Beside::Elsewhere(_)) && !is_left;
            other_target = other.why_left_alone(&path).filter(|_| !keep_lock);
            findings.extend(other.note(&path, is_left.then_some(&*profile.source.name)));
            let asked = Asked { profile: &profile, target: &solved, machine: &seen.machine, preferred: &preferred };
            let (resolution, traffic) = session.solve(asked, &request.index)?;
            findings.extend(session.cache_finding());
            findings.extend(session.weighed(caveats(&resolution), &profile.accepted));
            let target = session.locked_target(&profile, &solved, &seen, &resolution);
            (session.lock_of(&profile, vec![target.clone()]), target, Some(traffic))
        }
    };
    let variables = variables_for(&profile, &target);
    findings.extend(variables.findings);
    findings.extend(secrets_set(&profile)?);
    let wish = Wish::of(&profile, variables.all);
    let goal = Goal::Profile { profile: Box::new(profile), lock: Box::new(lock) };
    Ok(Answer { goal, wish, seen, target, findings, keep_lock, traffic, other_target })
}

/// What the lock beside the profile is worth here.
enum Beside {
    Usable(Box<(Lock, LockedTarget)>),
    None,
    /// It answers another question, and why: a new one takes its place, unless it has targets that would be lost.
    Stale(Box<Lock>, String),
    /// It is fresh, and made for other machines; the reasons.
    Elsewhere(Vec<String>),
}

impl Beside {
    /// The lock of before, whose versions are preferred.
    const fn earlier(&self) -> Option<&Lock> {
        match self {
            Self::Stale(old, _) => Some(old),
            _ => None,
        }
    }

    /// Why what is resolved now is not the lock's, where that stays as it is.
    fn why_left_alone(&self, path: &Path) -> Option<String> {
        match self {
            Self::Usable(_) | Self::None => None,
            Self::Stale(_, why) => Some(format!("`{}` is stale: {why}", path.display())),
            Self::Elsewhere(reasons) => {
                let why = reasons.first().map(|reason| format!(": {reason}")).unwrap_or_default();
                Some(format!("no target of `{}` fits{why}", path.display()))
            }
        }
    }

    /// What becomes of the lock. `left` names the profile where targets for other machines keep a stale one as it is.
    fn note(self, path: &Path, left: Option<&str>) -> Option<Finding> {
        let path = path.display();
        match (self, left) {
            (Self::Usable(_) | Self::None, _) => None,
            (Self::Stale(_, why), None) => {
                let message =
                    format!("`{path}` is stale: {why}. The profile was resolved again; `apply` writes the new lock");
                Some(Finding::note(Code::LockStale, message))
            }
            (Self::Stale(_, why), Some(profile)) => {
                let message = format!(
                    "`{path}` is stale: {why}. It was not changed, because it has targets for other machines; \
                     packages were resolved for this machine only"
                );
                Some(Finding::warning(Code::LockStale, message).with_help(relock(profile)))
            }
            (Self::Elsewhere(reasons), _) => {
                let message = format!("`{path}` was made for other machines and was not changed");
                let finding = Finding::note(Code::MachineNotPlanned, message);
                Some(reasons.into_iter().fold(finding, Finding::with_note))
            }
        }
    }
}

/// The lock of `path` with its target for this machine; an error where it can't be used and `wanted` insists on it.
fn beside(
    session: &Session<'_>,
    profile: &Profile,
    path: &Path,
    seen: &Seen,
    wanted: &ProfileRequest,
) -> Result<Beside, Failure> {
    let locked = wanted.locked;
    let no = |finding: Finding| Failure::from_findings(Kind::Answer, vec![finding]);
    let name = &profile.source.name;
    let Some(lock) = session.read_lock(path)? else {
        return if locked { Err(no(missing_lock(path, name))) } else { Ok(Beside::None) };
    };
    if wanted.lock.is_some() {
        must_be_of(&lock, profile, path)?;
    }
    if let Some(why) = stale(&lock, &profile.digest, &session.matrix.version) {
        return if locked {
            Err(no(stale_lock(path, Some(&why), name)))
        } else {
            Ok(Beside::Stale(Box::new(lock), why))
        };
    }
    match session.fitting(&lock, seen) {
        Ok(target) => match session.unanswered(profile, &lock, std::iter::once(target))? {
            None => {
                let target = target.clone();
                Ok(Beside::Usable(Box::new((lock, target))))
            }
            Some(why) if locked => Err(no(stale_lock(path, Some(&why), name))),
            Some(why) => Ok(Beside::Stale(Box::new(lock), why)),
        },
        Err(reasons) if locked => {
            seen.python_facts()?;
            let message = format!("no target of the lock fits: {}", reasons.join("; "));
            let finding = Finding::error(Code::MachineNotPlanned, message);
            let python = seen.machine.python.as_ref().filter(|python| python.origin == PythonOrigin::Named);
            let python = python.and_then(|python| python.path.as_ref());
            let named = python.map(|path| format!(" --python {}", path.display())).unwrap_or_default();
            let help = format!("`colab-boot lock {name}{named}` makes a lock for this machine in its place");
            Err(no(finding.with_help(help)))
        }
        Err(reasons) => Ok(Beside::Elsewhere(reasons)),
    }
}

/// What looks like a credential in the profile's `[env]`. `colab-boot: allow` in its line accepts it.
pub(super) fn secrets_set(profile: &Profile) -> Result<Vec<Finding>, Failure> {
    let text = profile.source.text.as_ref();
    let found = scan(text)?;
    let mut findings = Vec::new();
    for (name, span) in &profile.environment_spans {
        let is_in = |secret: &&Secret| span.start < secret.span.end && secret.span.start < span.end;
        let Some(secret) = found.iter().find(is_in) else { continue };
        let message = format!("`{name}` looks like a credential ({})", secret.rule);
        let help = "everyone who has the profile or the environment can read it; \
                    remove it and use the secrets of the notebook service; \
                    if it is not a credential, add `# colab-boot: allow` to its line";
        let finding = Finding::error(Code::SecretInEnvironmentFile, message);
        findings.push(finding.at(&profile.source, span.clone(), "").with_help(help));
    }
    Ok(findings)
}
