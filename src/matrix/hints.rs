//! What saves waiting, and decides nothing: which packages usually come along, where a wheel keeps its METADATA, and the METADATA of
//! some wheels by their digest. A hint that is out of date costs a request; no answer depends on one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::matrix::FILES;
use crate::model::{ExtraName, PackageName, Sha256};

/// The bytes read from the end of a wheel of which nothing is known.
const TAIL: u64 = 64 << 10;

/// The bundled hints.
pub struct Hints {
    /// `name` or `name[extra]` → what its newest version asks for; `=` before a name that it does not let be the newest.
    needs: HashMap<String, Vec<(PackageName, Vec<ExtraName>, bool)>>,
    /// kB at the end of a wheel that hold directory and METADATA, where 64 are not enough.
    tails: HashMap<PackageName, u64>,
}

/// A package that will probably be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub name: PackageName,
    /// Nothing is known to hold it back: its newest version will probably be chosen.
    pub free: bool,
}

/// A wheel whose METADATA is bundled.
#[derive(Clone, Debug, Deserialize)]
pub struct Seed {
    pub sha256: BTreeSet<Sha256>,
    /// The lines of METADATA that resolution needs.
    pub headers: String,
    /// The paths it writes to all begin with one of these.
    pub roots: Vec<String>,
}

#[derive(Default, Deserialize)]
struct ClosureFile {
    #[serde(default)]
    needs: BTreeMap<String, String>,
    #[serde(default)]
    tails: BTreeMap<PackageName, u64>,
}

#[derive(Deserialize)]
struct SeedFile {
    #[serde(default)]
    wheel: Vec<Seed>,
}

impl Hints {
    /// The bundled ones; a file that can't be read hints at nothing (a test reads them all).
    pub fn bundled() -> &'static Self {
        static HINTS: OnceLock<Hints> = OnceLock::new();
        HINTS.get_or_init(|| {
            let text = FILES.get_file("closure.toml").and_then(|file| file.contents_utf8()).unwrap_or_default();
            let file: ClosureFile = toml::from_str(text).unwrap_or_default();
            let needs = file.needs.into_iter().map(|(name, needs)| (name, needs.split(' ').filter_map(need).collect()));
            Self { needs: needs.collect(), tails: file.tails.into_iter().collect() }
        })
    }

    /// Everything that `roots` usually bring along, but for themselves and what `known` says needs no asking.
    pub fn closure(
        &self,
        roots: &[(PackageName, Option<ExtraName>)],
        known: &dyn Fn(&PackageName) -> bool,
    ) -> Vec<Hint> {
        let mut found: BTreeMap<PackageName, bool> = BTreeMap::new();
        let mut open: Vec<String> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let key = |name: &PackageName, extra: &ExtraName| format!("{name}[{extra}]");
        for (name, extra) in roots {
            open.push(extra.as_ref().map_or_else(|| name.to_string(), |extra| key(name, extra)));
        }
        while let Some(next) = open.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            for (name, extras, free) in self.needs.get(&next).into_iter().flatten() {
                if known(name) {
                    continue;
                }
                *found.entry(name.clone()).or_insert(true) &= free;
                open.push(name.to_string());
                open.extend(extras.iter().map(|extra| key(name, extra)));
            }
        }
        found.retain(|name, _| !roots.iter().any(|(root, _)| root == name));
        found.into_iter().map(|(name, free)| Hint { name, free }).collect()
    }

    /// How many bytes at the end of a wheel of `name` to ask for.
    pub fn tail(&self, name: &PackageName) -> u64 {
        self.tails.get(name).map_or(TAIL, |kilobytes| kilobytes << 10)
    }

    /// The bundled METADATA of the wheel of `name` with this digest.
    pub fn seed(&self, name: &PackageName, digest: &Sha256) -> Option<Seed> {
        seeds(name).into_iter().find(|seed| seed.sha256.contains(digest))
    }
}

/// The bundled METADATA of `name`.
pub fn seeds(name: &PackageName) -> Vec<Seed> {
    let text = FILES.get_file(format!("metadata/{name}.toml")).and_then(|file| file.contents_utf8());
    text.and_then(|text| toml::from_str::<SeedFile>(text).ok()).map(|file| file.wheel).unwrap_or_default()
}

/// `=triton`, `dask[array]`.
fn need(text: &str) -> Option<(PackageName, Vec<ExtraName>, bool)> {
    let free = !text.starts_with('=');
    let text = text.trim_start_matches('=');
    let (name, extras) = text.split_once('[').unwrap_or((text, ""));
    let extras = extras.trim_end_matches(']').split(',').filter_map(|extra| extra.parse().ok()).collect();
    Some((name.parse().ok()?, extras, free))
}
