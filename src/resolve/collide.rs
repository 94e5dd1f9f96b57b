//! Files that two chosen wheels would both write, found in their zip directories before anything is installed.

use crate::model::catalog::{Candidate, Catalog};
use crate::model::files::{Files, clashes};
use crate::resolve::{Pick, PickSource, Remark};

/// A remark for each pair of picks that would overwrite each other's files, and one for what could not be looked into.
pub(super) fn collisions(catalog: &dyn Catalog, picks: &[Pick]) -> Vec<Remark> {
    let wheels: Vec<(&Pick, Candidate)> = picks.iter().filter_map(|pick| Some((pick, wheel(pick)?))).collect();
    let candidates: Vec<Candidate> = wheels.iter().map(|(_, candidate)| candidate.clone()).collect();
    let found = catalog.files(&candidates);
    let known: Vec<(&Pick, &Files)> =
        wheels.iter().zip(&found).filter_map(|((pick, _), files)| Some((*pick, files.as_deref()?))).collect();
    let files: Vec<&Files> = known.iter().map(|(_, files)| *files).collect();
    let remark = |clash: crate::model::files::Clash| Remark::FilesCollide {
        first: known[clash.first].0.name.clone(),
        second: known[clash.second].0.name.clone(),
        clash,
    };
    let unseen = wheels.len() - known.len();
    let unchecked = (unseen > 0).then_some(Remark::FilesUnchecked { count: unseen });
    clashes(&files).into_iter().map(remark).chain(unchecked).collect()
}

fn wheel(pick: &Pick) -> Option<Candidate> {
    match &pick.source {
        PickSource::Wheel { candidate, .. } => Some((**candidate).clone()),
        PickSource::Kept => None,
    }
}
