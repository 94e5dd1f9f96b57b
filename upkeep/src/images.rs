//! What the packages of the bundled notebook images require, from the METADATA of their releases on the index: the
//! images' own descriptions hold versions alone.

use std::collections::BTreeMap;
use std::fmt::Write;

use colab_boot::boot::machine::Runtimes;
use colab_boot::boot::session::Session;
use colab_boot::core::diag::{Failure, counted};
use colab_boot::core::host::files;
use colab_boot::core::model::{Libc, PackageName, Version};

use crate::Outcome;
use crate::arguments::ImagesOptions;
use crate::releases::Releases;

/// What each release that is installed somewhere requires.
type Lines = BTreeMap<(PackageName, Version), Vec<String>>;

/// Writes `requires-3.NN.txt` for each Python that an image has.
pub(crate) fn run(options: &ImagesOptions, session: &Session<'_>, releases: &Releases<'_>) -> Result<Outcome, Failure> {
    let known = Runtimes::bundled()?;
    let mut pythons: BTreeMap<(u64, u64), (usize, Lines)> = BTreeMap::new();
    for (image, _) in known.iter().filter(|(image, _)| !image.packages.is_empty()) {
        let machine = image.machine();
        let Some(python) = machine.python else { continue };
        let (major, minor) = python.facts.minor();
        session.say(&image.full_name());
        let reader = releases.reader_for(minor, Libc::Glibc(2, 39), false)?;
        let (count, lines) = pythons.entry((major, minor)).or_default();
        let of_others =
            |(name, version): &(&PackageName, &Version)| !lines.contains_key(&((*name).clone(), (*version).clone()));
        let wanted: BTreeMap<PackageName, Version> =
            image.packages.iter().filter(of_others).map(|(name, version)| (name.clone(), version.clone())).collect();
        *count += wanted.len();
        let found = reader.requirements(&wanted, &image.packages, session.matrix)?;
        lines.extend(found.into_iter().map(|(name, requires)| {
            let version = wanted[&name].clone();
            ((name, version), requires)
        }));
    }
    let mut outcome = Outcome::default();
    for ((major, minor), (count, lines)) in pythons {
        let mut text = format!(
            "# What the packages of the images with Python {major}.{minor} require, as far as it applies there. Written by `upkeep images`.\n"
        );
        for ((name, version), requires) in &lines {
            let _ = writeln!(text, "{name} {version}: {}", requires.join("; "));
        }
        let path = options.into.join(format!("requires-{major}.{minor}.txt"));
        files::write_whole(&path, text.as_bytes())?;
        outcome.lines.push(format!("{}: {} of {count}", path.display(), counted(lines.len(), "release")));
    }
    Ok(outcome)
}
