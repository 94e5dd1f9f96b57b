//! Packages that are about to change and have files behind a link out of the environment.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::boot::files::{behind_links, lexical};
use crate::boot::machine::{Layout, find_info, record_in};
use crate::boot::plan::Change;
use crate::core::diag::{Failure, Finding};
use crate::core::inspect::parse_record;

/// An error for each link. Fails where a list of files can't be read.
pub(super) fn linked_away(layout: &Layout, changes: &[Change]) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for change in changes.iter().filter(|change| change.from.is_some()) {
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for site in layout.folders() {
            let Some(info) = find_info(site, &change.name)? else { continue };
            let record = record_in(&info)?.unwrap_or_default();
            let listed = parse_record(&record).into_iter().filter(|one| !one.path.contains("__pycache__/"));
            folders.extend(listed.filter_map(|one| lexical(&one.path, site).parent().map(ToOwned::to_owned)));
        }
        findings.extend(behind_links(&change.name, &folders, layout));
    }
    Ok(findings)
}
