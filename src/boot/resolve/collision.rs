//! Files that two chosen wheels would both write, found in their zip directories before anything is installed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::boot::resolve::{Caveat, Pick, PickSource};
use crate::core::model::PackageName;
use crate::core::model::catalog::{Candidate, Catalog};
use crate::core::model::contents::{EMPTY, Files, clashes, may_clash, stem};

/// A wheel of the solution, and what is known of its files.
struct ChosenWheel<'a> {
    pick: &'a Pick,
    candidate: &'a Candidate,
    /// What its paths begin with; a directory need not be looked into where no other package writes there.
    roots: Option<Vec<String>>,
    files: Option<Arc<Files>>,
}

/// A caveat for each pair of picks that would overwrite each other's files, and one for what could not be looked into.
pub(super) fn collisions(catalog: &dyn Catalog, picks: &[Pick]) -> Vec<Caveat> {
    let mut chosen: Vec<ChosenWheel<'_>> = picks.iter().filter_map(|pick| choose(catalog, pick)).collect();
    look_into(catalog, &mut chosen, &|one| one.roots.is_none());
    for one in &mut chosen {
        if let (None, Some(files)) = (&one.roots, &one.files) {
            one.roots = Some(files.roots());
        }
    }
    let sharing = sharing(&chosen);
    let shares = |one: &ChosenWheel<'_>| sharing.contains(&one.pick.name) || one.roots.is_none();
    look_into(catalog, &mut chosen, &shares);
    let known: Vec<&ChosenWheel<'_>> = chosen.iter().filter(|one| one.files.is_some()).collect();
    let files: Vec<&Files> = known.iter().filter_map(|one| one.files.as_deref()).collect();
    let unseen = chosen.iter().filter(|one| one.files.is_none() && shares(one)).count();
    let unchecked = (unseen > 0).then_some(Caveat::FilesUnchecked { count: unseen });
    clashes(&files)
        .into_iter()
        .map(|clash| Caveat::FilesCollide {
            first: known[clash.first].pick.name.clone(),
            second: known[clash.second].pick.name.clone(),
            clash,
        })
        .chain(unchecked)
        .collect()
}

/// Those that may write where another one does.
fn sharing(chosen: &[ChosenWheel<'_>]) -> BTreeSet<PackageName> {
    let mut below: HashMap<String, Vec<(&str, &PackageName)>> = HashMap::new();
    for one in chosen {
        for root in one.roots.iter().flatten() {
            below
                .entry(stem(root.trim_end_matches(EMPTY)).split('/').next().unwrap_or_default().to_owned())
                .or_default()
                .push((root, &one.pick.name));
        }
    }
    let mut found = BTreeSet::new();
    for all in below.values() {
        let clash = |(root, name): &(&str, &PackageName)| {
            all.iter().any(|(other, owner)| owner != name && may_clash(root, other))
        };
        found.extend(all.iter().filter(|one| clash(one)).map(|(_, name)| (*name).clone()));
    }
    found
}

/// What a build will write is known when it is built, so sources are left out; what the target has already is there
/// before.
fn choose<'a>(catalog: &dyn Catalog, pick: &'a Pick) -> Option<ChosenWheel<'a>> {
    match &pick.source {
        PickSource::Wheel { candidate, .. } if !candidate.is_source() && !pick.present => {
            Some(ChosenWheel { pick, candidate, roots: catalog.roots(candidate), files: None })
        }
        _ => None,
    }
}

/// Reads the directories of those that `which` names.
fn look_into(catalog: &dyn Catalog, chosen: &mut [ChosenWheel<'_>], which: &dyn Fn(&ChosenWheel<'_>) -> bool) {
    let mut wanted: Vec<&mut ChosenWheel<'_>> =
        chosen.iter_mut().filter(|one| one.files.is_none() && which(one)).collect();
    let candidates: Vec<Candidate> = wanted.iter().map(|one| one.candidate.clone()).collect();
    if candidates.is_empty() {
        return;
    }
    for (one, files) in wanted.iter_mut().zip(catalog.files(&candidates)) {
        one.files = files;
    }
}
