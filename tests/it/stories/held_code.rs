//! The code that a kernel holds: a change by any tool is seen, pure Python too, and what is current never restarts.

use crate::stories::notebook::{Kernel, Notebook, Stack, cells, stacks};
use crate::stories::{Day, release};
use crate::support::index_server::Table;
use crate::support::said::Said as _;
use crate::support::test::sample;

/// A decorator that leaves the function as it is, but for an attribute; and without it.
const MARKED: [&str; 2] = [
    "def d(f):\n    f.mode = 'old'\n    return f\n\n\n@d\ndef f():\n    return 2\n",
    "def d(f):\n    f.mode = 'old'\n    return f\n\n\ndef f():\n    return 2\n",
];

/// Packages whose two versions differ in one respect each.
pub(super) fn day() -> Day {
    let mut table = Table::new();
    let rows: &[(&str, &str, &str)] = &[
        ("funct", "def word():\n    return 'old'\n", "def word():\n    return 'new'\n"),
        ("const", "word = 'old'\n", "word = 'new'\n"),
        ("klass", "class A:\n    word = 'old'\n", "class A:\n    word = 'new'\n"),
        ("default", "def f(word='old'):\n    return word\n", "def f(word='new'):\n    return word\n"),
        ("opaque", "word = ''.join(['o', 'l', 'd'])\n", "word = ''.join(['n', 'e', 'w'])\n"),
        ("added", "def one():\n    return 1\n", "def one():\n    return 1\n\n\ndef two():\n    return 2\n"),
        ("arity", "def f(a, b):\n    return a\n", "def f(a, b=5):\n    return a\n"),
        (
            "wrapped",
            "def d(f):\n    def g():\n        return 1\n    return g\n\n\n@d\ndef f():\n    return 2\n",
            "def d(f):\n    def g():\n        return 1\n    return g\n\n\ndef f():\n    return 2\n",
        ),
        (
            "swapped",
            "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    def f(self):\n        return 2\n",
            "class A:\n    def f(self):\n        return 2\n\n\nclass B:\n    def f(self):\n        return 1\n",
        ),
        ("lost", "class A:\n    x = 1\n    y = 2\n", "class A:\n    x = 1\n"),
        ("fewer", "x = 1\ny = 2\n", "x = 1\n"),
        (
            "plain",
            "class A:\n    def f(self):\n        return 1\n",
            "class A:\n    @property\n    def f(self):\n        return 1\n",
        ),
        ("marked", MARKED[0], MARKED[1]),
        ("called", "def f():\n    return 1\n\n\nf.__name__ = 'g'\n", "def f():\n    return 1\n"),
        ("typed", "class A:\n    x: str = 'old'\n", "class A:\n    x: str\n"),
        (
            "thing",
            "import threading\n\nLOCK = threading.Lock()\n\n\nclass Old(Exception):\n    pass\n",
            "import threading\n",
        ),
        ("names", "__all__ = ['x']\nx = 1\n", "x = 1\n"),
        ("words", "'The old one.'\n", "'The new one.'\n"),
        (
            "method",
            "class A:\n    __own = 1\n\n    def f(self):\n        return 'old'\n\n    def __f(self):\n        return 1\n",
            "class A:\n    __own = 1\n\n    def f(self):\n        return 'new'\n\n    def __f(self):\n        return 1\n",
        ),
    ];
    for (name, old, new) in rows {
        let versions = table.entry((*name).to_owned()).or_default();
        versions.insert("1.0".to_owned(), release(&[(&format!("{name}.py"), old)]));
        versions.insert("2.0".to_owned(), release(&[(&format!("{name}.py"), new)]));
    }
    let versions = table.entry("deep".to_owned()).or_default();
    for (version, word) in [("1.0", "old"), ("2.0", "new")] {
        let inner = format!("def word():\n    return '{word}'\n");
        let files = [
            ("space/deep/__init__.py", ""),
            ("space/deep/inner.py", inner.as_str()),
            ("space/deep/unused.py", "x = 1\n"),
        ];
        versions.insert(version.to_owned(), release(&files));
    }
    Day::of_table(table)
}

/// A cell in which the user has pip install something, as `!pip` does.
pub(super) fn pip(day: &Day, what: &str) -> String {
    let options = "'--quiet', '--no-deps', '--no-cache-dir', '--disable-pip-version-check'";
    format!(
        "import subprocess, sys\nassert subprocess.run([sys.executable, '-m', 'pip', 'install', {options}, \
         '--index-url', '{}', *'{what}'.split()], stdout=subprocess.DEVNULL).returncode == 0",
        day.server.url
    )
}

