//! `probe`: real disks and real worker processes; a driver that answers without a GPU.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::object::build_fake;
use crate::support::python::interpreter;
use crate::support::said::Said as _;
use crate::support::test::Test;

/// With a Python, and where nothing but what a test puts there is a driver.
fn world() -> Test {
    Test::new().set("COLAB_BOOT_PYTHON", interpreter().display().to_string())
}

fn left(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").map(|one| one.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_disk_is_measured_and_left_as_it_was() {
    let test = world().file("data/kept.bin", "kept");
    let out = test.run(&["probe", "storage", "data", "--seconds", "3s", "--json"]).expect(0);
    let report = &out.json()["report"];
    let rows = report["measures"].as_array().expect("rows").clone();
    let figure = |what: &str| rows.iter().find(|row| row["what"] == what).and_then(|row| row["figure"].as_f64());
    for what in ["write", "read", "open and read 4 kB", "create 4 kB", "stat", "list", "samples"] {
        assert!(figure(what).is_some_and(|figure| figure > 0.0), "{what}: {rows:?}");
    }
    assert_eq!(left(&test.path("data")), ["kept.bin"]);
    let slow = test.run(&["probe", "storage", "data", "--need", "1e12", "--seconds", "1s"]).expect(1);
    assert!(slow.reports("error[storage-slow]") && slow.stderr.contains("colab-boot stage"), "{slow:?}");
}

#[test]
fn files_that_are_there_are_read_and_nothing_is_written() {
    let mut test = world();
    for number in 0..80 {
        test = test.file(&format!("data/{}/{number}.jpg", number % 3), &"x".repeat(20_000));
    }
    let modified = |test: &Test| test.path("data").metadata().expect("a folder").modified().expect("a time");
    let before = modified(&test);
    let out = test.run(&["probe", "storage", "data", "--read-only", "--seconds", "3s"]).expect(0);
    assert!(out.stdout.contains("50 existing files, median 20 kB"), "{out:?}");
    assert!(out.stdout.contains("83 names") && !out.stdout.contains("create"), "{out:?}");
    assert_eq!(modified(&test), before);
}

