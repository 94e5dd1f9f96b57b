//! Ways to die, in a real Jupyter server: the recorder that the golden cell has started knows each by its name, and
//! follows the next kernel.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::stories::Day;
use crate::stories::fitness::Group;
use crate::stories::notebook::{Kernel, Notebook, Stack, cells};
use crate::support::test::{Test, is_root};

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

/// The line of a verdict that names where the kernel was.
fn frame(said: &str) -> &str {
    said.lines().find(|line| line.contains("newest frame: ")).unwrap_or_default()
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

/// A recorder that ends before its kernel: the kernel is known, its end is not, and that of the one before is no
/// answer.
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
        Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill");
    }
    notebook.send(kernel, "import os; os.kill(os.getpid(), 9)");
    let died = kernel.pid;
    notebook.restarted(kernel);
    let (codes, said) = newest(day);
    assert_eq!(codes, ["kernel-unseen"], "{said}");
    assert!(said.contains(&format!("kernel {died} ended, and the cause was not observed")), "{said}");
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
        assert!(said.contains(&format!("kernel {died}")), "{code}: {said}");
        if code.contains("string_at") {
            assert!(said.contains("Fatal Python error: Segmentation fault"), "{said}");
            assert!(frame(&said).contains("ctypes/__init__.py") && frame(&said).contains("string_at"), "{said}");
        }
    }
    // A kernel that crashes before its first cell was run: the environment has been taught what to do.
    notebook.send(&kernel, "import ctypes; ctypes.string_at(0)");
    let died = kernel.pid;
    kernel = notebook.restarted(&kernel);
    recorded(&day, died);
    let (codes, said) = newest(&day);
    assert_eq!(codes, ["kernel-native-crash"], "{said}");
    assert!(said.contains("Fatal Python error: Segmentation fault") && frame(&said).contains("string_at"), "{said}");
    // The cell asks the kernel what only the kernel knows.
    assert!(!notebook.boot(&mut kernel, &boot).0);
    let said = notebook.run(&kernel, "colab_boot_run('doctor', '--all')");
    assert!(said.contains("a recorder watches the kernel") && said.contains("doctor: "), "{said}");
    assert!(!said.contains("the kernel was not asked"), "{said}");
    let page = &notebook.page;
    assert!(page.contains("<details") && page.contains("<summary><strong>memory</strong>"), "no page: {page}");
    // One recorder for all of them; without one that is said.
    let state = day.test.path("state/recorder");
    let names: Vec<String> = std::fs::read_dir(state)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    // Eight, and those of the two kernels that are watched.
    assert!(names.iter().filter(|name| name.starts_with("death-")).count() <= 10, "{names:?}");
    let off = |arguments: &[&str]| day.run(&[&["doctor", "recorder-off", "--json"], arguments].concat()).codes();
    assert!(off(&["--kernel-pid", &kernel.pid.to_string()]).is_empty());
    unseen(&day, &mut notebook, &kernel);
    // It is as before the first apply.
    let line = day.venv.layout().join("colab-boot-crash.pth");
    assert!(line.is_file());
    let restored = day.run(&["restore"]);
    assert!([0, 10].contains(&restored.code) && !line.exists(), "{restored:?}");
}

/// A recorder that watches a process, once it does.
fn recorder(test: &Test, pid: u32) -> Child {
    let mut command = test.command(&["record", "--kernel-pid", &pid.to_string()]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let folder = test.path("state/recorder");
    let began = || {
        std::fs::read_dir(&folder)
            .is_ok_and(|names| names.flatten().any(|one| one.file_name().to_string_lossy().starts_with("death-")))
    };
    let started = Instant::now();
    while !began() {
        assert!(started.elapsed() < Duration::from_secs(20), "it does not watch");
        std::thread::sleep(Duration::from_millis(20));
    }
    // It has to see it once.
    std::thread::sleep(Duration::from_millis(1500));
    child
}

fn ends(mut child: Child) {
    let started = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        assert!(started.elapsed() < Duration::from_secs(20), "the recorder does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn end_with(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill").success());
}

