//! What a wheel puts on disk, as its zip directory lists it: paths with size and CRC-32, which is enough to tell
//! whether two wheels would overwrite each other's files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::core::model::Sha256;

/// How a member's bytes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Packing {
    Stored,
    Deflate,
    /// Another method, by its number in the zip specification; wheels do not use any.
    Other(u16),
}

/// One file of a wheel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub path: String,
    pub crc32: u32,
    /// Bytes in the zip file.
    pub compressed: u64,
    /// Bytes on disk.
    pub size: u64,
    pub packing: Packing,
    /// The mode that a Unix system has given it (`st_mode`), 0 where none did.
    pub mode: u16,
    /// Where its local header begins.
    pub offset: u64,
    /// Where the next member or the directory begins: `offset..end` holds header and data.
    pub end: u64,
}

impl Member {
    /// A file as an installed RECORD names it; of its digest, as much as a CRC-32 has.
    pub fn of_record(path: String, sha256: &Sha256) -> Self {
        let crc32 = sha256.prefix();
        Self { path, crc32, compressed: 0, size: 0, packing: Packing::Stored, mode: 0, offset: 0, end: 0 }
    }
}

/// All files of a wheel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    pub members: Vec<Member>,
}

impl Files {
    /// The member at `path`.
    pub fn get(&self, path: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.path == path)
    }

    /// `name` in the wheel's own `.dist-info`: `METADATA`, `RECORD`.
    pub fn dist_info(&self, name: &str) -> Option<&Member> {
        let is = |path: &str| {
            path.split_once('/').is_some_and(|(folder, rest)| folder.ends_with(".dist-info") && rest == name)
        };
        self.members.iter().find(|member| is(&member.path))
    }

    /// What the paths it writes to begin with, sorted: the first two parts, for packages such as NVIDIA's share the
    /// first; where there are many, the first alone. An empty file has [`EMPTY`] behind it.
    pub fn roots(&self) -> Vec<String> {
        let mut below: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for member in &self.members {
            let Some(path) = installed_path(&member.path) else { continue };
            let mut parts = path.splitn(3, '/');
            let first = parts.next().unwrap_or_default().to_owned();
            let file = if member.size == 0 { format!("{path}{EMPTY}") } else { path.clone() };
            let root = match (parts.next(), parts.next()) {
                (Some(second), Some(_)) => format!("{first}/{second}"),
                _ => file,
            };
            below.entry(first).or_default().insert(root);
        }
        below
            .into_iter()
            .flat_map(|(first, roots)| match roots.len() {
                0..=MOST => roots.into_iter().collect(),
                _ => vec![first],
            })
            .collect()
    }

    /// Bytes that the wheel unpacks to.
    pub fn unpacked(&self) -> u64 {
        self.members.iter().fold(0, |total, member| total.saturating_add(member.size))
    }
}

/// The most second parts below one first part that are kept apart.
const MOST: usize = 8;

/// Behind the root of an empty file: two of them are the same file.
pub const EMPTY: &str = " (empty)";

/// The path of a module without what its file ends in: `pkg/mod` of `pkg/mod.cpython-312-x86_64-linux-gnu.so`; another
/// path as it is.
pub fn stem(path: &str) -> &str {
    let is_module = [".py", ".pyc", ".so"].iter().any(|end| path.ends_with(end));
    let name = path.rfind('/').map_or(0, |at| at + 1);
    let end = path[name..].find('.').filter(|_| is_module);
    end.map_or(path, |end| &path[..name + end])
}

/// What `import` makes of a path: the path of the module, and after how many other kinds of files it takes this one
/// (<https://docs.python.org/3/library/importlib.html#importlib.machinery.FileFinder>).
fn module_at(path: &str) -> Option<(&str, u8)> {
    let stem = stem(path);
    let rank = match &path[stem.len()..] {
        // Beside site-packages there are no modules.
        _ if path.starts_with('<') => return None,
        ".py" | ".pyc" if stem.ends_with("/__init__") => 0,
        end if end.ends_with(".so") && stem.ends_with("/__init__") => 0,
        end if end.ends_with(".so") => 1,
        ".py" => 2,
        ".pyc" => 3,
        _ => return None,
    };
    Some((stem.strip_suffix("/__init__").unwrap_or(stem), rank))
}

