//! The bundled files agree with themselves, and the verdict with the published facts.

use std::collections::BTreeSet;

use crate::core::matrix::{Hardware, InstalledGpu, LinkFile, Matrix, Reason, Verdict, coverage, verdict};
use crate::core::model::{Architecture, CudaVersion, DriverVersion, VersionRange};

fn matrix() -> Matrix {
    Matrix::bundled().expect("the bundled matrix")
}

fn hardware(matrix: &Matrix, driver: &str, gpus: &[&str]) -> Hardware {
    let gpu = |name: &&str| {
        let row = matrix.gpu(name).expect("a GPU of the matrix");
        InstalledGpu { name: row.product.clone(), capability: row.compute_capability }
    };
    Hardware {
        driver: Some(driver.parse().expect("a driver")),
        gpus: gpus.iter().map(gpu).collect(),
        compat: Vec::new(),
    }
}

fn judge(package: &str, version: &str, driver: &str, gpus: &[&str]) -> Verdict {
    let matrix = matrix();
    let build = matrix
        .build(&package.parse().expect("a name"), &version.parse().expect("a version"))
        .unwrap_or_else(|| panic!("no row for {package} {version}"));
    verdict(&matrix, build, &hardware(&matrix, driver, gpus))
}

#[test]
fn rows_are_coherent() {
    let matrix = matrix();
    assert!(matrix.toolkits.is_sorted_by_key(|row| row.cuda), "toolkits are sorted");
    assert!(matrix.branches.is_sorted_by_key(|row| row.branch), "branches are sorted");
    for row in &matrix.toolkits {
        assert!(!row.source.is_empty());
        if let Some(driver) = &row.driver {
            assert!(*driver >= row.minor_compat_driver || row.cuda.minor == 0, "CUDA {}: {driver}", row.cuda);
        }
    }
    for package in matrix.builds.packages() {
        let rows = super::parse::<Vec<super::Build>>(&format!("builds/{package}"));
        assert_eq!(rows.as_deref(), Ok(matrix.builds_of(package)));
    }
    assert!(matrix.builds.all().count() > 300);
    for row in matrix.builds.all() {
        let name = format!("{} {}", row.package, row.version);
        let derived = row.wheel.is_some() && row.sha256.is_some();
        let curated = row.link.is_some() && row.checked.is_some();
        assert_eq!((derived, curated), (row.local.is_none(), row.local.is_some()), "{name} says where it is from");
        assert!(row.is_gpu() || row.cuda.is_none(), "{name}: CUDA without code");
        assert!(
            row.cuda.is_none_or(|cuda| matrix.driver_floor(cuda).is_some()),
            "{name}: its CUDA has no toolkit of its major"
        );
        assert!(row.sass.iter().all(|architecture| !architecture.ptx), "{name}");
        assert!(row.ptx.iter().all(|architecture| architecture.ptx), "{name}");
        let same = |other: &&crate::core::matrix::Build| {
            (&other.package, &other.version, &other.local) == (&row.package, &row.version, &row.local)
        };
        assert_eq!(matrix.builds.all().filter(same).count(), 1, "{name} stands once");
        if let Some(toolkit) = row.cuda.and_then(|cuda| matrix.toolkit(cuda)).filter(|toolkit| !toolkit.sm.is_empty()) {
            // torch names architectures that its toolkit can compile; clang-built wheels may lag behind, never lead.
            if row.package.as_ref() == "torch" {
                assert!(
                    row.sass.iter().all(|architecture| toolkit.sm.contains(architecture)),
                    "{name}: an architecture that its CUDA cannot compile"
                );
            }
        }
    }
}

#[test]
fn rows_are_written_as_they_are_read() {
    for file in super::FILES.files().filter(|file| file.path().to_string_lossy().starts_with("builds-")) {
        let text = file.contents_utf8().expect("a text");
        let (head, rows) = super::read_builds(text).expect("rows");
        assert_eq!(super::write_builds(&head, &rows), text, "{}", file.path().display());
    }
}

#[test]
fn verdicts_follow_nvidias_rules() {
    for (package, version, driver, gpus, expected) in [
        ("torch", "2.9.1", "580.82.07", vec!["T4"], Verdict::Native),
        ("torch", "2.9.1", "535.104.05", vec!["T4"], Verdict::MinorCompat),
        ("torch", "2.15.0", "580.82.07", vec!["T4", "L4", "A100", "H100", "G4"], Verdict::MinorCompat),
        ("torch", "2.11.0+cu128", "580.82.07", vec!["T4"], Verdict::Native),
        ("tensorflow", "2.20.0", "580.82.07", vec!["H100"], Verdict::PtxJit),
        ("jax-cuda12-plugin", "0.12.0.1", "580.82.07", vec!["T4"], Verdict::Native),
    ] {
        assert_eq!(judge(package, version, driver, &gpus), expected, "{package} {version} on {driver} {gpus:?}");
    }
    assert_eq!(judge("torch", "2.9.1", "580.82.07", &[]), Verdict::CpuOnly);
}