#[test]
fn a_full_disk_does_not_lose_an_end() {
    let test = Test::new();
    std::fs::create_dir(test.path("state")).expect("a folder");
    let mount = |arguments: &[&str]| Command::new(arguments[0]).args(&arguments[1..]).arg(test.path("state")).status();
    if !is_root()
        || !mount(&["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]).is_ok_and(|status| status.success())
    {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    // Not waited for, as a server does not wait for seconds.
    let mut kernel = Command::new("sleep").arg("600").spawn().expect("a process");
    let watching = recorder(&test, kernel.id());
    let mut fill = std::fs::File::create(test.path("state/full")).expect("a file");
    while fill.write_all(&[0; 4096]).is_ok() {}
    end_with(kernel.id(), "-SEGV");
    ends(watching);
    kernel.wait().expect("ended");
    let out = test.run(&["doctor", "--after-crash", "--json"]);
    drop(fill);
    // A child that another test starts at this moment may still have a file of it.
    assert!(mount(&["umount", "--lazy"]).expect("umount").success());
    assert_eq!(out.codes(), ["kernel-native-crash"], "{out:?}");
    assert!(out.stdout.contains("SIGSEGV"), "{out:?}");
}

#[test]
fn a_server_that_is_killed_takes_its_recorder_with_it_in_the_end() {
    let test = Test::new();
    let mut server =
        Command::new("sh").args(["-c", "sleep 600 & echo $!; wait"]).stdout(Stdio::piped()).spawn().expect("a shell");
    let kernel: u32 = crate::support::python::first_line(server.stdout.take()).trim().parse().expect("a number");
    let mut watching = recorder(&test, kernel);
    end_with(server.id(), "-KILL");
    server.wait().expect("ended");
    std::thread::sleep(Duration::from_secs(2));
    assert!(watching.try_wait().expect("a state").is_none(), "the kernel lives, and is watched");
    end_with(kernel, "-KILL");
    ends(watching);
    // Whether the status could still be read depends on who took the orphan in; that there was an end does not.
    let codes = test.run(&["doctor", "--after-crash", "--json"]).codes();
    assert!(codes == ["kernel-killed-signal"] || codes == ["kernel-unseen"], "{codes:?}");
}

#[test]
fn each_notebook_is_answered_for_its_own_kernel() {
    let day = Day::new(&[("lib", "1.0", &[])]);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["lib"], "");
    let (boot, _) = cells(&day, "p");
    let (mut crashed, mut ended) = (notebook.kernel(), notebook.kernel());
    notebook.boot(&mut crashed, &boot);
    notebook.boot(&mut ended, &boot);
    notebook.send(&crashed, "import ctypes; ctypes.string_at(0)");
    recorded(&day, crashed.pid);
    notebook.send(&ended, "import os; os._exit(5)");
    recorded(&day, ended.pid);
    let (new_crashed, new_ended) = (notebook.restarted(&crashed), notebook.restarted(&ended));
    let asked = |more: &[&str]| {
        let said = day.run(&[&["doctor", "--after-crash"], more].concat());
        format!("{}{}", said.stdout, said.stderr)
    };
    let of_crashed = asked(&["--kernel-pid", &new_crashed.pid.to_string()]);
    let names_crash = format!("kernel {} crashed in native code", crashed.pid);
    assert!(of_crashed.contains(&names_crash), "{of_crashed}");
    assert!(of_crashed.contains(&format!("kernel {} ended", ended.pid)), "others are listed: {of_crashed}");
    let of_ended = asked(&["--kernel-pid", &new_ended.pid.to_string()]);
    assert!(of_ended.contains(&format!("kernel {} exited with code 5", ended.pid)), "{of_ended}");
    assert!(!of_ended.contains(&names_crash), "{of_ended}");
    assert!(asked(&["--kernel", &crashed.id]).contains(&names_crash), "named by its connection file");
}

/// What a kernel forks has its command line, its session and its crash file, and is not the kernel.
#[test]
#[ignore = "whole"]
fn what_happens_to_a_worker_does_not_happen_to_the_kernel() {
    let day = Day::new(&[("lib", "1.0", &[])]);
    let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
    day.profile("p", &["lib"], "");
    let (boot, _) = cells(&day, "p");
    let mut kernel = notebook.kernel();
    let mut dies = |kernel: &mut Kernel, before: &str, end: &str, is_limited: bool| {
        assert!(!notebook.boot(kernel, &boot).0);
        let group = if is_limited { limited(kernel.pid) } else { None };
        std::thread::sleep(Duration::from_millis(2500));
        let worker = notebook.run(
            kernel,
            &format!(
                "import os, ctypes, time\nif not (worker := os.fork()):\n    {before}\n    os._exit(0)\nprint(worker)"
            ),
        );
        if is_limited {
            notebook.run(kernel, "os.waitpid(worker, 0)");
            std::thread::sleep(Duration::from_millis(2500));
        }
        let died = kernel.pid;
        notebook.send(kernel, end);
        *kernel = notebook.restarted(kernel);
        recorded(&day, died);
        let (codes, said) = newest(&day);
        assert!(said.contains(&format!("kernel {died}")), "{said}");
        drop(group);
        (codes, said, worker.lines().find_map(|line| line.trim().parse::<u32>().ok()).expect("a number"))
    };
    let (codes, said, _) = dies(&mut kernel, "ctypes.string_at(0)", "os.waitpid(worker, 0); os._exit(0)", false);
    assert_eq!(codes, ["kernel-exited"], "its worker crashed: {said}");
    // A signal like the kernel's own, in a text that was there before.
    let crash = "import faulthandler; faulthandler.enable(); ctypes.string_at(0)";
    let (codes, said, _) =
        dies(&mut kernel, "exec('def in_the_worker(): ctypes.string_at(0)\\nin_the_worker()')", crash, true);
    assert_eq!(codes, ["kernel-native-crash"], "{said}");
    assert!(said.contains("`faulthandler` wrote no traceback") && !said.contains("in_the_worker"), "{said}");
    // In a group of its own and without the kernel's sockets, it outlives the kernel, and is older than the one that
    // follows.
    let (codes, said, worker) = dies(
        &mut kernel,
        "os.setpgid(0, 0); os.closerange(3, 4096); time.sleep(600)",
        "os.kill(os.getpid(), 9)",
        false,
    );
    assert_eq!(codes, ["kernel-killed-signal"], "{said}");
    let (codes, said, _) = dies(&mut kernel, "pass", "os._exit(5)", false);
    end_with(worker, "-KILL");
    assert_eq!(codes, ["kernel-exited"], "{said}");
    let eats = "x = [b'x' * 10_000_000 for _ in range(1000)]";
    let (codes, said, _) = dies(&mut kernel, eats, "os.kill(os.getpid(), 9)", true);
    assert_eq!(codes, ["kernel-killed-signal"], "its worker was killed because memory ran out: {said}");
}
