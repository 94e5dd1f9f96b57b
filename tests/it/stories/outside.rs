//! The boot cell where no notebook server is: a script, `IPython` in a terminal, programs that run notebooks; and the
//! stop button.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::stories::Day;
use crate::stories::notebook::{Notebook, Stack, cells, give_kernels, give_lab, give_stack, stacks, write_notebook};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, sample};

const ROWS: &[(&str, &str, &[&str])] = &[("lib", "1.0", &[]), ("lib", "2.0", &[])];

/// A day on which lib 2.0 is wanted.
fn day() -> Day {
    let day = Day::new(ROWS);
    day.profile("p", &["lib >=2"], "");
    day
}

/// A command of the day's environment, as a user types it.
fn command(day: &Day, words: &[&str]) -> Command {
    let mut command = Command::new(&day.venv.python);
    command.args(words).env_clear().envs(&day.test.environment).current_dir(day.test.folder.path());
    command.env("COLAB_BOOT_BINARY", env!("CARGO_BIN_EXE_colab-boot")).env("PYTHONWARNINGS", "ignore");
    command.env("PYDEVD_DISABLE_FILE_VALIDATION", "1");
    command
}

#[track_caller]
fn has_no_traceback(outcome: &Outcome, about: &str) {
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(!said.contains("Traceback") && !said.contains("Error"), "{about}: {said}");
}

#[test]
#[ignore = "whole"]
fn a_script_and_a_terminal_end_with_one_line() {
    for stack in stacks() {
        let day = day();
        let Some(_) = give_stack(&day.venv, stack) else { return };
        let (boot, _) = cells(&day, "p");
        std::fs::write(
            day.test.path("boot.py"),
            format!("import sys\nif sys.argv[1:]: import lib\n{boot}\nprint('went on')\n"),
        )
        .expect("a script");
        let ways: [(&str, &[&str]); 2] =
            [("python", &["boot.py"]), ("ipython", &["-m", "IPython", "--no-banner", "boot.py"])];
        for (about, words) in ways {
            let about = &format!("{stack:?} {about}");
            day.pip(&["install", "--no-deps", "lib==1.0"]);
            let first = Outcome::of(command(&day, words)).expect(0);
            assert!(first.concludes("applied: 1 package") && first.stdout.contains("went on"), "{about}: {first:?}");
            // It holds the old one.
            day.pip(&["install", "--no-deps", "lib==1.0"]);
            // IPython has an exit code of its own.
            let code = if about.ends_with("ipython") { 1 } else { 10 };
            let stopped = Outcome::of(command(&day, &[words, &["import"]].concat())).expect(code);
            let said = format!("{}{}", stopped.stdout, stopped.stderr);
            let line = "colab-boot: this Python is not a notebook kernel: exit it";
            assert_eq!(said.matches(line).count(), 1, "{about}: {stopped:?}");
            assert!(!stopped.stdout.contains("went on"), "{about}: {stopped:?}");
            has_no_traceback(&stopped, about);
            let again = Outcome::of(command(&day, &[words, &["import"]].concat())).expect(0);
            assert!(again.concludes("ready: 1 package") && again.stdout.contains("went on"), "{about}: {again:?}");
        }
        // Nothing reads on.
        day.pip(&["install", "--no-deps", "lib==1.0"]);
        let python = command(&day, &["boot.py"]);
        let line = format!("{} boot.py | head -1; exit ${{PIPESTATUS[0]}}", python.get_program().to_string_lossy());
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &line]).env_clear().current_dir(python.get_current_dir().expect("a folder"));
        shell.envs(python.get_envs().filter_map(|(name, value)| Some((name, value?))));
        has_no_traceback(&Outcome::of(shell).expect(0), "a pipe");
        // What goes wrong is one line as well.
        let mut broken = command(&day, &["boot.py"]);
        broken.env("COLAB_BOOT_STATE_DIR", "/proc/nowhere");
        let broken = Outcome::of(broken).expect(3);
        assert!(broken.stderr.contains("colab-boot apply ended with exit code 3"), "{broken:?}");
        has_no_traceback(&Outcome { stdout: String::new(), ..broken }, "a failure");
    }
}

