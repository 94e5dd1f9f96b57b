//! Files that two chosen wheels would both write, found in their zip directories before anything is installed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::matrix::Hints;
use crate::model::catalog::{Candidate, Catalog};
use crate::model::files::{Clash, Files, clashes, installed_path};
use crate::resolve::{Pick, PickSource, Remark};

/// A wheel of the solution, and what is known of its files.
struct Chosen<'a> {
    pick: &'a Pick,
    candidate: &'a Candidate,
    /// What all its paths begin with, where that is bundled: its directory need not be read then unless another wheel writes there.
    roots: Option<Vec<String>>,
    files: Option<Arc<Files>>,
}

/// A remark for each pair of picks that would overwrite each other's files, and one for what could not be looked into.
pub(super) fn collisions(catalog: &dyn Catalog, picks: &[Pick]) -> Vec<Remark> {
    let mut chosen: Vec<Chosen<'_>> = picks.iter().filter_map(chosen).collect();
    look_into(catalog, &mut chosen, &|one| one.roots.is_none());
    let tops = tops(&chosen);
    let shares = |one: &Chosen<'_>| {
        let others = tops.iter().filter(|(owner, _)| *owner != one.pick.name.as_ref());
        others.clone().any(|(_, top)| one.roots.iter().flatten().any(|root| root == top))
    };
    look_into(catalog, &mut chosen, &shares);
    let known: Vec<&Chosen<'_>> = chosen.iter().filter(|one| one.files.is_some()).collect();
    let files: Vec<&Files> = known.iter().filter_map(|one| one.files.as_deref()).collect();
    let remark = |clash: Clash| Remark::FilesCollide {
        first: known[clash.first].pick.name.clone(),
        second: known[clash.second].pick.name.clone(),
        clash,
    };
    let unseen = chosen.iter().filter(|one| one.files.is_none() && (one.roots.is_none() || shares(one))).count();
    let unchecked = (unseen > 0).then_some(Remark::FilesUnchecked { count: unseen });
    clashes(&files).into_iter().map(remark).chain(unchecked).collect()
}

fn chosen(pick: &Pick) -> Option<Chosen<'_>> {
    let PickSource::Wheel { candidate, .. } = &pick.source else {
        return None;
    };
    let seed = candidate.sha256.and_then(|digest| Hints::bundled().seed(&pick.name, &digest));
    let known = Chosen { pick, candidate, roots: seed.map(|seed| seed.roots), files: None };
    // What a build will write is known when it is built.
    (!candidate.is_source()).then_some(known)
}

/// Reads the directories of those that `which` names.
fn look_into(catalog: &dyn Catalog, chosen: &mut [Chosen<'_>], which: &dyn Fn(&Chosen<'_>) -> bool) {
    let mut wanted: Vec<&mut Chosen<'_>> = chosen.iter_mut().filter(|one| one.files.is_none() && which(one)).collect();
    let candidates: Vec<Candidate> = wanted.iter().map(|one| one.candidate.clone()).collect();
    if candidates.is_empty() {
        return;
    }
    for (one, files) in wanted.iter_mut().zip(catalog.files(&candidates)) {
        one.files = files;
    }
}

/// The first parts of the paths that each wheel writes to.
fn tops(chosen: &[Chosen<'_>]) -> BTreeSet<(String, String)> {
    let mut tops = BTreeSet::new();
    for one in chosen {
        let name = one.pick.name.to_string();
        tops.extend(one.roots.iter().flatten().map(|root| (name.clone(), root.clone())));
        for member in one.files.iter().flat_map(|files| &files.members) {
            if let Some(path) = installed_path(&member.path) {
                let top = path.split('/').next().unwrap_or_default();
                tops.insert((name.clone(), top.to_owned()));
            }
        }
    }
    tops
}
