//! `remove`: packages go from the profile, and with what only they need from its lock.

use std::collections::BTreeSet;

use crate::boot::profile::{Profile, without_packages};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::RemovePackagesOptions;
use crate::cli::verbs::lock::lock_edited;
use crate::core::diag::{Failure, nearest};
use crate::core::model::PackageName;

pub(super) fn run(options: &RemovePackagesOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let profile = session.profile(&options.edited.profile)?;
    let names: BTreeSet<PackageName> = options.packages.iter().cloned().collect();
    if let Some(unknown) = names.iter().find(|name| !profile.wants(name)) {
        return Err(not_named(&profile, unknown));
    }
    if profile.wanted.iter().all(|one| names.contains(&one.name)) {
        let help = "`colab-boot restore` takes out what apply has installed; then delete the profile and its lock";
        return Err(Failure::input("no package would be left; nothing was changed").help(help));
    }
    let text = without_packages(&profile, &names)?;
    let written: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    lock_edited(&options.edited, text, &format!("removed {}", written.join(", ")), session)
}

fn not_named(profile: &Profile, name: &PackageName) -> Failure {
    let failure = Failure::input(format!("the profile does not name `{name}`; nothing was changed"));
    match nearest(profile.wanted.iter().map(|one| one.name.as_ref()), name.as_ref()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!("if a package requires it, `colab-boot explain {name}` names that package")),
    }
}
