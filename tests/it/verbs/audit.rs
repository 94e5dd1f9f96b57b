//! `audit` through the binary: what others made, judged and left as it was.

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::said::Said as _;
use crate::support::test::{Test, observed};

#[test]
fn colabs_images_give_a_short_and_correct_list() {
    let test = Test::new();
    for (image, code, errors, warnings) in [
        ("colab-2025.07", 1, 2, 3),
        ("colab-2025.10", 1, 1, 3),
        ("colab-2026.01", 1, 1, 1),
        ("colab-2026.04", 0, 0, 1),
        ("colab-2026.07", 1, 1, 1),
        ("colab-latest", 1, 2, 2),
    ] {
        let report = test.run(&["audit", image, "--json"]).expect(code).json();
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let count = |severity: &str| findings.iter().filter(|one| one["severity"] == severity).count();
        assert_eq!((count("error"), count("warning")), (errors, warnings), "{image}: {findings:?}");
    }
    let latest = test.run(&["audit", "colab-latest", "--gpu", "T4"]).expect(1);
    assert!(latest.stderr.contains("nvidia-nccl-cu12 2.28.9 and nvidia-nccl-cu13 2.31.2 both own the same files"));
    let good = test.run(&["audit", "colab-2026.04", "--gpu", "T4"]).expect(0);
    assert!(good.stdout.contains("no problems found"), "{}", good.stdout);
}

#[test]
fn a_list_of_requirements_is_judged_from_its_wheels() {
    let mut table = Table::new();
    let mut add = |name: &str, release: Release| {
        table.entry(name.to_owned()).or_default().insert("1.0".to_owned(), release);
    };
    let file = |text: &str| [("shared/core.so".to_owned(), text.to_owned())].into();
    add("a", Release { files: file("one"), ..Release::default() });
    add("b", Release { files: file("two"), ..Release::default() });
    let requires = vec!["nvidia-cuda-runtime-cu12".to_owned()];
    add("kernels", Release { requires, code: vec!["sm_90".to_owned()], ..Release::default() });
    table.entry("nvidia-cuda-runtime-cu12".to_owned()).or_default().insert("12.8.90".to_owned(), Release::default());
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new().file("r.txt", "a==1.0\nb==1.0\nkernels==1.0\ngone==3.0\nloose>=1\n");
    let machine = observed("laptop");
    let arguments =
        ["audit", "r.txt", "--machine", &machine, "--gpu", "T4", "--driver", "580.82.07", "--index-url", &server.url];
    let outcome = test.run(&arguments).expect(1);
    for words in [
        "error[files-collide]: a 1.0 and b 1.0 both own 1 file, with different content",
        "shared/core.so",
        "error[gpu-not-covered]: kernels 1.0 does not run on Tesla T4",
        "error[resolve-unknown-package]: no index has a package `loose`",
        "5 | loose>=1",
        "error[resolve-unknown-package]: no index has a package `gone`",
        "r.txt:4:1",
    ] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert!(outcome.stdout.ends_with("cannot be installed; 4 errors\n"), "{}", outcome.stdout);
    let offline = test.run(&[arguments.as_slice(), &["--offline"]].concat()).expect(1);
    assert_eq!(offline.stdout, outcome.stdout, "all of it was kept");
}

#[test]
fn a_silent_index_and_an_unknown_package_are_two_findings() {
    let test = Test::new().file("r.txt", "torch==2.9.1\nsomething==1.0\n").file("empty.txt", "# nothing\n");
    let machine = observed("laptop");
    let audit = |file: &str, more: &[&str], code: i32| {
        let base = ["audit", file, "--machine", &machine, "--gpu", "T4", "--index-url", "http://127.0.0.1:9/simple"];
        test.run(&[base.as_slice(), more].concat()).expect(code)
    };
    assert!(audit("r.txt", &[], 3).stderr.contains("could not read"));
    let offline = audit("r.txt", &["--offline", "--driver", "450.80.02"], 1);
    for words in ["2 packages could not be looked up", "not in the cache", "error[driver-too-old]"] {
        assert!(offline.stderr.contains(words), "{words}: {}", offline.stderr);
    }
    assert!(audit("r.txt", &["--offline"], 0).stderr.contains("the driver of the named GPU is unknown"));
    assert!(audit("empty.txt", &["--offline"], 0).stderr.contains("no entry could be checked"));
}

