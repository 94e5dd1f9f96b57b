//! Reading what was written gives the same value; writing what was read gives the same bytes; order does not matter.

use crate::boot::lock::{
    FORMAT, Fit, Lock, LockedApt, LockedFrom, LockedPackage, LockedProfile, LockedTarget, LockedWheel, Unreadable,
    read_lock, stale, target_for, write_lock,
};
use crate::core::diag::Code;
use crate::core::matrix::{Hardware, InstalledGpu};
use crate::core::model::accepted::Accepted;
use crate::core::model::{PythonFacts, Sha256};

fn lock() -> Lock {
    let package = |name: &str, version: &str, kept: bool| LockedPackage {
        name: name.parse().expect("a name"),
        version: version.parse().expect("a version"),
        from: if kept {
            LockedFrom::ImageOnly("colab-2026.07-gpu".into())
        } else {
            LockedFrom::Wheel(LockedWheel {
                file: format!("{name}-{version}-py3-none-any.whl"),
                sha256: Some(Sha256::of(name.as_bytes())),
                size: Some(12),
                index: "default".into(),
                metadata: Some("0123456789abcdef0123456789abcdef".into()),
                from: None,
                commit: None,
            })
        },
        why: vec!["profile".into(), "torch".into()],
    };
    let target = |name: &str| LockedTarget {
        name: name.into(),
        runtime: Some(name.into()),
        python: "3.12.13".parse().expect("a version"),
        platform: "manylinux_2_35_x86_64".into(),
        cuda: Some("12.8".parse().expect("a CUDA version")),
        driver_floor: Some("525.60.13".parse().expect("a driver")),
        gpus: vec!["8.9".parse().expect("a capability"), "7.5".parse().expect("a capability")],
        apt: vec![
            LockedApt { name: "libsndfile1".into(), version: Some("1.2-3".into()) },
            LockedApt { name: "ffmpeg".into(), version: None },
        ],
        accept: vec![Accepted {
            package: "torch".parse().expect("a name"),
            code: Code::LibraryMissing,
            because: "the \"toolkit\" is here".into(),
        }],
        packages: vec![package("torch", "2.9.1+cu128", true), package("numpy", "2.1.3", false)],
    };
    Lock {
        version: FORMAT,
        requires: ">=0.1.0".into(),
        matrix: "2026.11.21".into(),
        profile: LockedProfile {
            name: "demo".parse().expect("a name"),
            version: semver::Version::new(2026, 11, 0),
            sha256: Sha256::of(b"profile"),
        },
        targets: vec![target("b"), target("a")],
    }
}

#[test]
fn a_written_lock_reads_and_writes_the_same() {
    let text = write_lock(&lock());
    let again = read_lock(&text).expect("a lock");
    assert_eq!(write_lock(&again), text);
    assert_eq!(again.targets.len(), 2);
    assert_eq!(again.targets[0].packages.len(), 2);
}

#[test]
fn order_does_not_matter() {
    let mut shuffled = lock();
    shuffled.targets.reverse();
    for target in &mut shuffled.targets {
        target.packages.reverse();
        target.gpus.reverse();
        target.apt.reverse();
        target.packages.iter_mut().for_each(|package| package.why.reverse());
    }
    assert_eq!(write_lock(&shuffled), write_lock(&lock()));
}

#[test]
fn a_future_format_is_refused_and_unknown_keys_are_ignored() {
    let text = write_lock(&lock());
    let future = text.replace("version = 2\n", "version = 9\nrequires-more = true\n");
    assert!(matches!(read_lock(&future), Err(Unreadable::Future { version: 9, .. })));
    let newer = text.replace("requires = \">=0.1.0\"", "requires = \">=90.1\"");
    assert!(matches!(read_lock(&newer), Err(Unreadable::Future { version: 2, .. })), "{newer}");
    let newer = text.replace("matrix = ", "colour = \"blue\"\nmatrix = ");
    assert!(read_lock(&newer).is_ok());
    assert!(matches!(read_lock("version = 1\n"), Err(Unreadable::Malformed(_))));
    let Err(Unreadable::Malformed(message)) = read_lock("version = 1\nrequires = \"x\"\nnonsense\n") else {
        panic!("a malformed lock was read");
    };
    assert!(message.starts_with("line 3"), "{message}");
}

#[test]
fn staleness_has_a_reason() {
    let lock = lock();
    assert_eq!(stale(&lock, &lock.profile.sha256, "2026.11.21"), None);
    assert!(stale(&lock, &Sha256::of(b"other"), "2026.11.21").is_some_and(|why| why.contains("profile")));
    assert!(stale(&lock, &lock.profile.sha256, "2027.01.01").is_some_and(|why| why.contains("matrix")));
}

#[test]
fn a_target_fits_or_says_why_not() {
    let lock = lock();
    let python = |version: &str, glibc: u32| PythonFacts {
        version: version.parse().expect("a version"),
        architecture: "x86_64".into(),
        libc: crate::core::model::Libc::Glibc(2, glibc),
        free_threaded: false,
    };
    let hardware = |driver: &str, capability: &str| Hardware {
        driver: driver.parse().ok(),
        gpus: vec![InstalledGpu { name: "a GPU".into(), capability: capability.parse().expect("a capability") }],
        compat: Vec::new(),
    };
    let here = [("torch".parse().expect("a name"), "2.9.1+cu128".parse().expect("a version"))].into();
    let why = |python: &PythonFacts, hardware: &Hardware| match target_for(
        &lock,
        Fit { runtime: None, python, hardware, installed: &here },
    ) {
        Ok(target) => target.name.clone(),
        Err(reasons) => reasons.join("; "),
    };
    assert_eq!(why(&python("3.12.1", 36), &hardware("580.82.07", "7.5")), "b");
    assert!(why(&python("3.13.1", 36), &hardware("580.82.07", "7.5")).contains("Python"));
    assert!(why(&python("3.12.1", 31), &hardware("580.82.07", "7.5")).contains("manylinux"));
    assert!(why(&python("3.12.1", 36), &hardware("520.61.05", "7.5")).contains("driver 525.60.13"));
    assert!(why(&python("3.12.1", 36), &hardware("580.82.07", "6.0")).contains("6.0"));
    let (python, hardware) = (python("3.12.1", 36), Hardware::default());
    let other = Fit { runtime: Some("c"), python: &python, hardware: &hardware, installed: &here };
    assert!(target_for(&lock, other).is_err());
    let empty = std::collections::BTreeMap::new();
    let bare = Fit { runtime: None, installed: &empty, ..other };
    assert!(
        target_for(&lock, bare)
            .is_err_and(|reasons| reasons[0].contains("torch 2.9.1+cu128 is only part of `colab-2026.07-gpu`"))
    );
}

#[test]
fn names_that_would_be_code_in_a_script_are_refused() {
    let text = write_lock(&lock());
    for (from, to) in [
        ("index = \"default\"", "index = \"x$(id)\""),
        ("name = \"a\"", "name = \"a\nid\""),
        ("name = \"ffmpeg\"", "name = \"-o=x\""),
        ("numpy-2.1.3-py3-none-any.whl", "../numpy-2.1.3-py3-none-any.whl"),
        ("numpy-2.1.3-py3-none-any.whl", "scipy-2.1.3-py3-none-any.whl"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(matches!(read_lock(&text.replace(from, to)), Err(Unreadable::Malformed(_))), "{to}");
    }
}
