//! What installed distributions without a row are linked against: from their files on disk, each read once.

use std::collections::BTreeMap;
use std::path::Path;

use crate::boot::files::{Compiled, linking_of};
use crate::boot::index::{Cache, Trust};
use crate::boot::machine::Recorded;
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::matrix::{Linkage, MinorSymbols, Overlay};
use crate::core::model::{PackageName, Version, VersionRange};

/// Bytes of one distribution's libraries that are read.
const LIMIT: u64 = 256 << 20;

impl Session<'_> {
    /// What is asked for by the release of `name` whose dist-info is the folder `info`, and what of it was not read.
    /// `None` where a row knows it, where it has no compiled code, and for what carries CUDA itself.
    pub(super) fn linkage_on_disk(
        &self,
        name: &PackageName,
        version: &Version,
        info: &Path,
    ) -> Option<(Linkage, Vec<String>)> {
        let is_known = self.matrix.linkages.of(name).is_some_and(|file| file.row(version).is_some());
        let carries = self.matrix.is_cuda_library(name) || self.matrix.brings_cuda(name) || name.as_ref() == "numpy";
        if is_known || carries {
            return None;
        }
        let compiled = Compiled::of(info)?;
        let cache = Cache::new(&self.paths.cache, self.now, Trust::Always);
        let linking = cache.linking(&compiled.digest, LIMIT).unwrap_or_else(|| {
            self.log.detail(|| format!("reading the libraries of {name} {version}"));
            let linking = linking_of(&compiled, LIMIT);
            cache.keep_linking(&compiled.digest, LIMIT, &linking);
            linking
        });
        let symbols = MinorSymbols::bundled().ok()?;
        Some((Linkage::of(&linking.demands(), &compiled.wheel, &symbols), linking.unread))
    }

    /// What distributions that are installed here ask for beside their METADATA, where no row knows them.
    pub fn linked_here(&self, seen: &Seen) -> BTreeMap<PackageName, Vec<Overlay>> {
        seen.here()
            .into_iter()
            .flat_map(|observed| &observed.distributions)
            .filter_map(|raw| {
                let name: PackageName = raw.name.parse().ok()?;
                let one = seen.machine.installed.get(&name).filter(|one| one.version.to_string() == raw.version)?;
                // What was built here is built again where what it was built with changes.
                if seen.ledger.distributions.get(&name).is_some_and(|entry| !entry.built_with.is_empty()) {
                    return None;
                }
                let (linkage, _) = self.linkage_on_disk(&name, &one.version, &raw.folder)?;
                let recorded = one.requires.iter().flat_map(Recorded::get);
                let range = VersionRange::singleton(one.version.clone());
                let asked = self.matrix.linkages.asked(&name, &range, &linkage.beside(recorded));
                (!asked.is_empty()).then_some((name, asked))
            })
            .collect()
    }
}
