//! The decision: what changes, what would break, what a running kernel means for it. Everything that was seen goes in, one value
//! comes out, and nothing is decided again later.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Finding};
use crate::ledger::Hand;
use crate::machine::Machine;
use crate::marker::{Touched, because};
use crate::model::{PackageName, Version};
use crate::notebook::{Loaded, Modules};
use crate::plan::families::broken_families;
use crate::plan::variables::{Environment, judge_environment, set_by};
use crate::plan::{AptStep, Basis, Plan, Restart, breakage, changes, environment_line};

/// What is to be done, and what it means.
#[derive(Clone, Debug)]
pub struct Decision {
    pub plan: Plan,
    /// What the plan touches, as kernels see it.
    pub touched: Vec<Touched>,
    pub restart: Restart,
    /// Reasons for a restart that no change makes: variables read too early, libraries replaced under the kernel.
    pub evidence: Vec<String>,
    pub environment: Environment,
    /// The environment file on the machine is not the one the plan wants.
    pub environment_differs: bool,
    pub findings: Vec<Finding>,
}

/// Decides.
pub fn decide(basis: Basis<'_>) -> Decision {
    let changes::Changed { changes, kept, mut findings } = changes::changes(&basis);
    let sizes = changes.iter().filter_map(|change| change.package.as_ref()?.wheel.as_ref()).map(|wheel| wheel.size);
    let missing = basis.target.apt.iter().filter(|one| !basis.machine.debian.packages().contains_key(&one.name));
    let mut plan = Plan {
        target: basis.target.name.clone(),
        apt: missing.map(|one| AptStep { name: one.name.clone(), version: one.version.clone() }).collect(),
        apt_snapshot: basis.wish.apt_snapshot.clone(),
        environment: basis.wish.environment.clone(),
        download_bytes: sizes.clone().flatten().sum(),
        unknown_sizes: sizes.filter(Option::is_none).count(),
        breakages: breakage::breakages(&basis, &changes),
        changes,
        kept,
    };
    findings.extend(broken_families(&basis, &plan.changes));
    findings.extend(breakage::unmet(&basis, &plan.changes, &plan.kept));
    findings.extend(skip_apt(&mut plan, basis.machine));
    findings.extend(foreign(&basis));
    let wanted = environment_line(&plan.environment);
    let environment_differs = wanted.as_deref() != basis.environment_file;
    let before = basis.environment_file.map(set_by).unwrap_or_default();
    let environment = judge_environment(&plan.environment, &before, basis.loaded, basis.matrix);
    findings.extend(for_children(&environment));
    let mut touched = touched(&plan, basis.modules);
    touched.extend(environment_touched(&environment, basis.loaded));
    let evidence = evidence(&basis, &environment);
    let restart = restart(&basis, &touched, &evidence);
    Decision { plan, touched, restart, evidence, environment, environment_differs, findings }
}

/// What `plan` touches; `modules` are those of the distributions that change, of the installed version and of the new one.
pub fn touched(plan: &Plan, modules: &BTreeMap<PackageName, BTreeSet<String>>) -> Vec<Touched> {
    let one = |change: &crate::plan::Change| Touched {
        name: Some(change.name.clone()),
        what: match (&change.from, &change.to) {
            (Some(from), Some(to)) if from == to => format!("{from} is installed again"),
            (Some(from), Some(to)) => format!("goes from {from} to {to}"),
            (Some(from), None) => format!("{from} is removed"),
            (None, Some(to)) => format!("{to} takes its place"),
            (None, None) => "changes".to_owned(),
        },
        modules: modules.get(&change.name).cloned().unwrap_or_else(|| [guessed_module(&change.name)].into()),
        existed: change.from.is_some(),
        ended: None,
        clean: Vec::new(),
    };
    plan.changes.iter().map(one).collect()
}

/// The module that a distribution of this name probably has.
fn guessed_module(name: &PackageName) -> String {
    name.as_ref().replace(['-', '.'], "_")
}

/// The entry of the environment file, for kernels that do not tell their variables.
fn environment_touched(environment: &Environment, loaded: &Loaded) -> Option<Touched> {
    let told = matches!(loaded.modules, Modules::Told(_));
    let what = environment.because.first().filter(|_| !told)?.clone();
    Some(Touched { name: None, what, modules: BTreeSet::new(), existed: true, ended: None, clean: Vec::new() })
}

