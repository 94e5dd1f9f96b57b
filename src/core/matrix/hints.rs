//! What saves waiting, and decides nothing: which packages usually come along, where a wheel keeps its METADATA, and
//! the METADATA of some wheels by their digest. A hint that is out of date costs a request; no answer depends on one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Deserialize;

use crate::core::matrix::parse;
use crate::core::model::{ExtraName, PackageName, Sha256};

/// The bundled hints; each file is read when it is first asked for.
#[derive(Default)]
pub struct Hints {
    table: OnceLock<Table>,
    /// METADATA by package.
    seeds: Mutex<HashMap<PackageName, Vec<Arc<Seed>>>>,
}

/// `matrix/closure.toml`.
#[derive(Default)]
struct Table {
    /// `name` or `name[extra]` → what its newest version asks for; `=` before a name that it does not let be the
    /// newest.
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
    /// The wheels by digest, each with its size in bytes.
    pub files: BTreeMap<Sha256, u64>,
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
        HINTS.get_or_init(Self::default)
    }

    fn table(&self) -> &Table {
        self.table.get_or_init(|| {
            let file: ClosureFile = parse("closure.toml").unwrap_or_default();
            let needs = file.needs.into_iter().map(|(name, needs)| (name, needs.split(' ').filter_map(need).collect()));
            Table { needs: needs.collect(), tails: file.tails.into_iter().collect() }
        })
    }

    /// The distributions that these know, in no order.
    pub fn names(&self) -> impl Iterator<Item = &PackageName> {
        self.table().needs.values().flatten().map(|(name, ..)| name)
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
            for (name, extras, free) in self.table().needs.get(&next).into_iter().flatten() {
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

    /// How many bytes at the end of a wheel of `name` to ask for, where the usual ones are not enough.
    pub fn tail(&self, name: &PackageName) -> Option<u64> {
        self.table().tails.get(name).map(|kilobytes| kilobytes << 10)
    }

    /// The bundled METADATA of the wheel of `name` with this digest.
    pub fn seed(&self, name: &PackageName, digest: &Sha256) -> Option<Arc<Seed>> {
        let mut known = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        let all = known.entry(name.clone()).or_insert_with(|| seeds(name).into_iter().map(Arc::new).collect());
        all.iter().find(|seed| seed.files.contains_key(digest)).map(Arc::clone)
    }
}

/// The bundled METADATA of `name`.
pub fn seeds(name: &PackageName) -> Vec<Seed> {
    parse::<SeedFile>(&format!("metadata/{name}.toml")).map(|file| file.wheel).unwrap_or_default()
}

/// `=triton`, `dask[array]`.
fn need(text: &str) -> Option<(PackageName, Vec<ExtraName>, bool)> {
    let free = !text.starts_with('=');
    let text = text.trim_start_matches('=');
    let (name, extras) = text.split_once('[').unwrap_or((text, ""));
    let extras = extras.trim_end_matches(']').split(',').filter_map(|extra| extra.parse().ok()).collect();
    Some((name.parse().ok()?, extras, free))
}

#[cfg(test)]
mod tests {
    use super::{Hints, Table, need, seeds};
    use crate::core::matrix::FILES;
    use crate::core::model::metadata::Metadata;

    #[test]
    fn every_bundled_hint_can_be_read() {
        let hints = Hints::bundled().table();
        assert!(hints.needs.len() > 500 && hints.tails.len() > 20, "{} {}", hints.needs.len(), hints.tails.len());
        let file: super::ClosureFile = super::parse("closure.toml").expect("closure.toml");
        for (name, needs) in &file.needs {
            assert!(needs.split(' ').all(|word| need(word).is_some()), "{name}: {needs}");
        }
        let folder = FILES.get_dir("metadata").expect("metadata");
        for file in folder.files() {
            let name = file.path().file_stem().and_then(|name| name.to_str()).expect("a name");
            let found = seeds(&name.parse().expect(name));
            assert!(!found.is_empty(), "{name}");
            for seed in found {
                let metadata = Metadata::parse(seed.headers.trim_start(), None);
                assert!(metadata.unreadable.is_empty(), "{name}: {:?}", metadata.unreadable);
                assert!(!seed.files.is_empty(), "{name}");
            }
        }
        let torch = seeds(&"torch".parse().expect("a name"));
        assert!(
            torch
                .iter()
                .any(|seed| seed.headers.contains("nvidia-cudnn-cu12") && seed.roots.contains(&"torch".to_owned()))
        );
    }

    #[test]
    fn dependencies_are_followed_and_capped_ones_are_not_free() {
        let needs = [("a", "b =c"), ("b", "c d[x]"), ("d[x]", "e"), ("d", "f")]
            .map(|(name, needs)| (name.to_owned(), needs.split(' ').filter_map(need).collect()))
            .into();
        let hints = Hints { table: Table { needs, ..Table::default() }.into(), ..Hints::default() };
        let name = |text: &str| text.parse::<crate::core::model::PackageName>().expect(text);
        let closure = |known: &dyn Fn(&crate::core::model::PackageName) -> bool| {
            let found = hints.closure(&[(name("a"), None)], known);
            found
                .iter()
                .map(|hint| format!("{}{}", if hint.free { "" } else { "=" }, hint.name))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(closure(&|_| false), "b =c d e f");
        assert_eq!(closure(&|known| *known == name("b")), "=c");
    }
}
