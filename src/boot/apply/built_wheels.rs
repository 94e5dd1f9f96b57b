//! Wheels that the install script has built from source: judged and staged like others, before anything is switched.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::boot::apply::forbidden_targets::overwrites;
use crate::boot::apply::malformed_wheels::contradictions;
use crate::boot::apply::unowned_files::written;
use crate::boot::files::{Claims, Downloaded};
use crate::boot::index::WheelSource;
use crate::boot::install::{BuiltPackage, Incoming, Staged, Staging, stage};
use crate::boot::machine::Layout;
use crate::boot::store::Store;
use crate::core::diag::{Code, Failure, Finding, Kind, Subject};
use crate::core::host::digests::{digest, has_digest};
use crate::core::host::files;
use crate::core::host::mounts::Look;
use crate::core::model::wheel_names::WheelName;

/// Adds to `staged` the wheels in `folder` of the packages that are built, with scripts for the interpreter `python`.
/// Fails where one is missing, malformed, or would overwrite what no package owns; nothing is changed then.
pub fn stage_built(staged: &mut Staged, folder: &Path, python: &Path, store: &Store) -> Result<(), Failure> {
    let layout = staged.layout.clone();
    let claims = Claims::of(&layout, &|_| true)?;
    let others: HashSet<PathBuf> =
        staged.packages.iter().flat_map(|package| &package.files).map(|file| file.place.clone()).collect();
    let left_out = staged.corrections.values().flat_map(|one| &one.left_out).map(PathBuf::as_path).collect();
    let (mut incoming, mut findings) = (Vec::new(), Vec::new());
    for package in &staged.built {
        let path = wheel_of(package, folder)?;
        let wheel = Arc::new(Downloaded::open(&WheelSource::Here(path.clone()))?);
        findings.extend(contradictions(&layout, (&package.name, &package.version), &wheel)?);
        findings.extend(overwrites(&package.name, &wheel));
        findings.extend(unowned(package, &wheel, &layout, &(&claims, &left_out)));
        if let Some(both) = written(&wheel, &layout).find(|one| others.contains(&one.place)) {
            let (name, place) = (&package.name, both.place.display());
            let message =
                format!("the wheel built from {name} contains `{place}`, and so does another package of this apply");
            let finding = Finding::error(Code::FilesCollide, message).about(Subject::package(name));
            findings.push(finding.with_help("nothing was changed; remove one of the two packages"));
        }
        let (sha256, _) = digest(&path)
            .map_err(|error| Failure::world(format!("could not read `{}`", path.display())).because(&error))?;
        let BuiltPackage { name, version, requested, direct_url } = package.clone();
        incoming.push(Incoming { name, version, wheel, sha256, requested, direct_url });
    }
    if !findings.is_empty() {
        return Err(Failure::from_findings(Kind::Answer, findings));
    }
    // A signal ends this process; what it has staged goes when the apply is undone.
    let staging =
        Staging { layout: &layout, python, store, is_stopped: &|| false, bell: &Arc::default(), give_up: &|_| () };
    let ((), built) = stage(&staging, |stage| incoming.into_iter().try_for_each(|one| stage.add(one)))?;
    staged.add(built);
    Ok(())
}

/// The wheel of `package` in `folder`.
fn wheel_of(package: &BuiltPackage, folder: &Path) -> Result<PathBuf, Failure> {
    let is_its = |file: &String| {
        file.parse::<WheelName>().is_ok_and(|wheel| wheel.name == package.name && wheel.version == package.version)
    };
    let names = files::names_in(folder)?;
    names.into_iter().find(is_its).map(|file| folder.join(file)).ok_or_else(|| {
        Failure::world(format!("the build of {} {} has made no wheel of that version", package.name, package.version))
            .help("if the project has another version now, run `colab-boot lock`")
    })
}

/// What the wheel would write over that no package owns.
fn unowned(
    package: &BuiltPackage,
    wheel: &Downloaded,
    layout: &Layout,
    (claims, left_out): &(&Claims, &HashSet<&Path>),
) -> Option<Finding> {
    let is_unowned = |place: &Path| {
        place.look_at_entry().is_ok() && !claims.has(place) && !claims.has_below(place) && !left_out.contains(place)
    };
    if claims.is_unlisted(&package.name) {
        return None;
    }
    let mut new = written(wheel, layout);
    let first = new.find(|one| is_unowned(&one.place) && !one.sha256.is_some_and(|own| has_digest(&one.place, own)))?;
    let message =
        format!("the wheel of {} would overwrite `{}`, which no package owns", package.name, first.place.display());
    let finding = Finding::error(Code::WheelOverwrites, message).about(Subject::package(&package.name));
    Some(finding.with_help("nothing was changed; move it away, then run the command again"))
}
