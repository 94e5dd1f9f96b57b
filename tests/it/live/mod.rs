//! The real package index, real virtual environments, a real Jupyter server and kernel, real apt-get. Where the index
//! can't be reached, each test says so and passes.

mod apt;
mod days;
mod guides;
pub mod jupyter;
mod old_installers;
mod picture;
mod settings;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::adversity::debian;
use crate::stories::notebook::Stack;
use crate::support::python::{self, Venv, reachable};
use crate::support::said::Said as _;
use crate::support::test::{Test, observed};

/// A world that may reach the index: the caller's environment over the test's own folders.
fn world() -> Option<Test> {
    if !reachable() {
        eprintln!("skipped: the package index can't be reached from here");
        return None;
    }
    Some(python::with_network(Test::new()))
}

fn profile(frameworks: &str, rest: &str) -> String {
    format!("[profile]\nname = 'live'\nversion = '1.0.0'\n[frameworks]\n{frameworks}\n{rest}")
}

fn packages(report: &Value) -> Vec<(String, String)> {
    let all = report["report"]["targets"][0]["packages"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| (text(&one["name"]), text(&one["version"]))).collect()
}

fn version(report: &Value, name: &str) -> String {
    packages(report).into_iter().find(|(known, _)| known == name).map(|(_, version)| version).unwrap_or_default()
}

const T4: [&str; 4] = ["--driver", "580.82.07", "--gpu", "T4"];

