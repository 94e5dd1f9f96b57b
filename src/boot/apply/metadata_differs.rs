//! What the downloaded wheels themselves require, compared with what will be installed: an index can show other
//! METADATA than its wheels have, and what was solved is then not what is installed.

use std::collections::BTreeSet;

use crate::boot::apply::prepared::Wheels;
use crate::boot::audit::{Audited, Environment, requirements};
use crate::boot::lock::LockedPackage;
use crate::boot::planned::Planned;
use crate::boot::seen::{installed, surroundings};
use crate::boot::session::Session;
use crate::core::diag::{Code, Finding, Subject};
use crate::core::model::PackageName;
use crate::core::model::metadata::{Metadata, headers};

/// Requirements in the `wheels` of `packages` that nothing meets once the plan is carried out, and wheels for another
/// Python: errors, but warnings where what was there before comes back.
pub(super) fn unmet(
    session: &Session<'_>,
    planned: &Planned,
    packages: &[&LockedPackage],
    wheels: &Wheels,
) -> Vec<Finding> {
    let changed: BTreeSet<&PackageName> = planned.decision.plan.changes.iter().map(|change| &change.name).collect();
    let mut held = installed(session, &planned.seen);
    held.retain(|held| !changed.contains(&held.name));
    let kept = held.len();
    let mut different = Vec::new();
    for package in packages {
        let mut new = Audited::new(package.name.clone(), package.version.clone());
        if let Some(wheel) = wheels.get(&package.name) {
            let metadata = Metadata::parse(&wheel.metadata, None);
            different.extend(differs(package, &metadata));
            let tags = headers(&wheel.wheel).into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("Tag"));
            new.tags = tags.map(|(_, tag)| tag).collect();
            (new.requires, new.requires_python) = (Some(metadata.requires), metadata.requires_python);
        }
        held.push(new);
    }
    let environment = Environment { held, complete: true, ..surroundings(&planned.seen) };
    let locked: BTreeSet<&PackageName> = planned.target.packages.iter().map(|package| &package.name).collect();
    let (ours, others): (Vec<_>, Vec<_>) =
        environment.held[kept..].iter().partition(|held| locked.contains(&held.name));
    let broken = requirements(&environment, ours).into_iter().map(|finding| {
        finding.with_note(OF_INDEX).with_help(
            "nothing was changed; add the missing package to the profile, or choose another release; \
             report the difference to the operator of the index",
        )
    });
    let help = if planned.goal.is_restore() { OF_OTHERS } else { OF_PROFILE };
    let comes_back = requirements(&environment, others).into_iter();
    let comes_back = comes_back.map(|finding| Finding::warning(finding.code, finding.message).with_help(help));
    different.into_iter().chain(broken).chain(comes_back).collect()
}

/// What is said of a package that comes back as before the first apply: it may not fit the packages of the profile,
/// or need what another tool has removed since.
const OF_PROFILE: &str = "it reverts to the version from before the first apply, because it is not in the profile; \
                          add it to the profile to resolve both together";
const OF_INDEX: &str = "the downloaded wheel requires it; the index showed other METADATA when the lock was made";
const OF_OTHERS: &str = "another tool has removed or replaced it since: install it with that tool if you need it";

/// That the wheel has another METADATA than the lock was solved with.
fn differs(package: &LockedPackage, metadata: &Metadata) -> Option<Finding> {
    let solved = package.wheel()?.metadata.as_ref().filter(|solved| **solved != metadata.digest)?;
    let message = format!(
        "METADATA of {} {} differs from the METADATA that the lock was resolved with",
        package.name, package.version
    );
    let found = format!("resolved with {solved}, the wheel has {}", metadata.digest);
    let finding = Finding::error(Code::MetadataDiffers, message);
    Some(finding.about(Subject::release(&package.name, &package.version)).with_note(found).with_help(
        "nothing was changed; run `colab-boot lock --refresh`; if the METADATA still differs, \
         report it to the operator of the index",
    ))
}
