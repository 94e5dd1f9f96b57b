//! The packages of a lock as a tree.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::boot::lock::{Dependencies, LockedTarget};
use crate::core::model::PackageName;

/// Draws what each of `roots` needs. The dependencies of a package are printed once; `(*)` marks its other places.
pub fn render_tree(title: &str, target: &LockedTarget, roots: &[&PackageName], graph: &Dependencies<'_>) -> String {
    let mut tree = Tree { target, graph, shown: BTreeSet::new(), text: format!("{title}\n") };
    tree.level(roots, "");
    tree.text
}

struct Tree<'a> {
    target: &'a LockedTarget,
    graph: &'a Dependencies<'a>,
    /// Those whose dependencies stand there already.
    shown: BTreeSet<&'a PackageName>,
    text: String,
}

impl<'a> Tree<'a> {
    fn level(&mut self, names: &[&'a PackageName], indent: &str) {
        for (at, name) in names.iter().copied().enumerate() {
            let is_last = at + 1 == names.len();
            let (branch, below) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            let version = self.target.package(name).map(|one| format!(" {}", one.version)).unwrap_or_default();
            let needs = self.graph.get(name).map(Vec::as_slice).unwrap_or_default();
            let is_new = needs.is_empty() || self.shown.insert(name);
            let _ = writeln!(self.text, "{indent}{branch}{name}{version}{}", if is_new { "" } else { " (*)" });
            if is_new {
                self.level(needs, &format!("{indent}{below}"));
            }
        }
    }
}
