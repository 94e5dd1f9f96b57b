//! What packages of a file do to what is installed: releases that no longer have what they need, and what does not go
//! together.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::audit::{Audited, Environment, judge_locked};
use crate::boot::goal::Together;
use crate::boot::resolve::Pick;
use crate::boot::seen::{Seen, installed, surroundings};
use crate::boot::session::Session;
use crate::core::diag::{Code, Finding, Subject, counted, few};
use crate::core::model::version::public;
use crate::core::model::{PackageName, Version};

/// What a set of packages does to an environment.
#[derive(Debug, Default)]
pub struct Effects {
    pub findings: Vec<Finding>,
    /// Installed packages that no longer have what they need.
    pub broken: BTreeSet<String>,
    /// What is replaced, with the version from before and the one after.
    pub replaced: BTreeMap<PackageName, (Version, Version)>,
}

impl Session<'_> {
    /// What the packages that `together` has chosen do to what was seen; they are added to `held`, which may say more
    /// of some of them. What can't be installed is out of both.
    pub fn effects(&self, seen: &Seen, together: &Together, held: &mut Vec<Audited>) -> Effects {
        let picks = together.picks.as_deref().unwrap_or_default();
        for Pick { name, version, present, .. } in picks {
            let build = self.matrix.build(name, version).cloned();
            let requires = together.requires.get(name).cloned();
            let chosen = Audited { build, requires, ..Audited::new(name.clone(), version.clone()) };
            match held.iter_mut().find(|one| one.name == *name) {
                // What is kept may be another build than the index has of the version that the file names, and a later
                // command may have replaced that version.
                Some(one) if *present && one.version != *version || public(&one.version) != public(version) => {
                    *one = Audited { place: one.place.take(), ..chosen }
                }
                Some(_) => {}
                None => held.push(chosen),
            }
        }
        if together.in_order && together.picks.is_some() {
            held.retain(|one| picks.iter().any(|pick| pick.name == one.name));
        }
        let machine = &seen.machine;
        let new = picks.iter().filter(|pick| !pick.present);
        let changed: BTreeMap<&PackageName, &Version> = new.map(|pick| (&pick.name, &pick.version)).collect();
        let mut replaced = BTreeMap::new();
        for (name, version) in &changed {
            let before = machine.installed.get(*name).map(|one| one.version.clone());
            let before = before.filter(|before| before != *version);
            replaced.extend(before.map(|before| ((*name).clone(), (before, (*version).clone()))));
        }
        let mut environment = Environment { complete: true, ..surroundings(seen) };
        environment.held = installed(self, seen);
        if !together.in_order {
            environment.vague.extend(together.hindered.iter().cloned());
            environment.held.retain(|one| !together.hindered.contains(&one.name) || changed.contains_key(&one.name));
        }
        for one in &mut environment.held {
            let recorded = machine.installed.get(&one.name).and_then(|one| one.requires.as_ref());
            one.requires = one.requires.take().or_else(|| recorded.map(|lines| lines.get().to_vec()));
        }
        let judged = |environment: &Environment| {
            let is_changed = |name: &PackageName| changed.contains_key(name) || together.removed.contains(name);
            judge_locked(environment, self.matrix, &is_changed, false)
        };
        let known: BTreeSet<_> = judged(&environment).iter().map(between).collect();
        environment.held.retain(|one| !changed.contains_key(&one.name) && !together.removed.contains(&one.name));
        environment.held.extend(held.iter().filter(|one| changed.contains_key(&one.name)).cloned());
        let new = judged(&environment).into_iter().filter(|finding| !known.contains(&between(finding)));
        // What one command of a notebook has installed, a later one may break.
        let is_of_earlier = |finding: &Finding| {
            let mut about = finding.about.iter().filter_map(|one| one.name().parse().ok());
            finding.code == Code::RequirementBroken && about.any(|name| together.requires.contains_key(&name))
        };
        let is_of_old = |finding: &Finding| {
            let is_new = finding.about.iter().any(|one| is_one_of(one, &changed));
            finding.code != Code::FilesCollide && (!is_new || is_of_earlier(finding))
        };
        let (mut old, mut findings): (Vec<Finding>, Vec<Finding>) = new.partition(is_of_old);
        // What breaks because of a framework matters most.
        let is_framework = |subject: &Subject| subject.name().parse().is_ok_and(|name| self.matrix.knows(&name));
        old.sort_by_key(|finding| !finding.against.iter().any(is_framework));
        let broken: BTreeSet<String> =
            old.iter().flat_map(|finding| &finding.about).map(|one| one.name().to_owned()).collect();
        findings.extend(lacking(&old, broken.len(), (&replaced, &together.removed)));
        Effects { findings, broken, replaced }
    }
}

/// Between which packages a finding is, whatever their versions.
fn between(finding: &Finding) -> (&'static str, Vec<String>) {
    let names = finding.about.iter().chain(&finding.against).map(|one| one.name().to_owned());
    (finding.code.as_str(), names.collect())
}

fn is_one_of(subject: &Subject, changed: &BTreeMap<&PackageName, &Version>) -> bool {
    changed.keys().any(|name| name.as_ref() == subject.name())
}

/// One finding on all `count` installed packages that no longer have what they need.
fn lacking(
    old: &[Finding],
    count: usize,
    (replaced, removed): (&BTreeMap<PackageName, (Version, Version)>, &BTreeSet<PackageName>),
) -> Option<Finding> {
    if old.is_empty() {
        return None;
    }
    let message = format!("this breaks the requirements of {}", counted(count, "installed package"));
    // One line for two packages: METADATA, a family and symbols may say the same.
    let mut pairs = BTreeSet::new();
    let first = old.iter().filter(|finding| pairs.insert(between(finding).1));
    let lines: Vec<String> = first.map(|finding| finding.message.clone()).collect();
    let mut finding = few(&lines).into_iter().fold(Finding::warning(Code::PlanBreakage, message), Finding::with_note);
    for subject in old.iter().flat_map(|finding| &finding.about) {
        if !finding.about.contains(subject) {
            finding.about.push(subject.clone());
        }
    }
    let is_against = |name: &PackageName| {
        old.iter().position(|finding| finding.against.iter().any(|one| one.name() == name.as_ref()))
    };
    let mut replaced: Vec<_> = replaced.iter().collect();
    replaced.sort_by_key(|(name, _)| is_against(name).unwrap_or(usize::MAX));
    let changes: Vec<String> = replaced.iter().map(|(name, (from, to))| format!("{name} {from} -> {to}")).collect();
    let replaced = (!changes.is_empty()).then(|| format!("replaced: {}", few(&changes).join(", ")));
    let gone: Vec<String> = removed.iter().map(ToString::to_string).collect();
    let removed = (!gone.is_empty()).then(|| format!("removed: {}", few(&gone).join(", ")));
    let finding = replaced.into_iter().chain(removed).fold(finding, Finding::with_note);
    Some(finding.with_help("to see what fits all of them, run `colab-boot plan` with these packages in a profile"))
}
