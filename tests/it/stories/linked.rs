//! Compiled code that somebody else installed, and what changes around it: read from the files on disk.

use crate::stories::{Day, table};
use crate::support::index_server::Release;
use crate::support::python::Venv;
use crate::support::said::Said;
use crate::support::test::Test;

/// An environment with NumPy 1 and what was compiled against it, of which no row knows: `old`, and `free`, which is
/// also content with NumPy 2.
fn day() -> Day {
    let compiled = |name: &str, words: &str| Release {
        tags: Some(vec!["py3-none-manylinux_2_17_x86_64".to_owned(), "py3-none-manylinux_2_17_aarch64".to_owned()]),
        objects: [(format!("{name}/_c.so"), format!("defines:PyInit__c says:numpy.core.multiarray {words}"))].into(),
        requires: vec!["numpy>=1.20".to_owned()],
        ..Release::default()
    };
    let mut all = table(&[("numpy", "1.26.4", &[]), ("numpy", "2.1.0", &[]), ("plain", "1.0", &[])]);
    for (name, words) in [("old", "says:compiled+against+ABI+version"), ("free", "says:numpy._core")] {
        all.entry(name.to_owned()).or_default().insert("1.0".to_owned(), compiled(name, words));
    }
    let mut test = Test::new();
    let venv = Venv::new(&test, &[]);
    test.environment.remove("COLAB_BOOT_ROOT");
    let day = Day::of(test, venv, all);
    day.pip(&["install", "numpy==1.26.4", "old", "free"]);
    day
}

#[test]
fn a_numpy_that_moves_under_compiled_code_is_seen_before_and_after() {
    let day = day();
    day.profile("newer", &["numpy ==2.1.0"], "");
    day.run(&["audit"]).expect(0);
    let plan = day.run(&["plan", "newer.toml"]);
    let words = "old 1.0 requires numpy<2, which becomes 2.1.0";
    assert!(plan.stderr.contains(words) && plan.stderr.contains("compiled against NumPy 1"), "{plan:?}");
    assert!(!plan.stderr.contains("free 1.0"), "{plan:?}");
    // Another hand does it all the same.
    day.pip(&["install", "numpy==2.1.0"]);
    let audit = day.run(&["audit", "--json"]).expect(1);
    assert_eq!(audit.codes(), ["family-broken"], "{audit:?}");
    assert!(audit.stderr.contains("old 1.0 needs numpy <2, but 2.1.0 is installed"), "{audit:?}");
    // What was read once is known, though the file can't be read any more; what else is installed meanwhile is read
    // anew.
    let object = day.venv.layout().join("old/_c.so");
    std::fs::write(&object, "no library").expect("a file");
    assert_eq!(day.run(&["audit", "--json"]).expect(1).codes(), ["family-broken"]);
    day.pip(&["uninstall", "--yes", "old"]);
    day.run(&["audit"]).expect(0);
}

#[test]
fn what_is_kept_is_solved_with_what_its_files_ask_for() {
    let day = day();
    // `old` stays as it is here, so that NumPy 2 can't come.
    let keep = "[policy]\ninstalled = 'prefer'\n";
    day.profile("both", &["numpy >=2", "old"], keep);
    let refused = day.run(&["lock", "both.toml"]).expect(1);
    assert!(refused.stderr.contains("compiled against NumPy 1"), "{refused:?}");
    day.profile("one", &["plain", "old"], keep);
    day.run(&["apply", "one.toml"]).expect(0);
    assert_eq!(day.installed().get("numpy").map(String::as_str), Some("1.26.4"));
    day.run(&["verify", "one.toml"]);
}

/// Custom operations run with the minors of TensorFlow that have their symbols; nothing brings it along.
#[test]
fn custom_operations_move_the_tensorflow_that_is_asked_for() {
    let rows = [("scann", "1.4.2", &[][..]), ("tensorflow", "2.20.0", &[]), ("tensorflow", "2.21.0", &[])];
    let day = Day::new(&rows);
    let bare = |profile: &str| day.test.run(&["plan", profile, "--runtime", "bare-3.12"]);
    day.profile("one", &["scann"], "");
    let one = bare("one.toml").expect(0);
    assert!(one.stdout.contains("scann 1.4.2") && !one.stdout.contains("tensorflow"), "{one:?}");
    day.profile("both", &["scann", "tensorflow"], "");
    let both = bare("both.toml").expect(0);
    assert!(both.stdout.contains("tensorflow 2.20.0"), "{both:?}");
    day.profile("newer", &["scann", "tensorflow ==2.21.0"], "");
    assert!(bare("newer.toml").expect(1).reports_about("error[resolve-conflict]", "scann 1.4.2"));
    std::fs::write(day.test.path("r.txt"), "scann==1.4.2\ntensorflow==2.21.0\n").expect("a file");
    let audit = day.test.run(&["audit", "r.txt", "--runtime", "bare-3.12"]).expect(1);
    assert!(audit.stderr.contains("scann 1.4.2 needs tensorflow >=2.20,<2.21"), "{audit:?}");
}

/// What the profile names is imported without compiled code, too, and its own checks of others are made.
#[test]
fn what_the_profile_names_is_imported_and_checked() {
    let code = |files: &[(&str, &str)]| Release {
        files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        ..Release::default()
    };
    let mut all = table(&[("torchao", "0.18.0", &[]), ("fine", "1.0", &[])]);
    let check = "def is_torchao_available():\n    raise ImportError('Found an incompatible version of torchao')\n";
    let peft = code(&[("peft/__init__.py", ""), ("peft/import_utils.py", check)]);
    let broken = code(&[("broken/__init__.py", "import of_another_time\n")]);
    let several = code(&[("one/__init__.py", ""), ("two/__init__.py", "import of_another_time\n")]);
    for (name, version, release) in [("peft", "0.19.1", peft), ("broken", "1.0", broken), ("several", "1.0", several)] {
        all.entry(name.to_owned()).or_default().insert(version.to_owned(), release);
    }
    let mut test = Test::new();
    let venv = Venv::new(&test, &[]);
    test.environment.remove("COLAB_BOOT_ROOT");
    let day = Day::of(test, venv, all);
    day.profile("p", &["peft", "torchao", "fine", "broken", "several"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    let verified = day.run(&["verify", "p.toml"]);
    for (name, said) in [("peft", "incompatible version of torchao"), ("broken", "of_another_time")] {
        assert!(verified.reports_about("error[verify-import]", name), "{verified:?}");
        assert!(verified.stderr.contains(said), "{verified:?}");
    }
    assert!(!["fine", "several"].iter().any(|name| verified.reports_about("error[verify-import]", name)));
    assert!(verified.code == 1 && !verified.concludes("verified"), "{verified:?}");
    // Where the other one is gone, there is nothing to check.
    day.profile("p", &["peft", "fine"], "");
    day.run(&["apply", "p.toml"]).expect(0);
    assert!(!day.run(&["verify", "p.toml"]).reports("error[verify-import]"));
}
