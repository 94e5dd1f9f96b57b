//! The matrix through the binary: its table, rows that a user brings along, and wheels read from files and from an index.

use std::collections::BTreeMap;

use colab_boot::model::Sha256;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::test::{Test, observed};

/// A row for a torch that does not exist yet.
const OVERLAY: &str = "[[build]]\npackage = 'torch'\nversion = '9.0.0'\ncuda = '13.4'\nsass = ['sm_120']\nptx = []\nbasis = 'whole-member'\n";

#[test]
fn the_table_says_how_and_why_not() {
    let test = Test::new();
    let show = |arguments: &[&str]| test.run(&[&["matrix", "show"], arguments].concat()).expect(0).stdout;
    let torch = show(&["--package", "torch", "--gpu", "V100", "--driver", "550.54.15"]);
    for words in [
        "V100 (7.0)",
        "no [driver]",
        "minor-compat",
        "CUDA 13.2 needs driver 580.65.06 or newer, this one is 550.54.15",
    ] {
        assert!(torch.contains(words), "{words}: {torch}");
    }
    let tensorflow = show(&["--package", "tensorflow", "--gpu", "H100,T4"]);
    assert!(tensorflow.contains("ptx-jit") && tensorflow.contains("machine code"), "{tensorflow}");
    assert!(show(&["--package", "flash-attn"]).contains("only as source"));
    let json = test
        .run(&["matrix", "show", "--package", "torch", "--gpu", "T4", "--driver", "580.82.07", "--json"])
        .expect(0)
        .json();
    assert_eq!(json["report"]["builds"][0]["runs"]["Tesla T4"], "minor-compat");
    let refused = test.run(&["matrix", "show", "--package", "nope"]).expect(2);
    assert!(refused.stderr.contains("matrix inspect nope"), "{}", refused.stderr);
}

#[test]
fn an_overlay_counts_by_path_and_by_address() {
    let test = Test::new().file("rows.toml", OVERLAY);
    let show = |place: &str, code: i32| {
        test.run(&["matrix", "show", "--package", "torch", "--gpu", "G4", "--matrix", place]).expect(code)
    };
    assert!(show("rows.toml", 0).stdout.contains("9.0.0       13.4"));
    let server = IndexServer::start(Table::new(), Manner::Document(OVERLAY));
    let digest = Sha256::of(OVERLAY.as_bytes());
    let address = format!("{}/rows.toml#sha256={digest}", server.url);
    assert!(show(&address, 0).stdout.contains("9.0.0       13.4"));
    assert!(show(&address, 0).stdout.contains("9.0.0       13.4"));
    assert_eq!(server.asked().len(), 1, "kept under its digest");
    let other = format!("{}/rows.toml#sha256={}", server.url, Sha256::of(b"another text"));
    assert!(show(&other, 1).stderr.contains("is not the text that was meant"));
    assert!(show(&format!("{}/rows.toml", server.url), 2).stderr.contains("must say which text it means"));
    assert!(show("gone.toml", 2).stderr.contains("there is no matrix overlay"));
    let wrong = Test::new().file("rows.toml", "[[bild]]\n");
    let outcome = wrong.run(&["matrix", "show", "--matrix", "rows.toml"]).expect(2);
    assert!(outcome.stderr.contains("unknown field `bild`"), "{}", outcome.stderr);
}

#[test]
fn a_lock_made_with_an_overlay_is_stale_without_it() {
    let table: Table = [("a".to_owned(), [("1.0".to_owned(), Release::default())].into())].into();
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new()
        .file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n")
        .file("rows.toml", OVERLAY);
    let machine = observed("laptop");
    let base = ["--machine", &machine, "--index-url", &server.url];
    test.run(&[&["lock", "p.toml", "--matrix", "rows.toml"], base.as_slice()].concat()).expect(0);
    test.run(&[&["plan", "p.toml", "--locked", "--matrix", "rows.toml"], base.as_slice()].concat()).expect(0);
    let without = test.run(&[&["plan", "p.toml", "--locked"], base.as_slice()].concat()).expect(1);
    assert!(without.stderr.contains("lock-stale"), "{}", without.stderr);
}

/// An index with watched packages: one release with a row, one without.
fn watched() -> IndexServer {
    let release = |code: &[&str]| Release {
        code: code.iter().map(|&name| name.to_owned()).collect(),
        files: [("xgboost/__init__.py".to_owned(), String::new())].into(),
        ..Release::default()
    };
    let mut table = Table::new();
    for name in ["torch", "torchvision", "torchaudio", "triton", "tensorflow", "jax-cuda12-plugin", "jax-cuda13-plugin"]
    {
        table.insert(name.to_owned(), BTreeMap::new());
    }
    table.insert(
        "xgboost".to_owned(),
        [("1.0".to_owned(), release(&["sm_50"])), ("9.0".to_owned(), release(&["sm_75", "compute_90"]))].into(),
    );
    IndexServer::start(table, Manner::Good)
}