/// Runs the boot cell: whether it restarts, and never for a second time.
#[track_caller]
pub(super) fn restarts_once(notebook: &mut Notebook, kernel: &mut Kernel, boot: &str, about: &str) -> (bool, String) {
    let (restarts, said) = notebook.boot(kernel, boot);
    let again = notebook.boot(kernel, boot);
    assert!(!again.0 && again.1.concludes("ready"), "{about}: {}", again.1);
    (restarts, said)
}

const NAMES: [&str; 19] = [
    "funct", "const", "klass", "default", "opaque", "added", "method", "arity", "wrapped", "swapped", "lost", "fewer",
    "plain", "marked", "called", "typed", "thing", "names", "words",
];

/// `funct==2.0 const==2.0 …`
fn all(names: &[&str], version: &str) -> String {
    names.iter().map(|name| format!("{name}=={version}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn old_code_in_memory_is_seen_whichever_tool_installed_the_new() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        let wanted: Vec<String> = NAMES.iter().map(|name| format!("{name} >=2")).collect();
        day.profile("p", &wanted.iter().map(String::as_str).collect::<Vec<_>>(), "");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        notebook.run(&kernel, &pip(&day, &all(&NAMES, "1.0")));
        notebook.run(&kernel, &format!("import {}", NAMES.join(", ")));
        assert_eq!(notebook.run(&kernel, &pip(&day, &all(&NAMES, "2.0"))), "", "{stack:?}");
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "all of them");
        assert!(restarts, "{stack:?}: {said}");
        for name in NAMES {
            let is_certain = ["funct", "method"].contains(&name);
            let differs = if is_certain { "in memory differs from the installed code" } else { "changed on disk" };
            assert!(said.contains(&format!("restart   {name}: `{name}` {differs}")), "{stack:?} {name}: {said}");
        }
        let verified = notebook.run(&kernel, &verify);
        assert!(verified.contains("\nverified"), "{verified}");
    }
}

#[test]
fn a_restart_that_is_due_is_known_without_the_state_folder() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    let pinned = |version: &str| {
        let wanted: Vec<String> = NAMES.iter().map(|name| format!("{name} =={version}")).collect();
        day.profile("p", &wanted.iter().map(String::as_str).collect::<Vec<_>>(), "");
    };
    pinned("1.0");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &boot);
    notebook.run(&kernel, &format!("import {}", NAMES.join(", ")));
    pinned("2.0");
    let profile = day.test.path("p.toml").display().to_string();
    day.run(&["lock", &profile]).expect(0);
    // What another shell does: it knows of no kernel.
    day.run(&["apply", &profile]).expect(0);
    std::fs::remove_dir_all(day.test.path("state")).expect("a folder");
    let (boot, _) = cells(&day, "p");
    let (restarts, said) = notebook.boot(&mut kernel, &boot);
    assert!(restarts, "{said}");
    for name in NAMES {
        assert!(said.contains(&format!("restart   {name}: ")), "{name}: {said}");
    }
}

#[test]
fn what_is_current_does_not_restart() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        let names: Vec<&str> = NAMES.into_iter().filter(|name| *name != "opaque").collect();
        let wanted: Vec<String> = names.iter().map(|name| format!("{name} >=2")).collect();
        day.profile("p", &wanted.iter().map(String::as_str).collect::<Vec<_>>(), "");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        // Installed before it was imported, and no cell of ours has run.
        notebook.run(&kernel, &pip(&day, &all(&names, "2.0")));
        notebook.run(&kernel, &format!("import {}", names.join(", ")));
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "all of them");
        assert!(!restarts, "{stack:?}: {said}");
        let verified = notebook.run(&kernel, &verify);
        assert!(verified.contains("\nverified"), "{stack:?}: {verified}");
    }
}

#[test]
fn a_copy_that_was_imported_from_elsewhere_is_named_and_a_restart_ends_it() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["funct >=2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    assert!(!restarts_once(&mut notebook, &mut kernel, &boot, "at first").0);
    let folder = day.test.path("sub");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("funct.py"), "def word():\n    return 'mine'\n").expect("a module");
    let import = format!(
        "import sys\nsys.path.insert(0, {:?})\nimport funct\nsys.path.pop(0)\nprint(funct.word())",
        folder.display().to_string()
    );
    assert_eq!(notebook.run(&kernel, &import).trim(), "mine");
    let said = notebook.run(&kernel, &boot);
    assert!(said.reports_about("error[kernel-shadowed]", "funct"), "{said}");
    notebook.restart(&mut kernel);
    assert!(notebook.run(&kernel, &boot).concludes("ready"));
}

