//! A golden notebook in a real Jupyter server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::live::profile;
use crate::stories::notebook::{Notebook, Stack, TOKEN};
use crate::support::python::{Venv, wheel};
use crate::support::said::Said as _;
use crate::support::test::{Test, is_root, sample};

/// What the cells of a notebook ended with, and said.
struct Seen {
    before: Ran,
    first: Ran,
    second: Ran,
    rest: Ran,
    third: Ran,
    /// `step process value`, one line for each cell that looked at the module.
    witness: Vec<Vec<String>>,
}

/// How each cell ended, and what each said.
type Ran = (Vec<String>, Vec<String>);

/// Runs the notebook of profile `name`, with two cells queued behind the first, until its kernel is another and all of
/// it has run; other cells look at `attribute` meanwhile.
fn drive(test: &Test, notebook: &mut Notebook, (name, attribute): (&str, &str), way: Way) -> Seen {
    let text = std::fs::read_to_string(test.path("cells").join(format!("{name}.ipynb"))).expect("a notebook");
    let text: Value = serde_json::from_str(&text).expect("JSON");
    let code = |cell: &Value| -> Option<String> {
        (cell["cell_type"] == "code")
            .then(|| cell["source"].as_array().expect("lines").iter().filter_map(Value::as_str).collect())
    };
    let cells: Vec<String> = text["cells"].as_array().expect("cells").iter().filter_map(code).collect();
    let [boot, verify] = cells.as_slice() else { panic!("two cells of code") };
    let (module, file) = (attribute.split('.').next().expect("a module"), test.path("witness"));
    let witness = |step: &str| {
        format!(
            "import os, {module}\nopen({:?}, 'a').write('{step} %d %s\\n' % (os.getpid(), {attribute}))",
            file.display()
        )
    };
    let mut kernel = notebook.kernel();
    let before = notebook.run_all(&kernel, &[&witness("before")]);
    let first = notebook.run_all(&kernel, &[boot, &witness("queued"), &witness("queued")]);
    assert_eq!(first.0, ["error", "aborted", "aborted"], "{way:?}: {first:?}");
    if way == Way::External {
        notebook.restart(&mut kernel);
    } else {
        kernel = notebook.restarted(&kernel);
    }
    let second = notebook.run_all(&kernel, &[boot]);
    let rest = notebook.run_all(&kernel, &[&witness("after"), verify]);
    let third = notebook.run_all(&kernel, &[boot, &witness("again")]);
    let lines = std::fs::read_to_string(file).expect("a witness");
    let witness = lines.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    Seen { before, first, second, rest, third, witness }
}

/// Locked, applied and verified through the generated notebook, with two cells queued behind the first.
pub fn a_golden_notebook_restarts_its_kernel_exactly_once(test: Test) {
    let venv = Venv::new(&test, &["numpy==2.2.6"]);
    let apt = is_root() && Path::new("/usr/bin/apt-get").exists();
    if !apt {
        eprintln!("skipped: the apt part needs root and apt-get");
    }
    if apt {
        // Not there before, so that apt-get has something to do.
        let purged =
            Command::new("apt-get").args(["-o", "DPkg::Lock::Timeout=120", "purge", "--yes", "hello"]).output();
        assert!(purged.is_ok_and(|output| output.status.success()), "apt-get can't purge `hello`");
    }
    let asked = if apt { "[apt]\npackages = ['hello']\n" } else { "" };
    let rest = format!("[packages]\neinops = '*'\ntqdm = '*'\n{asked}[env]\nLIVE_FLAG = 'set by colab-boot'\n");
    let mut test = test.file("live.toml", &profile("numpy = '>=2.3'\njax = '*'", &rest));
    test.environment.remove("COLAB_BOOT_ROOT");
    let python = venv.python.display().to_string();
    test.run(&["lock", "live.toml", "--python", &python]).expect(0);
    test.run(&["export", "notebook", "live.toml", "--out", "cells"]).expect(0);
    test.run(&["export", "notebook", "live.toml", "--out", "cells", "--check"]).expect(0);
    let mut notebook = Notebook::of(&test, &venv, Stack::Current).expect("the index");
    check(&drive(&test, &mut notebook, ("live", "numpy.__version__"), Way::Asked));
    if apt {
        let status = Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", "hello"]).output();
        assert!(status.is_ok_and(|output| output.stdout == b"installed"));
        let journal = std::fs::read_to_string(test.state_file("apply.journal")).expect("a journal");
        assert!(journal.starts_with("begin apt\nend apt\nbegin wheels\n"), "{journal}");
    }
    let verified = test.run(&["verify", "live.toml", "--python", &python]);
    assert!(verified.stderr.contains("no GPU") || verified.stdout.contains("GPU"), "{verified:?}");
}

/// How the cell comes to its restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The server is asked.
    Asked,
    /// The server refuses, and the kernel is ended.
    Refused,
    /// No server is to be found, and the kernel ends itself.
    Unknown,
    /// The test restarts the kernel, as a user would.
    External,
}

