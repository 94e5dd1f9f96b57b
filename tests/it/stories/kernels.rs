//! Kernels on the second day: one restart for each change that needs it, and never "ready" in a kernel that holds what
//! is gone.

use crate::stories::Day;
use crate::stories::notebook::{Notebook, Stack, cells, stacks};
use crate::support::said::Said as _;
use crate::support::test::sample;

const ROWS: &[(&str, &str, &[&str])] = &[
    ("app", "1.0", &["lib<2"]),
    ("app", "2.0", &["lib>=2"]),
    ("lib", "1.0", &[]),
    ("lib", "2.0", &[]),
    ("numpy", "1.26.4", &[]),
    ("numpy", "2.3.0", &[]),
];

#[test]
fn a_variable_that_is_read_at_every_call_needs_no_restart() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.profile("p", &["app"], "[env]\nTOKENIZERS_PARALLELISM = 'false'\nOMP_NUM_THREADS = '2'\n");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(!restarts && said.concludes("applied: 2 packages"), "{stack:?}: {said}");
        let look = "import os; print(os.environ['TOKENIZERS_PARALLELISM'], os.environ['OMP_NUM_THREADS'])";
        assert_eq!(notebook.run(&kernel, look).trim(), "false 2", "{stack:?}");
        // Children keep what their caller gives them.
        let child = "import os, subprocess, sys\nprint(subprocess.run([sys.executable, '-c', \
            'import os; print(os.environ[\"TOKENIZERS_PARALLELISM\"])'], env={**os.environ, 'TOKENIZERS_PARALLELISM': 'true'}, \
            capture_output=True, text=True).stdout)";
        assert_eq!(notebook.run(&kernel, child).trim(), "true", "{stack:?}");
        assert!(notebook.run(&kernel, &verify).concludes("verified"), "{stack:?}");
        // A verification in a kernel that lacks them says so, and the cell puts it right.
        notebook.run(&kernel, "del os.environ['TOKENIZERS_PARALLELISM']");
        let verified = notebook.run(&kernel, &verify);
        assert!(verified.contains("the kernel lacks variables of the profile: TOKENIZERS_PARALLELISM"), "{verified}");
        assert!(!notebook.boot(&mut kernel, &boot).0);
        assert!(notebook.run(&kernel, &verify).contains("\nverified"));
        // The profile sets it no more.
        day.profile("p", &["app"], "");
        let (boot, _) = cells(&day, "p");
        assert!(!notebook.boot(&mut kernel, &boot).0, "{stack:?}");
        let look = "import os; print(os.environ.get('TOKENIZERS_PARALLELISM'))";
        assert_eq!(notebook.run(&kernel, look).trim(), "None", "{stack:?}");
    }
}

#[test]
#[ignore = "whole"]
fn a_variable_that_was_read_already_restarts_once_and_says_why() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Colab) else { return };
    day.pip(&["install", "numpy==2.3.0"]);
    day.profile("p", &["lib"], "[env]\nOMP_NUM_THREADS = '2'\n");
    let (boot, verify) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.run(&kernel, "import numpy");
    let (restarts, said) = notebook.boot(&mut kernel, &boot);
    assert!(
        restarts && said.contains("`OMP_NUM_THREADS` is read when numpy is imported, and it is already imported"),
        "{said}"
    );
    notebook.run(&kernel, "import numpy, os");
    let (restarts, said) = notebook.boot(&mut kernel, &boot);
    assert!(!restarts && said.concludes("ready: 1 package"), "{said}");
    assert!(notebook.run(&kernel, &verify).contains("\nverified"));
    // A restart each time would not help against a cell that sets it; what may have read it is not kept quiet.
    notebook.run(&kernel, "os.environ['OMP_NUM_THREADS'] = '8'");
    let (restarts, said) = notebook.boot(&mut kernel, &boot);
    let warned = "warning[environment-changed]: OMP_NUM_THREADS: changed in the kernel, now reset";
    assert!(!restarts && said.contains(warned), "{said}");
    assert!(!notebook.boot(&mut kernel, &boot).1.contains("environment-changed"));
}

#[test]
fn packages_that_are_not_loaded_are_replaced_without_a_restart() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.pip(&["install", "lib==1.0"]);
        day.profile("p", &["app >=2"], "");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(!restarts && said.concludes("applied"), "{stack:?}: {said}");
        assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "2.0", "{stack:?}");
        // Older than the change, and it has loaded what was changed: after it.
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(!restarts && said.concludes("ready"), "{stack:?}: {said}");
        assert!(notebook.run(&kernel, &verify).contains("\nverified"), "{stack:?}");
    }
}

