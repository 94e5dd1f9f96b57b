//! What the shared objects of a wheel ask for when they are loaded, as their own bytes tell.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Result as FmtResult};

use serde::{Deserialize, Serialize};

/// What is asked for by the shared objects of a wheel: those that it was built from, and those that a repair tool put
/// beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linking {
    /// The objects that were read.
    pub objects: Vec<Object>,
    /// File names of all shared objects in the wheel: what it can give to others.
    pub carries: BTreeSet<String>,
    /// Objects that were not read, with the reason.
    pub unread: Vec<String>,
}

/// One shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its path in the wheel.
    pub path: String,
    /// `DT_NEEDED`.
    pub needed: Vec<String>,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// Python loads it by name: it defines a `PyInit_` function.
    pub is_module: bool,
    /// NumPy's C interface, as it asks for it.
    pub numpy: Option<NumpyInterface>,
    /// What it asks for of torch, by the first 40 bits of the sha256 of the symbols' names.
    pub torch: BTreeSet<u64>,
    /// Whether some of that is of torch's C++ interface, not of its stable one.
    pub torch_cxx: bool,
    /// What it asks for of `libtensorflow_framework.so`, likewise.
    #[serde(default)]
    pub tensorflow: BTreeSet<u64>,
    /// The newest symbol versions that it asks for: `GLIBC` → `2.34`.
    pub versions: BTreeMap<String, SymbolVersion>,
    /// CUDA libraries that it names without being linked against them: it may open them when it runs.
    pub opens: BTreeSet<String>,
}

/// The generation of NumPy that a library was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumpyInterface {
    /// It names `numpy.core` alone, which fails beside NumPy 2.
    First,
    /// It names `numpy._core`, which runs with both.
    Both,
}

/// The number of a symbol version, `2.34` or `3.4.30`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SymbolVersion(pub Vec<u32>);

impl SymbolVersion {
    /// `2.34` of `GLIBC_2.34`, with the name before it; `None` where there is no number (`GLIBC_PRIVATE`).
    pub fn split(text: &str) -> Option<(&str, Self)> {
        let (name, number) = text.rsplit_once('_')?;
        let parts = number.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>().ok()?;
        Some((name, Self(parts)))
    }
}

impl Display for SymbolVersion {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
    }
}

impl Object {
    /// Whether another object means this one by `library`.
    fn is(&self, library: &str) -> bool {
        self.soname.as_deref() == Some(library) || self.file() == library
    }

    /// Whether its name says for which release of torch it is, as `libaddon_torch28-cuda.so` does: then the package
    /// chooses among several, and knows what to do where there is none.
    fn is_for_one_torch(&self) -> bool {
        self.file().split("torch").skip(1).any(|rest| {
            let rest = rest.trim_start_matches(['-', '_', '.']).strip_prefix('2').unwrap_or_default();
            rest.trim_start_matches(['_', '.']).starts_with(|next: char| next.is_ascii_digit())
        })
    }

    fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

impl Linking {
    /// The newest version of `name` (`GLIBC`) that an object asks for.
    pub fn version(&self, name: &str) -> Option<&SymbolVersion> {
        self.objects.iter().filter_map(|object| object.versions.get(name)).max()
    }

    /// The objects that no other one of the wheel is linked against: what Python, or the package itself, loads.
    fn roots(&self) -> Vec<&Object> {
        let is_inner = |object: &&Object| {
            let others = self.objects.iter().filter(|other| other.path != object.path);
            others.flat_map(|other| &other.needed).any(|library| object.is(library))
        };
        let roots: Vec<&Object> = self.objects.iter().filter(|object| !is_inner(object)).collect();
        // A circle has no beginning.
        if roots.is_empty() { self.objects.iter().collect() } else { roots }
    }

    /// The roots that decide on an import: Python's modules, where there are any. Plugins and the like are loaded when
    /// they are used.
    fn deciding(&self) -> Vec<&Object> {
        let roots = self.roots();
        let modules: Vec<&Object> = roots.iter().copied().filter(|object| object.is_module).collect();
        if modules.is_empty() { roots } else { modules }
    }

