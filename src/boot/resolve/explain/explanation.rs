//! A contradiction in at most ten lines: what can't be together, a caret at each line of the profile that leads there
//! with what it leads to, and changes that were solved and do work.

use std::collections::BTreeMap;

use crate::boot::profile::Wanted;
use crate::boot::resolve::Question;
use crate::boot::resolve::explain::conflict::Conflict;
use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::explain::elsewhere::{Elsewhere, published_elsewhere};
use crate::boot::resolve::explain::wording::Wording;
use crate::boot::resolve::package::Package;
use crate::core::diag::{Code, Finding};
use crate::core::model::PackageName;
use crate::core::model::version::{VersionRange, describe, is_pin, range_of};

/// The most lines that an explanation takes as it is drawn: the message, the file, two for each caret, one for each
/// note and help.
const LINES: usize = 10;
/// The most carets.
const CARETS: usize = 3;

/// The way from a line of the profile to what the contradiction is about.
struct Way<'a> {
    wanted: &'a Wanted,
    /// Places of the facts in the list, from the profile on.
    steps: Vec<usize>,
}

impl Way<'_> {
    /// The versions that its last step leaves; `None` where that is no requirement.
    fn range(&self, facts: &[Fact]) -> Option<VersionRange> {
        match &facts[*self.steps.last()?] {
            Fact::Needs { package: Package::Profile, .. } => Some(range_of(&self.wanted.specifiers)),
            Fact::Needs { range, .. } => Some(range.clone()),
            _ => None,
        }
    }
}

/// The finding for `conflict`. `tries` says whether a build from another index is a solution; `None` where that index
/// can't be asked.
pub fn explain(conflict: &Conflict, question: Question<'_>, tries: &dyn Fn(&Elsewhere) -> Option<bool>) -> Finding {
    let wording = Wording { question };
    let facts = &conflict.facts;
    let centre = centre(facts);
    let mut ways: Vec<Way<'_>> =
        question.profile.wanted.iter().filter_map(|wanted| way(facts, wanted, centre.as_ref())).collect();
    ways.truncate(CARETS);
    let (code, message) = headline(&wording, facts, centre.as_ref(), &ways);
    let mut finding = Finding::error(code, message);
    let mut used: Vec<usize> = Vec::new();
    for way in &ways {
        let source = way.wanted.file.as_ref().unwrap_or(&question.profile.source);
        finding = finding.at(source, way.wanted.span.clone(), label(&wording, conflict, way));
        used.extend(&way.steps);
    }
    let helps: Vec<String> = conflict
        .fixes
        .iter()
        .map(|fix| fix.sentence(question.profile))
        .chain(published_elsewhere(question, facts).and_then(|elsewhere| elsewhere.help(tries(&elsewhere))))
        .chain(wording.advice(facts))
        .collect();
    let rest = (0..facts.len()).filter(|at| !used.contains(at)).filter_map(|at| wording.sentence(&facts[at]));
    let mut notes: Vec<String> = unstated(question, facts).into_iter().chain(rest).collect();
    notes.dedup();
    let drawn = 2 + drawn(question, &ways);
    let mut helps = helps;
    helps.truncate(LINES.saturating_sub(drawn + usize::from(!notes.is_empty())).max(1));
    let room = LINES.saturating_sub(drawn + helps.len()).max(1);
    if notes.len() > room {
        let hidden = notes.len() + 1 - room;
        notes.truncate(room - 1);
        notes.push(format!("and {hidden} more facts of this kind about other versions"));
    }
    finding = notes.into_iter().fold(finding, Finding::with_note);
    helps.into_iter().fold(finding, Finding::with_help)
}

