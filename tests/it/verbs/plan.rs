//! `plan`.

use std::path::Path;

use crate::support::index_server::{IndexServer, Manner, Release, Table};
use crate::support::test::{Test, observed};
use crate::verbs::fingerprint::{T4, world};

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

#[test]
fn a_plan_writes_nothing_outside_the_cache() {
    let table = Table::from([("a".to_owned(), [("1.0".to_owned(), Release::default())].into())]);
    let server = IndexServer::start(table, Manner::Good);
    let test = Test::new().file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\na='*'\n");
    let before = files_below(&test.path("."));
    let plan = ["plan", "p.toml", "--machine", &observed("laptop"), "--index-url", &server.url];
    assert!(test.run(&plan).expect(0).stdout.contains("a 1.0"));
    let outside = |path: &String| !path.starts_with(&test.path("./cache").display().to_string());
    let after: Vec<_> = files_below(&test.path(".")).into_iter().filter(outside).collect();
    assert_eq!(after, before);
    // The same plan again, and with `--script` what it would run, in the file that is named.
    test.run(&[plan.as_slice(), &["--script", "install.sh"]].concat()).expect(0);
    assert!(std::fs::read_to_string(test.path("install.sh")).expect("a script").contains("a===1.0"));
}

#[test]
fn a_recorded_machine_gives_the_same_plan() {
    // What the machine has is asked for, too: the lock names its wheel.
    let table = Table::from([("pip".to_owned(), [("1.0".to_owned(), Release::default())].into())]);
    let server = IndexServer::start(table, Manner::Good);
    let test = world(T4).file("p.toml", "[profile]\nname='p'\nversion='1.0.0'\n[packages]\npip='*'\n");
    let seen = ["plan", "p.toml", "--json", "--system", "--index-url", &server.url];
    let here = test.run(&seen).expect(0).json();
    test.run(&["fingerprint", "--json=machine.json"]).expect(0);
    let record = std::fs::read_to_string(test.path("machine.json")).expect("a record");
    assert!(!record.contains("hunter2"));
    let elsewhere = test.set("PATH", "/nowhere");
    let there = elsewhere.run(&[seen.as_slice(), &["--machine", "machine.json"]].concat()).expect(0).json();
    assert_eq!(here["report"]["plan"], there["report"]["plan"]);
    assert_eq!(here["report"]["targets"], there["report"]["targets"]);
}

const LIBRARIES: [&str; 5] = ["cuda-runtime", "cublas", "cudnn", "cufft", "cuda-cupti"];

/// What runs on the CPU without a word, and not where that is wanted or there is no GPU.
#[test]
fn a_gpu_that_will_not_be_used_is_a_warning() {
    let mut table = Table::new();
    let mut add = |name: &str, version: &str, requires: Vec<String>| {
        table
            .entry(name.to_owned())
            .or_default()
            .insert(version.to_owned(), Release { requires, ..Release::default() });
    };
    add("jax", "0.7.2", vec!["jaxlib==0.7.2".to_owned()]);
    add("jaxlib", "0.7.2", Vec::new());
    add("jax-cuda12-plugin", "0.7.2", Vec::new());
    add("torch", "2.11.0+cpu", Vec::new());
    add("tensorflow", "2.20.0", Vec::new());
    add("cupy-cuda12x", "14.2.0", Vec::new());
    for name in LIBRARIES {
        add(&format!("nvidia-{name}-cu12"), "12.9.1", Vec::new());
    }
    let server = IndexServer::start(table, Manner::Good);
    let plan = |lines: &str, gpu: &[&str]| {
        let test = Test::new().file("p.toml", lines);
        let bare = ["plan", "p.toml", "--runtime", "bare-3.12", "--index-url", &server.url];
        test.run(&[bare.as_slice(), gpu].concat()).expect(0)
    };
    let t4 = ["--gpu", "T4", "--driver", "550.54.15"];
    for (lines, word) in [
        ("[frameworks]\njax = '*'\n", "jaxlib 0.7.2: the CUDA plugin is missing; `extras = [\"cuda12\"]` of `jax`"),
        ("[frameworks]\ntorch = '*'\n", "torch 2.11.0+cpu: a build for the CPU"),
        (
            "[frameworks]\ntensorflow = '*'\n",
            "tensorflow 2.20.0: it runs on the CPU without an error: no package contains libcudart.so.12, libcublas.so",
        ),
    ] {
        let said = plan(lines, &t4);
        assert!(said.stderr.contains("warning[framework-cpu-build]") && said.stderr.contains(word), "{word}: {said:?}");
        for (lines, gpu) in [(format!("[target]\ncuda = 'cpu'\n{lines}"), &t4[..]), (lines.to_owned(), &[])] {
            let said = plan(&lines, gpu);
            assert!(!said.stderr.contains("framework-cpu-build"), "{lines}: {said:?}");
        }
    }
    // The plugin alone is not enough, nor is one library of several.
    let with = |libraries: &[&str]| {
        let lines: String = libraries.iter().map(|name| format!("nvidia-{name}-cu12 = '*'\n")).collect();
        plan(&format!("[frameworks]\njax = '*'\njax-cuda12-plugin = '*'\n[packages]\n{lines}"), &t4).stderr
    };
    let said = with(&["cuda-runtime", "cublas"]);
    let word = "JAX runs on the CPU: no package contains libcudnn.so, libcufft.so, libcupti.so; \
                `jax-cuda12-plugin[with-cuda]` installs all that it needs";
    assert!(said.contains("warning[framework-cpu-build]") && said.contains(word), "{said}");
    let said = with(&LIBRARIES);
    assert!(!said.contains("framework-cpu-build") && !said.contains("library-missing"), "{said}");
    let said = plan("[packages]\ncupy-cuda12x = '*'\n", &t4).stderr;
    let word = "cupy-cuda12x 14.2.0 loads libnvrtc.so.12 at run time, which no package contains";
    assert!(said.contains(word) && said.contains("`cupy-cuda12x[ctk]` installs"), "{said}");
}

/// Newer releases ask for what nothing has: an old one that asks for nothing is no silent answer.
#[test]
fn a_release_from_long_ago_is_a_warning() {
    let release = |requires: &[&str]| Release {
        requires: requires.iter().map(|one| (*one).to_owned()).collect(),
        ..Release::default()
    };
    let app = [("0.1".to_owned(), release(&[])), ("2.0".to_owned(), release(&["lib>=2"]))].into();
    let lib = [("1.0".to_owned(), release(&[]))].into();
    let server = IndexServer::start(Table::from([("app".to_owned(), app), ("lib".to_owned(), lib)]), Manner::Good);
    let plan = |wanted: &str| {
        let test = Test::new().file("p.toml", &format!("[packages]\napp = '{wanted}'\n"));
        test.run(&["plan", "p.toml", "--runtime", "bare-3.12", "--index-url", &server.url])
    };
    let said = plan("*").expect(0).stderr;
    assert!(said.contains("warning[resolve-held-back]") && said.contains("such as `app = \">=2\"`"), "{said}");
    assert!(!plan("<1").expect(0).stderr.contains("held-back"));
    plan(">=2").expect(1).says("lib");
}
