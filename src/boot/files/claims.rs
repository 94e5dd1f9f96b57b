//! Who owns the paths of an environment, by what its distributions list.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::boot::files::expected::lexical;
use crate::boot::machine::Layout;
use crate::core::diag::Failure;
use crate::core::host::files;
use crate::core::inspect::parse_record;
use crate::core::model::wheel_names::metadata_of;
use crate::core::model::{PackageName, Sha256};

/// Whether several distributions in `layout` list the script at `path` of a RECORD: the one that was installed last has
/// written it.
pub fn is_shared_script(path: &str, layout: &Layout) -> bool {
    let Some(site) = layout.folders().into_iter().next().filter(|_| path.starts_with("../")) else { return false };
    let place = lexical(path, site);
    let infos = files::names_if_any(site).into_iter().filter(|entry| metadata_of(entry).is_some());
    let records = infos.filter_map(|entry| files::read_optional(&site.join(entry).join("RECORD")).ok().flatten());
    place.parent() == Some(&layout.scripts)
        && records
            .filter(|record| parse_record(record).iter().any(|one| lexical(&one.path, site) == place))
            .nth(1)
            .is_some()
}

/// For each place that is `asked` for and that distributions in `layout` list, these and the digest that each lists.
pub fn owners_of(asked: &dyn Fn(&Path) -> bool, layout: &Layout) -> Result<BTreeMap<PathBuf, Owners>, Failure> {
    let mut owners: BTreeMap<PathBuf, Owners> = BTreeMap::new();
    for site in layout.folders() {
        for entry in files::names_in(site)? {
            let Some(name) = metadata_of(&entry) else { continue };
            let listed = listed_files(site, &entry).unwrap_or_default();
            for (place, sha256) in listed.into_iter().filter(|(place, _)| asked(place)) {
                owners.entry(place).or_default().insert(name.clone(), sha256);
            }
        }
    }
    Ok(owners)
}

/// Who lists a file, with the digest that each lists.
pub type Owners = BTreeMap<PackageName, Option<Sha256>>;

/// The files that the metadata `entry` in `site` lists, with their digests; `None` without a list.
fn listed_files(site: &Path, entry: &str) -> Option<Vec<(PathBuf, Option<Sha256>)>> {
    let info = site.join(entry);
    let text = |file: &str| files::read_optional(&info.join(file)).unwrap_or_default();
    if let Some(record) = text("RECORD").filter(|text| !text.trim().is_empty()) {
        return Some(parse_record(&record).iter().map(|one| (lexical(&one.path, site), one.sha256)).collect());
    }
    let list = text("installed-files.txt")?;
    Some(list.lines().map(|line| (lexical(line.trim(), &info), None)).collect())
}

/// Where the modules of the distribution with the metadata `info` lie by its names alone, each without the ending.
pub(super) fn unlisted_modules(info: &Path, name: &PackageName) -> Vec<PathBuf> {
    let text = files::read_optional(&info.join("top_level.txt")).unwrap_or_default().unwrap_or_default();
    let own = name.as_ref().replace(['-', '.'], "_");
    text.split_whitespace().chain([own.as_str()]).map(|module| info.with_file_name(module)).collect()
}

/// The paths that belong to distributions.
#[derive(Debug, Default)]
pub struct Claims {
    listed: HashSet<PathBuf>,
    /// Distributions without a list of their files: an installer was interrupted, or they came by other means.
    unlisted: BTreeSet<PackageName>,
    /// What the modules of these are called, each in its site-packages, without the ending.
    modules: HashSet<PathBuf>,
}

impl Claims {
    /// Those of the distributions in `layout` whose names are `meant`. Fails where a folder can't be read; a list that
    /// can't be read counts as none.
    pub fn of(layout: &Layout, meant: &dyn Fn(&PackageName) -> bool) -> Result<Self, Failure> {
        let mut claims = Self::default();
        for site in layout.folders() {
            for entry in files::names_in(site)? {
                if let Some(name) = metadata_of(&entry).filter(|name| meant(name)) {
                    claims.add_distribution(site, &entry, name);
                }
            }
        }
        Ok(claims)
    }

    /// That of the metadata `entry` in `site`.
    fn add_distribution(&mut self, site: &Path, entry: &str, name: PackageName) {
        if let Some(listed) = listed_files(site, entry) {
            self.listed.extend(listed.into_iter().map(|(place, _)| place));
            return;
        }
        self.modules.extend(unlisted_modules(&site.join(entry), &name));
        self.unlisted.insert(name);
    }

    /// With `places` that are known to be a distribution's from elsewhere.
    pub fn add(&mut self, places: impl IntoIterator<Item = PathBuf>) {
        self.listed.extend(places);
    }

    /// Whether `place` belongs to a distribution.
    pub fn has(&self, place: &Path) -> bool {
        self.listed.contains(place)
            || !self.modules.is_empty()
                && place.ancestors().any(|at| {
                    let name = at.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next());
                    name.is_some_and(|name| self.modules.contains(&at.with_file_name(name)))
                })
    }

    /// Whether something below the folder `place` belongs to a distribution.
    pub fn has_below(&self, place: &Path) -> bool {
        self.listed.iter().any(|listed| listed.starts_with(place))
    }

    /// Whether the distribution is there and has no list of its files.
    pub fn is_unlisted(&self, name: &PackageName) -> bool {
        self.unlisted.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;
    use crate::boot::machine::Layout;
    use crate::core::host::files::write_whole;

    #[test]
    fn a_path_belongs_to_what_lists_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let layout = Layout::of_tests(folder.path());
        for (path, text) in [
            ("lib/listed-1.0.dist-info/RECORD", "listed/a.py,,\n../bin/tool,,\n"),
            ("lib/torn_one-1.0.dist-info/METADATA", ""),
            ("lib/old-1.0.egg-info/installed-files.txt", "../old.py\nPKG-INFO\n"),
            ("lib/older.egg-info/top_level.txt", "strange\n"),
        ] {
            write_whole(&folder.path().join(path), text.as_bytes()).expect(path);
        }
        let claims = Claims::of(&layout, &|_| true).expect("claims");
        for (path, expected) in [
            ("lib/listed/a.py", true),
            ("lib/listed/b.py", false),
            ("bin/tool", true),
            ("lib/torn_one/deep/x.py", true),
            ("lib/torn_one.py", true),
            ("lib/torn/x.py", false),
            ("lib/old.py", true),
            ("lib/strange/x.so", true),
        ] {
            assert_eq!(claims.has(&folder.path().join(path)), expected, "{path}");
        }
        assert!(claims.is_unlisted(&"torn-one".parse().expect("a name")));
        let none = Claims::of(&layout, &|name| name.as_ref() == "other").expect("claims");
        assert!(!none.has(&folder.path().join("lib/listed/a.py")));
    }
}
