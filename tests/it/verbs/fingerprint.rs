//! Looking at a machine: fakes for the GPU, the rest real.

use crate::support::python;
use crate::support::said::Said as _;
use crate::support::test::Test;

pub(super) const T4: &str = "[driver]\n580.82.07\n[gpus]\nTesla T4, 7.5\n[header]\n| NVIDIA-SMI 580.82.07  Driver Version: 580.82.07  CUDA Version: 13.0 |\n";

pub(super) fn world(smi: &str) -> Test {
    let test = Test::new().fake("nvidia-smi").file("smi.txt", smi);
    let file = test.path("smi.txt").display().to_string();
    let folder = python::interpreter().parent().expect("a folder").display().to_string();
    let path = format!("{}:{folder}:/usr/bin:/bin", test.path("bin").display());
    test.set("FAKE_SMI", file).set("PATH", path)
}

#[test]
fn facts_say_where_they_came_from() {
    let test = world(T4).file("root/sys/module/nvidia/version", "580.82.07\n");
    let text = test.run(&["fingerprint"]).expect(0).stdout;
    assert!(text.contains("driver     580.82.07  (/sys/module/nvidia/version)"), "{text}");
    assert!(text.contains("Tesla T4, compute capability 7.5"), "{text}");
    let overridden = test.run(&["fingerprint", "--driver", "535.104.05", "--gpu", "L4"]).expect(0).stdout;
    assert!(overridden.contains("535.104.05  (--driver)") && overridden.contains("NVIDIA L4"), "{overridden}");
    let test = test.set("COLAB_BOOT_DRIVER", "550.54.15");
    assert!(test.run(&["fingerprint"]).expect(0).stdout.contains("550.54.15"));
}

#[test]
fn a_malformed_source_is_a_finding_and_passed_over() {
    let test = world(T4).file("root/sys/module/nvidia/version", "garbage\n");
    let outcome = test.run(&["fingerprint"]).expect(0);
    assert!(outcome.reports("warning[machine-unreadable]"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("580.82.07"), "{}", outcome.stdout);
}

#[test]
fn the_newer_header_of_nvidia_smi_is_parsed() {
    let smi = "[driver]\nnot a version\n[gpus]\nNVIDIA L4, 8.9\n[header]\n| NVIDIA-SMI 610.43.02   KMD Version: 610.43.02   CUDA UMD Version: 13.3 |\n";
    let text = world(smi).run(&["fingerprint"]).expect(0).stdout;
    assert!(text.contains("610.43.02"), "{text}");
}

#[test]
fn a_driver_that_hangs_or_fails_is_no_driver() {
    for manner in ["hang", "fail"] {
        let outcome = world(T4).set("FAKE_SMI", manner).run(&["fingerprint"]).expect(0);
        assert!(outcome.stdout.contains("driver     none"), "{manner}: {}", outcome.stdout);
        assert!(outcome.stderr.contains("machine-unreadable"), "{manner}: {}", outcome.stderr);
    }
}

#[test]
fn a_fingerprint_can_be_shown_to_anybody() {
    let test = world(T4).file("home/ada/.keep", "");
    let venv = test.path("home/ada/secret-project/.venv");
    let made =
        std::process::Command::new(python::interpreter()).args(["-m", "venv", "--without-pip"]).arg(&venv).status();
    assert!(made.expect("a Python").success());
    let folder = test.folder.path().display().to_string();
    let test = test
        .set("HOME", format!("{folder}/home/ada"))
        .set("USER", "ada")
        .set("VIRTUAL_ENV", venv.display().to_string())
        .set("PIP_INDEX_URL", "https://ada:pw@mirror.intern.example/simple")
        .set("COLAB_BOOT_INDEX_URL", "https://mirror.intern.example/simple")
        .set("LD_LIBRARY_PATH", format!("/usr/lib64-nvidia:{folder}/home/ada/cuda"))
        .set("HF_TOKEN", "hf_thevalue");
    let out = test.run(&["fingerprint", "--json=seen.json"]).expect(0);
    let record = std::fs::read_to_string(test.path("seen.json")).expect("a record");
    for word in [folder.as_str(), "ada", "secret-project", "intern.example", "simple", "hf_thevalue"] {
        assert!(!record.contains(word) && !out.stdout.contains(word), "{word}: {out:?}\n{record}");
    }
    assert!(record.contains("HF_TOKEN") && record.contains("/python/lib/python3"), "{record}");
    // It is a machine still.
    let test = test.file("p.toml", "[profile]\nname = \"p\"\nversion = \"1.0.0\"\n[packages]\nrich = \"*\"\n");
    let again = test.run(&["fingerprint", "--machine", "seen.json", "--json"]).expect(0);
    let observed =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON")["report"]["observed"].clone();
    assert_eq!(observed(&again.stdout), observed(&record));
}

#[test]
fn two_days_of_a_machine_are_held_against_each_other() {
    let test = world(T4);
    test.run(&["fingerprint", "--json=monday.json"]).expect(0);
    let same = test.run(&["diff", "monday.json", "--strict"]).expect(0);
    assert_eq!(same.stdout, "diff: nothing differs\n");
    let test = test.file("smi.txt", "[driver]\n550.54.15\n[gpus]\nNVIDIA L4, 8.9\n").set("CUDA_VISIBLE_DEVICES", "-1");
    let out = test.run(&["diff", "monday.json"]).expect(0);
    for said in [
        "!  driver                             580.82.07 -> 550.54.15  [driver-too-old]",
        "!  gpu                                Tesla T4 (7.5) -> NVIDIA L4 (8.9)  [gpu-not-covered]",
        "!  variables CUDA_VISIBLE_DEVICES     + set  [gpu-visible-env]",
    ] {
        assert!(out.stdout.contains(said), "{said}: {out:?}");
    }
    let strict = test.run(&["diff", "monday.json", "--strict", "--json"]).expect(1);
    assert!(strict.codes().contains(&"driver-too-old".to_owned()), "{strict:?}");
    let images = test.run(&["diff", "colab-2026.04", "colab-2026.07"]).expect(0);
    assert!(images.stdout.contains("2.10.0+cu128 -> 2.11.0+cu128"), "{images:?}");
    for (arguments, said) in [
        (["diff", "tuesday.json"], "there is no file `tuesday.json`"),
        (["diff", "smi.txt"], "is not a machine record"),
        (["diff", "colab-1999"], "or name a file"),
    ] {
        let out = test.run(&arguments).expect(2);
        assert!(out.stderr.contains(said), "{out:?}");
    }
}