/// Why packages need what their METADATA does not say.
fn unstated(question: Question<'_>, facts: &[Fact]) -> Vec<String> {
    let mut notes = Vec::new();
    for fact in facts {
        let Fact::Needs { package, versions, needed, range } = fact else { continue };
        let (Some(name), Some(dependency)) = (package.name(), needed.name()) else { continue };
        let learned = question.learned.overlays_of(name);
        let rows = question.matrix.overlays_of(name).chain(&learned);
        let rows = rows.filter(|row| row.requirement.name == *dependency);
        for row in rows.filter(|row| range.subset_of(&row.requirement.range) && !row.range.is_disjoint(versions)) {
            notes.push(format!(
                "{name} {} also needs {dependency} {}, which is not in its METADATA: {}",
                describe(&row.range),
                describe(&row.requirement.range),
                row.why
            ));
        }
    }
    notes.sort();
    notes.dedup();
    notes.truncate(2);
    notes
}

/// The lines of the profile that are drawn with their carets, and the marks for what is left out between them.
fn drawn(question: Question<'_>, ways: &[Way<'_>]) -> usize {
    let text = &question.profile.source.text;
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count();
    let mut lines: Vec<(usize, usize)> =
        ways.iter().map(|way| (line(way.wanted.span.start), line(way.wanted.span.end))).collect();
    lines.sort_unstable();
    let own: usize = lines.iter().map(|(first, last)| 2 + last - first).sum();
    own + lines.windows(2).filter(|pair| pair[1].0 > pair[0].1 + 1).count()
}

/// What the facts contradict each other about: a fact of the machine, else what has no version, else what most of them
/// ask for.
fn centre(facts: &[Fact]) -> Option<Package> {
    if let Some(machine) =
        facts.iter().flat_map(Fact::packages).find(|package| package.name().is_none() && **package != Package::Profile)
    {
        return Some(machine.clone());
    }
    let mut ends = facts.iter().filter_map(|fact| match fact {
        Fact::NoVersion { package, .. } | Fact::Unusable { package, .. } => Some(package),
        Fact::Needs { .. } => None,
    });
    let mut asked: BTreeMap<&PackageName, usize> = BTreeMap::new();
    for fact in facts {
        if let Fact::Needs { needed, .. } = fact {
            *asked.entry(needed.name()?).or_default() += 1;
        }
    }
    let most = asked.iter().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > 1);
    let most_in_conflict = most.map(|(name, _)| Package::Distribution((*name).clone()));
    most_in_conflict.or_else(|| ends.next_back().cloned())
}

/// The shortest way from a line of the profile to `centre`; `None` where the line plays no part.
fn way<'a>(facts: &[Fact], wanted: &'a Wanted, centre: Option<&Package>) -> Option<Way<'a>> {
    let from_profile = |fact: &Fact| match fact {
        Fact::Needs { package: Package::Profile, needed, .. } => needed.name() == Some(&wanted.name),
        _ => false,
    };
    let is_centre = |package: &Package| match (package.name(), centre.and_then(Package::name)) {
        (Some(name), Some(centre)) => name == centre,
        _ => Some(package) == centre,
    };
    let mut open: Vec<Vec<usize>> =
        (0..facts.len()).filter(|at| from_profile(&facts[*at])).map(|at| vec![at]).collect();
    let first = open.first().cloned()?;
    let mut seen: Vec<&Package> = Vec::new();
    while !open.is_empty() {
        let mut next = Vec::new();
        for path in open {
            let Some(Fact::Needs { needed, .. }) = path.last().map(|at| &facts[*at]) else { continue };
            if is_centre(needed) {
                return Some(Way { wanted, steps: path });
            }
            if seen.contains(&needed) {
                continue;
            }
            seen.push(needed);
            let goes_on = |fact: &Fact| match fact {
                Fact::Needs { package, .. } => *package != Package::Profile && package.name() == needed.name(),
                _ => false,
            };
            let further = (0..facts.len()).filter(|at| goes_on(&facts[*at]));
            next.extend(further.map(|at| path.iter().copied().chain([at]).collect::<Vec<_>>()));
        }
        open = next;
    }
    Some(Way { wanted, steps: first })
}

