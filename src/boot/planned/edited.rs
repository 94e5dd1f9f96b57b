//! What was edited in installed packages that are about to change.

use std::path::PathBuf;

use crate::boot::files::{Edit, Held, edits};
use crate::boot::plan::Change;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::situation::{FileCheck, known_wheel};
use crate::boot::state::State;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::{PackageName, Version};

/// The files of one package.
#[derive(Clone, Debug)]
pub struct Edited {
    pub name: PackageName,
    pub version: Version,
    pub files: Vec<Edit>,
    /// Where an apply keeps them.
    pub kept: PathBuf,
}

/// The edited files of what `changes` replace or remove.
pub(super) fn edited(session: &Session<'_>, seen: &Seen, changes: &[Change], files: &FileCheck) -> Vec<Edited> {
    let layout = seen.layout();
    let Some(layout) = layout else { return Vec::new() };
    let state = &State::of(&session.paths.state, layout);
    changes
        .iter()
        .filter_map(|change| {
            let version = change.from.clone()?;
            let location = seen.machine.installed.get(&change.name)?.location.as_ref()?;
            let wheel = known_wheel(state, seen.ledger.wheel(&change.name, &version));
            let held = Held { layout, name: &change.name, version: &version, wheel };
            let is_here = layout.folders().contains(&location);
            let files = if is_here { edits(held, &|place| files.knows(place)) } else { Vec::new() };
            let kept = state.edits_folder(&change.name, &version);
            (!files.is_empty()).then(|| Edited { name: change.name.clone(), version, files, kept })
        })
        .collect()
}

impl Edited {
    /// A warning with the paths.
    pub fn to_finding(&self) -> Finding {
        let (first, others) = (&self.files[0], &self.files[1..]);
        let message = format!(
            "`{}` was changed after {} {} was installed; a copy is kept when the package changes",
            first.place.display(),
            self.name,
            self.version
        );
        let others = others.iter().map(|edit| edit.place.as_path());
        let finding = Finding::warning(Code::FilesEdited, message).about(Subject::release(&self.name, &self.version));
        finding.with_others(others).with_help(format!("copies are kept in `{}`", self.kept.display()))
    }
}
