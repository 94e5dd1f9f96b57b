//! Plans from small locks and machines.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::ledger::{Before, Ledger, Notes, Step};
use crate::boot::lock::{LockedApt, LockedFrom, LockedPackage, LockedTarget, LockedWheel};
use crate::boot::machine::{Installed, Kernel, Machine, Recorded, Runtimes};
use crate::boot::notebook::{Loaded, Modules, read_facts};
use crate::boot::plan::{Basis, Decision, Kind, Plan, Wish, decide, variables_for};
use crate::boot::profile::Profile;
use crate::core::diag::{Code, Source, Subject};
use crate::core::matrix::Matrix;
use crate::core::model::{PackageName, Sha256};

fn name(text: &str) -> PackageName {
    text.parse().expect("a name")
}

fn locked(text: &str, version: &str) -> LockedPackage {
    let wheel = LockedWheel {
        file: format!("{}-{version}-py3-none-any.whl", text.replace('-', "_")),
        sha256: Some(Sha256::of(b"")),
        size: Some(100),
        index: "default".into(),
        metadata: None,
        from: None,
        commit: None,
    };
    LockedPackage {
        name: name(text),
        version: version.parse().expect("a version"),
        from: LockedFrom::Wheel(wheel),
        why: vec![],
    }
}

fn installed(version: &str, requires: &[&str]) -> Installed {
    Installed {
        version: version.parse().expect("a version"),
        requires: Some(Recorded::new(requires.iter().map(|line| (*line).to_owned()).collect())),
        direct: false,
        location: None,
        installer: String::new(),
    }
}

fn machine(packages: &[(&str, Installed)]) -> Machine {
    let mut machine = Runtimes::bundled().expect("the images").find("colab-2026.07-cpu").expect("a runtime").machine();
    machine.installed = packages.iter().map(|(text, one)| (name(text), one.clone())).collect();
    machine.debian = crate::boot::machine::Debian::default();
    machine.pins.clear();
    machine
}

fn decided(packages: Vec<LockedPackage>, machine: &Machine, ledger: &Ledger, before: &[LockedPackage]) -> Decision {
    let text = "[profile]\nname='a'\nversion='1.0.0'\n[packages]\na='*'\n[env]\nMY_OWN='1'\n";
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
        accept: vec![],
        packages,
    };
    let matrix = Matrix::bundled().expect("the matrix");
    let before = before.iter().map(|package| (package.name.clone(), package.clone())).collect();
    decide(Basis {
        wish: &Wish::of(&profile, variables_for(&profile, &target).all),
        target: &target,
        machine,
        matrix: &matrix,
        prune: true,
        offline: false,
        from_lock: true,
        ledger,
        notes: &Notes::default(),
        doubted: &[],
        before: &before,
        broken: &BTreeMap::new(),
        silent: &BTreeSet::new(),
        linked: &std::collections::BTreeMap::new(),
        sharing: &std::collections::BTreeMap::new(),
        environment_file: None,
        history: &[],
        loaded: &holding("numpy jax"),
        modules: &std::collections::BTreeMap::new(),
        folders: &[],
    })
}

fn holding(modules: &str) -> Loaded {
    Loaded { modules: Modules::Reported(Box::new(read_facts(modules).expect("a list"))), ..Loaded::default() }
}

