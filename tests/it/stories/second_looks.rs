//! What the extension says of a kernel, where a first look would be wrong: modules that are gone and still in use,
//! kernels that do not report what they have loaded, a kernel without a server that restarts it.

use std::process::Command;

use crate::stories::Day;
use crate::stories::extension::opened;
use crate::stories::notebook::{Notebook, Stack, give_stack, stacks};
use crate::support::said::Said as _;
use crate::support::test::Outcome;

const ROWS: &[(&str, &str, &[&str])] = &[("lib", "1.0", &[]), ("lib", "2.0", &[]), ("tool", "1.0", &[])];

#[test]
fn a_module_that_left_the_table_of_modules_counts_while_it_is_in_use() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        notebook.boot(&mut kernel, "%%boot\nlib==1.0");
        notebook.run(&kernel, "import sys, lib; del sys.modules['lib'], lib");
        let (restarts, said) = notebook.boot(&mut kernel, "%%boot\nlib==2.0");
        assert!(!restarts, "{stack:?}: {said}");
        for leave in
            ["import sys, lib as old; del sys.modules['lib']", "import sys, lib as old\ndel sys.modules['lib']"]
        {
            notebook.boot(&mut kernel, "%%boot\nlib==2.0");
            notebook.run(&kernel, leave);
            let (restarts, said) = notebook.boot(&mut kernel, "%%boot\nlib==1.0");
            assert!(restarts && said.contains("lib"), "{stack:?}: {leave}: {said}");
            notebook.run(&kernel, "%load_ext colab_boot");
            let (restarts, said) = notebook.boot(&mut kernel, "%%boot\nlib==1.0");
            assert!(!restarts && said.concludes("ready: 1 package"), "{stack:?}: {said}");
        }
    }
}

#[test]
fn what_a_terminal_does_not_know_is_no_fact_of_the_kernel() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        for version in ["1.0", "2.0"] {
            let (restarts, said) = notebook.boot(&mut kernel, &format!("%%boot\nlib=={version}"));
            assert!(!restarts, "{stack:?}: {said}");
        }
        for verb in ["verify", "apply"] {
            let said = notebook.run(&kernel, &format!("!$COLAB_BOOT_BINARY {verb} .notebook.toml"));
            assert!(said.contains("lib may be loaded and changes from 1.0 to 2.0"), "{stack:?}: {verb}: {said}");
            assert!(!said.contains("is loaded") && !said.contains("runs replaced code"), "{stack:?}: {verb}: {said}");
        }
        assert!(notebook.run(&kernel, "%boot verify").concludes("verified"), "{stack:?}");
        let (restarts, said) = notebook.boot(&mut kernel, "%%boot\nlib==2.0");
        assert!(!restarts && said.concludes("ready: 1 package"), "{stack:?}: {said}");
    }
}

#[test]
fn a_kernel_that_meets_the_extension_late_is_answered_all_the_same() {
    let day = Day::new(ROWS);
    let Some((mut notebook, kernel)) = opened(&day, Stack::Current) else { return };
    for (cell, says) in [("%boot plan --help", "Usage: "), ("%boot explain no-such-code", "explain codes` lists all")] {
        let said = notebook.run(&kernel, cell);
        assert!(said.contains(says), "{cell}: {said}");
    }
    day.pip(&["install", "--no-deps", "tool"]);
    let kernel = notebook.kernel();
    notebook.run(&kernel, "import tool");
    // As a release does that has a package in the place of a module.
    std::fs::remove_file(day.venv.layout().join("tool.py")).expect("a file");
    notebook.run(&kernel, "%load_ext colab_boot");
    let said = notebook.run(&kernel, "%boot doctor python");
    assert!(said.contains("warning[stale-module]") && said.contains("`tool`: its file is gone"), "{said}");
}

#[test]
#[ignore = "whole"]
fn another_notebook_a_comment_and_the_ends_of_lines_mislead_nobody() {
    for stack in stacks() {
        let day = Day::new(ROWS);
        let Some((mut notebook, mut kernel)) = opened(&day, stack) else { return };
        let said = notebook.run(&kernel, "%%boot plan\n# gpu: needed for this one\nlib==1.0");
        assert!(said.concludes("plan: 1 to install"), "{stack:?}: {said}");
        let header = "# /// script\r\n# dependencies = ['lib==1.0']\r\n# ///\r\n";
        let said = notebook.run(&kernel, &format!("%%boot plan\n{header}"));
        assert!(said.concludes("plan: 1 to install"), "{stack:?}: {said}");
        notebook.run(&kernel, header);
        let (_, said) = notebook.boot(&mut kernel, "%boot apply");
        assert!(said.concludes("applied: 1 package"), "{stack:?}: {said}");
        notebook.boot(&mut kernel, "%%boot\nlib==1.0\ntool");
        let mut other = notebook.kernel();
        notebook.run(&other, "%load_ext colab_boot");
        notebook.boot(&mut other, "%%boot\nlib==2.0");
        for verb in ["apply", "plan", "verify"] {
            let said = notebook.run(&kernel, &format!("%boot {verb}"));
            assert!(said.contains("is not what %%boot of this kernel has written"), "{stack:?}: {verb}: {said}");
        }
        // A file of a package that is gone is no other version.
        std::fs::remove_file(day.venv.layout().join("lib.py")).expect("a file");
        let said = notebook.run(&other, "print('a cell')");
        assert!(said.contains("differ from the lock: lib 2.0: `lib.py`"), "{stack:?}: {said}");
    }
}

/// A kernel that a front end without a server has started, with a thread that it waits for.
const ALONE: &str = "
import sys, time
from jupyter_client import KernelManager
manager = KernelManager(kernel_name='day')
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=100)
def run(cell):
    said = []
    client.execute_interactive(cell, timeout=100, output_hook=lambda message: said.append(str(message['content'])))
    return ''.join(said)
run('%load_ext colab_boot')
print(run('%%boot\\nlib==1.0'))
run('import lib, threading; threading.Thread(target=threading.Event().wait).start()')
print(run('%%boot\\nlib==2.0'))
end = time.monotonic() + 60
while manager.is_alive() and time.monotonic() < end:
    time.sleep(0.1)
print('alive' if manager.is_alive() else 'ended')
client.stop_channels()
manager.shutdown_kernel(now=True)
";

#[test]
#[ignore = "whole"]
fn a_kernel_that_nobody_restarts_ends_whatever_it_waits_for() {
    let day = Day::new(ROWS);
    let Some((notebook, _)) = opened(&day, Stack::Current) else { return };
    let Some(stack) = give_stack(&day.venv, Stack::Current) else { return };
    drop::<Notebook>(notebook);
    let mut alone = Command::new(&stack.python);
    alone.args(["-c", ALONE]).env_clear().envs(&day.test.environment).current_dir(day.test.path(""));
    alone.env("COLAB_BOOT_BINARY", env!("CARGO_BIN_EXE_colab-boot"));
    alone.env("JUPYTER_PATH", day.test.path("jupyter")).env("JUPYTER_RUNTIME_DIR", day.test.path("runtime"));
    let said = Outcome::of(alone);
    assert!(said.stdout.contains("the kernel restarts now, once") && said.stdout.contains("ended"), "{said:?}");
}