#[test]
fn what_a_killed_probe_leaves_is_swept_by_the_next() {
    let test = world().file("data/kept.bin", "kept");
    let mut command = test.command(&["probe", "storage", "data", "--seconds", "60s"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while left(&test.path("data")).len() < 2 {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    // One of a process that lives is somebody else's.
    let other = format!(".colab-boot-probe-{}", std::process::id());
    std::fs::create_dir(test.path("data").join(&other)).expect("a folder");
    test.run(&["probe", "storage", "data", "--seconds", "1s"]).expect(0);
    assert_eq!(left(&test.path("data")), [other.as_str(), "kept.bin"]);
}

#[test]
fn what_can_not_be_measured_is_said() {
    let test = world().file("file.txt", "text");
    for (arguments, code, said) in [
        (&["probe", "storage", "nowhere"][..], 2, "there is no folder"),
        (&["probe", "storage", "file.txt"], 2, "there is no folder"),
        (&["probe", "storage", "--seconds", "2h"], 2, "between 0.5 s and 10 min"),
        (&["probe", "storage", "--runtime", "colab-2026.07"], 2, "only this machine can be measured"),
        (&["probe", "storage", "/proc"], 3, "could not write to `/proc`"),
        (&["probe", "nccl", "--gpu", "T4", "--driver", "550.54.15"], 1, "there is one"),
    ] {
        let out = test.run(arguments).expect(code);
        assert!(out.stderr.contains(said), "{arguments:?}: {out:?}");
    }
    // Among several folders the others are measured.
    let out = test.run(&["probe", "storage", "nowhere", ".", "--seconds", "1s"]).expect(0);
    assert!(out.stdout.contains("not measured") && out.stdout.contains("samples"), "{out:?}");
}

#[test]
fn workers_hand_over_real_batches() {
    let test = world();
    std::fs::create_dir(test.path("root/dev")).expect("a folder");
    std::os::unix::fs::symlink("/dev/shm", test.path("root/dev/shm")).expect("a link");
    let out = test.run(&["probe", "loader", "--workers", "3", "--batch-bytes", "1MB", "--seconds", "3s"]).expect(0);
    assert!(out.stdout.contains("workers: 3, shared memory: 7.0 MB"), "{out:?}");
    let rates = out.stdout.lines().filter(|line| line.contains("/s ")).count();
    assert!(rates >= 4 && out.stdout.contains("num_workers="), "{out:?}");
    let shared = Path::new("/dev/shm");
    assert!(!left(shared).iter().any(|name| name.starts_with(".colab-boot-probe")), "{:?}", left(shared));
}

/// A driver, a cuBLAS and an NCCL from one file.
fn with_driver(test: Test, cards: usize) -> Test {
    let folder = test.path("driver");
    std::fs::create_dir_all(&folder).expect("a folder");
    build_fake("cuda.c", &folder.join("libcuda.so.1"));
    for name in ["libcublas.so.12", "libnccl.so.2"] {
        std::os::unix::fs::symlink("libcuda.so.1", folder.join(name)).expect("a link");
    }
    let names = vec!["T4"; cards].join(",");
    let folder = folder.display().to_string();
    test.set("LD_LIBRARY_PATH", folder).set("COLAB_BOOT_GPU", names).set("COLAB_BOOT_DRIVER", "550.54.15")
}

#[test]
fn a_card_is_measured_through_the_driver_alone() {
    let test = with_driver(world(), 1);
    let out = test.run(&["probe", "gpu"]).expect(0);
    assert!(out.stdout.starts_with(&format!("{:24}measured", "")), "{out:?}");
    for said in [
        "Tesla T4, compute capability 7.5",
        "largest block",
        "attempts: 1",
        "product fp16",
        "needs compute capability 8.0",
    ] {
        assert!(out.stdout.contains(said), "{said}: {out:?}");
    }
    for (fault, code, said) in [
        ("no-device", 1, "CUDA_VISIBLE_DEVICES"),
        ("mismatch", 1, "different versions"),
        ("fragmented", 0, "warning[vram-largest-block]"),
        ("flips", 1, "error[gpu-wrong]"),
        ("slow", 0, "warning[gpu-slow]"),
        ("no-blas", 0, ""),
    ] {
        let mut command = test.command(&["probe", "gpu"]);
        command.env("FAKE_CUDA", fault);
        let out = crate::support::test::Outcome::of(command).expect(code);
        assert!(out.stderr.contains(said), "{fault}: {out:?}");
        assert_eq!(out.stdout.contains("cublasCreate_v2: status 1"), fault == "no-blas", "{out:?}");
    }
}

#[test]
fn somebody_at_work_is_not_disturbed() {
    let smi = "#!/bin/sh\necho '97 %'\n";
    let test = with_driver(world(), 1).file("bin/nvidia-smi", smi);
    std::process::Command::new("chmod").arg("+x").arg(test.path("bin/nvidia-smi")).status().expect("chmod");
    let out = test.run(&["probe", "gpu"]).expect(1);
    assert!(out.reports_about("error[gpu-busy]", "GPU 0"), "{out:?}");
    assert!(!out.stdout.contains("largest block"), "{out:?}");
    test.run(&["probe", "gpu", "--while-busy"]).expect(0);
}

#[test]
#[ignore = "whole"]
fn several_cards_add_up_together() {
    let test = with_driver(world(), 2);
    let out = test.run(&["probe", "nccl"]).expect(0);
    assert!(out.stdout.contains("NCCL 2.28.9") && out.stdout.contains("all-reduce"), "{out:?}");
    for (fault, code, said) in [
        ("apart", 0, "note[nccl-peer]"),
        ("no-nccl", 1, "unhandled system error"),
        ("hang", 1, "not finished after 2 s"),
        ("flips", 1, "the sum is wrong"),
    ] {
        let seconds = if fault == "hang" { "2s" } else { "60s" };
        let mut command = test.command(&["probe", "nccl", "--seconds", seconds]);
        command.env("FAKE_CUDA", fault);
        let out = crate::support::test::Outcome::of(command).expect(code);
        assert!(out.stderr.contains(said), "{fault}: {out:?}");
    }
}
