//! What the packages of the bundled notebook images require, from the METADATA of their releases on the index: the
//! images' own descriptions hold versions alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use colab_boot::boot::machine::{find_runtime, runtime_names};
use colab_boot::boot::session::Session;
use colab_boot::core::diag::{Failure, counted};
use colab_boot::core::host::files;
use colab_boot::core::model::catalog::{Candidate, Catalog};
use colab_boot::core::model::{CudaVersion, Libc, PackageName, PythonFacts, Requirement, Version};

use crate::Outcome;
use crate::arguments::ImagesOptions;
use crate::releases::Releases;

/// So many listings are asked for together.
const TOGETHER: usize = 200;

/// The packages of the images for one Python, by the release on the index that they were made from, with the CUDA of
/// their label.
type Present = BTreeMap<(PackageName, Version), BTreeMap<PackageName, Version>>;

/// Writes `requires-3.NN.txt` for each Python that an image has.
pub(crate) fn run(options: &ImagesOptions, session: &Session<'_>, releases: &Releases<'_>) -> Result<Outcome, Failure> {
    let mut pythons: BTreeMap<(u64, u64), (PythonFacts, Present)> = BTreeMap::new();
    for name in runtime_names()? {
        let machine = find_runtime(&name)?.machine();
        let Some(python) = machine.python.filter(|_| !machine.installed.is_empty()) else { continue };
        let versions: BTreeMap<PackageName, Version> =
            machine.installed.into_iter().map(|(name, one)| (name, one.version)).collect();
        let (_, present) =
            pythons.entry(python.facts.minor()).or_insert_with(|| (python.facts.clone(), Present::new()));
        for (name, version) in &versions {
            present.entry((name.clone(), version.clone())).or_insert_with(|| versions.clone());
        }
    }
    let mut outcome = Outcome::default();
    for ((major, minor), (facts, present)) in pythons {
        let reader = releases.reader_for(minor, Libc::Glibc(2, 39), false)?;
        let names: BTreeSet<&PackageName> = present.keys().map(|(name, _)| name).collect();
        let names: Vec<PackageName> = names.into_iter().cloned().collect();
        for some in names.chunks(TOGETHER) {
            session.say(&format!("Python {major}.{minor}: {}", some[0]));
            let _ = reader.catalog.listings(some);
        }
        let mut found: Vec<(&PackageName, &Version, Candidate)> = Vec::new();
        for (name, version) in present.keys() {
            let Ok(Some(listing)) = reader.catalog.listing(name) else { continue };
            let candidate = listing.get(version).or_else(|| listing.get(&version.clone().without_local()));
            found.extend(candidate.map(|candidate| (name, version, candidate.clone())));
        }
        reader.catalog.expect_metadata(&found.iter().map(|(.., candidate)| candidate.clone()).collect::<Vec<_>>());
        let markers = facts.marker_environment().ok_or_else(|| Failure::bug("no marker environment"))?;
        let mut text = format!(
            "# What the packages of the images with Python {major}.{minor} require, as far as it applies there. Written by `upkeep images`.\n"
        );
        let mut count = 0;
        for (name, version, candidate) in &found {
            let Ok(metadata) = reader.catalog.metadata(candidate) else { continue };
            let applying = metadata.requires.iter().filter(|one| one.applies(&markers, None));
            let mut requires: Vec<String> = applying
                .filter(|one| !(version.is_local() && is_of_cuda(session, &one.name)))
                .map(Requirement::written)
                .collect();
            if let Some(cuda) = CudaVersion::of_label(version) {
                let beside = &present[&((*name).clone(), (*version).clone())];
                let suffix = format!("-cu{}", cuda.major);
                let own = beside.iter().filter(|_| session.matrix.brings_cuda(name));
                let own =
                    own.filter(|(other, _)| other.as_ref().starts_with("nvidia-") && other.as_ref().ends_with(&suffix));
                requires.extend(own.map(|(other, version)| format!("{other}=={version}")));
            }
            count += 1;
            let _ = writeln!(text, "{name} {version}: {}", requires.join("; "));
        }
        let path = options.into.join(format!("requires-{major}.{minor}.txt"));
        files::write_whole(&path, text.as_bytes())?;
        outcome.lines.push(format!("{}: {} of {}", path.display(), counted(count, "release"), present.len()));
    }
    Ok(outcome)
}

/// Whether a build with a label brings another one of these than the public release says.
fn is_of_cuda(session: &Session<'_>, name: &PackageName) -> bool {
    session.matrix.is_cuda_library(name) || name.as_ref().starts_with("nvidia-") || name.as_ref().starts_with("cuda-")
}
