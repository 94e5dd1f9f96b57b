//! Which packages of a lock need which: what the lock says of each package, the other way round.

use std::collections::BTreeMap;

use crate::boot::lock::{LockedPackage, LockedTarget};
use crate::core::model::PackageName;

/// By package, what it needs; or, inverted, what needs it. In order, without packages that need nothing.
pub type Dependencies<'a> = BTreeMap<&'a PackageName, Vec<&'a PackageName>>;

/// What `why` says of a package that the profile asks for.
const PROFILE: &str = "profile";

impl LockedPackage {
    /// Whether the profile asks for it.
    pub fn is_asked_for(&self) -> bool {
        self.why.iter().any(|why| why == PROFILE)
    }
}

/// The dependencies of the packages of `target`.
pub fn dependencies(target: &LockedTarget, inverted: bool) -> Dependencies<'_> {
    let mut all = Dependencies::new();
    let by_text: BTreeMap<&str, &PackageName> =
        target.packages.iter().map(|package| (package.name.as_ref(), &package.name)).collect();
    for package in &target.packages {
        for needing in package.why.iter().filter_map(|why| by_text.get(why.as_str()).copied()) {
            let (from, to) = if inverted { (&package.name, needing) } else { (needing, &package.name) };
            all.entry(from).or_default().push(to);
        }
    }
    for names in all.values_mut() {
        names.sort();
    }
    all
}
