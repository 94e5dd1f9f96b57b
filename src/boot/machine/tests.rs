//! Sources in all their forms are judged alike.

use crate::boot::machine::raw::{Observed, Said};
use crate::boot::machine::{Runtime, Runtimes, judge};
use crate::core::diag::Code;
use crate::core::matrix::Matrix;

fn said(text: &str) -> Said {
    Said { source: "test".into(), text: Some(text.into()), error: None, timed_out: false }
}

fn driver(texts: &[&str]) -> (Option<String>, Vec<Code>) {
    let matrix = Matrix::bundled().expect("the matrix");
    let observed = Observed { driver: texts.iter().map(|text| said(text)).collect(), ..Observed::default() };
    let (machine, findings) = judge(&observed, &matrix);
    let codes = findings.iter().map(|finding| finding.code).filter(|code| *code == Code::MachineUnreadable).collect();
    (machine.hardware.driver.map(|driver| driver.to_string()), codes)
}

#[test]
fn a_driver_is_read_from_every_form() {
    for text in [
        "580.82.07\n",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Tue Aug 12 00:00:00 UTC 2025\nGCC version: gcc 12.2.0\n",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build\n",
        "| NVIDIA-SMI 580.82.07              Driver Version: 580.82.07      CUDA Version: 13.0     |\n",
        "| NVIDIA-SMI 610.43.02              KMD Version: 580.82.07     CUDA UMD Version: 13.3     |\n",
    ] {
        assert_eq!(driver(&[text]), (Some("580.82.07".into()), vec![]), "{text}");
    }
}

#[test]
fn a_malformed_source_is_a_finding_and_the_next_is_tried() {
    assert_eq!(driver(&["garbage", "580.82.07"]), (Some("580.82.07".into()), vec![Code::MachineUnreadable]));
    assert_eq!(driver(&["\u{1b}[2J", ""]), (None, vec![Code::MachineUnreadable]));
    assert_eq!(driver(&["No devices were found"]), (None, vec![]));
}

#[test]
fn gpus_are_read_with_their_capability() {
    let matrix = Matrix::bundled().expect("the matrix");
    let observed = Observed { gpus: vec![said("Tesla T4, 7.5\nNVIDIA L4, [N/A]\n")], ..Observed::default() };
    let (machine, _) = judge(&observed, &matrix);
    let seen: Vec<_> = machine.hardware.gpus.iter().map(|gpu| gpu.capability.to_string()).collect();
    assert_eq!(seen, ["7.5", "8.9"]);
}

#[test]
fn the_host_is_found_by_variables_and_paths() {
    let matrix = Matrix::bundled().expect("the matrix");
    let observed = Observed {
        environment: [("COLAB_RELEASE_TAG".into(), "release-colab".into())].into(),
        markers: vec!["/var/colab/hostname".into()],
        ..Observed::default()
    };
    assert_eq!(judge(&observed, &matrix).0.host.name, "Colab");
    assert_eq!(judge(&Observed::default(), &matrix).0.host.name, "bare machine");
}

#[test]
fn every_bundled_runtime_is_a_machine() {
    let known = Runtimes::bundled().expect("the images");
    assert!(known.has("colab-2026.07-gpu") && known.has("colab-2026.07"), "{:?}", known.names());
    for (image, _) in known.iter() {
        let (name, machine) = (image.full_name(), image.machine());
        let enough =
            if name.starts_with("bare-") { machine.installed.is_empty() } else { machine.installed.len() > 250 };
        assert!(enough && machine.python.is_some(), "{name}: {}", machine.installed.len());
        assert_eq!(machine.hardware.driver.is_some(), name.ends_with("-gpu"), "{name}");
        let read: Runtime = toml::from_str(&image.to_toml("a title").expect("a file")).expect("as written");
        assert_eq!((read.full_name(), read.machine().installed.len()), (name, machine.installed.len()));
    }
    assert_eq!(known.find("colab-2026.07").expect("a runtime").accelerator.as_deref(), Some("gpu"));
    assert!(known.find("colab-1999.01").expect_err("no runtime").help[0].contains("colab-2026.07"));
}
