//! What differs between machines that are described, and what that could cause.

use crate::boot::machine::{Conditions, Machine, Runtimes, judge};
use crate::boot::machine::{Observed, RawDistribution};
use crate::core::diag::{Code, Severity};
use crate::core::matrix::Matrix;
use crate::health::difference::{Side, compare};

fn machine(changed: impl FnOnce(&mut Observed)) -> (Machine, Option<Conditions>) {
    let text = include_str!("../../../tests/observed/laptop.json");
    let mut observed: Observed = serde_json::from_str(text).expect("a record");
    let one = |name: &str, version: &str| RawDistribution {
        name: name.into(),
        version: version.into(),
        folder: "/nowhere/x.dist-info".into(),
        installer: String::new(),
        direct: false,
        requires: Vec::new(),
        requires_python: String::new(),
    };
    observed.distributions = vec![
        one("torch", "2.10.0+cu128"),
        one("numpy", "2.1.0"),
        one("nvidia-cudnn-cu12", "9.10.2.21"),
        one("rich", "14.0.0"),
    ];
    observed.conditions = Some(Conditions {
        memory: Some(12 << 30),
        shared_memory: Some(6 << 30),
        cpus: Some(2),
        variables: vec!["OMP_NUM_THREADS".into()],
        ..Conditions::default()
    });
    changed(&mut observed);
    let matrix = Matrix::bundled().expect("the matrix");
    (judge(&observed, &matrix).0, observed.conditions)
}

fn said(changed: impl FnOnce(&mut Observed)) -> Vec<(String, Severity, Option<&'static str>)> {
    let (a, b) = (machine(|_| ()), machine(changed));
    let matrix = Matrix::bundled().expect("the matrix");
    let side =
        |(machine, conditions): &'_ (Machine, Option<Conditions>)| -> Vec<(String, Severity, Option<&'static str>)> {
            let own = Side { machine: &a.0, conditions: a.1.as_ref(), image: None };
            let other = Side { machine, conditions: conditions.as_ref(), image: None };
            let rows = compare(own, other, &matrix);
            rows.into_iter()
                .map(|row| {
                    (
                        format!("{} {}", row.class, row.name).trim_end().to_owned(),
                        row.severity,
                        row.code.map(Code::as_str),
                    )
                })
                .collect()
        };
    side(&b)
}

fn to(observed: &mut Observed, name: &str, version: &str) {
    let one = observed.distributions.iter_mut().find(|one| one.name == name).expect(name);
    version.clone_into(&mut one.version);
}

#[test]
fn a_machine_does_not_differ_from_itself() {
    assert_eq!(said(|_| ()), []);
}

#[test]
fn each_difference_names_what_it_could_cause() {
    let (note, warning) = (Severity::Note, Severity::Warning);
    let row = |class: &str, severity, code: &'static str| {
        vec![(class.to_owned(), severity, (!code.is_empty()).then_some(code))]
    };
    assert_eq!(said(|b| to(b, "torch", "2.11.0+cu128")), row("packages torch", warning, "family-broken"));
    assert_eq!(said(|b| to(b, "torch", "2.10.0")), row("packages torch", warning, "family-broken"));
    assert_eq!(said(|b| to(b, "rich", "15.0.0")), row("packages rich", note, ""));
    assert_eq!(
        said(|b| to(b, "nvidia-cudnn-cu12", "9.1.0")),
        row("packages nvidia-cudnn-cu12", warning, "library-too-old")
    );
    assert_eq!(said(|b| to(b, "nvidia-cudnn-cu12", "9.19.0")), row("packages nvidia-cudnn-cu12", note, ""));
    assert_eq!(
        said(|b| drop(b.distributions.remove(2))),
        row("packages nvidia-cudnn-cu12", warning, "library-missing")
    );
    assert_eq!(said(|b| b.boot_id = "another".into()), row("boot", note, "vm-new"));
    assert_eq!(said(|b| b.python.as_mut().expect("a Python").version = "3.12.2".into()), row("python", note, ""));
    assert_eq!(
        said(|b| b.python.as_mut().expect("a Python").version = "3.13.1".into()),
        row("python", warning, "machine-not-planned")
    );
    assert_eq!(said(|b| b.conditions = None), []);
    let with = |change: fn(&mut Conditions)| said(|b| change(b.conditions.as_mut().expect("conditions")));
    assert_eq!(with(|b| b.memory = Some(6 << 30)), row("memory", warning, "ram-low"));
    assert_eq!(with(|b| b.memory = Some(24 << 30)), row("memory", note, ""));
    assert_eq!(with(|b| b.memory = Some((12 << 30) - 1)), []);
    assert_eq!(with(|b| b.shared_memory = Some(64 << 20)), row("shared memory", warning, "shm-small"));
    assert_eq!(with(|b| b.cpus = Some(8)), row("cpus", note, "workers-too-many"));
    assert_eq!(
        with(|b| b.variables.push("LD_LIBRARY_PATH".into())),
        row("variables LD_LIBRARY_PATH", warning, "ld-library-path")
    );
    assert_eq!(with(|b| b.variables.clear()), row("variables OMP_NUM_THREADS", note, ""));
    assert_eq!(
        with(|b| b.mounts.extend([("fuse.drive".to_owned(), 1)])),
        row("mounts fuse.drive", note, "data-remote")
    );
}

#[test]
fn drivers_and_cards_are_compared() {
    let smi = |driver: &str, gpu: &str| {
        let said = |source: &str, text: &str| crate::boot::machine::Said {
            source: source.into(),
            text: Some(text.into()),
            error: None,
            timed_out: false,
        };
        let mut observed =
            Observed { driver: vec![said("smi", driver)], gpus: vec![said("smi", gpu)], ..Observed::default() };
        observed.schema = 1;
        judge(&observed, &Matrix::bundled().expect("the matrix")).0
    };
    let matrix = Matrix::bundled().expect("the matrix");
    let rows = |a: &Machine, b: &Machine| -> Vec<(&'static str, Severity, Option<&'static str>)> {
        let side = |machine| Side { machine, conditions: None, image: None };
        let rows = compare(side(a), side(b), &matrix);
        rows.into_iter()
            .filter(|row| row.name.is_empty())
            .map(|row| (row.class, row.severity, row.code.map(Code::as_str)))
            .collect()
    };
    let (t4, l4) = (smi("580.82.07", "Tesla T4, 7.5"), smi("550.54.15", "NVIDIA L4, 8.9"));
    let none = judge(&Observed::default(), &matrix).0;
    assert_eq!(
        rows(&t4, &l4),
        [("driver", Severity::Warning, Some("driver-too-old")), ("gpu", Severity::Warning, Some("gpu-not-covered"))]
    );
    assert_eq!(
        rows(&t4, &none),
        [("driver", Severity::Warning, Some("gpu-absent")), ("gpu", Severity::Warning, Some("gpu-absent"))]
    );
    assert_eq!(rows(&none, &t4), [("driver", Severity::Note, None), ("gpu", Severity::Note, Some("gpu-changed"))]);
    // Bundled images differ in what they are made of.
    let image = |name| Runtimes::bundled().expect("the images").find(name).expect(name).machine();
    let rows = compare(
        Side { machine: &image("colab-2026.04"), conditions: None, image: Some("a") },
        Side { machine: &image("colab-2026.07"), conditions: None, image: Some("b") },
        &matrix,
    );
    assert!(rows.iter().any(|row| row.name == "torch" && row.severity == Severity::Warning));
}
