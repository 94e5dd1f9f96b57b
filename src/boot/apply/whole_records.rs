//! What the RECORD of a wheel leaves out: members that it does not list, digests that it does not have. Installers
//! install such files all the same, so they are compared and removed with the others.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use crate::boot::apply::prepared::WheelRecords;
use crate::boot::files::{Downloaded, placed};
use crate::boot::install::{OF_INSTALLERS, Staged};
use crate::boot::machine::Layout;
use crate::core::inspect::{Entry, parse_record, record_line, shared_line};
use crate::core::model::Sha256;

/// The RECORD of `wheel`, with a line for each member that it does not list.
pub(super) fn with_all_members(wheel: &Downloaded) -> Cow<'_, str> {
    let listed: HashSet<&str> = wheel.entries().iter().map(|entry| entry.path.as_str()).collect();
    let members = wheel.files.members.iter().map(|member| member.path.as_str());
    let unlisted = members.filter(|path| !path.ends_with('/') && !listed.contains(path));
    let lines: String = unlisted.map(|path| record_line(path, None)).collect();
    if lines.is_empty() {
        return Cow::Borrowed(&wheel.record);
    }
    let end = if wheel.record.ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!("{}{end}{lines}", wheel.record))
}

/// Whether an entry lacks the digest of a file that the wheel brings.
pub(super) fn is_open(entry: &Entry) -> bool {
    let file = entry.path.split_once(".dist-info/").map(|(_, file)| file);
    let is_made = file.is_some_and(|file| OF_INSTALLERS.contains(&file));
    entry.sha256.is_none() && entry.either.is_empty() && !is_made
}

/// Gives the open entries of `records` the digests of the files that were written for them.
pub(super) fn add_written_digests(records: &mut WheelRecords, staged: &Staged, layout: &Layout) {
    if records.incomplete.is_empty() {
        return;
    }
    let mut written: BTreeMap<&PathBuf, BTreeSet<(Sha256, u64)>> = BTreeMap::new();
    for file in staged.packages.iter().flat_map(|package| &package.files) {
        written.entry(&file.place).or_default().insert((file.sha256, file.size));
    }
    for (_, text) in records.texts.iter_mut().filter(|(wheel, _)| records.incomplete.contains(wheel)) {
        let completed = |line: &str| {
            let entry = parse_record(line).pop().filter(is_open)?;
            let mut places = placed(std::slice::from_ref(&entry), layout);
            let files = places.find_map(|(place, _)| written.get(&place))?;
            let one = files.first().filter(|_| files.len() == 1);
            let all = || shared_line(&entry.path, &files.iter().map(|(sha256, _)| *sha256).collect());
            Some(one.map_or_else(all, |(sha256, size)| record_line(&entry.path, Some((sha256, *size)))))
        };
        *text = text.lines().map(|line| completed(line).unwrap_or_else(|| format!("{line}\n"))).collect();
    }
}
