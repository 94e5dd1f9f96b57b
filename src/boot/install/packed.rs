//! A wheel that is being unpacked, and what each of its members becomes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::boot::files::Downloaded;
use crate::boot::index::{OpenWheel, failure_in};
use crate::boot::store::Template;
use crate::core::diag::Failure;
use crate::core::host::stamps::Stamp;
use crate::core::inspect::Malformed;
use crate::core::model::Sha256;
use crate::core::model::contents::Member;

/// A wheel that is being unpacked.
pub(super) struct Packed {
    /// Its number in the stage.
    pub at: usize,
    pub path: PathBuf,
    pub open: OpenWheel,
    /// What it looked like when it was opened, where it is a file of others.
    pub stamp: Stamp,
    pub sha256: Sha256,
    pub wheel: Arc<Downloaded>,
    /// In the order of their members.
    pub targets: Vec<MemberTarget>,
    /// Scripts that were written for the interpreter, by the number of their member.
    pub templates: Mutex<Vec<(usize, Template)>>,
}

impl Packed {
    /// Fails where the wheel was changed while it was read.
    pub(super) fn must_be_as_opened(&self) -> Result<(), Failure> {
        if self.open.file().is_none_or(|file| Stamp::of_open(file).is_ok_and(|now| now == self.stamp)) {
            return Ok(());
        }
        let message = format!("`{}` was changed while it was read", self.path.display());
        Err(Failure::world(message).help("nothing was installed; run the command again"))
    }

    pub(super) fn member(&self, target: &MemberTarget) -> &Member {
        &self.wheel.files.members[target.member]
    }
}

/// A member, and the file that it becomes.
#[derive(Debug)]
pub(super) struct MemberTarget {
    /// Its number in the directory.
    pub member: usize,
    /// Where it is written now, and where it will stand.
    pub path: PathBuf,
    pub place: PathBuf,
    pub executable: bool,
    /// A script, whose first line is written for this interpreter.
    pub python: Option<Arc<Path>>,
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    if let Some(failure) = failure_in(error) {
        return failure;
    }
    Failure::world(format!("could not read `{}`", path.display())).because(error)
}

pub(super) fn malformed(packed: &Packed, error: &Malformed) -> Failure {
    Failure::answer(format!("`{}` can't be unpacked", packed.path.display()))
        .because(error)
        .help("nothing was installed; replace the file, or choose another release")
}
