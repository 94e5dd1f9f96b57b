//! The matrix through the binary: its table, rows that a user brings along, and wheels read from files and from an
//! index.

use colab_boot::core::model::Sha256;

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
        "CUDA 13.2 needs driver 580.65.06 or newer, but this one is 550.54.15",
    ] {
        assert!(torch.contains(words), "{words}: {torch}");
    }
    let tensorflow = show(&["--package", "tensorflow", "--gpu", "H100,T4"]);
    assert!(tensorflow.contains("ptx-jit") && tensorflow.contains("machine code"), "{tensorflow}");
    assert!(show(&["--package", "flash-attn"]).contains("only source"));
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
    assert!(show(&other, 1).stderr.contains("does not match its digest"));
    assert!(show(&format!("{}/rows.toml", server.url), 2).stderr.contains("needs the digest of its content"));
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
