//! Packages of which another tool has installed another version, and what a kernel has loaded of that.

use crate::stories::held_code::{pip, restarts_once};
use crate::stories::notebook::{Notebook, Stack, cells, stacks};
use crate::stories::{Day, release};
use crate::support::index_server::Table;
use crate::support::test::sample;

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
#[ignore = "whole"]
fn a_module_that_only_the_other_version_has_restarts_the_kernel() {
    let uninstall =
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-q', '-y', 'pk'])";
    for stack in stacks() {
        for is_uninstalled in sample([false, true], 2) {
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

/// A fork that was installed for a while by its path, as `pip install -e` does: it matters to a kernel that has started
/// meanwhile.
#[test]
#[ignore = "whole"]
fn a_path_file_that_goes_restarts_those_that_have_read_it() {
    for has_read in [false, true] {
        let mut table = Table::new();
        let versions = table.entry("pk".to_owned()).or_default();
        versions.insert("1.0".to_owned(), release(&[("pk/__init__.py", "V = 1\n")]));
        let fork = tempfile::tempdir().expect("a folder");
        let line = format!("{}\n", fork.path().display());
        versions.insert("9.0".to_owned(), release(&[("pk_fork.pth", &line)]));
        let day = Day::of_table(table);
        let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
        day.profile("p", &["pk <2"], "");
        let (boot, _) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        assert!(!notebook.boot(&mut kernel, &boot).0);
        notebook.run(&kernel, &pip(&day, "pk==9.0"));
        if has_read {
            kernel = notebook.kernel();
            assert!(notebook.run(&kernel, "import sys; print(sys.path)").contains(line.trim()));
        }
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert_eq!(restarts, has_read, "{said}");
    }
}

/// Each new kernel runs what brings the other version back before it runs the boot cell.
#[test]
fn restarts_that_do_not_help_come_to_an_end() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["pk >=2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    let above = format!("{}\nimport pk", pip(&day, "pk==1.0"));
    for _ in 0..3 {
        notebook.run(&kernel, &above);
        assert!(notebook.boot(&mut kernel, &boot).0);
    }
    notebook.run(&kernel, &above);
    let said = notebook.run(&kernel, &boot);
    assert!(said.contains("several restarts did not help") && !said.contains("the kernel restarts now"), "{said}");
    // A kernel in which nothing does so is ready.
    kernel = notebook.kernel();
    assert!(!notebook.boot(&mut kernel, &boot).0);
}
