//! Ways to die, in a real Jupyter server: the recorder that the golden cell has started knows each by its name, and follows the next kernel.

use std::time::{Duration, Instant};

use crate::stories::Day;
use crate::stories::fitness::Group;
use crate::stories::notebook::{Kernel, Notebook, Stack, cells};

/// What the kernel does, and the code that names it; `memory` dies in a control group.
const WAYS: &[(&str, &str)] = &[
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "kernel-killed-signal"),
    ("import ctypes; ctypes.string_at(0)", "kernel-native-crash"),
    ("import os; os.abort()", "kernel-native-crash"),
    ("import os; os._exit(3)", "kernel-exited"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGBUS)", "kernel-native-crash"),
    ("memory", "kernel-killed-oom"),
];

/// Puts a process into a group with 300 MB at most. `None` where that can't be done.
fn limited(pid: u64) -> Option<Group> {
    let group = Group::new(&[("memory", "memory.max", "memory.limit_in_bytes", "300000000")])?;
    group.take(pid).then_some(group)
}

fn newest(day: &Day) -> (Vec<String>, String) {
    let said = day.run(&["doctor", "--after-crash", "--json"]);
    let codes = said
        .codes()
        .into_iter()
        .filter(|code| code.starts_with("kernel-") && code != "kernel-peak" && code != "kernel-many");
    (codes.collect(), format!("{}{}", said.stdout, said.stderr))
}

/// Waits until a death of `pid` is recorded.
fn recorded(day: &Day, pid: u64) {
    let started = Instant::now();
    loop {
        let names = std::fs::read_dir(day.test.path("state/recorder")).into_iter().flatten().flatten();
        let texts = names.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
        let is_whole = |text: &String| text.contains(&format!("\"pid\":{pid},")) && text.contains("\"watching\":false");
        if texts.into_iter().any(|text| is_whole(&text)) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "nobody recorded the end of {pid}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A recorder that ends before its kernel: the kernel is known, its end is not, and that of the one before is no answer.
fn unseen(day: &Day, notebook: &mut Notebook, kernel: &Kernel) {
    let words = format!("--kernel-pid\0{}", kernel.pid);
    let is_recorder = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("record\0"))
            && std::fs::read_to_string(format!("/proc/{pid}/environ"))
                .is_ok_and(|line| line.contains(&day.test.path("state").display().to_string()))
    };
    let pids = std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    let recorders: Vec<u32> = pids.filter(is_recorder).collect();
    assert!(!recorders.is_empty(), "no recorder with {words}");
    for pid in recorders {
        std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill");
    }
    notebook.send(kernel, "import os; os.kill(os.getpid(), 9)");
    let died = kernel.pid;
    notebook.restarted(kernel);
    let (codes, said) = newest(day);
    assert_eq!(codes, ["kernel-unseen"], "{said}");
    assert!(said.contains(&format!("the kernel {died} has ended, and how was not seen")), "{said}");
}

#[test]
fn each_end_of_a_kernel_is_named_rightly() {
    let day = Day::new(&[("lib", "1.0", &[])]);
    let Some(mut notebook) = Notebook::open(&day, Stack::Colab) else { return };
    day.profile("p", &["lib"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel: Kernel = notebook.kernel();
    for (at, (code, wanted)) in WAYS.iter().enumerate() {
        if at == 3 {
            // A server gives up after five deaths in a row; another notebook has a recorder of its own.
            kernel = notebook.kernel();
        }
        // The first cell of each kernel's life, as "Run all" would run it.
        assert!(!notebook.boot(&mut kernel, &boot).0, "{code}");
        let group = if *code == "memory" { limited(kernel.pid) } else { None };
        if *code == "memory" && group.is_none() {
            eprintln!("skipped: control groups can't be made here");
            continue;
        }
        if group.is_some() {
            // The recorder looks every second: it must have seen the kernel in its group.
            std::thread::sleep(Duration::from_millis(2500));
        }
        let line = if *code == "memory" { "x = [b'x' * 10_000_000 for _ in range(1000)]" } else { code };
        let died = kernel.pid;
        notebook.send(&kernel, line);
        kernel = notebook.restarted(&kernel);
        recorded(&day, died);
        drop(group);
        let (codes, said) = newest(&day);
        assert_eq!(codes, [*wanted], "{code}: {said}");
        assert!(said.contains(&format!("the kernel {died}")), "{code}: {said}");
        if code.contains("string_at") {
            assert!(said.contains("Fatal Python error: Segmentation fault") && said.contains("ctypes"), "{said}");
        }
    }
    // The cell asks the kernel what only the kernel knows.
    assert!(!notebook.boot(&mut kernel, &boot).0);
    let said = notebook.run(&kernel, "colab_boot_run('doctor', '--all')");
    assert!(said.contains("a recorder watches the kernel") && said.contains("doctor: "), "{said}");
    assert!(!said.contains("the kernel was not asked"), "{said}");
    assert!(said.contains("<details") && said.contains("<summary><strong>memory</strong>"), "no page: {said}");
    // One recorder for all of them; without one that is said.
    let state = day.test.path("state/recorder");
    let names: Vec<String> = std::fs::read_dir(state)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().filter(|name| name.starts_with("death-")).count() <= 8, "{names:?}");
    let off = |arguments: &[&str]| day.run(&[&["doctor", "recorder-off", "--json"], arguments].concat()).codes();
    assert!(off(&["--kernel-pid", &kernel.pid.to_string()]).is_empty());
    unseen(&day, &mut notebook, &kernel);
}
