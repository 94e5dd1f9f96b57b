//! The kernel and the apply that it runs are killed while the installer goes on; other kernels start before, during and
//! after that. A loop over all moments: never "ready" in a kernel that holds what is gone, never two restarts for the
//! same change.
//!
//! `CASES=all cargo test orphans::` goes through every moment; otherwise a sample does.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::stories::Day;
use crate::stories::notebook::{Kernel, Notebook, Stack, cells};

const ROWS: &[(&str, &str, &[&str])] =
    &[("app", "1.0", &["lib<2"]), ("app", "2.0", &["lib>=2"]), ("lib", "1.0", &[]), ("lib", "2.0", &[])];

/// How far the apply is when kernel and apply are killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The marker says that it begins.
    Begun,
    /// The journal of the script has this line.
    Line(&'static str),
    /// The old version of `lib` is gone.
    OldGone,
    /// The new one is there.
    NewThere,
}

const MOMENTS: [Moment; 8] = [
    Moment::Begun,
    Moment::Line("begin wheels"),
    Moment::OldGone,
    Moment::NewThere,
    Moment::Line("end wheels"),
    Moment::Line("begin environment"),
    Moment::Line("end environment"),
    Moment::Line("end script"),
];

/// When the new kernel loads the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// While the installer stands still.
    During,
    /// When it has ended.
    After,
    /// Never.
    Not,
}

fn is_reached(day: &Day, moment: Moment) -> bool {
    let site = day.venv.layout();
    match moment {
        Moment::Begun => {
            let folders = std::fs::read_dir(day.test.path("state/python")).into_iter().flatten().flatten();
            let mut texts = folders.filter_map(|entry| std::fs::read_to_string(entry.path().join("marker.json")).ok());
            texts.any(|text| text.contains("\"phase\": \"applying\""))
        }
        Moment::Line(line) => std::fs::read_to_string(day.test.state_file("apply.journal"))
            .is_ok_and(|text| text.lines().any(|one| one == line)),
        Moment::OldGone => !site.join("lib-1.0.dist-info").exists(),
        Moment::NewThere => site.join("lib-2.0.dist-info").exists(),
    }
}

fn signal(name: &str, whom: &str) -> bool {
    let sent =
        Command::new("kill").args([&format!("-{name}"), "--", whom]).stderr(std::process::Stdio::null()).status();
    sent.is_ok_and(|status| status.success())
}

/// The group of the script, while it runs.
fn installer(day: &Day) -> Option<String> {
    let text = std::fs::read_to_string(day.test.state_file("apply.process")).ok()?;
    text.split(' ').next().filter(|pid| !pid.is_empty()).map(str::to_owned)
}

/// The colab-boot that `kernel` runs.
fn apply_of(kernel: &Kernel) -> Option<String> {
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", kernel.pid)).ok()?;
    children.split_whitespace().find_map(|pid| {
        let command = std::fs::read_to_string(Path::new("/proc").join(pid).join("cmdline")).ok()?;
        command.contains("colab-boot").then(|| pid.to_owned())
    })
}

/// Has `kernel` apply, and kills both at `moment`; the installer stands still then. Returns its group, if it had begun.
fn kill_at(day: &Day, notebook: &mut Notebook, kernel: &Kernel, (boot, moment): (&str, Moment)) -> Option<String> {
    let _ = std::fs::remove_file(day.test.state_file("apply.journal"));
    notebook.send(kernel, boot);
    let began = Instant::now();
    let mut apply = None;
    while !is_reached(day, moment) && began.elapsed() < Duration::from_mins(1) {
        apply = apply.or_else(|| apply_of(kernel));
        std::thread::sleep(Duration::from_micros(300));
    }
    let group = installer(day).filter(|pid| signal("STOP", &format!("-{pid}")));
    apply = apply.or_else(|| apply_of(kernel));
    signal("KILL", &kernel.pid.to_string());
    if let Some(apply) = apply {
        signal("KILL", &apply);
    }
    group
}

fn one_case(day: &Day, notebook: &mut Notebook, cells: (&str, &str), (moment, load): (Moment, Load)) {
    let shown = format!("{moment:?} x {load:?}");
    let _ = std::fs::remove_dir_all(day.test.path("state"));
    day.pip(&["install", "--force-reinstall", "app==1.0", "lib==1.0"]);
    let look = "import app, lib; print(app.word, lib.word)";
    let old = notebook.kernel();
    let bystander = notebook.kernel();
    assert_eq!(notebook.run(&old, look).trim(), "1.0 1.0", "{shown}");
    assert_eq!(notebook.run(&bystander, look).trim(), "1.0 1.0", "{shown}");
    let group = kill_at(day, notebook, &old, (cells.0, moment));
    let mut kernel = notebook.restarted(&old);
    if load == Load::During {
        // Half of the files may be there: whatever it says, it goes on.
        notebook.run(&kernel, "try:\n    import app, lib\nexcept ImportError:\n    pass");
    }
    if let Some(group) = &group {
        signal("CONT", &format!("-{group}"));
        let began = Instant::now();
        while signal("0", &format!("-{group}")) && began.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    if load == Load::After {
        notebook.run(&kernel, look);
    }
    let mut restarts = 0;
    for _ in 0..3 {
        let (asked, _) = notebook.boot(&mut kernel, cells.0);
        restarts += u32::from(asked);
        let seen = notebook.run(&kernel, look);
        assert!(asked || seen.trim() == "2.0 2.0", "{shown}: ready with {seen}");
    }
    assert!(restarts <= 1, "{shown}: {restarts} restarts");
    assert!(load != Load::Not || restarts == 0, "{shown}: it held nothing");
    assert!(notebook.run(&kernel, cells.1).contains("\nverified"), "{shown}");
    assert_eq!(
        notebook.run(&kernel, "import os; print(os.environ['TOKENIZERS_PARALLELISM'])").trim(),
        "false",
        "{shown}"
    );
    // The other notebook goes on in the old code, until its own cell is run.
    let mut bystander = bystander;
    assert!(notebook.boot(&mut bystander, cells.0).0, "{shown}: the bystander holds the old code");
    assert!(!notebook.boot(&mut bystander, cells.0).0, "{shown}");
    assert_eq!(notebook.run(&bystander, look).trim(), "2.0 2.0", "{shown}");
    for kernel in [&kernel, &bystander] {
        notebook.stop(kernel);
    }
}

#[test]
fn a_kernel_killed_with_its_apply_leaves_no_stale_one_behind() {
    let day = Day::new(ROWS);
    let Some(mut notebook) = Notebook::open(&day, Stack::Colab) else { return };
    day.profile("p", &["app >=2"], "[env]\nTOKENIZERS_PARALLELISM = 'false'\n");
    let (boot, verify) = cells(&day, "p");
    let all = crate::support::test::takes_all();
    let cases =
        MOMENTS.into_iter().flat_map(|moment| [Load::During, Load::After, Load::Not].map(|load| (moment, load)));
    let mut count = 0;
    for (at, case) in cases.enumerate() {
        if all || at % 13 == 1 {
            one_case(&day, &mut notebook, (&boot, &verify), case);
            count += 1;
        }
    }
    eprintln!("{count} of {} cases, 0 wrong", MOMENTS.len() * 3);
}