#[test]
fn two_notebooks_restart_once_each() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["app >=2"], "");
    let (boot, verify) = cells(&day, "p");
    let (mut first, mut second, mut idle) = (notebook.kernel(), notebook.kernel(), notebook.kernel());
    notebook.run(&first, "import lib");
    notebook.run(&second, "import lib");
    assert!(notebook.boot(&mut first, &boot).0);
    let stale = notebook.run(&second, &verify);
    assert!(stale.contains("colab_boot_run"), "the cell that defines it has not run: {stale}");
    assert!(notebook.boot(&mut second, &boot).0, "it holds the old code, though another notebook has restarted");
    assert!(!notebook.boot(&mut idle, &boot).0, "it holds nothing of it");
    for kernel in [&mut first, &mut second, &mut idle] {
        assert_eq!(notebook.run(kernel, "import lib; print(lib.word)").trim(), "2.0");
        assert!(!notebook.boot(kernel, &boot).0);
        assert!(notebook.run(kernel, &verify).contains("\nverified"));
    }
}

#[test]
#[ignore = "whole"]
fn profiles_that_take_turns_restart_once_each_time() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Colab) else { return };
    day.profile("a", &["app <2"], "");
    day.profile("b", &["app >=2"], "");
    let (one, two) = (cells(&day, "a").0, cells(&day, "b").0);
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &one);
    for (boot, word) in sample([(&two, "2.0"), (&one, "1.0"), (&two, "2.0"), (&one, "1.0")], 3) {
        notebook.run(&kernel, "import app, lib");
        assert!(notebook.boot(&mut kernel, boot).0, "{word}");
        assert_eq!(
            notebook.run(&kernel, "import app, lib; print(app.word, lib.word)").trim(),
            format!("{word} {word}")
        );
        assert!(!notebook.boot(&mut kernel, boot).0, "{word}");
    }
}

#[test]
#[ignore = "whole"]
fn code_that_no_record_speaks_of_is_seen_all_the_same() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    let site = day.venv.layout();
    let source = day.test.path("checkout");
    std::fs::create_dir(&source).expect("a folder");
    // A module of no package stops the apply otherwise.
    day.profile("p", &["lib >=2"], "[policy]\noverwrite = 'keep-aside'\n");
    let (boot, _) = cells(&day, "p");
    let cases: [(&str, &dyn Fn()); 5] = [
        ("an editable install", &|| {
            std::fs::write(source.join("lib.py"), "word = 'mine'\n").expect("a module");
            std::fs::write(site.join("__editable__.lib-0.1.pth"), format!("{}\n", source.display())).expect("a path");
            let info = site.join("lib-0.1.dist-info");
            std::fs::create_dir(&info).expect("a folder");
            std::fs::write(info.join("METADATA"), "Metadata-Version: 2.1\nName: lib\nVersion: 0.1\n")
                .expect("metadata");
            std::fs::write(info.join("RECORD"), "__editable__.lib-0.1.pth,,\nlib-0.1.dist-info/RECORD,,\n")
                .expect("a record");
        }),
        ("a dist-info without RECORD", &|| {
            std::fs::write(site.join("lib.py"), "word = 'old'\n").expect("a module");
            let info = site.join("lib-0.1.dist-info");
            std::fs::create_dir(&info).expect("a folder");
            std::fs::write(info.join("METADATA"), "Metadata-Version: 2.1\nName: lib\nVersion: 0.1\n")
                .expect("metadata");
        }),
        ("an egg-info", &|| {
            std::fs::write(site.join("lib.py"), "word = 'old'\n").expect("a module");
            let info = site.join("lib-0.1-py3.12.egg-info");
            std::fs::write(info, "Metadata-Version: 1.0\nName: lib\nVersion: 0.1\n").expect("metadata");
        }),
        ("files without metadata", &|| std::fs::write(site.join("lib.py"), "word = 'old'\n").expect("a module")),
        ("another distribution's module of that name", &|| {
            std::fs::write(site.join("lib.py"), "word = 'other'\n").expect("a module");
            let info = site.join("other-1.0.dist-info");
            std::fs::create_dir(&info).expect("a folder");
            std::fs::write(info.join("METADATA"), "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
                .expect("metadata");
            std::fs::write(info.join("RECORD"), "lib.py,,\nother-1.0.dist-info/RECORD,,\n").expect("a record");
        }),
    ];
    for (about, put) in sample(cases, 2) {
        let _ = std::fs::remove_file(site.join("lib.py"));
        let _ = std::fs::remove_dir_all(site.join("lib-2.0.dist-info"));
        let _ = std::fs::remove_dir_all(day.test.path("state"));
        put();
        let mut kernel = notebook.kernel();
        let before = notebook.run(&kernel, "import lib; print(lib.word)");
        assert_ne!(before.trim(), "2.0", "{about}");
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(restarts, "{about}: {said}");
        let _ = std::fs::remove_file(site.join("__editable__.lib-0.1.pth"));
        assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "2.0", "{about}");
        assert!(!notebook.boot(&mut kernel, &boot).0, "{about}");
        let _ = std::fs::remove_dir_all(site.join("other-1.0.dist-info"));
        let _ = std::fs::remove_file(site.join("lib-0.1-py3.12.egg-info"));
    }
}