/// Whether two wheels with these roots may write to the same path, and other bytes, or bring one module twice.
pub fn may_clash(a: &str, b: &str) -> bool {
    let (x, y) = (a.trim_end_matches(EMPTY), b.trim_end_matches(EMPTY));
    if x == y {
        return x == a || y == b;
    }
    let (x, y) = (stem(x), stem(y));
    if x == y {
        return true;
    }
    holds(x, y) || holds(y, x)
}

fn holds(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}

/// What wheels put at the top of site-packages by accident.
const UNTIDY: [&str; 8] = ["test", "tests", "doc", "docs", "example", "examples", "benchmark", "benchmarks"];

/// Whether a name at the top of site-packages is one that wheels have by accident.
pub fn is_untidy(top: &str) -> bool {
    UNTIDY.contains(&top)
}

/// Two wheels that would write other bytes to the same paths, or bring one module in different files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// Places of the two in the list that was compared.
    pub first: usize,
    pub second: usize,
    /// Where their files would be, sorted.
    pub paths: Vec<String>,
    /// Modules that both have, in other files.
    pub hidden: Vec<Hiding>,
}

/// A module that two wheels bring in different files: Python imports one of them, always.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hiding {
    /// The file that is imported.
    pub imported: String,
    /// The file that never is.
    pub hidden: String,
    /// The imported one is the first wheel's.
    pub by_first: bool,
}

impl Clash {
    /// Whether a program could notice: shared tests, examples and licences at the top of site-packages are only untidy.
    pub fn is_serious(&self) -> bool {
        if !self.hidden.is_empty() {
            return true;
        }
        !self.paths.iter().all(|path| match path.split_once('/') {
            Some((top, _)) => is_untidy(top) || path.ends_with(".md") || path.ends_with(".txt"),
            None => !path.ends_with(".py") && !path.contains(".so"),
        })
    }

    /// `1 file`, `18 files`.
    pub fn count(&self) -> String {
        let count = self.paths.len();
        format!("{count} file{}", if count == 1 { "" } else { "s" })
    }

    /// Those of the paths that are shared libraries.
    pub fn libraries(&self) -> Vec<&String> {
        self.paths.iter().filter(|path| path.ends_with(".so") || path.contains(".so.")).collect()
    }
}

/// Every pair of `all` that would overwrite each other's files. Equal files (the `__init__.py` of a namespace) are no
/// clash.
pub fn clashes(all: &[&Files]) -> Vec<Clash> {
    /// The place of a wheel, and CRC-32 and size of its file.
    type Owner = (usize, (u32, u64));
    let mut owners: HashMap<String, Vec<Owner>> = HashMap::new();
    for (at, files) in all.iter().enumerate() {
        for member in &files.members {
            let Some(path) = installed_path(&member.path) else { continue };
            let owners = owners.entry(path).or_default();
            // A wheel that names a path twice ends up with the last.
            if owners.last().is_some_and(|(last, _)| *last == at) {
                owners.pop();
            }
            owners.push((at, (member.crc32, member.size)));
        }
    }
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (path, owners) in owners {
        for (place, (first, content)) in owners.iter().enumerate() {
            for (second, other) in &owners[place + 1..] {
                if first != second && content != other {
                    pairs.entry((*first, *second)).or_default().push(path.clone());
                }
            }
        }
    }
    let mut hidden = hidings(all);
    for pair in hidden.keys() {
        pairs.entry(*pair).or_default();
    }
    pairs
        .into_iter()
        .map(|((first, second), mut paths)| {
            paths.sort();
            Clash { first, second, paths, hidden: hidden.remove(&(first, second)).unwrap_or_default() }
        })
        .collect()
}

