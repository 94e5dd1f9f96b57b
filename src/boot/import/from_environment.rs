//! The profile of what is installed.

use crate::boot::import::asked_packages::AskedPackage;
use crate::boot::import::installed_from::installed_from;
use crate::boot::import::profile_text::{Collected, Imported, ProfileHead, written};
use crate::boot::machine::Recorded;
use crate::boot::seen::Seen;
use crate::core::diag::Failure;
use crate::core::matrix::Matrix;
use crate::core::model::{PackageName, Requirement, Version};

/// The profile of the environment of `seen`: what nothing else there requires, in the version that is installed.
pub fn of_environment(head: &ProfileHead<'_>, seen: &Seen, matrix: &Matrix) -> Result<Imported, Failure> {
    let installed = &seen.machine.installed;
    let markers = seen.python_facts()?.marker_environment();
    let applies = |one: &Requirement| markers.as_ref().is_none_or(|markers| one.applies(markers, None));
    let is_required = |name: &PackageName| {
        let others = installed.iter().filter(|(other, _)| *other != name);
        let mut all = others.flat_map(|(_, one)| one.requires.iter().flat_map(Recorded::get));
        all.any(|one| one.name == *name && applies(one))
    };
    let is_tool = |name: &PackageName| matches!(name.as_ref(), "pip" | "setuptools" | "wheel");
    let wanted = installed.iter().filter(|(name, _)| !is_tool(name) && !is_required(name));
    let exactly = |version: &Version| vec![format!("=={}", version.clone().without_local())];
    let mut all = Collected::default();
    for (name, one) in wanted {
        let asked = if one.direct {
            // A package of that name on an index is another one.
            let Some(place) = installed_from(name, one) else {
                all.leave("the environment", name, "it was installed from an address that is not known");
                continue;
            };
            AskedPackage { place, ..AskedPackage::default() }
        } else {
            AskedPackage { specifiers: exactly(&one.version), ..AskedPackage::default() }
        };
        all.wishes.insert(name.clone(), asked);
    }
    Ok(written(head, all, matrix))
}