#[test]
fn every_no_has_its_reason() {
    let no = |package, version, driver, gpu| match judge(package, version, driver, &[gpu]) {
        Verdict::No(reason) => reason,
        other => panic!("{package} {version} on {driver} {gpu}: {other}"),
    };
    assert!(matches!(no("torch", "2.15.0", "535.104.05", "T4"), Reason::DriverTooOld { .. }));
    assert!(matches!(no("torch", "2.9.1", "580.82.07", "P100"), Reason::NoKernelImage { .. }));
    assert!(matches!(no("torch", "2.11.0", "580.82.07", "V100"), Reason::NoKernelImage { .. }));
    assert!(matches!(no("torch", "2.9.1", "595.45.04", "V100"), Reason::DriverDroppedGpu { .. }));
    assert!(matches!(no("tensorflow", "2.21.0", "525.60.13", "H100"), Reason::PtxTooNew { .. }));
}

#[test]
fn forward_compatibility_needs_the_package_and_a_data_center_gpu() {
    let matrix = matrix();
    let build = matrix.build(&"torch".parse().expect("a name"), &"2.11.0".parse().expect("a version")).expect("a row");
    let mut hardware = hardware(&matrix, "570.26", &["T4"]);
    assert!(matches!(verdict(&matrix, build, &hardware), Verdict::No(Reason::DriverTooOld { .. })));
    hardware.compat = vec![CudaVersion { major: 13, minor: 0 }];
    assert_eq!(verdict(&matrix, build, &hardware), Verdict::ForwardCompat);
    hardware.gpus[0] = InstalledGpu { name: "NVIDIA GB10".into(), capability: "12.1".parse().expect("a capability") };
    assert!(matches!(verdict(&matrix, build, &hardware), Verdict::No(Reason::DriverTooOld { .. })));
}

#[test]
fn coverage_says_the_same_as_the_verdict() {
    let matrix = matrix();
    for build in matrix.builds.all() {
        for gpu in &matrix.gpus.products {
            if !build.is_gpu() {
                continue;
            }
            let hardware = hardware(&matrix, "580.82.07", &[&gpu.product]);
            let covered = coverage(&matrix, build, &hardware).contains(&gpu.compute_capability.as_version());
            let judged = !matches!(
                verdict(&matrix, build, &hardware),
                Verdict::No(Reason::NoKernelImage { .. } | Reason::PtxTooNew { .. })
            );
            let dropped = matches!(verdict(&matrix, build, &hardware), Verdict::No(Reason::DriverDroppedGpu { .. }));
            assert!(dropped || covered == judged, "{} {} on {}", build.package, build.version, gpu.product);
        }
    }
}

#[test]
fn families_go_together_whatever_their_label() {
    let matrix = matrix();
    let torch = |member: &str, version: &str| {
        let found = matrix.family(&member.parse().expect("a name"), &version.parse().expect("a version"));
        found.map(|(anchor, range)| format!("{anchor} {}", crate::core::model::version::describe(&range)))
    };
    assert_eq!(torch("torchvision", "0.24.1").as_deref(), Some("torch ==2.9.1"));
    assert_eq!(torch("torchvision", "0.26.0+cu128").as_deref(), Some("torch ==2.11.0"));
    assert_eq!(torch("torchaudio", "2.0.2").as_deref(), Some("torch ==2.0.1"));
    assert_eq!(torch("torchvision", "0.29.2"), None);
    assert_eq!(torch("torchaudio", "2.11.0"), None);
}

/// Every driver that a branch or toolkit row names, and one before and after each.
fn drivers(matrix: &Matrix) -> Vec<DriverVersion> {
    let branches = matrix.branches.iter().flat_map(|row| [format!("{}.1", row.branch), format!("{}.99", row.branch)]);
    let floors = matrix.toolkits.iter().flat_map(|row| row.driver.iter().chain([&row.minor_compat_driver]));
    let mut all: Vec<DriverVersion> = branches.map(|text| text.parse().expect("a driver")).collect();
    all.extend(floors.cloned());
    all.sort();
    all
}

/// How good a verdict is; a driver that dropped the GPU is another machine, not a worse verdict.
fn rank(verdict: &Verdict) -> Option<u8> {
    match verdict {
        Verdict::No(Reason::DriverDroppedGpu { .. }) => None,
        Verdict::No(_) => Some(0),
        Verdict::ForwardCompat | Verdict::PtxJit => Some(1),
        Verdict::MinorCompat => Some(2),
        Verdict::Native | Verdict::CpuOnly => Some(3),
    }
}