/// The modules that two of `all` bring in different files, by pair.
fn hidings(all: &[&Files]) -> BTreeMap<(usize, usize), Vec<Hiding>> {
    /// The rank of a module's file, the place of its wheel, and its path.
    type Source = (u8, usize, String);
    let mut modules: HashMap<String, Vec<Source>> = HashMap::new();
    for (at, files) in all.iter().enumerate() {
        for path in files.members.iter().filter_map(|member| installed_path(&member.path)) {
            if let Some((module, rank)) = module_at(&path) {
                modules.entry(module.to_owned()).or_default().push((rank, at, path.clone()));
            }
        }
    }
    let mut found: BTreeMap<(usize, usize), Vec<Hiding>> = BTreeMap::new();
    let several = modules
        .into_iter()
        .filter(|(module, sources)| sources.len() > 1 && (!is_untidy(module.split('/').next().unwrap_or_default())));
    for (_, mut sources) in several {
        sources.sort();
        let (rank, owner, imported) = sources.remove(0);
        // A wheel with compiled code beside its own source has both for itself.
        let others = sources.iter().filter(|(other, at, _)| *at != owner && *other > rank);
        for (_, at, hidden) in others.filter(|(_, at, _)| !has_own(all[*at], &imported)) {
            let hiding = Hiding { imported: imported.clone(), hidden: hidden.clone(), by_first: owner < *at };
            found.entry((owner.min(*at), owner.max(*at))).or_default().push(hiding);
        }
    }
    for all in found.values_mut() {
        all.sort();
    }
    found
}

/// Whether a wheel brings the file at `path` itself.
fn has_own(files: &Files, path: &str) -> bool {
    files.members.iter().any(|member| installed_path(&member.path).as_deref() == Some(path))
}