#[test]
#[ignore = "whole"]
fn a_package_that_went_and_comes_back_as_it_was_restarts_nothing() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["funct >=2", "const >=2"], "");
    let (boot, verify) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    assert!(!restarts_once(&mut notebook, &mut kernel, &boot, "at first").0);
    notebook.run(&kernel, "import funct, const");
    day.pip(&["uninstall", "--yes", "funct"]);
    let infos = day.venv.layout().join("const-2.0.dist-info");
    std::fs::remove_dir_all(infos).expect("a removal");
    let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "both are gone");
    assert!(!restarts && said.contains("no restart needed"), "{said}");
    let verified = notebook.run(&kernel, &verify);
    assert!(verified.contains("\nverified"), "{verified}");
    // Metadata of two versions says nothing of whose files these are.
    let site = day.venv.layout().display().to_string();
    day.pip(&["install", "--no-deps", "--upgrade", "--target", &site, "funct==1.0"]);
    notebook.run(&kernel, "import importlib\nimportlib.reload(funct)");
    let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "two versions");
    assert!(restarts, "{said}");
}

#[test]
#[ignore = "whole"]
fn what_is_reached_through_a_link_or_loaded_late_is_compared() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["funct <2", "const <2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    assert!(!restarts_once(&mut notebook, &mut kernel, &boot, "at first").0);
    let link = day.test.path("linked");
    std::os::unix::fs::symlink(day.venv.layout(), &link).expect("a link");
    let lazily = "import importlib.util, sys\nspec = importlib.util.find_spec('const')\nspec.loader = importlib.util.LazyLoader(spec.loader)\n\
                  const = sys.modules['const'] = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(const)";
    notebook.run(&kernel, lazily);
    notebook.run(&kernel, &pip(&day, &all(&["funct", "const"], "2.0")));
    let import = format!(
        "import sys\nsys.path.insert(0, {:?})\nimport funct\nprint(funct.word(), const.word)",
        link.display().to_string()
    );
    assert_eq!(notebook.run(&kernel, &import).trim(), "new new");
    notebook.run(&kernel, &pip(&day, &all(&["funct", "const"], "1.0")));
    let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "links");
    assert!(restarts && said.contains("funct") && said.contains("const"), "{said}");
}

#[test]
#[ignore = "whole"]
fn what_the_user_calls_his_own_is_his() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.profile("p", &["funct >=2", "opaque >=2"], "");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        notebook.run(&kernel, &pip(&day, "funct==1.0"));
        // Names that the cell needs itself, before it runs and after.
        notebook.run(
            &kernel,
            "from time import time\nid, sorted, json, type, list, os = 5, 3, 'x', 'y', [1], None\nimport funct",
        );
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "its own names");
        assert!(restarts, "{stack:?}: {said}");
        notebook.run(&kernel, "from time import time\nid, sorted, json, type, list, os = 5, 3, 'x', 'y', [1], None");
        assert!(!notebook.boot(&mut kernel, &boot).0, "{stack:?}");
        let said =
            notebook.run(&kernel, "import opaque, funct\nprint(opaque.word, funct.word(), time() > 5, id, json)");
        assert_eq!(said.trim(), "new new True 5 x", "{stack:?}");
        let said = notebook.run(&kernel, &verify);
        assert!(said.contains("\nverified"), "{stack:?}: {said}");
        // A cell that takes all names away, and a folder that is gone.
        notebook.run(&kernel, "%reset -f");
        let said = notebook.run(
            &kernel,
            "import tempfile, os\nos.chdir(tempfile.mkdtemp())\nos.rmdir(os.getcwd())\nimport space.deep.inner",
        );
        assert!(!said.contains("NameError"), "{stack:?}: {said}");
        assert!(!notebook.boot(&mut kernel, &boot).0, "{stack:?}");
        // Children that somebody else waits for.
        notebook.run(&kernel, "import os; os.chdir('/')");
        notebook.run(&kernel, &pip(&day, "funct==1.0"));
        notebook.run(
            &kernel,
            "import importlib, signal, funct\nimportlib.reload(funct)\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        );
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(restarts, "{stack:?}: {said}");
    }
}

