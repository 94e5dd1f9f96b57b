//! What was read from wheels by another program (`tests/facts/`), against what we read and what the matrix says.
//!
//! `wheel-cuda-probe.csv`: 111 readings of 2026-11-21 by a Python reader of zip directories, ELF and fat binary
//! headers. `gpu-support.csv`: which GPU runs them how, by NVIDIA's documented rules. The whole of the first is
//! compared with the wheels by `benches/facts.py`; here a sample is.

use std::collections::BTreeMap;
use std::path::Path;

use colab_boot::core::matrix::Matrix;
use colab_boot::core::model::{Architecture, ComputeCapability};

use crate::support::python::{self, reachable};
use crate::support::test::Test;

/// The rows of a file, by column.
fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts").join(name);
    let text = std::fs::read_to_string(path).expect(name);
    let mut lines = text.lines().map(cells);
    let head = lines.next().expect("a first line");
    lines.map(|line| head.iter().cloned().zip(line).collect()).collect()
}

/// The cells of a line; only a cell in quotes has commas.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("a cell").push(character),
        }
    }
    cells
}

fn architectures(row: &BTreeMap<String, String>) -> Vec<Architecture> {
    row["archs"].split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// `sass:sm_86`, `ptx:compute_90` or `no`: the nearest code that runs.
fn runs(all: &[Architecture], capability: ComputeCapability) -> String {
    let best = |ptx: bool| {
        let fitting = all.iter().filter(|one| one.ptx == ptx && one.covers(capability));
        fitting.max_by_key(|one| (one.capability, one.suffix.is_none())).map(ToString::to_string)
    };
    let sass = best(false).map(|name| format!("sass:{name}"));
    sass.or_else(|| best(true).map(|name| format!("ptx:{name}"))).unwrap_or_else(|| "no".to_owned())
}

#[test]
fn every_gpu_runs_what_nvidias_rules_say() {
    let probes = rows("wheel-cuda-probe.csv");
    let gpus = [
        ("K80", "3.7"),
        ("P4", "6.1"),
        ("P100", "6.0"),
        ("V100", "7.0"),
        ("T4", "7.5"),
        ("A100", "8.0"),
        ("L4", "8.9"),
        ("H100/H200", "9.0"),
        ("B200", "10.0"),
        ("G4 RTX PRO 6000", "12.0"),
    ];
    let mut compared = 0;
    for row in rows("gpu-support.csv") {
        let of_row = |probe: &&BTreeMap<String, String>| {
            probe["package"] == row["package"] && probe["version"] == row["version"] && !probe["archs"].is_empty()
        };
        let Some(probe) = probes.iter().find(of_row) else {
            continue;
        };
        for (gpu, capability) in gpus {
            let runs = runs(&architectures(probe), capability.parse().expect("a capability"));
            assert_eq!(runs, row[gpu], "{} {} on {gpu}", row["package"], row["version"]);
            compared += 1;
        }
    }
    assert_eq!(compared, 1090, "109 rows, 10 GPUs");
}

#[test]
fn the_bundled_rows_are_what_was_read() {
    let matrix = Matrix::bundled().expect("the matrix");
    let mut compared = 0;
    for probe in rows("wheel-cuda-probe.csv") {
        let (name, version) = (probe["package"].parse().expect("a name"), probe["version"].parse().expect("a version"));
        let Some(row) = matrix.build(&name, &version).filter(|_| !probe["archs"].is_empty()) else {
            continue;
        };
        let mut all: Vec<Architecture> = row.sass.iter().chain(&row.ptx).cloned().collect();
        let mut expected = architectures(&probe);
        all.sort();
        expected.sort();
        assert_eq!(all, expected, "{name} {version}");
        compared += 1;
    }
    assert!(compared >= 60, "{compared}");
}

#[test]
fn a_sample_of_wheels_says_the_same_again() {
    if !reachable() {
        eprintln!("skipped: the package index can't be reached from here");
        return;
    }
    let test = python::with_network(Test::new());
    // One of each method, and none that is dear to read.
    let sample =
        ["torch 2.9.1", "tensorflow 2.21.0", "jax-cuda12-plugin 0.9.2", "torchvision 0.25.0", "cupy-cuda13x 14.1.1"];
    let probes = rows("wheel-cuda-probe.csv");
    let specs: Vec<String> = sample.iter().map(|text| text.replace(' ', "==")).collect();
    let mut arguments = vec!["matrix", "inspect", "--json", "--python", "3.12", "--platform", "manylinux_2_39_x86_64"];
    arguments.extend(specs.iter().map(String::as_str));
    let report = test.run(&arguments).expect(0).json();
    let builds = report["report"]["builds"].as_array().cloned().unwrap_or_default();
    assert_eq!(builds.len(), sample.len());
    for (build, name) in builds.iter().zip(sample) {
        let is = |probe: &&BTreeMap<String, String>| format!("{} {}", probe["package"], probe["version"]) == name;
        let words = |key: &str| serde_json::from_value::<Vec<Architecture>>(build[key].clone()).expect(key);
        let mut read = [words("sass"), words("ptx")].concat();
        read.sort();
        // tensorflow 2.21 is not in the facts; its text file is known to say this.
        let expected = match probes.iter().find(is) {
            Some(probe) => architectures(probe),
            None => ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"].map(|word| word.parse().expect(word)).to_vec(),
        };
        let mut expected = expected;
        expected.sort();
        assert_eq!(read, expected, "{name}");
        // A few for what it was built for, and one for each group of libraries that lie side by side.
        assert!(build["requests"].as_u64().is_some_and(|count| count <= 24), "{name}: {}", build["requests"]);
    }
}