#[test]
fn new_releases_become_rows_and_a_run_goes_on_where_it_was() {
    let server = watched();
    let test = Test::new();
    let refresh = |more: &[&str], code: i32| {
        let base = ["matrix", "refresh", "--package", "xgboost", "--index-url", &server.url];
        test.run(&[base.as_slice(), more].concat()).expect(code)
    };
    let behind = refresh(&["--check", "--overlay", "new.toml"], 1);
    assert!(behind.stderr.contains("matrix-behind") && behind.stdout.contains("xgboost 9.0"), "{behind:?}");
    assert!(!test.path("new.toml").exists(), "--check writes nothing");
    assert_eq!(refresh(&["--overlay", "new.toml"], 0).stdout, "xgboost 9.0\n", "1.0 is older than what is watched");
    let rows = std::fs::read_to_string(test.path("new.toml")).expect("an overlay");
    for line in
        ["package = \"xgboost\"", "sass = [\"sm_75\"]", "ptx = [\"compute_90\"]", "ptx-isa = \"8.0\"", "sha256 = \""]
    {
        assert!(rows.contains(line), "{line}: {rows}");
    }
    assert_eq!(refresh(&["--overlay", "new.toml"], 0).stdout, "", "nothing is new any more");
    let shown = test.run(&["matrix", "show", "--package", "xgboost", "--gpu", "T4", "--matrix", "new.toml"]).expect(0);
    assert!(shown.stdout.contains("9.0      12.0  machine code"), "{}", shown.stdout);
    assert_eq!(
        refresh(&["--overlay", "new.toml", "--again"], 0).stdout,
        "xgboost 9.0\n",
        "read anew where that is asked for"
    );
    let misspelt = ["matrix", "refresh", "--package", "xgbost", "--check", "--index-url", &server.url];
    assert!(test.run(&misspelt).expect(2).stderr.contains("is not watched"));
    let checkout = refresh(&[], 2);
    assert!(checkout.stderr.contains("--overlay FILE"), "{}", checkout.stderr);
    // The rows of this overlay agree with their wheels; the bundled ones are not on this index.
    let check = ["matrix", "check", "--package", "xgboost", "--index-url", &server.url, "--matrix", "new.toml"];
    let checked = test.run(&check).expect(1);
    assert!(checked.stdout.contains("xgboost 3.4.1: the index has no such release any more"), "{}", checked.stdout);
    assert!(checked.stdout.ends_with("1 rows agree with their wheels\n"), "{}", checked.stdout);
    let rows = rows.replace("sm_75", "sm_70");
    std::fs::write(test.path("new.toml"), rows).expect("a write");
    let checked = test.run(&check).expect(1);
    assert!(
        checked.stdout.contains("xgboost 9.0: sass: sm_70 in the matrix, sm_75 in the wheel"),
        "{}",
        checked.stdout
    );
}

#[test]
fn offline_an_unread_build_is_a_finding() {
    let mut table = Table::new();
    let requires = vec!["nvidia-cuda-runtime-cu12".to_owned()];
    let kernels = Release { requires, code: vec!["sm_75".to_owned()], ..Release::default() };
    table.entry("kernels".to_owned()).or_default().insert("1.0".to_owned(), kernels);
    table.entry("nvidia-cuda-runtime-cu12".to_owned()).or_default().insert("12.8.90".to_owned(), Release::default());
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\nkernels='*'\n");
    let machine = observed("laptop");
    let lock = |more: &[&str]| {
        let base = ["lock", "p.toml", "--machine", &machine, "--index-url", &server.url, "--json"];
        test.run(&[base.as_slice(), more].concat()).expect(0)
    };
    assert!(lock(&["--driver", "none"]).codes().is_empty(), "without a GPU nothing is asked");
    let gpu = ["--driver", "580.82.07", "--gpu", "T4"];
    let offline = lock(&[gpu.as_slice(), &["--offline"]].concat());
    assert_eq!(offline.codes(), ["build-unknown"]);
    assert!(offline.stderr.contains("can't be read offline"), "{}", offline.stderr);
    assert!(lock(&gpu).codes().is_empty());
    assert!(lock(&[gpu.as_slice(), &["--offline"]].concat()).codes().is_empty(), "what was read is kept");
}
