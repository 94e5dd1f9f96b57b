//! Changes of the profile that make it solvable: each is solved before it is offered.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::profile::{Profile, Wanted};
use crate::boot::resolve::Question;
use crate::boot::resolve::explain::conflict::Fix;
use crate::boot::resolve::explain::derivation::Fact;
use crate::boot::resolve::package::{Package, Solution};
use crate::boot::resolve::provider::{Provider, Variation};
use crate::boot::resolve::search::{Run, run};
use crate::core::diag::Failure;
use crate::core::model::version::{VersionRange, is_pin, range_of};
use crate::core::model::{PackageName, Version, bracketed};

/// How many fixes are looked for, and how many tries that may take.
const FIXES: usize = 3;
const FIX_TRIES: usize = 8;

/// How many versions one try may look into. Whole environments take 60 to 160.
const FIX_BUDGET: usize = 250;

/// How many older series of a release that works are tried, to tell from where on it does.
const SERIES: usize = 4;

impl Fix {
    /// In the words of `profile`.
    pub(in crate::boot::resolve) fn sentence(&self, profile: &Profile) -> String {
        match self {
            Self::Version { name, extras, solved, with } => {
                let wanted = profile.wanted.iter().find(|one| one.name == *name);
                let mut fields = vec![format!("version = \"{}\"", specifiers(solved))];
                fields.extend((!extras.is_empty()).then(|| format!("extras = {extras:?}")));
                fields.extend(wanted.and_then(|one| one.index.as_ref()).map(|index| format!("index = \"{index}\"")));
                let marker = wanted.and_then(|one| one.condition.text().map(str::to_owned));
                fields.extend(marker.map(|marker| format!("marker = {}", toml::Value::String(marker))));
                let line = match fields.as_slice() {
                    _ if wanted.is_some_and(|one| one.file.is_some()) => {
                        format!("`{name}{}{}`", bracketed(extras), specifiers(solved))
                    }
                    [only] => format!("`{name} = {}`", only.trim_start_matches("version = ")),
                    all => format!("`{name} = {{ {} }}`", all.join(", ")),
                };
                let newest = solved.first().filter(|_| solved.len() > 1).map(|version| format!("{name} {version}"));
                let with = newest.into_iter().chain(with.iter().map(|(name, version)| format!("{name} {version}")));
                let with: Vec<String> = with.collect();
                let with = if with.is_empty() { String::new() } else { format!(", with {}", with.join(" and ")) };
                format!("{line} works{with}: solved")
            }
            Self::Without { name } => format!("without `{name}` the rest works: solved"),
            Self::Unbound { name, overridden } => {
                let bound = if *overridden { profile.override_of(name) } else { profile.constraint_of(name) };
                let text = bound.map(|bound| format!(" {}", bound.specifiers)).unwrap_or_default();
                let what = if *overridden { "override of" } else { "constraint on" };
                format!("without the {what} `{name}`{text} the rest works: solved")
            }
        }
    }
}

/// `==2.10.0`, or for several series `>=2.8,<2.11`.
fn specifiers(solved: &[Version]) -> String {
    match solved {
        [newest, .., oldest] if newest.epoch() == oldest.epoch() => {
            let epoch = if newest.epoch() == 0 { String::new() } else { format!("{}!", newest.epoch()) };
            let next = part(newest, 1).saturating_add(1);
            format!(">={epoch}{}.{},<{epoch}{}.{next}", part(oldest, 0), part(oldest, 1), part(newest, 0))
        }
        [newest, ..] => format!("=={newest}"),
        [] => String::new(),
    }
}

fn part(version: &Version, at: usize) -> u64 {
    version.release().get(at).copied().unwrap_or(0)
}

/// Relaxes or drops one line of the profile at a time and solves again; only what does work is offered.
pub(in crate::boot::resolve) fn fixes(question: Question<'_>, facts: &[Fact]) -> Vec<Fix> {
    let mentioned: BTreeSet<&PackageName> = facts.iter().flat_map(Fact::names).collect();
    let in_conflict: Vec<&Wanted> =
        question.profile.wanted.iter().filter(|one| mentioned.contains(&one.name)).collect();
    let search = Search { question, in_conflict: &in_conflict };
    let pinned = in_conflict.iter().filter(|one| !one.specifiers.is_empty()).map(|one| Try::Relax(one));
    let bounds = question.profile.constraints.iter().map(|bound| (&bound.name, false));
    let bounds = bounds.chain(question.profile.overrides.iter().map(|bound| (&bound.name, true)));
    let unbound =
        bounds.filter(|(name, _)| mentioned.contains(name)).map(|(name, overridden)| Try::Unbind(name, overridden));
    let dropped = in_conflict.iter().filter(|_| question.profile.wanted.len() > 1).map(|one| Try::Drop(&one.name));
    let tries: Vec<Try<'_>> = pinned.chain(unbound).chain(dropped).take(FIX_TRIES).collect();
    let mut found = Vec::new();
    for one in tries {
        if found.len() == FIXES {
            break;
        }
        found.extend(search.attempt(&one));
    }
    found
}