#[test]
fn a_newer_driver_never_makes_it_worse() {
    let matrix = matrix();
    let drivers = drivers(&matrix);
    for build in matrix.builds.all().filter(|build| build.is_gpu()) {
        for gpu in &matrix.gpus.products {
            let mut best = 0;
            for driver in &drivers {
                let mut hardware = hardware(&matrix, "580.82.07", &[&gpu.product]);
                hardware.driver = Some(driver.clone());
                let Some(rank) = rank(&verdict(&matrix, build, &hardware)) else {
                    break;
                };
                assert!(rank >= best, "{} {} on {} with {driver}", build.package, build.version, gpu.product);
                best = rank;
            }
        }
    }
}

#[test]
fn more_machine_code_never_makes_it_worse() {
    let matrix = matrix();
    let more: Vec<Architecture> = matrix.toolkits.iter().flat_map(|row| row.sm.iter().cloned()).collect();
    for build in matrix.builds.all().filter(|build| build.is_gpu()).step_by(7) {
        for gpu in &matrix.gpus.products {
            for driver in ["525.60.13", "580.82.07"] {
                let hardware = hardware(&matrix, driver, &[&gpu.product]);
                let before = rank(&verdict(&matrix, build, &hardware));
                for architecture in &more {
                    let mut richer = build.clone();
                    richer.sass.push(architecture.clone());
                    let after = rank(&verdict(&matrix, &richer, &hardware));
                    assert!(
                        after >= before,
                        "{} {} with {architecture} on {}",
                        build.package,
                        build.version,
                        gpu.product
                    );
                }
            }
        }
    }
}

#[test]
fn ptx_never_covers_an_older_gpu() {
    let matrix = matrix();
    let newer = matrix.toolkits.iter().flat_map(|row| row.sm.iter());
    let ptx: BTreeSet<Architecture> = newer.map(|one| Architecture { ptx: true, ..one.clone() }).collect();
    assert!(ptx.len() > 20);
    for architecture in ptx {
        for gpu in matrix.gpus.products.iter().filter(|gpu| gpu.compute_capability < architecture.capability) {
            assert!(!architecture.covers(gpu.compute_capability), "{architecture} on {}", gpu.product);
        }
    }
}

#[test]
fn an_overlay_adds_rows_takes_the_place_of_others_and_is_named() {
    let row = |cuda: &str| {
        format!(
            "[[build]]\npackage = 'torch'\nversion = '2.15.0'\ncuda = '{cuda}'\nsass = ['sm_75']\nptx = []\nbasis = 'whole-member'\n"
        )
    };
    let overlaid = matrix().with_overlay(&row("13.0")).expect("an overlay");
    let torch =
        overlaid.build(&"torch".parse().expect("a name"), &"2.15.0".parse().expect("a version")).expect("a row");
    assert_eq!((torch.cuda, torch.sass.len()), (Some(CudaVersion { major: 13, minor: 0 }), 1));
    assert_eq!(overlaid.builds.all().count(), matrix().builds.all().count());
    assert!(overlaid.version.starts_with(&format!("{}+", matrix().version)));
    assert!(matrix().with_overlay("[[bild]]\n").is_err());
    assert!(matrix().with_overlay(&row("14.0")).expect_err("no such CUDA").contains("[[toolkit]]"));
}

#[test]
fn rows_by_hand_say_what_reading_does_not_show() {
    let matrix = matrix();
    for row in &matrix.overlays {
        let read = matrix.linkages.overlays(&row.package).iter();
        let same = read.filter(|read| read.requirement.name == row.requirement.name);
        let implied = same.filter(|read| read.requirement.range.subset_of(&row.requirement.range));
        let implied = implied.fold(VersionRange::empty(), |all, read| all.union(&read.range));
        let releases = matrix.linkages.of(&row.package).into_iter().flat_map(|file| &file.rows);
        let mut releases =
            releases.flat_map(|known| known.read.keys()).filter(|version| row.range.contains(version)).peekable();
        let is_needed = releases.peek().is_none() || releases.any(|version| !implied.contains(version));
        assert!(is_needed, "{} {}: what is read says it, too", row.package, row.range);
    }
}

#[test]
fn what_wheels_are_linked_against_is_bundled_for_all_packages_that_are_read() {
    let matrix = matrix();
    let mut rows = 0;
    for package in &matrix.linked {
        let Some(file) = matrix.linkages.of(package) else { panic!("{package} has no rows: run `upkeep linking`") };
        let text = file.to_text().expect("a text");
        assert_eq!(LinkFile::parse(&text).as_ref(), Ok(file), "{package}");
        assert!(file.rows.windows(2).all(|pair| pair[0].last < pair[1].first), "{package}");
        rows += file.rows.len();
    }
    assert!(rows > 900, "{rows}");
}