#[test]
fn a_laptop_plans_pytorch_for_a_colab_t4() {
    let Some(test) = world() else { return };
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/pytorch.toml").display().to_string();
    let elsewhere = test.path("none.lock").display().to_string();
    let run = |more: &[&str]| {
        let base = ["plan", &profile, "--runtime", "colab-2026.07", "--gpu", "T4", "--json"];
        test.run(&[base.as_slice(), more].concat()).expect(0).json()
    };
    let solved = run(&["--lock", &elsewhere]);
    assert_eq!(version(&solved, "torch"), "2.11.0+cu128", "the image's own torch is kept");
    assert_eq!(version(&solved, "torchaudio"), "2.11.0+cu128");
    let changes = solved["report"]["plan"]["changes"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = changes.iter().filter_map(|change| change["name"].as_str()).collect();
    assert_eq!(names, ["torchao"], "peft refuses the image's: {}", solved["report"]["plan"]);
    assert!(solved["report"]["verdicts"][0].as_str().is_some_and(|text| text.ends_with("native")));
    let locked = run(&["--locked"]);
    assert_eq!(version(&locked, "torch"), "2.11.0+cu128", "the committed lock says the same");
}

#[test]
fn the_torch_family_stays_together() {
    let Some(test) = world() else { return };
    let test = test.file("p.toml", &profile("torch = '==2.9.1'\ntorchaudio = '*'\ntorchvision = '*'", ""));
    let laptop = observed("laptop");
    let report =
        test.run(&[&["lock", "p.toml", "--json", "--machine", &laptop], T4.as_slice()].concat()).expect(0).json();
    let family = ["torch", "torchvision", "torchaudio"].map(|name| version(&report, name));
    assert_eq!(family, ["2.9.1", "0.24.1", "2.9.1"]);
    assert_eq!(report["report"]["targets"][0]["cuda"], "12.8");
}

#[test]
fn the_enterprise_set_locks_to_one_cuda_major() {
    let Some(test) = world() else { return };
    let names = "torch torchvision torchaudio transformers datasets accelerate peft tensorflow jax scikit-learn pandas matplotlib xgboost";
    let frameworks: String = names.split(' ').map(|name| format!("{name} = '*'\n")).collect();
    let test = test.file("p.toml", &profile(&frameworks, ""));
    let laptop = observed("laptop");
    let report =
        test.run(&[&["lock", "p.toml", "--json", "--machine", &laptop], T4.as_slice()].concat()).expect(0).json();
    let majors: BTreeSet<String> = packages(&report)
        .iter()
        .filter_map(|(name, _)| ["-cu11", "-cu12", "-cu13"].into_iter().find(|suffix| name.ends_with(suffix)))
        .map(str::to_owned)
        .collect();
    assert_eq!(majors.len(), 1, "{majors:?}");
    assert!(packages(&report).len() > 80);
}

#[test]
fn an_old_driver_explains_itself_and_offers_a_fix_that_works() {
    let Some(test) = world() else { return };
    let test = test.file("p.toml", &profile("torch = '==2.15.0'", ""));
    let laptop = observed("laptop");
    let arguments = ["plan", "p.toml", "--machine", &laptop, "--driver", "535.104.05", "--gpu", "T4"];
    let outcome = test.run(&arguments).expect(1);
    for words in [
        "error[driver-too-old]",
        "535.104.05",
        "580.65.06",
        "CUDA 13.2",
        "`torch = \">=2.6,<2.11\"` works, with torch 2.10.0: solved",
    ] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
}

#[test]
#[ignore = "whole"]
fn a_killed_apply_is_finished_by_the_next() {
    let Some(test) = world() else { return };
    let venv = Venv::new(&test, &["numpy==2.2.6"]);
    let test = test.file("p.toml", &profile("numpy = '>=2.3'", "[packages]\nscipy = '*'\n"));
    let python = venv.python.display().to_string();
    test.run(&["lock", "p.toml", "--python", &python]).expect(0);
    python::kill_in_the_middle(&test, &["apply", "p.toml", "--python", &python]);
    let status = test.run(&["status", "--python", &python]).expect(0);
    assert!(status.stdout.contains("interrupted"), "{}", status.stdout);
    let verify = ["verify", "p.toml", "--python", &python];
    test.run(&verify).expect(1);
    test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    let verified = test.run(&verify).expect(0);
    assert!(verified.stdout.ends_with("verified\n"), "{}", verified.stdout);
    let leftovers: Vec<String> = venv.site_packages().into_iter().filter(|name| name.starts_with('~')).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    let infos =
        venv.site_packages().into_iter().filter(|name| name.starts_with("numpy-") && name.ends_with(".dist-info"));
    assert_eq!(infos.count(), 1);
}

#[test]
fn changed_files_fail_verification_and_apply_repairs_them() {
    let Some(test) = world() else { return };
    let venv = Venv::new(&test, &[]);
    let test = test.file("p.toml", &profile("einops = '*'", ""));
    let python = venv.python.display().to_string();
    test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    let file = venv.layout().join("einops/__init__.py");
    std::fs::write(&file, "raise SystemExit('tampered')\n").expect("a write");
    let outcome = test.run(&["verify", "p.toml", "--python", &python, "--json"]).expect(1);
    assert!(outcome.codes().contains(&"verify-files".to_owned()), "{:?}", outcome.codes());
    assert!(outcome.codes().contains(&"verify-smoke".to_owned()), "{:?}", outcome.codes());
    std::fs::create_dir(venv.layout().join("~inops")).expect("a leftover");
    let repaired = test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    assert!(repaired.stderr.contains("~inops"), "{}", repaired.stderr);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    assert!(test.run(&["apply", "p.toml", "--python", &python]).expect(0).concludes("ready"));
}

#[test]
fn files_of_two_packages_are_a_warning_and_a_fault_of_neither() {
    let Some(test) = world() else { return };
    let venv = Venv::new(&test, &[]);
    let test =
        test.file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\njwt='==1.3.1'\npyjwt='==2.9.0'\n");
    let python = venv.python.display().to_string();
    let words = "`jwt` and `pyjwt` both own";
    let locked = test.run(&["lock", "p.toml", "--python", &python]).expect(0);
    assert!(locked.stderr.contains(words) && locked.stderr.contains("jwt/__init__.py"), "{}", locked.stderr);
    let applied = test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    assert!(applied.stderr.contains(words), "{}", applied.stderr);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    let audited = test.run(&["audit", "--python", &python]).expect(0);
    assert!(audited.stderr.contains("jwt 1.3.1 and pyjwt 2.9.0 both own"), "{}", audited.stderr);
}

#[test]
#[ignore = "whole"]
fn uv_installs_where_it_is_asked_to() {
    let Some(test) = world() else { return };
    let venv = Venv::new(&test, &["uv", "numpy==2.2.6"]);
    let test = test.file("p.toml", &profile("numpy = '>=2.3'", "[packages]\neinops = '*'\n"));
    let bin = venv.python.parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", test.environment["PATH"]);
    let test = test.set("PATH", path).set("UV_CONSTRAINT", "/nowhere/constraints");
    let test = test.set("COLAB_BOOT_INSTALLER", "uv");
    let python = venv.python.display().to_string();
    test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    let info = venv.site_packages().into_iter().find(|name| name.starts_with("einops-")).expect("a dist-info");
    let installer = std::fs::read_to_string(venv.layout().join(info).join("INSTALLER")).expect("an installer");
    assert_eq!(installer.trim(), "uv");
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
}

/// The solver was in one conflict for ever: no release of the one suits any of the other.
#[test]
#[ignore = "whole"]
fn a_long_search_for_what_cannot_be_ends() {
    let Some(test) = world() else { return };
    let test = test.file("r.txt", "tensorboard~=2.14.1\ntensorflow-serving-api~=2.14.0\n");
    let outcome = test.run(&["audit", "r.txt", "--runtime", "colab-2026.07", "--gpu", "T4"]).expect(1);
    assert!(outcome.stdout.contains("cannot be installed from wheels"), "{outcome:?}");
}

#[test]
fn a_golden_notebook_restarts_its_kernel_exactly_once() {
    let Some(test) = world() else { return };
    let _alone = debian::alone();
    jupyter::a_golden_notebook_restarts_its_kernel_exactly_once(test);
}

#[test]
fn every_way_to_restart_restarts_once_in_colabs_stack() {
    let Some(test) = world() else { return };
    jupyter::every_way_to_restart(test, Stack::Colab);
}

#[test]
#[ignore = "whole"]
fn every_way_to_restart_restarts_once_in_the_current_stack() {
    let Some(test) = world() else { return };
    jupyter::every_way_to_restart(test, Stack::Current);
}

#[test]
#[ignore = "whole"]
fn a_held_dpkg_lock_is_waited_for_and_an_interrupted_dpkg_is_finished() {
    let Some(test) = world() else { return };
    let _alone = debian::alone();
    apt::a_held_lock_is_waited_for_and_an_interrupted_dpkg_is_finished(test);
}

#[test]
#[ignore = "whole"]
fn what_the_profile_lets_be_built_is_built_from_its_pinned_source() {
    let Some(test) = world() else { return };
    let venv = Venv::new(&test, &[]);
    let policy = "[policy]\nwheels-only = false\nbuild = ['antlr4-python3-runtime']\n";
    let test = test.file("p.toml", &profile("", &format!("[packages]\nomegaconf = '==2.3.0'\n{policy}")));
    let python = venv.python.display().to_string();
    let outcome = test.run(&["lock", "p.toml", "--python", &python]).expect(0);
    assert!(outcome.stderr.contains("resolve-from-source"), "{}", outcome.stderr);
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(lock.contains("source = { file = \"antlr4-python3-runtime-4.9.3.tar.gz\", sha256 = \""), "{lock}");
    test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
    let imported = std::process::Command::new(&venv.python).args(["-c", "import omegaconf, antlr4"]).status();
    assert!(imported.expect("Python starts").success());
    // Without leave it is refused, with what would help.
    let test = test.file("q.toml", &profile("", "[packages]\nomegaconf = '==2.3.0'\n[policy]\ninstalled = 'ignore'\n"));
    let refused = test.run(&["lock", "q.toml", "--python", &python]).expect(1);
    assert!(refused.stderr.contains("build = [\"antlr4-python3-runtime\"]"), "{}", refused.stderr);
}

#[test]
fn a_folder_of_wheels_is_installed_from() {
    let Some(test) = world() else { return };
    let venv = Venv::new(&test, &[]);
    let folder = test.path("wheels").display().to_string();
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder.as_str(), "six==1.16.0"];
    let done = std::process::Command::new(&venv.python).args(download).envs(&test.environment).status();
    assert!(done.expect("pip starts").success());
    let index = "[[index]]\nname = 'wheelhouse'\npath = 'wheels'\npackages = ['six']\n";
    let test = test.file("p.toml", &profile("", &format!("[packages]\nsix = '*'\n{index}")));
    let python = venv.python.display().to_string();
    test.run(&["lock", "p.toml", "--python", &python]).expect(0);
    let lock = std::fs::read_to_string(test.path("p.lock")).expect("a lock");
    assert!(lock.contains("version = \"1.16.0\"") && lock.contains("index = \"wheelhouse\""), "{lock}");
    test.run(&["apply", "p.toml", "--python", &python]).expect(0);
    test.run(&["verify", "p.toml", "--python", &python]).expect(0);
}
