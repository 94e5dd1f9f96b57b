//! Files with code that installed distributions list and that are not there.

use std::path::PathBuf;

use crate::boot::machine::RawDistribution;
use crate::boot::seen::Seen;
use crate::boot::seen::owners::recorded_paths;
use crate::core::diag::{Code, Finding, Subject, counted};
use crate::core::host::mounts::Look;
use crate::core::host::parallel::on_all_cores;
use crate::core::model::PackageName;

/// A warning for each distribution of this machine that lacks files with code, by name. Their content is not compared.
pub fn missing_files(seen: &Seen) -> Vec<Finding> {
    let mut found = on_all_cores(seen.distributions(), lacks_files);
    found.sort_by(|a, b| a.message.cmp(&b.message));
    found
}

fn lacks_files(one: &RawDistribution) -> Option<Finding> {
    let name: PackageName = one.name.parse().ok()?;
    let site = one.folder.parent()?;
    let places = recorded_paths(one).into_iter().map(|path| site.join(path));
    let missing: Vec<PathBuf> = places.filter(|place| place.is_missing()).collect();
    let (first, others) = missing.split_first()?;
    let more = if others.is_empty() { String::new() } else { format!(" and {}", counted(others.len(), "other file")) };
    let message = format!("{name} {} lacks `{}`{more}, which its RECORD lists", one.version, first.display());
    let finding = Finding::warning(Code::FilesMissing, message).about(Subject::package(&name));
    let help = format!("reinstall it with `pip install --force-reinstall --no-deps {name}=={}`", one.version);
    Some(finding.with_others(others.iter().map(PathBuf::as_path)).with_help(help))
}