#[test]
fn what_a_kernel_imports_after_a_change_is_known_to_be_new() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.profile("p", &["opaque >=2", "deep >=2", "funct"], "");
        let (boot, _) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        notebook.boot(&mut kernel, &boot);
        // In one cell, as people do it; the code of `opaque` alone proves nothing.
        let cell =
            format!("{}\nimport opaque, space.deep.inner\nprint(opaque.word)", pip(&day, "opaque==1.0 deep==1.0"));
        assert_eq!(notebook.run(&kernel, &cell).trim(), "old", "{stack:?}");
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "old versions");
        assert!(restarts, "{stack:?}: {said}");
        let cell = format!(
            "{}\nimport opaque, space.deep.inner\nprint(opaque.word)",
            pip(&day, "--force-reinstall opaque==2.0 deep==2.0")
        );
        assert_eq!(notebook.run(&kernel, &cell).trim(), "new", "{stack:?}");
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "imported after a reinstallation");
        assert!(!restarts, "{stack:?}: {said}");
    }
}

#[test]
#[ignore = "whole"]
fn modules_below_a_namespace_and_reloaded_ones_are_judged_by_themselves() {
    let day = day();
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["deep >=2", "opaque >=2", "funct >=2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &boot);
    notebook.run(&kernel, &pip(&day, "deep==1.0 opaque==1.0 funct==1.0"));
    notebook.run(&kernel, "import space.deep.inner");
    notebook.run(&kernel, &pip(&day, "deep==2.0 opaque==2.0 funct==2.0"));
    let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "a submodule");
    assert!(
        restarts && said.contains("deep: `space.deep.inner` in memory differs from the installed code (`word`)"),
        "{said}"
    );
    // Loaded again, nothing of the old is left; in a kernel that has seen no cell before, too.
    let ways = [
        (true, "import opaque", "importlib.reload(opaque); print(opaque.word)", false),
        (true, "import funct", "importlib.reload(funct); print(funct.word())", false),
        (true, "import funct; from funct import word", "importlib.reload(funct); print(word())", true),
        (false, "import funct", "importlib.reload(funct); print(funct.word())", false),
        (false, "import funct; from funct import word", "importlib.reload(funct); print(word())", true),
    ];
    for (is_known, import, use_, stays) in sample(ways, 2) {
        let mut kernel = notebook.kernel();
        if is_known {
            assert!(!notebook.boot(&mut kernel, &boot).0);
        }
        notebook.run(&kernel, &pip(&day, "opaque==1.0 funct==1.0"));
        notebook.run(&kernel, &format!("import importlib; {import}"));
        notebook.run(&kernel, &pip(&day, "opaque==2.0 funct==2.0"));
        let said = notebook.run(&kernel, use_);
        assert_eq!(said.trim(), if stays { "old" } else { "new" }, "{import}");
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, import);
        assert_eq!(restarts, stays, "{import}: {said}");
    }
}

#[test]
fn a_repair_restarts_only_a_kernel_that_holds_the_damage() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.profile("p", &["deep >=2", "opaque >=2"], "");
        // The image has it: what it is compared with is another list after its repair.
        day.pip(&["install", "--no-deps", "opaque==2.0"]);
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        notebook.boot(&mut kernel, &boot);
        notebook.run(&kernel, "import space.deep.inner, opaque");
        let site = day.venv.layout();
        let edit = |path: &str, text: &str| std::fs::write(site.join(path), text).expect("a write");
        assert!(!notebook.boot(&mut kernel, &boot).0);
        // A file that the kernel has not loaded, then one that was loaded before it was damaged.
        for path in sample(["space/deep/unused.py", "space/deep/inner.py", "opaque.py"], 2) {
            edit(path, "word = 'damaged'\n");
            let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, path);
            assert!(!restarts && said.concludes("applied: 2 packages"), "{stack:?} {path}: {said}");
            assert!(notebook.run(&kernel, &verify).contains("\nverified"), "{path}");
        }
        std::fs::hard_link(site.join("opaque.py"), day.test.path("link.py")).expect("a link");
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "a hard link");
        assert!(!restarts && said.concludes("ready"), "{stack:?}: {said}");
        edit("space/deep/unused.py", "word = 'damaged'\n");
        assert_eq!(notebook.run(&kernel, "import space.deep.unused; print(space.deep.unused.word)").trim(), "damaged");
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "loaded while it was damaged");
        assert!(restarts, "{stack:?}: {said}");
        // Without the list of its files nothing of the package was compared.
        for damaged in [false, true] {
            std::fs::remove_file(site.join("opaque-2.0.dist-info/RECORD")).expect("a removal");
            if damaged {
                edit("opaque.py", "word = 'damaged'\n");
            }
            notebook.run(&kernel, "import importlib, opaque\nimportlib.reload(opaque)");
            let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "its list is gone");
            assert_eq!(restarts, damaged, "{stack:?}: {said}");
        }
    }
}
