//! Judgements of what the probes print, on machines that are not here.

use crate::core::diag::Severity;
use crate::core::matrix::{Figures, Matrix};
use crate::health::probe::disk::{DiskOutput, Folder, Samples};
use crate::health::probe::{Probed, Verdict, disk, gpu, loader, nccl, rendered};

fn folder() -> Folder {
    Folder { path: "/data".into(), kind: "ext4".to_owned(), only_read: false }
}

fn judged(json: &str, need: Option<f64>) -> Probed {
    let looked: DiskOutput = serde_json::from_str(json).expect("what storage.py prints");
    let mut probed = Probed::default();
    let samples = Samples { size: 150e3, workers: 2, need };
    let figures = Figures::bundled().expect("figures.toml");
    disk::judge(&folder(), &looked, samples, figures, &mut probed);
    probed
}

fn codes(probed: &Probed) -> Vec<(&'static str, Severity)> {
    probed.findings.iter().map(|finding| (finding.code.as_str(), finding.severity)).collect()
}

fn local(open: f64, how: &str, reads: &str) -> String {
    format!(
        r#"{{"large": {{"bytes": 67108864, "write_synced": 5e8, "read_how": "{how}", "reads": {reads}}},
            "small": {{"create": null, "stat": null, "open_read": {{"p50": {open}, "p95": {open}}}, "list": 0.1, "files": 200}}, "existing": null}}"#
    )
}

#[test]
fn a_quick_disk_is_well_and_a_slow_one_is_not() {
    let well = judged(&local(7e-6, "cold", "[1e9, 1.1e9, 9e8]"), None);
    assert!(well.findings.is_empty(), "{:?}", well.findings);
    let read = well.measures.iter().find(|one| one.what == "read").expect("a row");
    assert_eq!((read.figure, read.verdict), (Some(1e9), Verdict::Good));
    for (open, severity) in [(2e-3, Severity::Warning), (20e-3, Severity::Error)] {
        assert_eq!(codes(&judged(&local(open, "cold", "[1e9]"), None)), [("storage-slow", severity)]);
    }
    assert_eq!(codes(&judged(&local(7e-6, "cold", "[1e9]"), Some(1e6))), [("storage-slow", Severity::Error)]);
    let shown = rendered(&well);
    assert!(
        shown.contains("1.0 GB/s") && shown.contains("7 µs") && shown.lines().all(|line| line.chars().count() <= 110),
        "{shown}"
    );
}

#[test]
fn what_comes_from_memory_or_swings_is_not_judged() {
    for (how, reads) in [("cached", "[9e9]"), ("cold", "[1e9, 2e8, 1e8]"), ("cached", "[]")] {
        let probed = judged(&local(7e-6, how, reads), None);
        let read = probed.measures.iter().find(|one| one.what == "read").expect("a row");
        assert_eq!(read.verdict, Verdict::Open, "{how} {reads}");
    }
}

#[test]
fn a_mount_with_too_many_names_is_found() {
    let with = |names: u64| {
        judged(
            &format!(
                r#"{{"large": null, "small": null, "existing": {{"open_read": {{"p50": 5e-5, "p95": 1e-4}}, "read": 1e8, "files": 50,
                    "names": {names}, "list": 2.0, "whole": false, "size": 150000}}}}"#
            ),
            None,
        )
    };
    assert_eq!(codes(&with(200)), []);
    assert_eq!(codes(&with(15_000)), [("folder-too-big", Severity::Warning)]);
    assert_eq!(codes(&with(150_000)), [("folder-too-big", Severity::Error)]);
}

