//! The decision: what changes, what would break, what a running kernel means for it. Everything that was seen goes in,
//! one value comes out, and nothing is decided again later.

use std::path::PathBuf;

use crate::boot::machine::{Installed, Machine};
use crate::boot::marker::Touched;
use crate::boot::plan::broken_families::broken_families;
use crate::boot::plan::builds_here::judge_builds;
use crate::boot::plan::restart::{Restart, environment_touched, evidence, expect_starts, restart, touched};
use crate::boot::plan::variables::{Earlier, VariablesAfter, judge_environment, set_by, variable_changes};
use crate::boot::plan::{AptStep, Basis, Plan, breakage, changes, environment_line};
use crate::core::diag::{Code, Finding, Subject, counted, listed};
use crate::core::model::wheel_names::INSTALLER;
use crate::core::model::{PackageName, Version};

/// What is to be done, and what it means.
#[derive(Clone, Debug)]
pub struct Decision {
    pub plan: Plan,
    /// What the plan touches, as kernels see it.
    pub touched: Vec<Touched>,
    pub restart: Restart,
    /// Reasons for a restart that no change makes: variables read too early, libraries replaced under the kernel.
    pub evidence: Vec<String>,
    pub environment: VariablesAfter,
    /// The environment file on the machine is not the one the plan wants.
    pub environment_differs: bool,
    /// Packages that another tool has changed, with the version that it put there.
    pub foreign_changes: Vec<(PackageName, Option<Version>)>,
    pub findings: Vec<Finding>,
}

/// Decides.
pub fn decide(basis: Basis<'_>) -> Decision {
    let changes::Changed { changes, kept, mut findings } = changes::changes(&basis);
    let sizes = changes.iter().filter_map(|change| change.package.as_ref()?.wheel()).map(|wheel| wheel.size);
    let missing = basis.target.apt.iter().filter(|one| !basis.machine.debian.packages().contains_key(&one.name));
    let mut plan = Plan {
        target: basis.target.name.clone(),
        apt: missing.map(|one| AptStep { name: one.name.clone(), version: one.version.clone() }).collect(),
        apt_snapshot: basis.wish.apt_snapshot.clone(),
        environment: basis.wish.environment.clone(),
        earlier_variables: basis.notes.variables.keys().cloned().collect(),
        variables: Vec::new(),
        download_bytes: sizes.clone().flatten().sum(),
        unknown_sizes: sizes.filter(Option::is_none).count(),
        breakages: breakage::breakages(&basis, &changes),
        changes,
        kept,
    };
    findings.extend(broken_families(&basis, &plan.changes));
    findings.extend(breakage::unmet(&basis, &plan.changes, &plan.kept));
    findings.extend(skip_apt(&mut plan, basis.machine));
    let (foreign, foreign_changes) = foreign(&basis);
    findings.extend(foreign);
    let is_wanted = |name: &PackageName| {
        basis.target.package(name).is_some() && !plan.changes.iter().any(|change| change.name == *name)
    };
    findings.extend(basis.notes.rewritten.iter().filter(|(_, name)| is_wanted(name)).map(files_rewritten));
    let wanted = environment_line(&plan.environment, &plan.earlier_variables);
    let environment_differs = wanted.as_deref() != basis.environment_file;
    let before = basis.environment_file.map(set_by).unwrap_or_default();
    plan.variables = variable_changes(&plan.environment, &before);
    let earlier = Earlier { file: &before, ever: &basis.notes.variables };
    let environment = judge_environment(&plan.environment, earlier, basis.loaded, basis.matrix);
    // Without a kernel there is nobody who lacks it.
    let may_have_one = basis.machine.kernel.is_some() || basis.machine.runtime.is_some();
    findings.extend(for_children(&environment).filter(|_| may_have_one));
    findings.extend(set_again(&environment));
    findings.extend(breakage::breakage_findings(&basis, &plan.breakages));
    findings.extend(blind(&basis, &plan));
    findings.extend(no_gpu(&basis));
    findings.extend(judge_builds(&basis));
    let mut touched = touched(&plan, basis.modules, basis.silent);
    expect_starts(&mut touched, &basis.matrix.kernel.starting);
    touched.extend(environment_touched(&environment, basis.loaded));
    let evidence = evidence(&basis, &plan, &environment);
    let restart = restart(&basis, &touched, &evidence);
    Decision { plan, touched, restart, evidence, environment, environment_differs, foreign_changes, findings }
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
    let help = "install them another way, or run this as root";
    (!names.is_empty()).then(|| Finding::warning(Code::PlanAptSkipped, message).with_help(help))
}