    /// `root` and what it is linked against within the wheel.
    fn reached<'a>(&'a self, root: &'a Object) -> Vec<&'a Object> {
        let mut reached = vec![root];
        let mut at = 0;
        while let Some(object) = reached.get(at) {
            let next = self.objects.iter().filter(|other| object.needed.iter().any(|library| other.is(library)));
            let new: Vec<&Object> = next.filter(|other| !reached.iter().any(|one| one.path == other.path)).collect();
            reached.extend(new);
            at += 1;
        }
        reached
    }

    /// The glibc that it can't be loaded without: what all modules of Python ask for together; of libraries of which
    /// the package chooses one, what the least of them asks for.
    fn glibc(&self, deciding: &[&Object]) -> Option<SymbolVersion> {
        let newest = |root: &&Object| -> Option<SymbolVersion> {
            self.reached(root).iter().filter_map(|object| object.versions.get("GLIBC")).max().cloned()
        };
        if deciding.iter().any(|object| object.is_module) {
            deciding.iter().filter_map(newest).max()
        } else {
            deciding.iter().map(newest).min().flatten()
        }
    }

    /// What importing the package asks of an environment.
    pub fn demands(&self) -> Demands {
        let own: BTreeSet<&str> = self.objects.iter().filter_map(|object| object.soname.as_deref()).collect();
        let is_foreign = |library: &&String| {
            !self.carries.contains(*library) && !own.contains(library.as_str()) && !is_everywhere(library)
        };
        let needed_by = |root: &Object| -> BTreeSet<String> {
            let needed = self.reached(root).into_iter().flat_map(|object| &object.needed);
            needed.filter(is_foreign).cloned().collect()
        };
        let torch_of = |root: &Object| -> BTreeSet<u64> {
            self.reached(root).into_iter().flat_map(|object| object.torch.iter().copied()).collect()
        };
        let deciding = self.deciding();
        let all: Vec<BTreeSet<String>> = deciding.iter().map(|root| needed_by(root)).collect();
        let mut needs: Vec<BTreeSet<String>> = Vec::new();
        for set in &all {
            let is_smallest = !all.iter().any(|other| other.len() < set.len() && other.is_subset(set));
            if is_smallest && !needs.contains(set) {
                needs.push(set.clone());
            }
        }
        needs.sort();
        let named: BTreeSet<&String> = needs.iter().flatten().collect();
        let foreign = self.objects.iter().flat_map(|object| &object.needed).filter(is_foreign);
        let some = foreign.filter(|library| !named.contains(library)).cloned().collect();
        let torch_whole = deciding.iter().all(|root| !torch_of(root).is_empty() && !root.is_for_one_torch());
        let of_torch = self.roots().into_iter().map(torch_of).filter(|names| !names.is_empty());
        let mut torch: Vec<BTreeSet<u64>> = of_torch.collect();
        torch.sort();
        torch.dedup();
        Demands {
            needs: if needs == [BTreeSet::new()] { Vec::new() } else { needs },
            some,
            numpy: self.objects.iter().filter_map(|object| object.numpy).max(),
            torch,
            torch_whole,
            tensorflow: self.objects.iter().flat_map(|object| object.tensorflow.iter().copied()).collect(),
            torch_cxx: self.objects.iter().any(|object| object.torch_cxx),
            glibc: self.glibc(&deciding),
            opens: self.objects.iter().flat_map(|object| object.opens.iter().cloned()).collect(),
        }
    }
}

/// What importing a package asks of an environment, put together from its objects.
///
/// Of several objects that may be loaded any one can be enough: torchcodec has one for each `FFmpeg`. An import must
/// fail where all fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Sets of libraries, of which one must be there whole; none where nothing is needed.
    pub needs: Vec<BTreeSet<String>>,
    /// Libraries that other parts of the package need.
    pub some: BTreeSet<String>,
    /// Of the first generation only where all objects that ask for NumPy are.
    pub numpy: Option<NumpyInterface>,
    /// What each object that uses torch asks of it, by [`Object::torch`].
    pub torch: Vec<BTreeSet<u64>>,
    /// Whether nothing of it can be imported without torch.
    pub torch_whole: bool,
    /// Whether some of that is torch's C++ interface, which changes with each minor release.
    pub torch_cxx: bool,
    /// What its objects ask of TensorFlow, by [`Object::tensorflow`]: custom operations of one build, which are of use
    /// together.
    pub tensorflow: BTreeSet<u64>,
    pub glibc: Option<SymbolVersion>,
    pub opens: BTreeSet<String>,
}

