//! Folders that this user can't change, found before the first change: an installer would stop half way.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::boot::apply::one_apply::Work;
use crate::boot::apply::prepared::TouchedFiles;
use crate::boot::files::listed_place;
use crate::boot::machine::record_in;
use crate::core::diag::{Failure, counted};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::inspect::parse_record;

impl Work<'_> {
    /// Fails where a folder of a file that is `touched` can't be changed.
    pub(super) fn must_be_permitted(&self, touched: &TouchedFiles) -> Result<(), Failure> {
        let new: HashSet<&Path> = touched.keys().filter_map(|place| place.parent()).collect();
        let mut folders: HashSet<PathBuf> = new.into_iter().map(ToOwned::to_owned).collect();
        for (_, site, info) in self.infos(|change| change.from.is_some())? {
            // What Python has compiled goes as well, where the list has it.
            let record = parse_record(&record_in(&info)?.unwrap_or_default());
            let places = record.iter().filter_map(|one| listed_place(&one.path, site, self.layout));
            folders.extend(places.filter_map(|place| place.parent().map(ToOwned::to_owned)));
            folders.insert(info);
        }
        let there: BTreeSet<&Path> = folders.iter().filter_map(|folder| first_folder(folder)).collect();
        let refused: BTreeMap<&Path, Errno> = there
            .into_iter()
            .filter_map(|folder| Some((folder, access(folder, Access::WRITE_OK | Access::EXEC_OK).err()?)))
            .collect();
        let Some((folder, error)) = refused.first_key_value() else { return Ok(()) };
        let others = refused.len() - 1;
        let more = if others == 0 { String::new() } else { format!(" and {}", counted(others, "other folder")) };
        let message = format!("this user can't change files in `{}`{more}", folder.display());
        Err(Failure::world(message).because(error).help(self.way_to_permission(*error)))
    }

    fn way_to_permission(&self, error: Errno) -> String {
        if error == Errno::ROFS {
            return format!("nothing was changed; {}", files::way_to_write(ErrorKind::ReadOnlyFilesystem));
        }
        let prefix = self.layout.data.display();
        format!(
            "nothing was changed; if `sudo pip` installed there, run \
             `sudo chown -R \"$(id -un)\" {prefix}`, then this command again"
        )
    }
}

/// `folder`, or the first one above it that exists.
fn first_folder(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| above.is_folder_there())
}
