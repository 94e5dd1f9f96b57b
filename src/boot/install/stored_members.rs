//! Members of wheels that come from the store, and those that go there.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use crate::boot::files::WrittenFile;
use crate::boot::install::output::{Output, twice};
use crate::boot::install::packed::{MemberTarget, Packed};
use crate::boot::store::{SecondName, Store, StoredFile, StoredWheel, Template};
use crate::core::diag::Failure;
use crate::core::host::digests::digest;
use crate::core::host::files::writing_failed;
use crate::core::host::mounts::Look;
use crate::core::host::mutex::held;
use crate::core::model::Sha256;

/// The largest script that is read from the store.
const SCRIPT: u64 = 64 << 20;

/// Brings `targets` from the store.
pub(super) fn bring_stored(packed: &Packed, targets: &[MemberTarget]) -> Result<Vec<WrittenFile>, Failure> {
    let Some(stored) = packed.open.stored() else { return Err(Failure::bug("a wheel is not in the store")) };
    targets.iter().map(|target| bring_one(packed, stored, target)).collect()
}

fn bring_one(packed: &Packed, stored: &StoredWheel, target: &MemberTarget) -> Result<WrittenFile, Failure> {
    let failed = |error: std::io::Error| writing_failed(&target.path, &error);
    let (at, file) = stored.file(target.member).map_err(failed)?;
    if file.is_template {
        let mut output = Output::create(target)?;
        output.write(&stored.read_member(target.member, SCRIPT).map_err(failed)?);
        return output.close(packed);
    }
    let brought = stored.bring(at, &target.path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => twice(target),
        _ => failed(error),
    })?;
    match brought {
        SecondName::Linked => {
            let StoredFile { inode, size, modified, sha256, .. } = *file;
            Ok(WrittenFile { place: target.place.clone(), inode, size, modified, sha256 })
        }
        SecondName::Cloned | SecondName::Copied => {
            let (sha256, data) =
                digest(&target.path).and_then(|(sha256, _)| Ok((sha256, target.path.look()?))).map_err(failed)?;
            if sha256 != file.sha256 {
                return Err(Failure::world(format!("`{}` was changed in the cache", target.place.display()))
                    .help("run the command again"));
            }
            Ok(WrittenFile::of(target.place.clone(), &data, sha256))
        }
    }
}

/// Puts what `packed` has become into the `store`, where it has no room of its own to take; `files` are those that were
/// written.
pub(super) fn keep_in(store: &Store, packed: &Packed, files: &[WrittenFile]) {
    let Some(mut entry) = store.begin(&packed.sha256) else { return };
    let digests: HashMap<&Path, Sha256> = files.iter().map(|file| (file.place.as_path(), file.sha256)).collect();
    let templates: HashMap<usize, Template> = std::mem::take(&mut *held(&packed.templates)).into_iter().collect();
    for target in &packed.targets {
        let added = match (templates.get(&target.member), digests.get(target.place.as_path())) {
            (Some(template), _) => entry.add_template(target.member, &target.path, template),
            (None, Some(sha256)) => entry.add(target.member, &target.path, *sha256, target.executable),
            (None, None) => return,
        };
        if added.is_err() {
            return;
        }
    }
    // The store is nothing that an install needs.
    let _ = entry.finish(&packed.wheel.files, packed.wheel.texts());
}