#[test]
fn a_wheel_that_cannot_be_read_is_not_one_without_code() {
    let mut table = Table::new();
    let requires = vec!["nvidia-cuda-runtime-cu12".to_owned()];
    let broken = Release { requires, code: vec!["broken".to_owned()], ..Release::default() };
    table.entry("kernels".to_owned()).or_default().insert("1.0".to_owned(), broken);
    table.entry("nvidia-cuda-runtime-cu12".to_owned()).or_default().insert("12.8.90".to_owned(), Release::default());
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new().file("r.txt", "kernels==1.0\n");
    let machine = observed("laptop");
    let arguments =
        ["audit", "r.txt", "--machine", &machine, "--gpu", "T4", "--driver", "580.82.07", "--index-url", &server.url];
    let outcome = test.run(&arguments).expect(0);
    assert!(outcome.reports("note[build-unknown]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the file at 4112 (at byte 4112)"), "{}", outcome.stderr);
    let inspected = test.run(&["matrix", "inspect", "kernels==1.0", "--index-url", &server.url, "--json"]).expect(1);
    assert_eq!(inspected.codes(), ["wheel-malformed"]);
}

#[test]
fn what_cannot_be_audited_says_so() {
    let test = Test::new().file("bad.txt", "!!\n").file("bad.toml", "lock-version = '1.0'\n[[packages]]\n");
    for (target, words) in [
        ("nowhere", "neither a file nor a notebook image"),
        ("bad.txt", "line 1: `!!`"),
        ("bad.toml", "missing field `name`"),
        (".", "could not read"),
    ] {
        let outcome = test.run(&["audit", target, "--machine", &observed("laptop")]).expect(2);
        assert!(outcome.stderr.contains(words), "{target}: {}", outcome.stderr);
    }
}

