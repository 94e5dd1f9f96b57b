//! Wheels of every shape, replaced by each other: colab-boot's own installer leaves what pip leaves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::adversity::users_files::World;
use crate::support::test::{Outcome, sample};

/// Members of `demo` 1.0 and 2.0, besides their module. `V` is the version.
const SHAPES: [(&[&str], &[&str]); 7] = [
    (&["demo/thing", "demo/a.py"], &["demo/thing/x.txt", "demo/a.py"]),
    (&["demo/thing/x.txt"], &["demo/thing"]),
    (&["mod.py"], &["mod/__init__.py"]),
    (&["mod/__init__.py", "mod/gone.py", "mod/deep/er/x.py"], &["mod.py"]),
    (&["demo-V.data/headers/demo.h", "demo-V.data/purelib/p.py"], &["demo-V.data/platlib/p.py", "demo/b.py"]),
    (
        &["demo-V.data/data/share/demo/x", "demo-V.data/scripts/tool", "demo.pth"],
        &["demo-V.data/scripts/tool2", "demo-V.data/data/share/demo/deep/y"],
    ),
    (&["demo-V.dist-info/entry_points.txt", "nspace/one.py"], &["nspace/two.py"]),
];

#[test]
fn every_shape_is_installed_replaced_and_removed_as_by_pip() {
    for (first, second) in sample(SHAPES, 4) {
        let trees = ["colab-boot", "pip"].map(|installer| {
            let world = World::new("");
            let world = World { test: world.test.set("COLAB_BOOT_INSTALLER", installer), ..world };
            for (version, paths) in [("1.0", first), ("2.0", second)] {
                let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
                world.has(version, &files);
            }
            let mut trees = Vec::new();
            for profile in ["p.toml", "two.toml", "two.toml", "p.toml"] {
                let said = world.run(&["apply", profile]).expect(0);
                trees.push((said, tree(&world)));
            }
            let said = world.run(&["restore"]).expect(0);
            trees.push((said, tree(&world)));
            trees
        });
        for (own, pip) in trees[0].iter().zip(&trees[1]) {
            assert_eq!(differing(own, pip), None, "{first:?} {second:?}");
        }
    }
}

/// The environment's files, seen from its prefix: what each holds, where installers do not differ.
fn tree(world: &World) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let prefix = world.test.path("venv");
    let mut tree = BTreeMap::new();
    for (path, bytes) in world.tree() {
        let path = path.strip_prefix(&prefix).expect("a path of the environment").to_owned();
        let is_made =
            ["INSTALLER", "REQUESTED", "RECORD", ".colab-boot-id", "pyvenv.cfg"].iter().any(|end| path.ends_with(end));
        let is_other = path.starts_with("bin") || path.to_string_lossy().contains("__pycache__");
        if is_made || is_other && path.extension().is_some_and(|end| end == "pyc") {
            continue;
        }
        tree.insert(path, (!is_other).then_some(bytes));
    }
    tree
}

type Step = (Outcome, BTreeMap<PathBuf, Option<Vec<u8>>>);

fn differing((said, own): &Step, (_, pip): &Step) -> Option<String> {
    let differs = |path: &Path| own.get(path) != pip.get(path);
    let path = own.keys().chain(pip.keys()).find(|path| differs(path))?;
    Some(format!("{}: {:?} and {:?}\n{}", path.display(), own.get(path), pip.get(path), said.stderr))
}
