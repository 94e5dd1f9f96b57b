//! The extension of `IPython`, in real kernels: `%load_ext colab_boot`, then `%%boot` and `%boot`.

use crate::stories::Day;
use crate::stories::notebook::{Kernel, Notebook, Stack};
use crate::support::said::Said as _;

const ROWS: &[(&str, &str, &[&str])] = &[
    ("app", "1.0", &["lib<2"]),
    ("app", "2.0", &["lib>=2"]),
    ("lib", "1.0", &[]),
    ("lib", "2.0", &[]),
    ("tool", "1.0", &[]),
];

/// A notebook whose kernels have the extension, as an installed wheel gives it to them; and a kernel that has loaded
/// it.
fn opened(day: &Day, stack: Stack) -> Option<(Notebook, Kernel)> {
    let link = format!("{}/src/python\n", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(day.venv.layout().join("extension.pth"), link).expect("a link");
    let mut notebook = Notebook::open(day, stack)?;
    let kernel = notebook.kernel();
    assert_eq!(notebook.run(&kernel, "%load_ext colab_boot"), "");
    Some((notebook, kernel))
}

#[test]
fn a_profile_in_a_cell_is_planned_applied_and_verified() {
    for stack in [Stack::Colab, Stack::Current] {
        let day = Day::new(ROWS);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        let body = "[packages]\napp = '<2'\n\n[env]\nTOKENIZERS_PARALLELISM = 'false'\n";
        let said = notebook.run(&kernel, &format!("%%boot plan\n{body}"));
        assert!(said.concludes("plan: 2 to install"), "{stack:?}: {said}");
        assert!(notebook.page.contains("<td") && notebook.page.contains("<code>app</code>"), "{}", notebook.page);
        let (restarts, said) = notebook.boot(&mut kernel, &format!("%%boot\n{body}"));
        assert!(!restarts && said.concludes("applied: 2 packages"), "{stack:?}: {said}");
        let look = "import os, lib; print(lib.word, os.environ['TOKENIZERS_PARALLELISM'])";
        assert_eq!(notebook.run(&kernel, look).trim(), "1.0 false", "{stack:?}");
        assert!(notebook.run(&kernel, "%boot verify").concludes("verified"), "{stack:?}");
        // Lines as pip takes them; what the kernel has loaded changes, and it restarts once.
        let lines = "%%boot\n# what we need\napp>=2\ntool";
        let (restarts, said) = notebook.boot(&mut kernel, lines);
        assert!(restarts, "{stack:?}: {said}");
        notebook.run(&kernel, "%load_ext colab_boot");
        let (restarts, said) = notebook.boot(&mut kernel, lines);
        assert!(!restarts && said.concludes("ready: 3 packages"), "{stack:?}: {said}");
        assert_eq!(notebook.run(&kernel, "import lib; print(lib.word)").trim(), "2.0", "{stack:?}");
        let said = notebook.run(&kernel, "%boot restore");
        assert!(said.contains("restored"), "{stack:?}: {said}");
    }
}

#[test]
fn a_refused_cell_stops_those_behind_it() {
    let day = Day::new(ROWS);
    let Some((mut notebook, kernel)) = opened(&day, Stack::Current) else { return };
    for (cell, says) in [
        ("%boot verify", "there is no profile"),
        ("%%boot\n[packages]\napp = '=1'\n", ".notebook.toml:2:7"),
        ("%%boot\napp>=3\n", "there is no app >=3"),
        ("%%boot\nhello world, this is no requirement\n", "neither a profile nor a list of requirements"),
        ("%%boot status\n[packages]\n", "takes no text below it"),
        ("%boot plna", "a similar subcommand exists: 'plan'"),
        ("%boot explain", "no cell of this kernel has failed"),
        ("%boot add app@1.0 --from /nowhere", "NAME@VERSION#SHA256"),
    ] {
        let (statuses, outputs) = notebook.run_all(&kernel, &[cell]);
        let said = outputs.concat();
        assert!(said.contains(says) && !said.contains("Traceback"), "{cell}: {said}");
        assert_eq!(statuses, ["error"], "{cell}");
    }
    let (statuses, _) = notebook.run_all(&kernel, &["%%boot\napp>=3\n", "print('behind')"]);
    assert_eq!(statuses, ["error", "aborted"]);
}

#[test]
fn after_a_cell_known_errors_and_foreign_changes_are_said_once() {
    let day = Day::new(ROWS);
    let Some((mut notebook, mut kernel)) = opened(&day, Stack::Colab) else { return };
    let failing = "raise RuntimeError('CUDA error: no kernel image is available for execution on the device')";
    let said = notebook.run(&kernel, failing);
    assert_eq!(said.matches("colab-boot knows this error").count(), 1, "{said}");
    assert!(!notebook.run(&kernel, failing).contains("colab-boot knows"));
    assert!(notebook.run(&kernel, "%boot explain").contains("gpu-not-covered"));
    for quiet in ["1 / 0", "raise SystemExit", "%nothing", "1 +", "raise KeyboardInterrupt"] {
        let said = notebook.run(&kernel, quiet);
        assert!(!said.contains("colab-boot"), "{quiet}: {said}");
    }
    notebook.boot(&mut kernel, "%%boot\napp<2");
    // What no lock names is the user's.
    day.pip(&["install", "tool"]);
    assert_eq!(notebook.run(&kernel, "print(1)"), "1\n");
    day.pip(&["install", "lib==2.0"]);
    let said = notebook.run(&kernel, "print(1)");
    assert!(said.contains("packages differ from the lock: lib is 2.0, locked is 1.0"), "{said}");
    assert_eq!(notebook.run(&kernel, "print(1)"), "1\n");
    notebook.boot(&mut kernel, "%boot apply");
    assert_eq!(notebook.run(&kernel, "print(1)"), "1\n");
    notebook.run(&kernel, "import os; os.environ['COLAB_BOOT_HOOKS'] = '0'");
    day.pip(&["install", "lib==2.0"]);
    assert!(!notebook.run(&kernel, "raise RuntimeError('CUDA error: out of memory')").contains("colab-boot knows"));
}

#[test]
fn what_is_planted_in_texts_is_no_markup() {
    let day = Day::new(ROWS);
    let Some((mut notebook, kernel)) = opened(&day, Stack::Current) else { return };
    let planted = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let cell =
        format!("%%boot plan\n[profile]\nname = \"p\"\n[packages]\napp = \"{planted}\"\n[env]\nA = \"{planted}\"\n");
    notebook.run(&kernel, &cell);
    assert!(notebook.page.contains("&lt;script&gt;") && !notebook.page.contains("<script"), "{}", notebook.page);
    let cell = format!("%%boot plan\n[packages]\napp = \"*\"\n[env]\nA = \"{planted}\"\n");
    notebook.run(&kernel, &cell);
    assert!(notebook.page.contains("&lt;img") && !notebook.page.contains("<img"), "{}", notebook.page);
}