/// Whether every Linux with glibc has the library, or the NVIDIA driver brings it. Without zlib no installer of
/// Python's unpacks a wheel.
pub fn is_everywhere(library: &str) -> bool {
    const STEMS: [&str; 17] = [
        "libz.so.1",
        "libc.so.6",
        "libm.so.6",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
        "libutil.so.1",
        "libresolv.so.2",
        "libnsl.so.1",
        "libanl.so.1",
        "libcrypt.so.1",
        "libgcc_s.so.1",
        "libstdc++.so.6",
        "libcuda.so.1",
        "libnvidia-ml.so.1",
        "libcuda.so",
        "libc.so",
    ];
    STEMS.contains(&library) || library.starts_with("ld-linux") || library.starts_with("libpython")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Linking, Object, SymbolVersion};

    #[test]
    fn symbol_versions_are_numbers() {
        let version = |text: &str| SymbolVersion::split(text).map(|(name, version)| format!("{name} {version}"));
        assert_eq!(version("GLIBC_2.34").as_deref(), Some("GLIBC 2.34"));
        assert_eq!(version("GLIBCXX_3.4.30").as_deref(), Some("GLIBCXX 3.4.30"));
        assert_eq!((version("GLIBC_PRIVATE"), version("x")), (None, None));
        assert!(SymbolVersion(vec![2, 4]) < SymbolVersion(vec![2, 34]));
    }

    #[test]
    fn what_the_wheel_has_itself_it_does_not_need() {
        let object = |path: &str, needed: &[&str]| Object {
            path: path.to_owned(),
            needed: needed.iter().map(ToString::to_string).collect(),
            ..Object::default()
        };
        let linking = Linking {
            objects: vec![
                object("a.so", &["libc.so.6", "libb-1a2b.so", "libz.so.1"]),
                object("p.libs/libb-1a2b.so", &["libexpat.so.1", "libcrypto-3c4d.so.1.1.1k"]),
                object("c.so", &["libexpat.so.1"]),
            ],
            carries: ["a.so", "libb-1a2b.so", "libcrypto-3c4d.so.1.1.1k", "c.so"].map(str::to_owned).into(),
            unread: Vec::new(),
        };
        let demands = linking.demands();
        assert_eq!(demands.needs, [["libexpat.so.1".to_owned()].into()]);
        assert!(demands.some.is_empty());
    }

    #[test]
    fn what_is_named_for_one_torch_is_a_choice() {
        let demands = |path: &str| {
            let object = Object { path: path.to_owned(), torch: [1].into(), ..Object::default() };
            Linking { objects: vec![object], ..Linking::default() }.demands().torch_whole
        };
        let chosen = [
            "p/libaddon_torch28-cuda.so",
            "p/ep_cpp_torch215.so",
            "p/_C_torch-2.9.so",
            "p/torch_2_10/ops_torch_2_10.so",
        ];
        let whole = ["p/_C.so", "p/libtorchaudio.so", "p/torch_ops.so", "p/libtorch_v3.so"];
        assert!(chosen.into_iter().all(|path| !demands(path)) && whole.into_iter().all(demands));
    }

    #[test]
    fn of_several_objects_any_one_may_be_enough() {
        let object = |path: &str, needed: &[&str]| Object {
            path: path.to_owned(),
            needed: needed.iter().map(ToString::to_string).collect(),
            ..Object::default()
        };
        let objects = vec![
            object("ops7.so", &["libcore7.so"]),
            object("libcore7.so", &["libavutil.so.59", "libx.so.1"]),
            object("ops8.so", &["libavutil.so.60"]),
            object("more.so", &["libavutil.so.60", "libGL.so.1"]),
        ];
        let carries = objects.iter().map(|one| one.path.clone()).collect();
        let demands = Linking { objects, carries, unread: Vec::new() }.demands();
        let sets = [vec!["libavutil.so.59", "libx.so.1"], vec!["libavutil.so.60"]];
        let sets: Vec<BTreeSet<String>> =
            sets.iter().map(|set| set.iter().map(ToString::to_string).collect()).collect();
        assert_eq!(demands.needs, sets);
        assert_eq!(demands.some, ["libGL.so.1".to_owned()].into());
    }
}
