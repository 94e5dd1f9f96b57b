//! The files of a locked target, compared with their wheels where those are known.

use serde::Serialize;

use crate::apply::leftovers;
use crate::diag::{Code, Failure, Finding};
use crate::inspect::Entry;
use crate::installed::{Held, check_distributions, finding_of, ghosts};
use crate::lock::{LockedPackage, LockedTarget};
use crate::machine::Layout;
use crate::model::PackageName;
use crate::session::{Seen, is_ours};
use crate::state::State;

/// How many packages were compared with what.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Files {
    pub against_wheel: usize,
    /// They were there before the apply; what their installer wrote down is all there is.
    #[serde(rename = "against-own-record")]
    pub against_own: usize,
    /// Kept from the image, known by version alone.
    pub by_version: usize,
    pub faulty: Vec<PackageName>,
    /// What a killed installer has left.
    #[serde(skip)]
    pub leftovers: bool,
}

/// Holds the files of `target` against RECORD; what is wrong goes to `findings`.
pub fn check_files(
    target: &LockedTarget,
    layout: &Layout,
    state: &State,
    seen: &Seen,
    findings: &mut Vec<Finding>,
) -> Result<Files, Failure> {
    // Where there is no wheel, the target was chosen because it has this version.
    // Debian's own packages have files that Debian has changed.
    let can_be_held = |package: &&LockedPackage| package.wheel.is_some() && is_ours(layout, seen, &package.name);
    let (of_wheels, kept): (Vec<_>, Vec<_>) = target.packages.iter().partition(can_be_held);
    let mut files = Files { by_version: kept.len(), ..Files::default() };
    let layouts: Vec<Layout> = of_wheels.iter().map(|package| where_it_lies(layout, seen, &package.name)).collect();
    let mut held = Vec::new();
    for (package, layout) in of_wheels.iter().zip(&layouts) {
        let digest = package.wheel.as_ref().and_then(|wheel| wheel.sha256);
        let record = digest.map_or(Ok(None), |digest| state.record(&digest))?;
        // Of a RECORD without SHA-256 there is nothing to hold a file against.
        let can_tell = |record: &Vec<Entry>| record.iter().any(|entry| entry.sha256.is_some());
        *(match &record {
            Some(record) if can_tell(record) => &mut files.against_wheel,
            Some(_) => &mut files.by_version,
            None => &mut files.against_own,
        }) += 1;
        held.push(Held { layout, name: &package.name, version: &package.version, record });
    }
    for (package, faults) in of_wheels.into_iter().zip(check_distributions(held, 3)) {
        if !faults.is_empty() {
            files.faulty.push(package.name.clone());
        }
        findings.extend(finding_of(&package.name, &package.version, &faults));
    }
    let left = leftovers(&layout.purelib)?;
    if !left.is_empty() {
        let message = format!("a killed installer has left {} behind", left.join(", "));
        findings.push(Finding::error(Code::VerifyFiles, message).with_help("`colab-boot apply` removes them"));
        files.leftovers = true;
    }
    let others: Vec<String> = ghosts(layout).into_iter().filter(|name| !name.starts_with('~')).collect();
    if !others.is_empty() && files.faulty.is_empty() {
        findings.push(Finding::warning(Code::VerifyFiles, format!("installed more than once: {}", others.join(", "))));
    }
    Ok(files)
}

/// The layout with the folder that `import` finds the distribution in: Debian's packages lie beside pip's.
fn where_it_lies(layout: &Layout, seen: &Seen, name: &PackageName) -> Layout {
    let mut layout = layout.clone();
    if let Some(folder) = seen.machine.installed.get(name).and_then(|one| one.location.clone()) {
        layout.purelib.clone_from(&folder);
        layout.platlib = folder;
    }
    layout
}
