//! What was edited in installed packages that are about to change.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::files::{Edit, Held, edits, place};
use crate::boot::machine::Layout;
use crate::boot::plan::Change;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::boot::situation::{FileCheck, known_wheel};
use crate::boot::state::State;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::host::digests::digest;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::parse_record;
use crate::core::model::{PackageName, Sha256, Version};

/// The files of one package.
#[derive(Clone, Debug)]
pub struct Edited {
    pub name: PackageName,
    pub version: Version,
    pub files: Vec<Edit>,
    /// Where an apply keeps them.
    pub kept: PathBuf,
}

/// The edited files of what `changes` replace or remove. Of what an apply that did not end was to change (`doubted`),
/// files that it was removing or writing are no edits.
pub(super) fn edited(
    session: &Session<'_>,
    seen: &Seen,
    changes: &[Change],
    (files, doubted): (&FileCheck, &[PackageName]),
) -> Vec<Edited> {
    let layout = seen.layout();
    let Some(layout) = layout else { return Vec::new() };
    let state = &State::of(&session.paths.state, layout);
    let underway = LazyCell::new(|| Underway::of(state, layout));
    changes
        .iter()
        .filter_map(|change| {
            let version = change.from.clone()?;
            let location = seen.machine.installed.get(&change.name)?.location.as_ref()?;
            let wheel = known_wheel(state, seen.ledger.wheel(&change.name, &version));
            let held = Held { layout, name: &change.name, version: &version, wheel };
            let is_here = layout.folders().contains(&location);
            let mut files = if is_here { edits(held, &|place| files.knows(place)) } else { Vec::new() };
            if doubted.contains(&change.name) {
                files.retain(|edit| !underway.has(&edit.place));
            }
            let kept = state.edits_folder(&change.name, &version);
            (!files.is_empty()).then(|| Edited { name: change.name.clone(), version, files, kept })
        })
        .collect()
}

/// What an apply that did not end was removing or writing.
struct Underway {
    digests: HashSet<Sha256>,
    /// The size of each file that it was writing.
    sizes: HashMap<PathBuf, u64>,
    /// When it began, as a ctime.
    since: i64,
}

impl Underway {
    fn of(state: &State, layout: &Layout) -> Self {
        let (all, since) = state.on_the_way();
        let (mut digests, mut sizes) = (HashSet::new(), HashMap::new());
        for one in &all {
            for entry in parse_record(&one.record) {
                digests.extend(entry.sha256);
                if let Some((place, _)) = place(&entry.path, &one.site, layout).filter(|_| one.is_new) {
                    sizes.insert(place, entry.size);
                }
            }
        }
        Self { digests, sizes, since }
    }

    /// Whether what lies at `file` is from there: a file of a package, or the part of one that was written.
    fn has(&self, file: &Path) -> bool {
        let stamp = Stamp::of(file);
        let is_part = self.sizes.get(file).is_some_and(|size| stamp.changed >= self.since && stamp.size < *size);
        is_part || digest(file).is_ok_and(|(own, _)| self.digests.contains(&own))
    }
}

impl Edited {
    /// A warning with the paths.
    pub fn to_finding(&self) -> Finding {
        let (first, others) = (&self.files[0], &self.files[1..]);
        let message = format!(
            "`{}` of {} {} was changed since it was installed, and the package is about to be replaced or removed",
            first.place.display(),
            self.name,
            self.version
        );
        let others = others.iter().map(|edit| edit.place.as_path());
        let finding = Finding::warning(Code::FilesEdited, message).about(Subject::release(&self.name, &self.version));
        finding.with_others(others).with_help(format!("the current file is kept as `{}`", self.kept.display()))
    }
}