/// Every way, with cells queued: the kernel restarts once, and nothing queued runs before it has.
pub fn every_way_to_restart(test: Test, stack: Stack) {
    let profile = |version: &str| format!("[profile]\nname='p'\nversion='1.0.0'\n[packages]\ndemo='=={version}'\n");
    let mut test = test.file("p.toml", &profile("2.0")).file("before.toml", &profile("1.0"));
    test.environment.remove("COLAB_BOOT_ROOT");
    let venv = Venv::new(&test, &[]);
    let house = test.path("house");
    std::fs::create_dir(&house).expect("a folder");
    for version in ["1.0", "2.0"] {
        wheel(&house, ("demo", version), version);
    }
    let (python, house) = (venv.python.display().to_string(), house.display().to_string());
    test.run(&["lock", "p.toml", "--python", &python, "--find-links", &house]).expect(0);
    test.run(&["export", "notebook", "p.toml", "--out", "cells"]).expect(0);
    // With the server and without it; all of them in the whole run.
    let ways = [Way::Asked, Way::Refused, Way::Unknown, Way::External];
    for way in sample(ways, if stack == Stack::Colab { 2 } else { 1 }) {
        // Another machine, as far as the marker can tell: a lock has one restart on each.
        let state = test.path(&format!("state-{way:?}")).display().to_string();
        test.environment.insert("COLAB_BOOT_STATE_DIR".into(), state);
        test.run(&["apply", "before.toml", "--python", &python, "--find-links", &house]).expect(0);
        let _ = std::fs::remove_file(test.path("witness"));
        let _ = std::fs::remove_dir_all(test.path("runtime"));
        let asked = if way == Way::External { "external" } else { "" };
        test.environment.insert("COLAB_BOOT_RESTART".into(), asked.into());
        test.environment.insert("COLAB_BOOT_WHEELHOUSE".into(), house.clone());
        let mut notebook = Notebook::of(&test, &venv, stack).expect("the index");
        restart(&test, &mut notebook, way);
    }
}

fn restart(test: &Test, notebook: &mut Notebook, way: Way) {
    let files = std::fs::read_dir(test.path("runtime")).expect("a folder").flatten().map(|file| file.path());
    let is_record = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "json")
            && std::fs::read_to_string(path).is_ok_and(|text| text.contains("\"url\""))
    };
    let record = files.into_iter().find(is_record).expect("what the server says of itself");
    match way {
        Way::Refused => {
            let text = std::fs::read_to_string(&record).expect("a record");
            std::fs::write(&record, text.replace(TOKEN, "another")).expect("a write");
        }
        Way::Unknown => std::fs::remove_file(&record).expect("a file"),
        Way::Asked | Way::External => {}
    }
    let seen = drive(test, notebook, ("p", "demo.word"), way);
    assert!(seen.second.1[0].concludes("ready"), "{way:?}: {:?}", seen.second);
    assert_eq!(seen.rest.0, ["ok", "ok"], "{way:?}: {:?}", seen.rest);
    let pids: BTreeSet<&str> = seen.witness.iter().map(|line| line[1].as_str()).collect();
    assert_eq!(pids.len(), 2, "one restart: {way:?}: {:?}", seen.witness);
    let last = seen.witness.last().expect("a line");
    assert_eq!((last[0].as_str(), last[2].as_str()), ("again", "2.0"), "{way:?}");
    let queued = seen.witness.iter().filter(|line| line[0] == "queued");
    assert_eq!(queued.count(), 0, "nothing queued ran in the old kernel: {way:?}");
}

fn check(seen: &Seen) {
    assert_eq!(seen.before.0[0], "ok", "{:?}", seen.before);
    let first = &seen.first;
    for said in ["numpy is loaded and changes from 2.2.6", "restarts now, once"] {
        assert!(first.1[0].contains(said), "{first:?}");
    }
    assert!(!first.1[0].contains("Traceback"), "one line, no traceback: {first:?}");
    assert!(seen.second.0[0] == "ok" && seen.second.1[0].concludes("ready"), "{:?}", seen.second);
    assert!(seen.rest.0 == ["ok", "ok"] && seen.rest.1[1].concludes("verified"), "{:?}", seen.rest);
    assert!(seen.third.0 == ["ok", "ok"] && seen.third.1[0].concludes("ready"), "{:?}", seen.third);
    // Who ran where: nothing queued ran in the old kernel, and there are exactly two kernels.
    let lines = &seen.witness;
    let steps: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(steps, ["before", "after", "again"], "{lines:?}");
    assert_ne!(lines[0][1], lines[1][1], "the kernel is another process: {lines:?}");
    assert_eq!(lines[1][1], lines[2][1], "and restarted once only: {lines:?}");
    assert_eq!(lines[0][2], "2.2.6");
    assert_ne!(lines[1][2], "2.2.6");
}