#[test]
fn a_person_at_ipython_sees_what_to_do() {
    for stack in stacks() {
        let day = day();
        let Some(_) = give_stack(&day.venv, stack) else { return };
        let (boot, _) = cells(&day, "p");
        std::fs::write(day.test.path("boot.py"), boot).expect("a script");
        day.pip(&["install", "--no-deps", "lib==1.0"]);
        let mut child = command(&day, &["-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("IPython starts");
        let typed = "import lib\nexec(open('boot.py').read())\nprint('still here', 1 + 1)\n";
        child.stdin.take().expect("a pipe").write_all(typed.as_bytes()).expect("a line");
        let output = child.wait_with_output().expect("IPython ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("colab-boot: this Python is not a notebook kernel: exit it"), "{stack:?}: {said}");
        assert!(!said.contains("Traceback") && said.contains("still here 2"), "{stack:?}: {said}");
    }
}

#[test]
fn a_program_that_runs_notebooks_stops_before_the_old_code_is_used() {
    let day = day();
    let Some(venv) = give_stack(&day.venv, Stack::Current) else { return };
    let (boot, _) = cells(&day, "p");
    let after = "open('witness', 'a').write(lib.word + ' ')";
    write_notebook(&day.test.path("n.ipynb"), &["import lib", &boot, after]);
    give_kernels(&day.test, &day.venv);
    let execute = venv.python.with_file_name("jupyter-execute").display().to_string();
    let ways = [
        &["-m", "nbconvert", "--to", "notebook", "--execute", "n.ipynb", "--output", "done"][..],
        &[execute.as_str(), "n.ipynb"],
    ];
    for words in sample(ways, 2) {
        let run = || {
            let mut command = command(&day, words);
            command.env("JUPYTER_PATH", day.test.path("jupyter"));
            command.env("JUPYTER_RUNTIME_DIR", day.test.path("runtime"));
            Outcome::of(command)
        };
        day.pip(&["install", "--no-deps", "lib==1.0"]);
        let _ = std::fs::remove_file(day.test.path("witness"));
        let stopped = run().expect(1);
        assert!(stopped.stderr.contains("does not restart kernels: run it once more"), "{words:?}: {stopped:?}");
        assert!(!stopped.stderr.contains("DeadKernelError"), "{words:?}: {stopped:?}");
        assert!(!day.test.path("witness").exists(), "{words:?}: nothing ran on old code");
        run().expect(0);
        assert_eq!(day.read("witness").trim(), "2.0", "{words:?}");
    }
}

#[test]
fn the_stop_button_waits_for_what_was_begun() {
    for stack in stacks() {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        let (boot, _) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        // An apply that waits for another one.
        day.run(&["apply", "p.toml"]).expect(0);
        let held = std::fs::File::open(day.test.state_file("lock")).expect("a lock");
        held.lock().expect("nobody else holds it");
        notebook.send(&kernel, &boot);
        let began = Instant::now();
        let is_at_work = || {
            String::from_utf8_lossy(&Command::new("ps").args(["ax", "-o", "args"]).output().expect("ps").stdout)
                .contains(&format!("apply {}", day.test.path("cache").display()))
        };
        while !is_at_work() {
            assert!(began.elapsed() < Duration::from_mins(1), "{stack:?}: the cell never began");
            std::thread::sleep(Duration::from_millis(20));
        }
        notebook.interrupt(&kernel);
        // Cells that were queued behind it may be given up.
        let mut said = String::new();
        while !said.contains("next") {
            assert!(began.elapsed() < Duration::from_mins(1), "{stack:?}: {said}");
            said = notebook.run(&kernel, "print('next')");
        }
        assert!(!is_at_work(), "{stack:?}: the installer goes on behind the cell");
        drop(held);
        assert!(!notebook.boot(&mut kernel, &boot).0, "{stack:?}");
    }
}

/// papermill runs a notebook with the extension; then again, while the index can't be reached.
#[test]
fn papermill_ends_before_old_code_runs_and_needs_no_network() {
    let day = day();
    if give_lab(&day).is_none() {
        return;
    }
    let cells =
        ["import lib", "%load_ext colab_boot", "%%boot\nlib>=2", "import lib; open('witness', 'w').write(lib.word)"];
    write_notebook(&day.test.path("n.ipynb"), &cells);
    let run = |variables: &[(&str, String)]| {
        let mut command = command(&day, &["-m", "papermill", "--log-output", "n.ipynb", "out.ipynb"]);
        command.env("JUPYTER_PATH", day.test.path("jupyter")).env("JUPYTER_RUNTIME_DIR", day.test.path("runtime"));
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        Outcome::of(command)
    };
    day.pip(&["install", "lib==1.0"]);
    let stopped = run(&[]).expect(1);
    assert!(stopped.stderr.contains("papermill does not restart kernels: run it once more"), "{stopped:?}");
    assert!(!day.test.path("witness").exists(), "nothing ran on old code");
    let said = run(&[]).expect(0);
    assert_eq!(day.read("witness"), "2.0");
    assert!(said.stderr.contains("ready: 1 package"), "{said:?}");
    // As docs/notebooks.md says: applied before the first kernel, it needs no second run. The index is away.
    day.test.run(&["fetch", ".notebook.lock", "--into", "wheels"]).expect(0);
    let away = [
        ("COLAB_BOOT_INDEX_URL", "http://127.0.0.1:9/simple".to_owned()),
        ("COLAB_BOOT_WHEELHOUSE", day.test.path("wheels").display().to_string()),
        ("COLAB_BOOT_CACHE_DIR", day.test.path("another-cache").display().to_string()),
    ];
    day.pip(&["install", "lib==1.0"]);
    std::fs::remove_file(day.test.path("witness")).expect("a witness");
    let mut apply = day.test.command(&["apply", ".notebook.toml", "--no-restart", "--python", &day.python()]);
    apply.envs(away.iter().map(|(name, value)| (*name, value)));
    Outcome::of(apply).expect(0);
    run(&away).expect(0);
    assert_eq!(day.read("witness"), "2.0");
}