#[test]
fn a_later_cell_that_changes_a_package_is_named_and_costs_one_restart() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Colab) else { return };
    day.profile("p", &["app >=2"], "");
    let (boot, verify) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &boot);
    for _ in 0..2 {
        notebook.run(&kernel, "import lib");
        day.pip(&["install", "--no-deps", "lib==1.0"]);
        let verified = notebook.run(&kernel, &verify);
        assert!(verified.contains("lib 2.0 was replaced with 1.0 by pip"), "{verified}");
        let (restarts, said) = notebook.boot(&mut kernel, &boot);
        assert!(restarts && said.contains("lib 2.0 was replaced with 1.0 by pip"), "{said}");
        notebook.run(&kernel, "import lib");
        assert!(!notebook.boot(&mut kernel, &boot).0);
        assert!(notebook.run(&kernel, &verify).contains("\nverified"));
    }
}

#[test]
#[ignore = "whole"]
fn an_apply_from_a_terminal_is_met_by_the_kernel_that_it_replaced_code_under() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.pip(&["install", "lib==1.0"]);
    day.profile("p", &["app >=2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "1.0");
    assert!(day.run(&["apply", "p.toml"]).expect(0).concludes("applied"));
    let (restarts, said) = notebook.boot(&mut kernel, &boot);
    assert!(
        restarts && said.contains("lib: `lib` changed on disk after the kernel loaded it (`word` has another value)"),
        "{said}"
    );
    assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "2.0");
    assert!(!notebook.boot(&mut kernel, &boot).0);
}

#[test]
fn a_library_that_another_hand_replaces_under_a_kernel_is_seen() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["lib >=2"], "");
    let (boot, verify) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &boot);
    // Some library of the user's own, that stands in no RECORD.
    let library = day.venv.layout().join("own/core.so");
    let any = notebook.run(&kernel, "import _json; print(_json.__file__)");
    let put = || {
        std::fs::create_dir_all(library.parent().expect("a folder")).expect("a folder");
        let _ = std::fs::remove_file(&library);
        std::fs::copy(any.trim(), &library).expect("a library");
    };
    put();
    notebook.run(&kernel, &format!("import ctypes; ctypes.CDLL('{}')", library.display()));
    assert!(!notebook.boot(&mut kernel, &boot).0);
    put();
    let verified = notebook.run(&kernel, &verify);
    assert!(verified.contains("own/core.so` was replaced on disk while the kernel has it loaded"), "{verified}");
    assert!(notebook.boot(&mut kernel, &boot).0);
    assert!(!notebook.boot(&mut kernel, &boot).0);
    assert!(notebook.run(&kernel, &verify).contains("\nverified"));
}

#[test]
fn variables_that_a_server_hands_down_go_when_no_profile_sets_them() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        day.profile("p", &["lib"], "[env]\nMY_FLAG = '2'\nKEPT = 'x'\n");
        day.run(&["apply", "p.toml"]).expect(0);
        let Some(mut notebook) = Notebook::open_within(&day, stack) else { return };
        day.profile("p", &["lib"], "[env]\nKEPT = 'x'\n");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        let look = "import os; print(os.environ.get('MY_FLAG'), os.environ.get('KEPT'))";
        assert_eq!(notebook.run(&kernel, look).trim(), "2 x", "{stack:?}");
        for _ in 0..2 {
            let (restarts, said) = notebook.boot(&mut kernel, &boot);
            assert!(!restarts, "{stack:?}: the server would hand it down again: {said}");
            assert_eq!(notebook.run(&kernel, look).trim(), "None x", "{stack:?}: {said}");
            let verified = notebook.run(&kernel, &verify);
            assert!(verified.contains("\nverified"), "{stack:?}: {verified}");
        }
        // The next kernel of that server has it once more, until the cell has run.
        let mut other = notebook.kernel();
        assert_eq!(notebook.run(&other, look).trim(), "2 x", "{stack:?}");
        assert!(
            notebook.run(&other, &verify).contains("colab_boot_run"),
            "{stack:?}: the cell that defines it has not run"
        );
        assert!(!notebook.boot(&mut other, &boot).0, "{stack:?}");
        assert_eq!(notebook.run(&other, look).trim(), "None x", "{stack:?}");
        // The user's own value is the user's.
        notebook.run(&other, "os.environ['MY_FLAG'] = 'mine'");
        assert!(!notebook.boot(&mut other, &boot).0, "{stack:?}");
        assert_eq!(notebook.run(&other, look).trim(), "mine x", "{stack:?}");
    }
}

#[test]
#[ignore = "whole"]
fn a_change_that_comes_back_is_named_also_where_it_was_there_before() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    // The image had 1.0, the profile brings 2.0, a later cell installs 1.0 again.
    day.pip(&["install", "--no-deps", "lib==1.0"]);
    day.profile("p", &["lib >=2"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    notebook.boot(&mut kernel, &boot);
    for time in 0..3 {
        day.pip(&["install", "--no-deps", "lib==1.0"]);
        let (_, said) = notebook.boot(&mut kernel, &boot);
        assert!(said.contains("lib 2.0 was replaced with 1.0 by pip"), "{said}");
        assert_eq!(said.contains("other code changes it each time"), time > 0, "{time}: {said}");
    }
    day.pip(&["uninstall", "--yes", "lib"]);
    let (_, said) = notebook.boot(&mut kernel, &boot);
    assert!(said.contains("lib 2.0 was removed by another tool") && !said.contains("each time"), "{said}");
}
