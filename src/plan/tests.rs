//! Plans from small locks and machines.

use std::collections::BTreeSet;

use crate::diag::Source;
use crate::lock::{LockedApt, LockedPackage, LockedTarget, LockedWheel};
use crate::machine::{Installed, Machine, Recorded, find_runtime};
use crate::matrix::Matrix;
use crate::model::{PackageName, Sha256};
use crate::plan::{Inputs, Kind, Plan, decide_restart, plan};
use crate::profile::Profile;

fn name(text: &str) -> PackageName {
    text.parse().expect("a name")
}

fn locked(text: &str, version: &str) -> LockedPackage {
    let wheel = LockedWheel {
        file: format!("{}-{version}-py3-none-any.whl", text.replace('-', "_")),
        sha256: Some(Sha256::of(b"")),
        size: Some(100),
        index: "default".into(),
    };
    LockedPackage {
        name: name(text),
        version: version.parse().expect("a version"),
        wheel: Some(wheel),
        image_only: None,
        why: vec![],
    }
}

fn installed(version: &str, requires: &[&str]) -> Installed {
    Installed {
        version: version.parse().expect("a version"),
        requires: Some(Recorded::new(requires.iter().map(|line| (*line).to_owned()).collect())),
        direct: false,
        location: None,
    }
}

fn machine(packages: &[(&str, Installed)]) -> Machine {
    let mut machine = find_runtime("colab-2026.07-cpu").expect("a runtime").machine();
    machine.installed = packages.iter().map(|(text, one)| (name(text), one.clone())).collect();
    machine.debian = crate::machine::Debian::default();
    machine.pins.clear();
    machine
}

fn planned(packages: Vec<LockedPackage>, machine: &Machine) -> Plan {
    let text = "[profile]\nname='a'\nversion='1.0.0'\n[packages]\na='*'\n[env]\nA='1'\n";
    let profile =
        Profile::parse(&Source { name: "p".into(), text: text.into() }, std::path::Path::new("/")).expect("a profile");
    let target = LockedTarget {
        name: "t".into(),
        runtime: None,
        python: "3.12.13".parse().expect("a version"),
        platform: "manylinux_2_35_x86_64".into(),
        cuda: None,
        driver_floor: None,
        gpus: vec![],
        apt: vec![LockedApt { name: "ffmpeg".into(), version: None }],
        packages,
    };
    let matrix = Matrix::bundled().expect("the matrix");
    plan(Inputs { profile: &profile, target: &target, machine, matrix: &matrix, broken: &[] })
}

#[test]
fn each_distribution_gets_its_step() {
    let machine = machine(&[
        ("kept", installed("1.0", &[])),
        ("up", installed("1.0", &[])),
        ("down", installed("3.0", &[])),
        ("torch", installed("2.11.0+cu128", &[])),
    ]);
    let versions = [("kept", "1.0"), ("up", "2.0"), ("down", "2.0"), ("torch", "2.11.0"), ("new", "1.0")];
    let plan = planned(versions.iter().map(|(text, version)| locked(text, version)).collect(), &machine);
    let steps: Vec<_> = plan.changes.iter().map(|change| (change.name.to_string(), change.kind)).collect();
    let expected = [("new", Kind::Install), ("up", Kind::Upgrade), ("down", Kind::Downgrade), ("torch", Kind::Replace)];
    assert_eq!(steps, expected.map(|(text, kind)| (text.to_owned(), kind)));
    assert_eq!((plan.kept.len(), plan.download_bytes, plan.apt.len()), (1, 400, 1));
}

#[test]
fn a_library_of_the_other_major_is_removed_before_its_files_are_overwritten() {
    let machine =
        machine(&[("nvidia-cudnn-cu12", installed("9.19.0.56", &[])), ("nvidia-cufft-cu12", installed("1", &[]))]);
    let plan = planned(vec![locked("nvidia-cudnn-cu13", "9.26.0.51")], &machine);
    assert_eq!(plan.changes[0].kind, Kind::Remove);
    assert_eq!(plan.changes[0].name, name("nvidia-cudnn-cu12"));
    assert_eq!(plan.changes.len(), 2);
}

#[test]
fn what_a_removal_takes_along_is_installed_again() {
    let machine =
        machine(&[("nvidia-nccl-cu12", installed("2.28.9", &[])), ("nvidia-nccl-cu13", installed("2.31.2", &[]))]);
    let plan = planned(vec![locked("nvidia-nccl-cu12", "2.28.9")], &machine);
    let steps: Vec<_> = plan.changes.iter().map(|change| (change.name.to_string(), change.kind)).collect();
    assert_eq!(steps, [("nvidia-nccl-cu13".to_owned(), Kind::Remove), ("nvidia-nccl-cu12".to_owned(), Kind::Replace)]);
}

#[test]
fn a_breakage_is_what_the_plan_breaks_and_nothing_else() {
    let machine = machine(&[
        ("numpy", installed("1.26.4", &[])),
        ("old", installed("1.0", &["numpy<2"])),
        ("fine", installed("1.0", &["numpy>=1"])),
        ("broken-before", installed("1.0", &["numpy>=3"])),
        ("elsewhere", installed("1.0", &["numpy<2; sys_platform == 'win32'"])),
    ]);
    let plan = planned(vec![locked("numpy", "2.1.3")], &machine);
    let broken: Vec<_> = plan.breakages.iter().map(|one| one.package.as_str()).collect();
    assert_eq!(broken, ["old 1.0"]);
}

#[test]
fn a_restart_has_reasons_or_is_not_needed() {
    let machine = machine(&[("numpy", installed("1.26.4", &[]))]);
    let plan = planned(vec![locked("numpy", "2.1.3"), locked("jax", "0.7.2")], &machine);
    let loaded: BTreeSet<_> = [name("numpy"), name("jax")].into();
    assert!(!decide_restart(&plan, None, true).needed, "no kernel");
    assert!(!decide_restart(&plan, Some(&BTreeSet::new()), false).needed, "nothing loaded");
    let restart = decide_restart(&plan, Some(&loaded), false);
    assert_eq!(restart.because, ["numpy is loaded and goes from 1.26.4 to 2.1.3"]);
    assert!(decide_restart(&plan, Some(&BTreeSet::new()), true).needed, "the environment changes");
}
