//! The modules that a distribution has, from the paths of its RECORD.

use std::collections::{BTreeMap, BTreeSet};

/// Dotted names of the modules among `paths`: top-level ones, and below a folder without `__init__.py` (a namespace
/// package, which several distributions share) the first below it that stand alone. `numpy`, `google.protobuf`,
/// `nvidia.cudnn`.
pub fn modules_among<'a>(paths: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let mut root = ModuleFolder::default();
    for path in paths {
        let parts: Vec<&str> = path.split('/').collect();
        let is_code = path.ends_with(".py") || path.contains(".so") || path.ends_with(".pyd");
        if is_code && parts[..parts.len() - 1].iter().all(|part| is_name(part)) {
            root.add(&parts);
        }
    }
    let mut found = BTreeSet::new();
    root.collect("", &mut found);
    found
}

#[derive(Default)]
struct ModuleFolder<'a> {
    is_package: bool,
    modules: BTreeSet<&'a str>,
    folders: BTreeMap<&'a str, ModuleFolder<'a>>,
}

impl<'a> ModuleFolder<'a> {
    fn add(&mut self, parts: &[&'a str]) {
        match parts {
            [file] => {
                let module = file.split('.').next().unwrap_or_default();
                if module == "__init__" {
                    self.is_package = true;
                } else if is_name(module) && !module.starts_with("__") {
                    self.modules.insert(module);
                }
            }
            [first, rest @ ..] => self.folders.entry(first).or_default().add(rest),
            [] => {}
        }
    }

    fn collect(&self, prefix: &str, found: &mut BTreeSet<String>) {
        let named = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        found.extend(self.modules.iter().map(|name| named(name)));
        for (name, folder) in &self.folders {
            if folder.is_package {
                found.insert(named(name));
            } else {
                folder.collect(&named(name), found);
            }
        }
    }
}

/// Whether an entry of site-packages of this name runs whenever Python starts
/// (<https://docs.python.org/3/library/site.html>).
pub fn runs_at_start(entry: &str) -> bool {
    entry.ends_with(".pth") || matches!(entry.split('.').next(), Some("sitecustomize" | "usercustomize"))
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::modules_among;

    #[test]
    fn packages_modules_and_namespaces_are_distinguished() {
        let paths = [
            "numpy/__init__.py",
            "numpy/core/_core.cpython-312-x86_64-linux-gnu.so",
            "six.py",
            "_yaml.cpython-312-x86_64-linux-gnu.so",
            "google/protobuf/__init__.py",
            "google/_upb/_message.abi3.so",
            "numpy-2.0.dist-info/METADATA",
            "numpy.libs/libopenblas.so",
            "../../../bin/f2py",
            "demo-1.0.data/purelib/x.py",
            "__pycache__/six.cpython-312.pyc",
            "share/doc/readme.txt",
        ];
        let found: Vec<String> = modules_among(paths).into_iter().collect();
        assert_eq!(found, ["_yaml", "google._upb._message", "google.protobuf", "numpy", "six"]);
    }
}
