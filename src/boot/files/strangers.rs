//! What others have put into folders of metadata.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::boot::files::is_of_installers;
use crate::core::host::files::read_optional;
use crate::core::host::mounts::Look;
use crate::core::host::texts::files_below;
use crate::core::inspect::{Entry, parse_record};

/// Files in the metadata at `place`, whose name in site-packages is `name`, which its list does not name and no
/// installer writes, and what is no folder though it is named like one: where each lies, and its path in site-packages.
pub fn strangers_in(place: &Path, name: &str) -> Vec<(PathBuf, PathBuf)> {
    let Ok(data) = place.look_at_entry() else { return Vec::new() };
    // distutils writes an `.egg-info` that is a file.
    if data.is_symlink() || data.is_file() && name.ends_with(".dist-info") {
        return vec![(place.to_owned(), PathBuf::from(name))];
    }
    if !data.is_dir() {
        return Vec::new();
    }
    let record = read_optional(&place.join("RECORD")).ok().flatten().unwrap_or_default();
    // The folder may have another name than the list has.
    let below_top = |entry: Entry| Some(entry.path.split_once('/')?.1.to_owned());
    let listed: HashSet<String> = parse_record(&record).into_iter().filter_map(below_top).collect();
    let is_strange = |path: &Path| {
        let path = path.to_string_lossy();
        !is_of_installers(&path) && !listed.contains(path.as_ref())
    };
    let mut all = Vec::new();
    files_below(place, true, &|_| false, &mut all);
    let inside = all.into_iter().filter_map(|file| Some((file.strip_prefix(place).ok()?.to_owned(), file)));
    inside.filter(|(path, _)| is_strange(path)).map(|(path, file)| (file, Path::new(name).join(path))).collect()
}