#[test]
fn workers_that_gain_nothing_and_memory_that_is_too_small_are_found() {
    let looked: loader::LoaderOutput = serde_json::from_str(
        r#"{"rounds": [{"workers": 0, "rate": 10, "error": null}, {"workers": 1, "rate": 11, "error": null}, {"workers": 2, "rate": 20, "error": null},
            {"workers": 8, "rate": 20.5, "error": null}]}"#,
    )
    .expect("what loader.py prints");
    let wish = loader::LoaderWish { workers: Some(8), batch: 1 << 20, cpus: 2, seconds: 1.0 };
    let probed = loader::judge(&looked, &wish, 1 << 30, 0.1);
    assert_eq!(codes(&probed), [("workers-too-many", Severity::Warning)]);
    assert!(probed.meaning[0].starts_with("use num_workers=2"), "{:?}", probed.meaning);
    let looked = serde_json::from_str(
        r#"{"rounds": [{"workers": 0, "rate": 10, "error": null}, {"workers": 2, "rate": null, "error": "No space left on device"}]}"#,
    );
    let looked: loader::LoaderOutput = looked.expect("what loader.py prints");
    assert_eq!(codes(&loader::judge(&looked, &wish, 1 << 20, 0.1)), [("shm-small", Severity::Error)]);
}

const T4: &str = r#"{"error": null, "name": "Tesla T4", "capability": [7, 5], "context_seconds": 0.2,
    "memory": {"free": 15e9, "total": 16e9, "largest": LARGEST, "asked": 1, "reserve": 268435456},
    "copies": {"up": 6e9, "down": 6e9, "within": WITHIN, "right": RIGHT, "spread": 1.1},
    "products": {"library": "libcublas.so.12", "kinds": {"fp32": {"rate": FP32, "spread": 1.0, "error": null},
        "bf16": {"rate": null, "error": "needs compute capability 8.0"}}}}"#;

fn t4(values: [&str; 4]) -> Vec<(&'static str, Severity)> {
    let names = ["LARGEST", "WITHIN", "RIGHT", "FP32"];
    let text = names.iter().zip(values).fold(T4.to_owned(), |text, (name, value)| text.replace(name, value));
    let matrix = Matrix::bundled().expect("the matrix");
    codes(&gpu::judge(&serde_json::from_str(&text).expect("what gpu.py prints"), &matrix).expect("judged"))
}

#[test]
fn a_card_is_held_against_its_data_sheet() {
    assert_eq!(t4(["14.7e9", "240e9", "true", "4.5e12"]), []);
    assert_eq!(t4(["2e9", "240e9", "true", "4.5e12"]), [("vram-largest-block", Severity::Warning)]);
    assert_eq!(t4(["14.7e9", "20e9", "true", "4.5e12"]), [("gpu-slow", Severity::Warning)]);
    assert_eq!(t4(["14.7e9", "240e9", "false", "4.5e12"]), [("gpu-wrong", Severity::Error)]);
    assert_eq!(t4(["14.7e9", "240e9", "true", "1e12"]), [("gpu-slow", Severity::Warning)]);
    let matrix = Matrix::bundled().expect("the matrix");
    let none = serde_json::from_str(r#"{"error": "cuInit: CUDA_ERROR_NO_DEVICE (100)"}"#).expect("what gpu.py prints");
    assert_eq!(codes(&gpu::judge(&none, &matrix).expect("judged")), [("cuda-init", Severity::Error)]);
}

#[test]
fn cards_that_do_not_work_together_are_found() {
    let judged = |json: &str| codes(&nccl::judge(&serde_json::from_str(json).expect("what nccl.py prints"), 2));
    assert_eq!(
        judged(r#"{"peers": [[0, 1, true]], "right": true, "seconds": 0.1, "rate": 1e10, "version": 22809}"#),
        []
    );
    assert_eq!(judged(r#"{"peers": [[0, 1, false]], "right": true}"#), [("nccl-peer", Severity::Note)]);
    assert_eq!(judged(r#"{"peers": [], "right": false}"#), [("nccl-peer", Severity::Error)]);
    assert_eq!(judged(r#"{"error": "no end after 60 s"}"#), [("nccl-peer", Severity::Error)]);
}
