//! What the downloaded wheels themselves require, held against what will be installed: an index can show other METADATA than its
//! wheels have, and what was solved is then not what is installed.

use std::path::Path;

use crate::audit::{Environment, Held, requirements};
use crate::diag::{Code, Failure, Finding};
use crate::index::LocalWheel;
use crate::lock::LockedPackage;
use crate::model::catalog::Metadata;
use crate::session::{Planned, Session, installed, surroundings};

/// Requirements in the wheels of `packages`, in `folder`, that nothing meets once the plan is carried out. Fails where a wheel can't be
/// read.
pub(super) fn unmet(
    session: &Session<'_>,
    planned: &Planned,
    packages: &[&LockedPackage],
    folder: &Path,
) -> Result<Vec<Finding>, Failure> {
    let changes = &planned.decision.plan.changes;
    let is_new = |held: &Held| packages.iter().any(|package| package.name == held.name);
    let mut held = installed(session, &planned.seen);
    held.retain(|held| !changes.iter().any(|change| change.name == held.name));
    let mut different = Vec::new();
    for package in packages {
        let wheel = package.wheel.as_ref().filter(|wheel| !wheel.is_source());
        let metadata = wheel.map(|wheel| metadata_of(&folder.join(&wheel.file))).transpose()?;
        different.extend(metadata.as_ref().and_then(|metadata| differs(package, metadata)));
        let (requires, requires_python) =
            metadata.map_or((None, None), |metadata| (Some(metadata.requires), metadata.requires_python));
        held.push(Held { requires, requires_python, ..Held::new(package.name.clone(), package.version.clone()) });
    }
    let environment = Environment { held, complete: true, ..surroundings(&planned.seen) };
    let subjects = environment.held.iter().filter(|held| is_new(held));
    let findings = requirements(&environment, subjects).into_iter().map(|finding| {
        finding
            .with_note("this stands in the METADATA of the downloaded wheel; when the lock was made, the index showed another")
            .with_help("nothing was changed; name the missing package in the profile, and ask who runs the index why its METADATA differs")
    });
    Ok(different.into_iter().chain(findings).collect())
}

/// That the wheel has another METADATA than the lock was solved with.
fn differs(package: &LockedPackage, metadata: &Metadata) -> Option<Finding> {
    let solved = package.wheel.as_ref()?.metadata.as_ref().filter(|solved| **solved != metadata.digest)?;
    let message = format!("METADATA of {} {} is not what the lock was solved with", package.name, package.version);
    let found = format!("solved with {solved}, in the wheel {}", metadata.digest);
    Some(Finding::error(Code::MetadataDiffers, message).with_note(found).with_help(
        "nothing was changed; the index shows another METADATA than its wheel has: ask who runs it why, then make the lock anew",
    ))
}

fn metadata_of(wheel: &Path) -> Result<Metadata, Failure> {
    LocalWheel::open(wheel).and_then(|mut wheel| wheel.metadata()).map_err(|error| {
        Failure::answer(format!("METADATA of `{}` can't be read", wheel.display()))
            .because(&error)
            .help("it is no valid wheel; choose another release")
    })
}
