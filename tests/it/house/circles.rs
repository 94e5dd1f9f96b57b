//! Circles: files that name each other, directly or the long way round. A name is traced to the file that defines it,
//! through what modules pass on; tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::paths::{Path, code_of, inline_modules, passed_on, paths, reexports};

/// Sets of files that name each other; `sources` are their modules (`["plan", "decide"]`) with their text.
pub fn circles(sources: &BTreeMap<Path, String>) -> Vec<Vec<String>> {
    let code: BTreeMap<&Path, String> = sources.iter().map(|(module, text)| (module, without_tests(text))).collect();
    let passed: BTreeMap<(Path, String), Path> =
        code.iter().flat_map(|(module, code)| names_passed(module, code)).collect();
    let mut edges: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for (module, code) in &code {
        let own = paths(&reexports(code).0, module);
        let targets = own.iter().filter_map(|path| resolve(path, sources, &passed, 8));
        edges.insert(module, targets.filter(|target| target != module).collect());
    }
    let reach: BTreeMap<&Path, BTreeSet<&Path>> = edges.keys().map(|from| (*from, reachable(from, &edges))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, all) in &reach {
        let circle: Vec<String> = all.iter().filter(|to| reach[**to].contains(from)).map(|to| to.join("::")).collect();
        if all.contains(from) {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// The code of a file that is no test.
fn without_tests(text: &str) -> String {
    let code = code_of(text);
    let mut kept = code.clone();
    for (from, to, _) in inline_modules(&code).into_iter().rev() {
        if code[..from].trim_end().ends_with("#[cfg(test)]") {
            kept.replace_range(from..to, "");
        }
    }
    kept
}

fn names_passed(module: &Path, code: &str) -> Vec<((Path, String), Path)> {
    let all = reexports(code).1;
    let paths = all.iter().flat_map(|one| passed_on(one, module));
    paths.filter_map(|path| Some(((module.clone(), path.last()?.clone()), path))).collect()
}

/// The file that defines what `path` means.
fn resolve<'a>(
    path: &Path,
    sources: &'a BTreeMap<Path, String>,
    passed: &BTreeMap<(Path, String), Path>,
    depth: usize,
) -> Option<&'a Path> {
    for length in (1..=path.len()).rev() {
        let Some((module, _)) = sources.get_key_value(&path[..length].to_vec()) else { continue };
        let on = path.get(length).and_then(|name| passed.get(&(module.clone(), name.clone())));
        return match on.filter(|_| depth > 0) {
            Some(on) => {
                let whole: Path = on.iter().chain(&path[length + 1..]).cloned().collect();
                resolve(&whole, sources, passed, depth - 1)
            }
            None => Some(module),
        };
    }
    None
}

fn reachable<'a>(from: &Path, edges: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> BTreeSet<&'a Path> {
    let mut found: BTreeSet<&Path> = BTreeSet::new();
    let mut open: Vec<&Path> = edges.get(from).into_iter().flatten().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(edges.get(next).into_iter().flatten().copied());
        }
    }
    found
}