enum Try<'a> {
    Relax(&'a Wanted),
    Unbind(&'a PackageName, bool),
    Drop(&'a PackageName),
}

struct Search<'a> {
    question: Question<'a>,
    in_conflict: &'a [&'a Wanted],
}

impl Search<'_> {
    fn attempt(&self, one: &Try<'_>) -> Option<Fix> {
        match one {
            Try::Relax(wanted) => self.relax(wanted),
            Try::Unbind(name, overridden) => {
                self.solve(Variation { unbound: vec![(*name).clone()], ..Variation::default() })?;
                Some(Fix::Unbound { name: (*name).clone(), overridden: *overridden })
            }
            Try::Drop(name) => {
                self.solve(Variation { without: vec![(*name).clone()], ..Variation::default() })?;
                Some(Fix::Without { name: (*name).clone() })
            }
        }
    }

    /// A fix is an offer: trouble on the way to one is no reason to withhold the explanation.
    fn solve(&self, variation: Variation) -> Option<Solution> {
        match run(self.question, Variation { budget: Some(FIX_BUDGET), ..variation }) {
            Ok(Run::Solved(_, solution)) => Some(solution),
            _ => None,
        }
    }

    fn with_range(&self, name: &PackageName, range: VersionRange) -> Option<Solution> {
        self.solve(Variation { ranges: [(name.clone(), range)].into(), ..Variation::default() })
    }

    /// Any version of `wanted` that works, and how far down the series do.
    fn relax(&self, wanted: &Wanted) -> Option<Fix> {
        let name = &wanted.name;
        let floor = self.question.matrix.floor(name);
        let floor = floor.map_or_else(VersionRange::full, |(version, _)| VersionRange::higher_than(version.clone()));
        let solution = self.with_range(name, floor.clone())?;
        let version = solution.get(&Package::Distribution(name.clone()))?.clone();
        let named = wanted.specifiers.iter().any(|specifier| specifier.version().any_prerelease());
        if version.any_prerelease() && !named {
            return None;
        }
        let others =
            self.in_conflict.iter().filter(|other| other.name != *name && !is_pin(&range_of(&other.specifiers)));
        let with = others.filter_map(|other| {
            Some((other.name.clone(), solution.get(&Package::Distribution(other.name.clone()))?.clone()))
        });
        let with = with.collect();
        let extras = wanted.extras.iter().map(ToString::to_string).collect();
        Some(Fix::Version { name: name.clone(), extras, solved: self.down_from(name, &version, &floor), with })
    }

    /// `version`, and the newest releases of the series below it as far down as they work.
    fn down_from(&self, name: &PackageName, version: &Version, floor: &VersionRange) -> Vec<Version> {
        let mut solved = vec![version.clone()];
        let listing = self.question.catalog.listing(name).ok().flatten();
        let candidates = listing.iter().flat_map(|listing| &listing.candidates);
        let older = candidates.filter(|one| one.version.epoch() == version.epoch()).filter(|one| {
            one.version < *version
                && floor.contains(&one.version)
                && !one.version.any_prerelease()
                && one.yanked.is_none()
        });
        let mut newest: BTreeMap<Vec<u64>, Version> = BTreeMap::new();
        for one in older.filter(|one| series(&one.version) != series(version)) {
            newest.entry(series(&one.version)).or_insert_with(|| one.version.clone());
        }
        for (_, older) in newest.into_iter().rev().take(SERIES) {
            if self.with_range(name, VersionRange::singleton(older.clone())).is_none() {
                break;
            }
            solved.push(older);
        }
        solved
    }
}

fn series(version: &Version) -> Vec<u64> {
    version.release().iter().copied().chain([0, 0]).take(2).collect::<Vec<_>>()
}

/// Only the newest version of each package of the profile: a contradiction among these is about what the user expects
/// to get.
pub(in crate::boot::resolve) fn newest_only(provider: &Provider<'_>) -> Result<Variation, Failure> {
    let mut ranges = BTreeMap::new();
    for wanted in provider.wanted() {
        let range = provider.wanted_range(wanted);
        let kept = provider.keepable(&wanted.name, &range).map(|present| present.version.clone());
        let newest = match kept {
            Some(version) => Some(version),
            None => provider
                .listing(&wanted.name)?
                .and_then(|listing| Some(listing.choose(&range, provider.admission(&wanted.name))?.version.clone())),
        };
        ranges.extend(newest.map(|version| (wanted.name.clone(), VersionRange::singleton(version))));
    }
    Ok(Variation { ranges, ..Variation::default() })
}
