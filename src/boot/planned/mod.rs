//! From an answer to a decision: what else a plan depends on, and the plan.

mod edited;
mod image_forecast;
mod linked_away;
mod shadow;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::path::PathBuf;

use url::Url;

use crate::boot::goal::{Answer, Goal, ProfileRequest, Request, answer};
use crate::boot::index::Traffic;
use crate::boot::ledger::Notes;
use crate::boot::lock::LockedTarget;
use crate::boot::machine::owned_elsewhere;
use crate::boot::marker::Marker;
use crate::boot::notebook::Loaded;
use crate::boot::plan::{Basis, Decision, Plan, Wish, decide};
use crate::boot::planned::edited::{Edited, edited};
use crate::boot::planned::linked_away::linked_away;
use crate::boot::script::{BuildContext, Context, render_script};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::situation::{FileCheck, Reading, Situation, observe_situation};
use crate::boot::verdict::Compared;
use crate::core::diag::{Failure, Finding, count_errors};
use crate::core::matrix::Matrix;
use crate::core::model::{PackageName, Version};

pub use image_forecast::{Outlook, gpus_of, outlook, said_of_lock};
pub use shadow::InFront;

/// A plan with all that led to it.
pub struct Planned {
    pub goal: Goal,
    pub wish: Wish,
    pub seen: Seen,
    pub target: LockedTarget,
    pub decision: Decision,
    /// What the kernel has loaded.
    pub loaded: Loaded,
    /// The folders that modules are installed to.
    pub folders: Vec<PathBuf>,
    pub marker: Option<Marker>,
    pub notes: Notes,
    /// What the files of the locked packages were compared with, and what is wrong with them.
    pub files: FileCheck,
    /// Distributions of which only files are repaired that the kernel does not hold.
    pub silent: BTreeSet<PackageName>,
    /// Files of installed packages that would be lost.
    pub edited: Vec<Edited>,
    pub findings: Vec<Finding>,
    /// This is a new answer, and no lock that still means something lies in its place.
    pub keep_lock: bool,
    /// Absent where a lock answered.
    pub traffic: Option<Traffic>,
    /// Addresses of the explicit indexes and of folders of wheels, by name.
    pub indexes: Vec<(String, Url)>,
    /// Why the lock that is there does not answer, where it was made for other machines.
    pub other_target: Option<String>,
    /// What became of the comparison with a golden release.
    pub release: Compared,
}

/// Lock (the one beside the profile where it is fresh and fits, else a new solve) minus machine.
pub fn make(
    profile: &ProfileRequest,
    request: &Request,
    session: &Session<'_>,
    reading: Reading,
) -> Result<Planned, Failure> {
    decided(answer(profile, request, session)?, request, session, reading)
}

/// Sees what else a plan depends on, and decides it.
pub fn decided(answer: Answer, request: &Request, session: &Session<'_>, reading: Reading) -> Result<Planned, Failure> {
    let situation = observe_situation(&answer, request, session, reading)?;
    let Answer { goal, wish, seen, target, mut findings, keep_lock, traffic, other_target } = answer;
    let decision = decide(Basis {
        wish: &wish,
        target: &target,
        machine: &seen.machine,
        matrix: session.matrix,
        prune: wish.prune && seen.is_here(),
        offline: request.index.offline,
        from_lock: traffic.is_none(),
        ledger: &seen.ledger,
        notes: &situation.notes,
        doubted: situation.doubted(),
        before: &situation.before,
        broken: &situation.files.broken,
        silent: &situation.silent,
        linked: &situation.linked,
        sharing: &situation.sharing,
        environment_file: situation.environment_file.as_deref(),
        history: situation.history(&seen.machine.boot_id),
        loaded: &situation.loaded,
        modules: &situation.modules,
        folders: &situation.folders,
    });
    explain_decision(session, &decision);
    let mut more = [situation.findings.clone(), decision.findings.clone()].concat();
    let edited = edited(session, &seen, &decision.plan.changes, &situation.files);
    more.extend(edited.iter().map(Edited::to_finding));
    if let Some(layout) = seen.layout() {
        more.extend(linked_away(layout, &decision.plan.changes)?);
        let front = InFront::of(session, &seen, &situation.loaded, &situation.folders);
        more.extend(front.findings(&seen, &target, (layout, &decision.plan.changes), &more)?);
    }
    let more = session.weighed(more, &target.accept);
    let new: Vec<Finding> = more.into_iter().filter(|finding| !findings.contains(finding)).collect();
    findings.extend(new);
    let indexes = session.indexes(&request.index, goal.profile(), &target)?;
    let Situation { marker, notes, files, loaded, silent, folders, .. } = situation;
    Ok(Planned {
        goal,
        wish,
        seen,
        target,
        decision,
        loaded,
        folders,
        marker,
        notes,
        files,
        silent,
        edited,
        findings,
        keep_lock,
        traffic,
        indexes,
        other_target,
        release: Compared::Nothing,
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

impl Planned {
    /// How many findings forbid the plan.
    pub fn errors(&self) -> usize {
        count_errors(&self.findings)
    }

    /// Adds what became of the comparison with a golden release.
    pub fn add_release(&mut self, release: Compared, findings: Vec<Finding>) {
        self.release = release;
        self.findings.extend(findings);
    }

    /// Packages that are links to folders, with these.
    pub fn editable(&self) -> BTreeMap<PackageName, &Path> {
        let wanted = self.goal.profile().into_iter().flat_map(|profile| &profile.wanted);
        wanted.filter_map(|one| Some((one.name.clone(), one.origin.as_ref()?.editable()?))).collect()
    }

    /// Whether a finding forbids the plan.
    pub fn has_error(&self) -> bool {
        self.errors() > 0
    }
}

/// The script for `plan`, all of what was planned or a part of it.
pub fn script_of(planned: &Planned, plan: &Plan, matrix: &Matrix) -> String {
    let python = planned.seen.machine.python.as_ref();
    let layout = python.and_then(|python| python.layout.as_ref());
    let wanted = planned.goal.profile().into_iter().flat_map(|profile| &profile.wanted);
    let direct = wanted.filter_map(|one| one.direct.as_ref());
    let search = planned.seen.observed().and_then(|observed| Some(&observed.python.as_ref()?.search));
    let incoming = plan.changes.iter().filter(|change| change.package.is_some()).map(|change| change.name.clone());
    let beside = layout.zip(search).filter(|_| planned.seen.is_here());
    let beside = beside.map(|(layout, search)| owned_elsewhere(search, layout, &incoming.collect()));
    let packages = planned.target.packages.iter().map(|package| &package.name);
    let none = BTreeSet::new();
    let shared = planned.goal.profile().map_or(&none, |profile| &profile.policy.shares_environment);
    let context = Context {
        builds: BuildContext {
            target: &planned.target,
            frameworks: packages.filter(|name| matrix.is_framework(name)).collect(),
            shared,
        },
        beside: beside.unwrap_or_default(),
        profile: planned.wish.title.clone(),
        lock: planned.goal.digest(),
        python: python.and_then(|python| python.path.as_ref()).map(|path| path.display().to_string()),
        externally_managed: layout.is_some_and(|layout| layout.externally_managed),
        indexes: planned.indexes.iter().map(|(name, url)| (name.as_str(), url)).collect(),
        direct: direct.map(|direct| (direct.file(), &direct.url)).collect(),
        editable: planned.editable(),
    };
    render_script(plan, &context)
}
