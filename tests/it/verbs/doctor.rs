//! `doctor` with a profile, and in the forms that programs read.

use std::fmt::Write;
use std::process::Command;

use serde_json::Value;

use crate::support::python::{Venv, interpreter};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test};

pub const PROFILE: &str = "[profile]\nname = \"p\"\nversion = \"1.0.0\"\n[packages]\nrich = \"*\"\n";

pub fn world() -> Test {
    Test::new().set("COLAB_BOOT_PYTHON", interpreter().display().to_string())
}

pub fn check(out: &Outcome, name: &str) -> Value {
    let all = out.json()["report"]["checks"].as_array().cloned().expect("checks");
    all.into_iter().find(|one| one["check"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_profile_says_what_the_work_is_like() {
    let text = format!(
        "{PROFILE}[doctor]\nfor = \"20h\"\nneeds = [\"kaggle\"]\nignore = [\"cpu-flags\"]\nthresholds = {{ disk-low = {{ low = \"1000TB\" }} }}\nremedies = {{ disk-low = \"ask the people of the storage\" }}\n"
    );
    let test = world().file("p.toml", &text);
    let plain = test.run(&["doctor", "--json"]);
    assert!(!plain.codes().contains(&"disk-low".to_owned()), "{plain:?}");
    let out = test.run(&["doctor", "--profile", "p.toml", "--json"]);
    let codes = out.codes();
    assert!(codes.contains(&"disk-low".to_owned()) && codes.contains(&"token-missing".to_owned()), "{out:?}");
    assert!(out.stderr.contains("ask the people of the storage"), "{out:?}");
    assert_eq!(check(&out, "cpu-flags")["said"], "the profile disables it");
    let there = test.set("KAGGLE_API_TOKEN", "KGAT_0");
    let out = there.run(&["doctor", "--profile", "p.toml", "token-missing", "--json"]).expect(0);
    assert_eq!(check(&out, "token-missing")["state"], "ok", "{out:?}");
}

#[test]
fn what_a_profile_gets_wrong_is_shown_at_its_place() {
    for (line, said) in [
        ("ignore = [\"disk-lo\"]", "did you mean `disk-low`?"),
        ("needs = [\"Kagle\"]", "one of Hugging Face"),
        ("for = \"long\"", "can't be used as an amount"),
        ("thresholds = { disk-low = \"1GB\" }", "must be a table of inodes, low, lowest"),
        ("thresholds = { disk-low = { lo = \"1GB\" } }", "its limits are: inodes, low, lowest"),
        ("ignored = []", "did you mean `ignore`?"),
        ("for = \"8GB\"", "a duration such as"),
        ("thresholds = { disk-low = { low = \"12h\" } }", "a size such as"),
        ("thresholds = { disk-low = { inodes = \"250%\" } }", "at most 100%"),
        ("plugins = [\"Not A Name!\"]", "the name of a distribution"),
        ("[[doctor.check]]\nname = \"x\"\ncommand = [\"true\"]\ntimeout = \"0s\"", "`0.1s` to `10min`"),
        ("[[doctor.check]]\nname = \"x\"", "needs `name` and `command`"),
        ("[[doctor.check]]\nname = \"disk-low\"\ncommand = [\"true\"]", "another check has this name"),
    ] {
        let test = world().file("p.toml", &format!("{PROFILE}[doctor]\n{line}\n"));
        let out = test.run(&["doctor", "--profile", "p.toml"]).expect(2);
        assert!(out.stderr.contains(said) && out.stderr.contains("p.toml:"), "{line}: {out:?}");
    }
}

#[test]
fn programs_read_junit_sarif_and_a_bundle() {
    let token = format!("hf_{}", "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zcFiLoR");
    let own = format!(
        "[[doctor.check]]\nname = \"leaky\"\ncommand = [\"sh\", \"-c\", \"echo $HOME has {token} & more; exit 1\"]\n"
    );
    let test = world().file("p.toml", &format!("{PROFILE}{own}"));
    let test = test.set("LD_LIBRARY_PATH", "/srv/ada/lib:/nowhere/cudnn/lib");
    let test = test.set("XLA_FLAGS", "--xla_gpu_deterministic_ops=true --xla_token=hunter2abc");
    let outputs = ["--junit", "j.xml", "--sarif", "s.sarif", "--bundle", "b.json", "--html", "h.html"];
    let out = test.run(&[&["doctor", "--profile", "p.toml"][..], &outputs].concat()).expect(1);
    assert!(!out.stderr.contains(&token), "{out:?}");
    let read = |name: &str| std::fs::read_to_string(test.path(name)).expect(name);
    for name in ["j.xml", "s.sarif", "b.json", "h.html"] {
        assert!(!read(name).contains(&token) && !read(name).contains("hunter2abc"), "{name}");
    }
    let report = test.run(&["doctor", "memory", "--json"]).stdout;
    assert!(report.contains("--xla_gpu_deterministic_ops=true …=…"), "{report}");
    let script = "import sys, xml.etree.ElementTree as e; t = e.parse(sys.argv[1]).getroot(); print(t.tag, len(t.findall('.//testcase')), [c.get('name') for c in t.iter('testcase') if c.find('failure') is not None])";
    let parsed = Command::new(interpreter()).args(["-c", script]).arg(test.path("j.xml")).output().expect("a Python");
    let parsed = String::from_utf8_lossy(&parsed.stdout).into_owned();
    assert!(parsed.starts_with("testsuites ") && parsed.contains("'leaky'"), "{parsed}");
    let sarif: Value = serde_json::from_str(&read("s.sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert!(results.iter().any(|one| one["ruleId"] == "plugin-check" && one["level"] == "error"), "{results:?}");
    assert!(results.iter().all(|one| one["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].is_string()));
    // No folder of a person is in the bundle, and it is a machine for the other verbs.
    let bundle = read("b.json");
    let folder = test.folder.path().display().to_string();
    for word in [folder.as_str(), "/srv", "ada/lib"] {
        assert!(!bundle.contains(word), "{word} is in the bundle");
    }
    let diff = test.run(&["diff", "b.json"]).expect(0);
    assert_eq!(diff.stdout, "diff: nothing differs\n");
    // One that was cut or edited is no machine of which nothing is known.
    let spoil =
        |from: &str, to: &str| std::fs::write(test.path("c.json"), bundle.replacen(from, to, 1)).expect("a file");
    spoil("\"now\": ", "\"now\": \"abc\", \"then\": ");
    let out = test.run(&["doctor", "--machine", "c.json"]).expect(2);
    assert!(out.stderr.contains("is a damaged bundle"), "{out:?}");
    let newer: Value = serde_json::from_str(&bundle).expect("JSON");
    let mut newer = newer.clone();
    newer["report"]["vitals"]["schema"] = 99.into();
    std::fs::write(test.path("c.json"), newer.to_string()).expect("a file");
    let out = test.run(&["doctor", "--machine", "c.json"]).expect(2);
    assert!(out.stderr.contains("written by a newer colab-boot"), "{out:?}");
    // A lone dash is stdout, and one output at most goes there.
    let out = test.run(&["doctor", "memory", "--sarif", "-"]);
    assert_eq!(out.json()["version"], "2.1.0", "{out:?}");
    assert!(out.stderr.contains("doctor: ") && !test.path("-").exists(), "{out:?}");
    test.run(&["doctor", "--html", "-", "--junit", "-"]).expect(2);
    // An output is never an input.
    let out = test.run(&["doctor", "--profile", "p.toml", "--html", "p.toml"]).expect(2);
    assert!(out.stderr.contains("would be overwritten"), "{out:?}");
}

#[test]
fn nonsense_is_refused() {
    let test = world().file("empty.json", "{}").file("other.json", "{\"report\": {\"checks\": []}}");
    for (arguments, said) in [
        (&["doctor", "--precision", "fp3"][..], "possible values: fp16"),
        (&["doctor", "--for", "8"], "a duration such as"),
        (&["doctor", "--for", "8GB"], "a duration such as"),
        (&["doctor", "--kernel-pid", "999999999"], "there is no process 999999999"),
        (&["doctor", "--log", "home"], "is a folder"),
        (&["diff", "empty.json"], "is not a machine record"),
        (&["diff", "other.json"], "is not a machine record"),
        (&["probe", "storage", "--need", "nan"], "more than 0"),
        (&["probe", "storage", "--workers", "0"], "1..=1024"),
        (&["probe", "loader", "--batch-bytes", "100TB"], "too large to try on this machine"),
    ] {
        let out = test.run(arguments).expect(2);
        assert!(out.stderr.contains(said), "{arguments:?}: {out:?}");
    }
    let out = test.run(&["doctor", "shm-small", "--batch-bytes", "99999999999999TB", "--workers", "999999"]);
    assert!(out.code < 2, "{out:?}");
}

/// The machines of docs/doctor-outputs.md: a title, and what is asked.
fn outputs() -> Vec<(String, Vec<String>)> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let mut all = vec![
        ("A laptop, by its fingerprint".to_owned(), words("doctor --machine tests/observed/laptop.json")),
        (
            "A container on a server, by its bundle".to_owned(),
            words("doctor --machine tests/observed/container.json --all"),
        ),
        (
            "A Jupyter kernel with torch loaded, without a GPU".to_owned(),
            words("doctor --machine tests/observed/kernel-torch.json --all"),
        ),
        (
            "A server with an idle H200, by its bundle".to_owned(),
            words("doctor --machine tests/observed/gpu-h200.json --all"),
        ),
    ];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("runtimes");
    let names = std::fs::read_dir(root).expect("runtimes").map(|one| one.expect("an entry").file_name());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.to_str()?.strip_suffix(".toml")?.to_owned())).collect();
    names.sort();
    all.extend(names.into_iter().map(|name| (format!("`{name}`"), words(&format!("doctor --runtime {name}")))));
    all
}

#[test]
fn the_outputs_in_the_docs_are_what_is_printed() {
    let test = Test::new();
    let mut text = "# What doctor says\n\nOf machines that were recorded, and of notebook images as far as they are described: an image has packages, and no memory, no disk and no kernel, so that most\nchecks have not seen anything. A test compares this page with what is printed.\n".to_owned();
    for (title, arguments) in outputs() {
        let mut command = test.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let out = Outcome::of({
            command.current_dir(env!("CARGO_MANIFEST_DIR"));
            command
        });
        assert!(out.code < 2, "{out:?}");
        let asked = arguments.join(" ");
        let _ = write!(text, "\n## {title}\n\n```\n$ colab-boot {asked}\n{}{}```\n", out.stderr, out.stdout);
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/doctor-outputs.md");
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&path, &text).expect("docs");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == kept,
        "docs/doctor-outputs.md is not what is printed; SNAPSHOTS=overwrite cargo test, then read the diff"
    );
}

#[test]
fn a_start_up_file_that_is_broken_is_named() {
    let test = Test::new();
    let venv = Venv::bare(&test);
    std::fs::write(venv.layout().join("zz-broken.pth"), "import not_there_at_all\n").expect("a file");
    let test = test.set("COLAB_BOOT_PYTHON", venv.python.display().to_string());
    let out = test.run(&["doctor", "pth-broken"]).expect(0);
    assert!(out.reports("warning[pth-broken]") && out.stderr.contains("zz-broken.pth"), "{out:?}");
    std::fs::remove_file(venv.layout().join("zz-broken.pth")).expect("a file");
    test.run(&["doctor", "pth-broken", "--strict"]).expect(0);
}