fn for_children(environment: &VariablesAfter) -> Option<Finding> {
    let names = environment.for_children.join(", ");
    let message =
        format!("{names}: read only when a process starts; child processes get the value, this kernel does not");
    (!names.is_empty())
        .then(|| Finding::note(Code::EnvironmentAtStart, message).about_variables(&environment.for_children))
}

fn set_again(environment: &VariablesAfter) -> Option<Finding> {
    let names = environment.changed.join(", ");
    let message = format!(
        "{names}: changed in the kernel, now reset to the profile's value; code that ran in between may use the other value"
    );
    let help = "remove the line that changes it, or set that value in `[env]`; restart the kernel if code has read it";
    let finding = Finding::warning(Code::EnvironmentChanged, message).with_help(help);
    (!names.is_empty()).then(|| finding.about_variables(&environment.changed))
}

/// On an image that is only described, what the moves would break is not known of packages without requirements.
fn blind(basis: &Basis<'_>, plan: &Plan) -> Option<Finding> {
    let is_moved = plan.changes.iter().any(|change| change.from.is_some());
    let installed = basis.machine.installed.iter();
    let unknown: Vec<String> =
        installed.filter(|(_, one)| one.requires.is_none()).map(|(name, _)| name.to_string()).collect();
    if basis.machine.runtime.is_none() || !is_moved || unknown.is_empty() {
        return None;
    }
    let message = format!("the requirements of {} of the image are unknown", counted(unknown.len(), "package"));
    let finding = Finding::note(Code::PlanBlind, message).with_note(listed(&unknown));
    Some(finding.with_help("run `colab-boot plan` on the machine itself to see whether they break"))
}

/// A note for a file that no repair keeps as its wheel has it.
pub fn files_rewritten((place, name): (&PathBuf, &PackageName)) -> Finding {
    let message = format!("`{}` of {name} is rewritten whenever Python starts", place.display());
    let finding = Finding::note(Code::FilesRewritten, message).about(Subject::package(name));
    finding.with_help(
        "a `.pth` file or `sitecustomize.py` of this environment rewrites it, for example to add certificates; \
         the rewritten file is kept",
    )
}

/// CUDA without a GPU.
fn no_gpu(basis: &Basis<'_>) -> Option<Finding> {
    let hardware = &basis.machine.hardware;
    let is_without = basis.target.cuda.is_some() && hardware.gpus.is_empty() && hardware.driver.is_none();
    let message = "the plan has CUDA libraries, but this machine has no NVIDIA GPU";
    let help = if basis.target.gpus.is_empty() {
        "plan for another machine with --runtime and --gpu"
    } else {
        "it is for the GPUs that the profile names; run it on a machine with one"
    };
    is_without.then(|| Finding::note(Code::MachineNoGpu, message).with_help(help))
}

/// What colab-boot has installed and another tool has changed since: a finding for each, and what it was changed to.
fn foreign(basis: &Basis<'_>) -> (Vec<Finding>, Vec<(PackageName, Option<Version>)>) {
    let (mut findings, mut changes) = (Vec::new(), Vec::new());
    for (name, entry) in &basis.ledger.distributions {
        let Some(package) = basis.target.package(name) else { continue };
        let installed = basis.machine.installed.get(name);
        let version = installed.map(|one| &one.version);
        // An apply that was killed or failed may not have come so far.
        if version == Some(&entry.version) || version == Some(&package.version) || basis.doubted.contains(name) {
            continue;
        }
        // An interrupted apply was undone: what it was to take the place of is there again.
        let is_ours = |one: &Installed| one.installer == INSTALLER && entry.from.as_ref() == Some(&one.version);
        if installed.is_some_and(is_ours) {
            continue;
        }
        let message = match installed {
            Some(one) => {
                let by = match one.installer.as_str() {
                    "" => "another tool",
                    // Of this state folder it would be known.
                    INSTALLER => "a colab-boot with another state folder",
                    name => name,
                };
                format!(
                    "{name} {} was replaced with {} by {by} after colab-boot installed it",
                    entry.version, one.version
                )
            }
            None => format!(
                "{name} {} was removed by another tool after colab-boot installed it, or its metadata was damaged",
                entry.version
            ),
        };
        let again = format!("`apply` reinstalls {}", package.version);
        let help = if basis.notes.times(name, version) == 0 {
            format!("{again}. If a cell or a script changes it, remove that line, or pin the version in the profile")
        } else {
            format!(
                "{again}, but other code changes it each time. Search the other cells for `install` with `{name}`, or with \
                 a package that requires it (`pip show {name}` lists them under Required-by); remove that line, or pin \
                 the version in the profile"
            )
        };
        findings.push(Finding::warning(Code::ForeignChange, message).about(Subject::package(name)).with_help(help));
        changes.push((name.clone(), version.cloned()));
    }
    (findings, changes)
}