#[test]
fn one_bad_line_leaves_the_others_and_no_text_of_an_included_file_is_shown() {
    let test = Test::new()
        .file("r.txt", "six==1.16.0\nX===junk\n-r .env\n-r gone.txt\ngit+https://me:hunter2@host.example/x.git\n")
        .file(".env", "TOKEN=hunter3\nDB=postgres://me:hunter4@db/x\n-e hunter5\nKEY=${hunter6}\nhunter7==7.0\n")
        .file("n.ipynb", r#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": "%pip install -r .env"}]}"#);
    let machine = observed("laptop");
    let arguments = ["--machine", &machine, "--offline", "--json"];
    for (file, code) in [("r.txt", 1), ("n.ipynb", 0)] {
        let outcome = test.run(&[&["audit", file], arguments.as_slice()].concat()).expect(code);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        // The name of a package is not the text of a line.
        for secret in ["hunter2", "hunter3", "hunter4", "hunter5", "hunter6", "hunter7==7.0"] {
            assert!(!said.contains(secret), "{file}: {secret}: {said}");
        }
        if file == "r.txt" {
            for words in [
                "line 2: `X===junk`",
                "`.env`, line 1: it is not a requirement",
                "gone.txt",
                "git+https://***",
                "2 packages",
            ] {
                assert!(said.contains(words), "{words}: {said}");
            }
        }
    }
}

#[test]
fn files_are_read_as_pip_reads_them() {
    let test = Test::new();
    let wide: Vec<u8> = "\u{feff}numpy==2.1.0\r\ntorch==2.9.0\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(test.path("wide.txt"), wide).expect("a file");
    let chain = |at: usize| format!("-r i{}.txt\n", at + 1);
    let test = (0..12).fold(test, |test, at| test.file(&format!("i{at}.txt"), &chain(at)));
    let test = test
        .file("mac.txt", "numpy==2.1.0\rtorch==2.9.0\r")
        .file("open.txt", "numpy==${NUMPY}\ntorch==2.9.0\n")
        .file("uv.lock", "version = 99\n")
        .file("torn.txt", "");
    std::fs::write(test.path("torn.txt"), b"\xff\xfe\x00").expect("a file");
    for (file, code, says) in [
        ("wide.txt", 0, "(2 packages;"),
        ("mac.txt", 0, "(2 packages;"),
        ("open.txt", 0, "numpy==${NUMPY}"),
        ("uv.lock", 2, "a uv.lock of version 99; only 1 is supported"),
        ("i0.txt", 2, "`-r i9.txt` is nested 9 levels deep"),
        ("torn.txt", 2, "it is not valid UTF-16"),
    ] {
        let outcome = test.run(&["audit", file, "--offline"]).expect(code);
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(all.contains(says), "{file}: {all}");
        assert_eq!(all.matches("i8.txt").count(), 0, "{file}: {all}");
    }
}

#[test]
fn digests_constraints_and_releases_are_compared() {
    let mut table = Table::new();
    for version in ["1.0", "2.0"] {
        table.entry("a".to_owned()).or_default().insert(version.to_owned(), Release::default());
    }
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new().file("c.txt", "a==2.0\nnot at all\n");
    let machine = observed("laptop");
    let audit = |text: &str| {
        std::fs::write(test.path("r.txt"), text).expect("a file");
        test.run(&["audit", "r.txt", "--machine", &machine, "--index-url", &server.url])
    };
    let zeros = "0".repeat(64);
    let said = audit(&format!("a==1.0 --hash=sha256:{zeros}\n")).expect(1).stderr;
    assert!(said.reports_about("error[audit-hash]", "a 1.0"), "{said}");
    let digest = said.split("has sha256:").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a digest");
    let right = format!("a==1.0 --hash=sha256:{zeros} \\\n    --hash=sha256:{digest}\n");
    assert!(audit(&right).expect(0).stdout.contains("no problems found"));
    // So are those of locks, each by its file.
    let (name, python) = ("a-1.0-py3-none-any.whl", "requires-python = \">=3.8\"");
    let address = format!("url = \"https://files.example/x/{name}\"");
    for (file, text) in [
        (
            "uv.lock",
            "version = 1\nPYTHON\n[[package]]\nname = \"a\"\nversion = \"1.0\"\nsource = { registry = \"https://i.example\" }\nwheels = [{ URL, hash = \"sha256:DIGEST\" }]\n",
        ),
        (
            "pylock.toml",
            "lock-version = \"1.0\"\nPYTHON\n[[packages]]\nname = \"a\"\nversion = \"1.0\"\nwheels = [{ URL, hashes = { sha256 = \"DIGEST\" } }]\n",
        ),
    ] {
        for (digest, code, words) in
            [(digest, 0, "no problems found"), (&zeros, 1, "error[audit-hash]: the lock has another digest")]
        {
            let text = text.replace("PYTHON", python).replace("URL", &address).replace("DIGEST", digest);
            std::fs::write(test.path(file), text).expect("a file");
            let said = test.run(&["audit", file, "--machine", &machine, "--index-url", &server.url]).expect(code);
            assert!(format!("{}{}", said.stdout, said.stderr).contains(words), "{file}: {said:?}");
        }
    }
    assert!(audit("--index-url https://i.example\na==1.0\n").expect(0).stderr.contains("were not used"));
    // A file that many others include is read once.
    for depth in 0..6 {
        let text = format!("-r deep-{}.txt\n", depth + 1).repeat(40);
        std::fs::write(test.path(&format!("deep-{depth}.txt")), text).expect("a file");
    }
    std::fs::write(test.path("deep-6.txt"), "a==1.0\n").expect("a file");
    assert!(audit("-r deep-0.txt\n").expect(0).stdout.contains("1 package"));
    for (text, words) in [
        ("a==2.0\na==1.0 --hash=md5:d41d8cd98f00b204e9800998ecf8427e\n", "not sha256, sha384 or sha512"),
        ("a==2.0\na==1.0 --hash=sha256:zz\n", "`zz` is not a SHA-256"),
        ("-c c.txt\na==1.0\n", "`c.txt`, line 1, does not allow a 1.0"),
        ("-c c.txt\na==2.0\n", "`c.txt`, line 2, is not a constraint"),
        ("-c gone.txt\na==2.0\n", "gone.txt"),
        ("-r r.txt\na==2.0\n", "`r.txt` includes itself"),
        ("PASSWORD=S3cret\na==2.0\n", "line 1: `PASSWORD=…`"),
        ("a==9.0\n", "error[audit-missing]: the index has no release 9.0 of `a`"),
        (&format!("{right}b @ https://host.example/b-1.0-py3-none-any.whl\n"), "line 3 of `r.txt` has no `--hash`"),
    ] {
        let said = audit(text).expect(1).stderr;
        assert!(said.contains(words) && !said.contains("S3cret"), "{text}: {said}");
    }
}

/// What pip refuses in a file, and what of it can't be known without opening it.
#[test]
fn what_pip_refuses_in_a_file_is_not_installable() {
    let test = Test::new();
    for (text, said) in [
        ("six==1.16.0\n--bogus-option\n", "pip knows no such option"),
        ("six==1.16.0 --bogus\n", "pip knows no option `--bogus`"),
        ("--require-hashes\nsix==1.16.0\n", "has no `--hash`"),
        ("--no-index\nsix==1.16.0\n", "pip then finds nothing"),
        (
            "torch @ https://files.example.org/torch-2.0.1%2Bcu118-cp27-cp27m-win_amd64.whl\n",
            "is not a wheel for this Python",
        ),
    ] {
        let test = Test::new().file("r.txt", text);
        let outcome = test.run(&["audit", "r.txt", "--runtime", "colab-2026.07", "--offline"]);
        assert!(outcome.code != 0 && outcome.stderr.contains(said), "{text}: {outcome:?}");
        assert!(!outcome.stdout.contains("no problems found"), "{text}: {outcome:?}");
    }
    let test = test.file("r.txt", "demo @ https://files.example.org/demo-1.0-py3-none-any.whl\n");
    let outcome = test.run(&["audit", "r.txt", "--runtime", "colab-2026.07", "--offline"]);
    assert!(!outcome.stdout.contains("can be installed; no problems found"), "{outcome:?}");
}