/// Where a member lands, from site-packages; `None` for folders and for the wheel's own `.dist-info`, which no other
/// wheel shares.
pub fn installed_path(member: &str) -> Option<String> {
    let (top, rest) = member.split_once('/').unwrap_or(("", member));
    if member.ends_with('/') || top.ends_with(".dist-info") {
        return None;
    }
    if !top.ends_with(".data") {
        return Some(member.to_owned());
    }
    match rest.split_once('/') {
        Some(("purelib" | "platlib", path)) => Some(path.to_owned()),
        // Beside site-packages: the environment's own folders.
        Some((scheme, path)) => Some(format!("<{scheme}>/{path}")),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Clash, Files, Member, clashes, may_clash};
    use crate::core::model::Sha256;

    fn files(all: &[(&str, u32)]) -> Files {
        let member = |(path, crc32): &(&str, u32)| Member {
            path: (*path).to_owned(),
            crc32: *crc32,
            compressed: 1,
            size: 1,
            ..Member::of_record(String::new(), &Sha256::of(b""))
        };
        Files { members: all.iter().map(member).collect() }
    }

    #[test]
    fn other_content_at_one_path_is_a_clash_and_nothing_else_is() {
        let cu12 =
            files(&[("nvidia/__init__.py", 0), ("nvidia/nccl/lib/libnccl.so.2", 1), ("a-1.dist-info/RECORD", 1)]);
        let cu13 =
            files(&[("nvidia/__init__.py", 0), ("nvidia/nccl/lib/libnccl.so.2", 2), ("b-1.dist-info/RECORD", 2)]);
        let moved =
            files(&[("c-1.data/platlib/nvidia/nccl/lib/libnccl.so.2", 1), ("c-1.data/scripts/run", 1), ("d/", 0)]);
        let found = clashes(&[&cu12, &cu13, &moved]);
        let library = "nvidia/nccl/lib/libnccl.so.2".to_owned();
        let clash = |first, second| Clash { first, second, paths: vec![library.clone()], hidden: Vec::new() };
        assert_eq!(found, [clash(0, 1), clash(1, 2)]);
        assert!(found[0].is_serious() && found[0].libraries() == [&library]);
    }

    #[test]
    fn of_a_module_in_two_files_one_is_never_imported() {
        let hidden = |first: &[&str], second: &[&str]| {
            let wheel = |paths: &[&str]| files(&paths.iter().map(|path| (*path, 1)).collect::<Vec<_>>());
            let found = clashes(&[&wheel(first), &wheel(second)]);
            let all = found.into_iter().flat_map(|clash| clash.hidden);
            all.map(|one| format!("{} < {} {}", one.hidden, one.imported, one.by_first)).collect::<Vec<_>>()
        };
        let folder = "m/__init__.py";
        assert_eq!(hidden(&["m.py"], &[folder]), ["m.py < m/__init__.py false"]);
        assert_eq!(hidden(&["p/m.abi3.so"], &["p/m.py"]), ["p/m.py < p/m.abi3.so true"]);
        assert_eq!(hidden(&["a-1.data/purelib/m.py"], &[folder]), ["m.py < m/__init__.py false"]);
        for (first, second) in [
            // Both of one wheel, stubs, folders without an `__init__`, what is no module, tests at the top.
            (&["m.py", folder][..], &["n.py"][..]),
            (&["m.py"], &["m/__init__.pyi", "m/data.txt", "m.pyi"]),
            (&["v1.2.py"], &["v1.py"]),
            (&["a-1.data/scripts/m.py"], &["b-1.data/scripts/m/__init__.py"]),
            (&["tests.py"], &["tests/__init__.py"]),
        ] {
            assert_eq!(hidden(first, second), Vec::<String>::new(), "{first:?} {second:?}");
        }
        assert!(may_clash("m.py", "m") && may_clash("p/m.py", "p/m") && !may_clash("p/m.py", "p/n"));
    }

    #[test]
    fn of_a_path_that_a_wheel_names_twice_the_last_counts() {
        let twice = files(&[("a/x.py", 1), ("a/x.py", 2)]);
        assert_eq!(clashes(&[&twice, &files(&[("a/x.py", 2)])]), []);
        assert_eq!(clashes(&[&twice, &files(&[("a/x.py", 1)])]).len(), 1);
    }

    #[test]
    fn shared_tests_at_the_top_are_only_untidy() {
        let found = clashes(&[
            &files(&[("tests/__init__.py", 1), ("LICENSE", 1)]),
            &files(&[("tests/__init__.py", 2), ("LICENSE", 2)]),
        ]);
        assert!(!found[0].is_serious());
        let found = clashes(&[&files(&[("cv2/__init__.py", 1)]), &files(&[("cv2/__init__.py", 2)])]);
        assert!(found[0].is_serious());
    }

    #[test]
    fn roots_tell_apart_what_shares_a_folder() {
        let of = |paths: &[(&str, u64)]| {
            let member = |(path, size): &(&str, u64)| Member {
                size: *size,
                ..Member::of_record((*path).to_owned(), &Sha256::of(b""))
            };
            Files { members: paths.iter().map(member).collect() }.roots()
        };
        let cublas = of(&[
            ("nvidia/__init__.py", 0),
            ("nvidia/cublas/lib/a.so", 9),
            ("nvidia/cublas/b.h", 1),
            ("x-1.dist-info/METADATA", 1),
        ]);
        assert_eq!(cublas, ["nvidia/__init__.py (empty)", "nvidia/cublas"]);
        assert_eq!(of(&[("six.py", 3)]), ["six.py"]);
        let names: Vec<String> = (0..9).map(|at| format!("torch/{at}.py")).collect();
        let many: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        assert_eq!(of(&many), ["torch"]);
        for (a, b, clash) in [
            ("nvidia/cublas", "nvidia/cudnn", false),
            ("nvidia/cublas", "nvidia", true),
            ("nvidia/cublas", "nvidia/cublas", true),
            ("nvidia/__init__.py (empty)", "nvidia/__init__.py (empty)", false),
            ("nvidia/__init__.py (empty)", "nvidia/__init__.py", true),
            ("nvidia/cublas", "nvidia/cublas_extra", false),
        ] {
            assert_eq!((may_clash(a, b), may_clash(b, a)), (clash, clash), "{a} {b}");
        }
    }
}