fn planned(packages: Vec<LockedPackage>, machine: &Machine) -> Plan {
    decided(packages, machine, &Ledger::default(), &[]).plan
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
fn a_new_package_that_python_reads_at_startup_makes_a_kernel_restart() {
    let mut machine = machine(&[]);
    machine.kernel = Some(Kernel { pid: 1, start_time: 5 });
    let why = |package: &str| decided(vec![locked(package, "1.0")], &machine, &Ledger::default(), &[]).restart.because;
    assert!(!why("plain").iter().any(|reason| reason.contains("plain")));
    assert!(why("setuptools").contains(&"setuptools brings a `.pth` file, which Python reads at startup".to_owned()));
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
    let mut machine = machine(&[("numpy", installed("1.26.4", &[])), ("attrs", installed("1.0", &[]))]);
    machine.runtime = None;
    let decide = |machine: &Machine, packages| decided(packages, machine, &Ledger::default(), &[]).restart;
    assert!(!decide(&machine, vec![locked("numpy", "2.1.3")]).needed, "no kernel");
    machine.kernel = Some(Kernel { pid: 7, start_time: 1 });
    let because = decide(&machine, vec![locked("numpy", "2.1.3"), locked("jax", "0.7.2")]).because;
    assert_eq!(
        because,
        [
            "numpy is loaded and changes from 1.26.4 to 2.1.3",
            "`MY_OWN` changes for the kernel; it is unknown when code reads it"
        ],
        "what is new can't be loaded, and the variable is in no row"
    );
    let other = decide(&machine, vec![locked("attrs", "2.0")]).because;
    assert_eq!(other.len(), 1, "what is not loaded needs none: {other:?}");
}

/// A ledger in which these were put there: name, version, what was there before.
fn ledger(entries: &[(&str, &str, Option<&str>)]) -> Ledger {
    let steps: Vec<Step> = entries
        .iter()
        .map(|(text, version, was)| Step {
            name: name(text),
            present: was.map(|text: &str| Before {
                version: text.parse().expect("a version"),
                installer: String::new(),
                requires: vec![],
                direct: false,
                contents: None,
                edited: vec![],
            }),
            becomes: Some((version.parse().expect("a version"), None)),
        })
        .collect();
    Ledger::default().after(&steps, "p 1.0.0", Sha256::of(b"lock"))
}

#[test]
fn unwanted_packages_go_and_replaced_ones_come_back() {
    let machine = machine(&[
        ("ours", installed("1.0", &[])),
        ("replaced", installed("2.0", &[])),
        ("lost", installed("2.0", &[])),
        ("needed", installed("1.0", &[])),
        ("image", installed("1.0", &["needed>=1"])),
        ("changed", installed("9.0", &[])),
        // Its version of the lock needs nothing.
        ("wanted", installed("0.9", &["ours>=1"])),
    ]);
    let ledger = ledger(&[
        ("ours", "1.0", None),
        ("replaced", "2.0", Some("1.0")),
        ("lost", "2.0", Some("1.0")),
        ("needed", "1.0", None),
        ("changed", "1.0", None),
        ("wanted", "0.9", None),
        ("gone", "1.0", None),
    ]);
    let decision = decided(vec![locked("wanted", "1.0")], &machine, &ledger, &[locked("replaced", "1.0")]);
    let steps: Vec<_> = decision.plan.changes.iter().map(|change| (change.name.to_string(), change.kind)).collect();
    let expected = [("ours", Kind::Remove), ("wanted", Kind::Upgrade), ("replaced", Kind::Downgrade)];
    assert_eq!(steps, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let kept = decision.findings.iter().filter(|finding| finding.code == Code::PlanPruneKept);
    let kept: Vec<&str> = kept.flat_map(|finding| finding.about.iter().map(Subject::name)).collect();
    assert_eq!(kept, ["lost", "needed"], "{:?}", decision.findings);
}

#[test]
fn a_change_by_another_tool_is_named() {
    let mut machine = machine(&[("a", installed("2.0", &[])), ("b", installed("1.0", &[]))]);
    machine.installed.get_mut(&name("a")).expect("a package").installer = "pip".into();
    let ledger = ledger(&[("a", "1.0", None), ("b", "1.0", None), ("c", "1.0", None)]);
    let all = vec![locked("a", "1.0"), locked("b", "1.0"), locked("c", "1.0")];
    let decision = decided(all, &machine, &ledger, &[]);
    // What an interrupted apply was to replace is there again, by our own hand.
    let mut undone = machine.clone();
    undone.installed.get_mut(&name("a")).expect("a package").installer = "colab-boot".into();
    let mut interrupted = ledger.clone();
    interrupted.distributions.get_mut(&name("a")).expect("an entry").from = Some("2.0".parse().expect("a version"));
    let count = |decision: &Decision| decision.findings.iter().filter(|one| one.code == Code::ForeignChange).count();
    let all_three = || vec![locked("a", "1.0"), locked("b", "1.0"), locked("c", "1.0")];
    assert_eq!(count(&decided(all_three(), &undone, &interrupted, &[])), 1);
    let messages: Vec<String> = decision
        .findings
        .iter()
        .filter(|finding| finding.code == Code::ForeignChange)
        .map(|finding| finding.message.clone())
        .collect();
    let wanted = [
        "a 1.0 was replaced with 2.0 by pip after colab-boot installed it",
        "c 1.0 was removed by another tool after colab-boot installed it, or its metadata was damaged",
    ];
    assert_eq!(messages, wanted);
}
