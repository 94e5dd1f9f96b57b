//! The solver's tree of reasons, flattened to the facts it rests on.

use std::collections::HashSet;

use pubgrub::{DerivationTree, External};

use crate::boot::resolve::package::Package;
use crate::boot::resolve::release::Releases;
use crate::core::model::{PackageName, VersionRange};

/// One fact that the contradiction rests on.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::boot::resolve) enum Fact {
    Needs { package: Package, versions: VersionRange, needed: Package, range: VersionRange },
    NoVersion { package: Package, range: VersionRange },
    Unusable { package: Package, versions: VersionRange, why: String },
}

impl Fact {
    pub(in crate::boot::resolve) fn packages(&self) -> Vec<&Package> {
        match self {
            Self::Needs { package, needed, .. } => vec![package, needed],
            Self::NoVersion { package, .. } | Self::Unusable { package, .. } => vec![package],
        }
    }

    pub(in crate::boot::resolve) fn names(&self) -> Vec<&PackageName> {
        self.packages().into_iter().filter_map(Package::name).collect()
    }
}

/// The external facts of a derivation tree, ordered from the profile down, each once.
pub(in crate::boot::resolve) fn facts_of(tree: &DerivationTree<Package, Releases, String>) -> Vec<Fact> {
    order(merge(facts_in(tree)))
}

/// The facts at the leaves, from the left. What several steps rest on is one node with a number: to follow it each time
/// takes exponential time.
fn facts_in(tree: &DerivationTree<Package, Releases, String>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut known = HashSet::new();
    let mut open = vec![tree];
    while let Some(tree) = open.pop() {
        match tree {
            DerivationTree::Derived(derived) if derived.shared_id.is_none_or(|id| known.insert(id)) => {
                open.extend([&*derived.cause2, &*derived.cause1]);
            }
            DerivationTree::Derived(_) => {}
            DerivationTree::External(external) => facts.extend(fact(external)),
        }
    }
    facts
}

fn fact(external: &External<Package, Releases, String>) -> Option<Fact> {
    match external.clone() {
        // That we solve for the profile, that an extra needs its own distribution, and that its own metadata: says
        // nothing.
        External::NotRoot(..) | External::FromDependencyOf(Package::Distribution(_), _, Package::Published(_), _) => {
            None
        }
        External::FromDependencyOf(Package::Extra(name, _), _, Package::Distribution(same), _) if name == same => None,
        External::FromDependencyOf(package, versions, needed, range) => {
            Some(Fact::Needs { package, versions: versions.as_range(), needed, range: range.as_range() })
        }
        External::NoVersions(package, range) => Some(Fact::NoVersion { package, range: range.as_range() }),
        External::Custom(package, versions, why) => {
            Some(Fact::Unusable { package, versions: versions.as_range(), why })
        }
    }
}

/// The same statement about several versions becomes one.
fn merge(facts: Vec<Fact>) -> Vec<Fact> {
    let mut merged: Vec<Fact> = Vec::new();
    for fact in facts {
        let twin = merged.iter_mut().find_map(|known| match (known, &fact) {
            (
                Fact::Needs { package, versions, needed, range },
                Fact::Needs { package: p, versions: v, needed: n, range: r },
            ) if package == p && needed == n && range == r => Some((versions, v)),
            (Fact::Unusable { package, versions, why }, Fact::Unusable { package: p, versions: v, why: w })
                if package == p && why == w =>
            {
                Some((versions, v))
            }
            (Fact::NoVersion { package, range }, Fact::NoVersion { package: p, range: r }) if package == p => {
                Some((range, r))
            }
            _ => None,
        });
        match twin {
            Some((versions, more)) => *versions = versions.union(more),
            None => merged.push(fact),
        }
    }
    merged
}

/// Breadth first from the profile, so that each fact stands after what led to it.
fn order(mut facts: Vec<Fact>) -> Vec<Fact> {
    let mut ordered = Vec::new();
    let mut reached = vec![Package::Profile];
    let mut at = 0;
    while let Some(package) = reached.get(at).cloned() {
        let (now, later): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(|fact| {
            fact.packages()[0].name().map_or(*fact.packages()[0] == package, |name| Some(name) == package.name())
        });
        for fact in &now {
            if let Fact::Needs { needed, .. } = fact
                && !reached.contains(needed)
            {
                reached.push(needed.clone());
            }
        }
        ordered.extend(now);
        facts = later;
        at += 1;
    }
    ordered.extend(facts);
    ordered
}