/// Why the kernel must restart whatever changes now.
fn evidence(basis: &Basis<'_>, environment: &Environment) -> Vec<String> {
    let told = matches!(basis.loaded.modules, Modules::Told(_));
    let mut evidence: Vec<String> = if told { environment.because.clone() } else { Vec::new() };
    if let Some(first) = basis.loaded.replaced.first() {
        let more = basis.loaded.replaced.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        evidence.push(format!("`{}`{more} was replaced on disk while the kernel has it loaded", first.display()));
    }
    // A kernel that waited for the change has the new code, whatever its module calls itself.
    let is_clean = |name: &PackageName| {
        let of_it = basis.history.iter().find(|one| one.name.as_ref() == Some(name));
        of_it.zip(basis.machine.kernel.as_ref()).is_some_and(|(one, kernel)| one.clean.contains(kernel))
    };
    for (name, installed) in basis.machine.installed.iter().filter(|(name, _)| !is_clean(name)) {
        let module = guessed_module(name);
        let outdated = basis.loaded.outdated(&module).and_then(|text| text.parse::<Version>().ok());
        let other =
            outdated.filter(|loaded| loaded.clone().without_local() != installed.version.clone().without_local());
        evidence
            .extend(other.map(|loaded| format!("{name} {loaded} is loaded, {} is installed since", installed.version)));
    }
    evidence
}

fn restart(basis: &Basis<'_>, touched: &[Touched], evidence: &[String]) -> Restart {
    let Some(kernel) = &basis.machine.kernel else {
        return described_restart(basis, touched);
    };
    let open = basis.history.iter().filter(|known| !touched.iter().any(|one| one.name == known.name));
    let mut reasons = because(open.chain(touched), kernel, basis.loaded, basis.folders);
    reasons.extend(evidence.iter().filter(|reason| !reasons.contains(reason)).cloned().collect::<Vec<_>>());
    Restart { needed: !reasons.is_empty(), because: reasons }
}

/// On a described notebook image there is no kernel, but a fresh one would have loaded what such images preload.
fn described_restart(basis: &Basis<'_>, touched: &[Touched]) -> Restart {
    if basis.machine.runtime.is_none() {
        return Restart::default();
    }
    let fresh = crate::machine::Kernel { pid: 0, start_time: 0 };
    let reasons = because(touched, &fresh, basis.loaded, basis.folders);
    Restart { needed: !reasons.is_empty(), because: reasons }
}

/// Takes the apt step out of a plan that can't have it, and says so.
fn skip_apt(plan: &mut Plan, machine: &Machine) -> Option<Finding> {
    let why = match (machine.has_apt, machine.is_root) {
        (true, true) => return None,
        (true, false) => "apt-get needs root",
        (false, _) => "there is no apt-get here",
    };
    let names: Vec<String> = plan.apt.drain(..).map(|step| step.name).collect();
    let message = format!("{why}: {} will not be installed", names.join(", "));
    let help = "have them installed by other means, or run this as root";
    (!names.is_empty()).then(|| Finding::warning(Code::PlanAptSkipped, message).with_help(help))
}

fn for_children(environment: &Environment) -> Option<Finding> {
    let names = environment.for_children.join(", ");
    let message = format!("{names}: read when a process starts, so child processes have it and this kernel does not");
    (!names.is_empty()).then(|| Finding::note(Code::EnvironmentAtStart, message))
}

/// What colab-boot has installed and another hand has changed since.
fn foreign(basis: &Basis<'_>) -> Vec<Finding> {
    let changed = |name: &PackageName| {
        let package = basis.target.package(name)?;
        let installed = basis.machine.installed.get(name);
        let Hand::Changed(entry) = basis.ledger.hand(name, installed.map(|one| &one.version)) else {
            return None;
        };
        let message = match installed {
            Some(one) if one.version == package.version => return None,
            Some(one) => {
                let by = if one.installer.is_empty() { "another hand" } else { &one.installer };
                format!("{name} {} was replaced by {} ({by})", entry.version, one.version)
            }
            None => format!("{name} {} was removed", entry.version),
        };
        Some(Finding::warning(Code::ForeignChange, format!("{message} after colab-boot had installed it")).with_help(
            format!(
                "it is put right to {}; leave the cell or script out that changes it, or add its wish to the profile",
                package.version
            ),
        ))
    };
    basis.ledger.distributions.keys().filter_map(changed).collect()
}
