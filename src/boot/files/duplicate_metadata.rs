//! What killed installers have left, and names that are there more than once.

use std::collections::BTreeMap;

use crate::boot::machine::Layout;
use crate::core::host::files::names_if_any;
use crate::core::model::PackageName;
use crate::core::model::wheel_names::metadata_of;

/// Names with more than one entry of metadata in site-packages, and leftovers of killed installers.
pub fn ghosts(layout: &Layout) -> Vec<String> {
    let mut seen: BTreeMap<PackageName, Vec<String>> = BTreeMap::new();
    let mut ghosts = Vec::new();
    for entry in names_if_any(&layout.purelib) {
        if entry.starts_with('~') {
            ghosts.push(entry);
        } else if let Some(name) = metadata_of(&entry) {
            seen.entry(name).or_default().push(entry.clone());
        }
    }
    ghosts.extend(seen.into_values().filter(|entries| entries.len() > 1).flatten());
    ghosts
}
