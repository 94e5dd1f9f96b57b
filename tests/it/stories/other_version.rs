//! Packages of which another tool has installed another version, and what a kernel has loaded of that.

use crate::stories::held_code::{pip, restarts_once};
use crate::stories::notebook::{Notebook, Stack, cells};
use crate::stories::{Day, release};
use crate::support::index_server::Table;

/// `pk`, of which 1.0 has a module that 2.0 does not have.
fn day() -> Day {
    let mut table = Table::new();
    let versions = table.entry("pk".to_owned()).or_default();
    let extra = ("pk/extra.py", "def f():\n    return 1\n");
    versions.insert("1.0".to_owned(), release(&[("pk/__init__.py", "V = 1\n"), extra]));
    versions.insert("2.0".to_owned(), release(&[("pk/__init__.py", "V = 2\n")]));
    Day::of_table(table)
}

#[test]
fn a_module_that_only_the_other_version_has_restarts_the_kernel() {
    let uninstall =
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-q', '-y', 'pk'])";
    for stack in [Stack::Colab, Stack::Current] {
        for is_uninstalled in [false, true] {
            let day = day();
            let Some(mut notebook) = Notebook::open(&day, stack) else { return };
            day.profile("p", &["pk >=2"], "");
            let (boot, verify) = cells(&day, "p");
            let mut kernel = notebook.kernel();
            assert!(!restarts_once(&mut notebook, &mut kernel, &boot, "at first").0);
            notebook.run(&kernel, "import pk");
            notebook.run(&kernel, &pip(&day, "pk==1.0"));
            notebook.run(&kernel, "import pk.extra");
            let next = if is_uninstalled { uninstall.to_owned() } else { pip(&day, "pk==2.0") };
            notebook.run(&kernel, &next);
            let verified = notebook.run(&kernel, &verify);
            assert!(!verified.contains("\nverified"), "{stack:?}: {verified}");
            let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "a module of 1.0");
            assert!(restarts, "{stack:?}: {said}");
        }
    }
}
