//! Pipes, sockets and devices where installers read files: they would wait for them for ever.

use std::path::{Path, PathBuf};

use crate::boot::apply::one_apply::Work;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::wheel_names::metadata_of;

impl Work<'_> {
    /// Fails where one is among the metadata in site-packages.
    pub(super) fn must_be_files(&self) -> Result<(), Failure> {
        let mut all = self.layout.folders().into_iter().flat_map(|site| metadata_files(site));
        // Metadata without a list that is a file goes aside as a whole.
        let Some(place) = all.find(|place| !place.ends_with("RECORD") && is_special(place)) else { return Ok(()) };
        let message = format!("`{}` is a pipe, a socket or a device: an installer would wait for it", place.display());
        Err(Failure::world(message).help("nothing was changed; remove it, then run the command again"))
    }
}

/// What installers read of `site` to learn what is there.
fn metadata_files(site: &Path) -> Vec<PathBuf> {
    let names = files::names_if_any(site).into_iter();
    let meant =
        names.filter(|name| metadata_of(name).is_some() || name.ends_with(".egg-link") || name.ends_with(".pth"));
    let files_of = |name: String| {
        let place = site.join(name);
        let within = files::names_if_any(&place).into_iter().map(|file| place.join(file));
        within.chain([place.clone()]).collect::<Vec<_>>()
    };
    meant.flat_map(files_of).collect()
}

fn is_special(place: &Path) -> bool {
    place.look_at_entry().is_ok_and(|data| !data.is_file() && !data.is_dir() && !data.is_symlink())
}
