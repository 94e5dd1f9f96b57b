//! Looking at a machine: fakes for the GPU, the rest real.

use crate::support::python;
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
    assert!(outcome.stderr.contains("warning[machine-unreadable]"), "{}", outcome.stderr);
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