/// What stands beside the caret: what this line leads to.
fn label(wording: &Wording<'_>, conflict: &Conflict, way: &Way<'_>) -> String {
    let facts = &conflict.facts;
    let own = range_of(&way.wanted.specifiers);
    let narrowed = way.steps.first().is_some_and(|first| match &facts[*first] {
        Fact::Needs { range, .. } => is_pin(range) && !is_pin(&own),
        _ => false,
    });
    let supposed = conflict.supposed.contains(&way.wanted.name);
    let older = if narrowed && !supposed && !wording.is_alone(&way.wanted.name) {
        // Below a floor nothing was tried.
        let floor = wording.question.matrix.floor(&way.wanted.name).map(|(floor, _)| floor);
        let floor = floor.filter(|floor| !own.is_disjoint(&VersionRange::strictly_lower_than((*floor).clone())));
        floor.map_or("; no older one fits either".to_owned(), |floor| {
            format!("; none since {floor} fits either, and an older one has to be named")
        })
    } else {
        String::new()
    };
    match way.steps.as_slice() {
        [] | [_] => "asked for here".to_owned(),
        [_, only] => format!("{}{older}", wording.sentence(&facts[*only]).unwrap_or_default()),
        [_, first, middle @ .., last] => {
            let (
                Fact::Needs { package: root, versions, .. },
                Fact::Needs { package, versions: last_versions, needed, range },
            ) = (&facts[*first], &facts[*last])
            else {
                return "asked for here".to_owned();
            };
            let mut through: Vec<String> = Vec::new();
            for at in middle.iter().chain([last]) {
                let name = facts[*at].packages().first().and_then(|package| package.name()).map(ToString::to_string);
                through.extend(name.filter(|name| !through.contains(name)));
            }
            let what = wording.what_it_needs(package, last_versions, needed, range);
            format!("{} {what}, through {}{older}", wording.versions(root, versions), through.join(" and "))
        }
    }
}

/// The code and first line.
fn headline(wording: &Wording<'_>, facts: &[Fact], centre: Option<&Package>, ways: &[Way<'_>]) -> (Code, String) {
    let (code, plain) = wording.headline(facts);
    // Who brings it, by the version that it is about: `torch 2.3.1`.
    let subject = |way: &Way<'_>| match way.steps.get(1).map(|at| &facts[*at]) {
        Some(Fact::Needs { package, versions, .. }) => Some(wording.versions(package, versions)),
        _ => None,
    };
    let subjects: Vec<Option<String>> = ways.iter().map(subject).collect();
    let message = match (code, subjects.as_slice(), centre.and_then(Package::name)) {
        (Code::ResolveConflict, [Some(first), Some(second)], Some(leaf)) if !apart(facts, ways) => {
            format!("no version of {leaf} suits both {first} and {second}")
        }
        (Code::ResolveConflict, [Some(first), Some(second)], Some(leaf)) => {
            let names: Vec<&PackageName> = ways.iter().map(|way| &way.wanted.name).collect();
            match (wording.library(leaf), wording.built_apart(facts, &names, leaf)) {
                (_, Some((one, other))) => format!("{first} is built for CUDA {one}, {second} for CUDA {other}"),
                (Some(library), None) => format!("{first} and {second} need different {library} ({leaf})"),
                (None, None) => format!("{first} and {second} need different versions of {leaf}"),
            }
        }
        (Code::ResolveConflict, [Some(only), None] | [None, Some(only)], Some(leaf)) => {
            if apart(facts, ways) {
                format!("{only} needs a different {leaf} than {} requires", wording.file())
            } else {
                format!("no version of {leaf} suits {only}")
            }
        }
        (Code::CudaMixedMajors, [Some(first), Some(second)], _) => {
            format!("{first} and {second} need libraries of two CUDA majors")
        }
        _ => plain,
    };
    (code, message)
}

/// Whether what two lines lead to has no version in common, whatever there is of it.
fn apart(facts: &[Fact], ways: &[Way<'_>]) -> bool {
    let [one, other] = ways else { return false };
    let ranges = one.range(facts).zip(other.range(facts));
    ranges.is_some_and(|(one, other)| one.is_disjoint(&other))
}
